//! Who has seen the result of a duel is not blind any more: judgments, rows, rulings and the log
//! say so.

use crate::duels::{answer, choosing, duel};
use serde_json::json;

const EVENTS: &str = "SELECT count(*) FROM duel_event";

#[test]
fn what_is_judged_after_the_result_was_seen_is_marked() {
    let (sandbox, made) = duel();
    let lines = choosing(&made, "top-of-a");
    let lines: Vec<&str> = lines.lines().collect();
    answer(&sandbox, "ada", &lines[..2].join("\n"));
    let before = sandbox.count(EVENTS);
    // Who takes no part sees it as often as wanted.
    let result = |who: &str| sandbox.done(&format!("--annotator {who} duel --result"));
    result("eve").prints("2 of 6 queries judged");
    assert_eq!(sandbox.count(EVENTS), before);
    result("ada").says("further judgments of ada there are marked as not blind");
    result("ada").prints("2 of 6 queries judged");
    assert_eq!(sandbox.count(EVENTS), before + 1, "it is kept once");
    assert_eq!(sandbox.json("duel --result --json")["after_reveal"], 0);

    answer(&sandbox, "ada", &lines[2..5].join("\n"));
    answer(&sandbox, "bob", &lines.join("\n"));
    let told = sandbox.json("duel --result --json");
    assert_eq!([&told["judgments"], &told["after_reveal"]], [11, 3]);
    assert_eq!(told["controls"][0]["after_reveal"], 3);
    assert_eq!(told["controls"][1]["after_reveal"], 0);
    // Bob's are the first blind ones of the three queries that ada judged after the result.
    let stop = &told["stop"];
    let firsts = ["wins_a", "wins_b", "ties"].map(|name| stop[name].as_u64().unwrap());
    assert_eq!(
        (firsts.iter().sum::<u64>(), &stop["people"]),
        (6, &json!(1))
    );
    let words = sandbox.done("duel --result");
    words.prints(
        "3 judgments are not blind: given or changed after the result was seen, and not used by the stop rule",
    );
    words.prints("ada: 5 judgments, 3 not blind");
    words.prints("bob: 6 judgments ·");
    // A judgment that was blind and is changed now is not any more.
    let none = json!({ "query": made["queries"][0]["query"], "none_serves": true });
    answer(&sandbox, "ada", &none.to_string());
    assert_eq!(sandbox.json("duel --result --json")["after_reveal"], 4);

    let rows = sandbox.json("duel --list --json");
    assert_eq!(rows[0]["judgments"], 11);
    let exported = sandbox.done("export duel --format jsonl");
    exported.says("duel 1, original against reversed (grid): 88 rows");
    let blind = |who: &str, blind: bool| {
        exported
            .text()
            .lines()
            .map(|row| serde_json::from_str::<serde_json::Value>(row).unwrap())
            .filter(|row| row["user"] == who && row["blind"] == blind)
            .count()
    };
    assert_eq!([blind("ada", true), blind("ada", false)], [8, 32]);
    assert_eq!([blind("bob", true), blind("bob", false)], [48, 0]);
    let events = sandbox.done("export duel --form events");
    assert_eq!(events.text().matches("RESULT_SEEN").count(), 1);
    sandbox.done("log").prints("duel result seen");

    let rulings = sandbox.done("--annotator ada duel --rulings");
    rulings.says("16 rulings, 12 of them not blind: 16 relevant");
    let count = |blind: u8| {
        sandbox.count(&format!(
            "SELECT count(*) FROM ruling WHERE blind = {blind}"
        ))
    };
    assert_eq!([count(0), count(1)], [12, 4]);
}

#[test]
fn an_export_of_what_came_from_where_ends_blindness_too() {
    let (sandbox, made) = duel();
    answer(
        &sandbox,
        "ada",
        choosing(&made, "top-of-a").lines().next().unwrap(),
    );
    let before = sandbox.count(EVENTS);
    // Events name no source.
    sandbox.done("--annotator ada export duel --form events");
    assert_eq!(sandbox.count(EVENTS), before);
    sandbox
        .done("--annotator ada duel --export judged.csv")
        .says("takes part in duel 1");
    sandbox.done("--annotator ada export duel");
    assert_eq!(sandbox.count(EVENTS), before + 1);
}

#[test]
fn rulings_are_held_against_the_labels_by_the_grade_that_the_duel_was_made_with() {
    let (sandbox, _) = duel();
    let labels: String = (0..20).map(|at| format!("q0 0 d{at} 1\n")).collect();
    sandbox.write("q.qrels", labels);
    sandbox.done("import q.qrels");
    sandbox.done("pick --judges proximity");
    let against = |level: u8| {
        sandbox.done(&format!(
            "duel --a original --b reversed.trec --query q0 --level {level} --no-screen"
        ));
        let levels = sandbox.json("duel --list --json");
        assert_eq!(levels.as_array().unwrap().last().unwrap()["level"], level);
        let who = format!("level{level}");
        let none = json!({ "query": "q0", "none_serves": true });
        answer(&sandbox, &who, &none.to_string());
        sandbox.done(&format!("--annotator {who} duel --rulings all"));
        sandbox.count(&format!(
            "SELECT sum(against) FROM ruling WHERE annotator = '{who}'"
        ))
    };
    // All are labeled relevant at 1 and none at 2; the judge picks some and leaves some out.
    let (at_one, at_two) = (against(1), against(2));
    assert_ne!(at_one, at_two);
    assert!(at_one + at_two > 0);
}

#[test]
fn people_of_separate_copies_who_share_a_number_keep_their_own_tasks_and_controls() {
    use crate::merging::merge;
    use crate::support::Sandbox;
    let (ada, made) = duel();
    let bob = Sandbox::new();
    ada.done("status");
    std::fs::copy(ada.project(), bob.project()).unwrap();
    let attention = |sandbox: &Sandbox, who: &str, follows: bool| {
        let mut answered = 0;
        for query in made["queries"].as_array().unwrap() {
            let document = if follows {
                serde_json::Value::Null
            } else {
                query["documents"][0]["document"].clone()
            };
            let line = json!({ "query": query["query"], "task": "attention", "selected": [{ "document": document }] });
            sandbox.write("answers.jsonl", line.to_string());
            let ran = sandbox.run(&format!("--annotator {who} duel --answers answers.jsonl")[..]);
            answered += usize::from(ran.code == Some(0));
        }
        answered
    };
    answer(&ada, "ada", &choosing(&made, "top-of-a"));
    answer(&bob, "bob", &choosing(&made, "top-of-b"));
    assert_eq!(attention(&ada, "ada", true), 1);
    // The first document may be the one that the request stands for, and is not shown then.
    let failed = attention(&bob, "bob", false);
    let control =
        |sandbox: &Sandbox, at: usize| sandbox.json("duel --result --json")["controls"][at].clone();
    let (of_ada, of_bob) = (control(&ada, 0), control(&bob, 0));
    merge(&ada, &bob, "");
    let numbers = "SELECT count(*) FROM duel_participant WHERE number = 0";
    assert_eq!(ada.count(numbers), 2);
    assert_eq!(
        [control(&ada, 0), control(&ada, 1)],
        [of_ada.clone(), of_bob]
    );
    assert_eq!([&of_ada["attention"], &of_ada["attention_passed"]], [1, 1]);
    assert_eq!(control(&ada, 1)["attention"], failed);
    assert_eq!(control(&ada, 1)["attention_passed"], 0);
    // Whoever comes next has a number of their own, and those who were there can go on.
    answer(&ada, "cy", &choosing(&made, "top-of-a"));
    assert_eq!(
        ada.count("SELECT number FROM duel_participant WHERE annotator = 'cy'"),
        1
    );
    answer(&ada, "bob", &choosing(&made, "top-of-a"));
    let told = ada.json("duel --result --json");
    assert_eq!([&told["participants"], &told["wins_a"]], [3, 6]);
    assert_eq!(control(&ada, 0), of_ada);
}
