//! `overrule nine` and `duel`: two rankings, what is chosen of them, what people chose, and what
//! that says.

use crate::merging::{merge, rows};
use crate::support::{Sandbox, dataset};
use rstest::rstest;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;

pub(crate) const QUERIES: usize = 6;

/// Pools of twenty documents, and a run that has them in the opposite order.
pub(crate) fn project() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("in.jsonl", dataset([20; QUERIES]));
    sandbox.done("import in.jsonl");
    let lines = (0..QUERIES).flat_map(|query| {
        (0..20).map(move |at| format!("q{query} Q0 d{} {} {} r\n", 19 - at, at + 1, 20 - at))
    });
    sandbox.write("reversed.trec", lines.collect::<String>());
    sandbox
}

/// The same with a grid of all queries, and what was chosen for it.
pub(crate) fn duel() -> (Sandbox, Value) {
    let sandbox = project();
    let made = sandbox.json("nine --a original --b reversed.trec --json");
    (sandbox, made)
}

fn documents(query: &Value, source: &str) -> Vec<String> {
    query["documents"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|one| one["source"] == source)
        .map(|one| one["document"].as_str().unwrap().to_owned())
        .collect()
}

/// Lines that choose what came from one of the rankings, each with its first five characters.
pub(crate) fn choosing(made: &Value, source: &str) -> String {
    let lines = made["queries"].as_array().unwrap().iter().map(|query| {
        let selected = documents(query, source).into_iter();
        let selected: Vec<Value> = selected
            .map(|document| json!({ "document": document, "start": 0, "end": 5 }))
            .collect();
        json!({ "query": query["query"], "selected": selected, "seconds": 12.5 }).to_string()
    });
    lines.collect::<Vec<_>>().join("\n")
}

pub(crate) fn answer(sandbox: &Sandbox, who: &str, lines: &str) {
    sandbox.write("answers.jsonl", lines);
    sandbox.done(&format!("--annotator {who} duel --answers answers.jsonl"));
}

pub(crate) fn table(text: &str) -> Vec<csv::StringRecord> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    reader.records().collect::<Result<_, _>>().unwrap()
}

#[rstest]
#[case("nine --a original --b nope", "no such ranking or file")]
#[case("nine --a original --b reversed.trec --query q9", "no query \"q9\"")]
#[case("duel --result", "the project has no duel")]
#[case("duel --duel 7 --result", "no duel 7 in the project")]
#[case("duel --export x.csv --form grid", "judgments or events")]
#[case(
    "duel --a original --b reversed.trec --form events",
    "a grid, lists or interleaved"
)]
#[case(
    "duel --a original --b reversed.trec --top 5 --no-screen",
    "room for 4"
)]
#[case("export duel --form trec", "judgments or events")]
#[case("export qrels --form events", "trec, beir or in the format")]
fn what_cannot_be_is_refused_with_a_remedy(#[case] command: &str, #[case] why: &str) {
    let sandbox = project();
    sandbox.refused(command, 2, &[why]);
    assert_eq!(sandbox.count("SELECT count(*) FROM duel"), 0);
}

#[test]
fn nine_documents_tell_two_rankings_apart() {
    let (sandbox, made) = duel();
    let queries = made["queries"].as_array().unwrap();
    assert_eq!(queries.len(), QUERIES);
    for query in queries {
        let mut names = documents(query, "top-of-a");
        names.sort();
        assert_eq!(names, ["d0", "d1", "d2", "d3"]);
        let mut names = documents(query, "top-of-b");
        names.sort();
        assert_eq!(names, ["d16", "d17", "d18", "d19"]);
        assert_eq!(
            documents(query, "easy-negative").len(),
            0,
            "all are unjudged and high in one"
        );
        assert!(
            query["shortfall"]
                .as_str()
                .unwrap()
                .contains("no easy negative")
        );
    }
    // One label makes a negative of a document.
    sandbox.write("q.qrels", "q0 0 d9 0\nq0 0 d10 1\n");
    sandbox.done("import q.qrels");
    let told =
        sandbox.done("nine --a original --b reversed.trec --csv nine.csv --query q0 --query q1");
    let nine = table(&sandbox.read("nine.csv"));
    assert_eq!(nine.len(), 9 + 8);
    let negative = nine.iter().find(|row| &row[6] == "easy negative").unwrap();
    assert_eq!(
        [&negative[0], &negative[2], &negative[8], &negative[10]],
        ["q0", "d9", "9", "0"]
    );
    assert!(negative[9].parse::<f64>().is_ok());
    // Who prints it can take part all the same.
    assert!(!told.text().contains("d1"), "{}", told.text());
    told.prints("none of the 12 documents further down");
    let drawn = sandbox.json("nine --a original --b reversed.trec --queries 2 --seed 5 --json");
    assert_eq!(drawn["queries"].as_array().unwrap().len(), 2);
    assert_eq!(
        sandbox.json("duel --list --json").as_array().unwrap().len(),
        3
    );
}

#[test]
fn what_a_ranking_does_not_share_is_said() {
    let sandbox = project();
    sandbox.write(
        "few.trec",
        "q0 Q0 d1 1 2 r\nq0 Q0 other 2 1 r\nq9 Q0 d1 1 1 r\n",
    );
    let made = sandbox.json("nine --a original --b few.trec --json");
    assert_eq!(made["queries"].as_array().unwrap().len(), 1);
    let notes = made["notes"].to_string();
    assert!(
        notes.contains("1 document not among the candidates of the query"),
        "{notes}"
    );
    assert!(
        notes.contains("skipped 6 queries that only one of the rankings has"),
        "{notes}"
    );
    let shortfall = made["queries"][0]["shortfall"].as_str().unwrap();
    assert!(shortfall.contains("only 5 documents"), "{shortfall}");
}

#[test]
fn choices_come_to_a_result() {
    let (sandbox, made) = duel();
    let result = || sandbox.json("duel --result --json");
    assert_eq!(result()["judgments"], 0);
    sandbox.done("duel --result").prints("no result yet");
    answer(&sandbox, "ada", &choosing(&made, "top-of-a"));
    let told = result();
    assert_eq!(
        [&told["wins_a"], &told["ties"], &told["wins_b"]],
        [QUERIES, 0, 0]
    );
    assert_eq!(told["credit"]["a_only"], 4 * QUERIES);
    for test in ["sign_p", "permutation_p"] {
        let p = told[test].as_f64().unwrap();
        assert!((p - 2.0 / 64.0).abs() < 1e-12, "{test}: {p}");
    }
    assert_eq!(told["median_seconds"], 12.5);
    assert_eq!(
        told["agreement"],
        Value::Null,
        "one person agrees with nobody"
    );
    // A second person sees it otherwise; the first judgment of a query counts for stopping.
    answer(&sandbox, "bob", &choosing(&made, "top-of-b"));
    let told = result();
    assert_eq!([&told["ties"], &told["participants"]], [QUERIES, 2]);
    assert_eq!(told["stop"]["wins_a"], QUERIES);
    assert!(told["agreement"]["value"].as_f64().unwrap() < 0.0);
    let csv = sandbox.done("duel --result --csv");
    assert_eq!(&table(csv.text())[0][8], "neither");
    let lists = sandbox.json("duel --list --json");
    assert_eq!(
        [&lists[0]["participants"], &lists[0]["judgments"]],
        [2, 2 * QUERIES]
    );
    let status = sandbox.json("status --json");
    assert_eq!(status["duels"]["participants"], 2);
    sandbox
        .done("status")
        .prints("duels         1 duel, 2 participants");
}

#[test]
fn controls_stand_apart() {
    let (sandbox, made) = duel();
    answer(&sandbox, "ada", &choosing(&made, "top-of-a"));
    let before = sandbox.json("duel --result --json");
    let mut asked = 0;
    for query in 0..QUERIES {
        let line = json!({ "query": format!("q{query}"), "task": "attention", "selected": [{ "document": null }] });
        sandbox.write("answers.jsonl", line.to_string());
        let ran = sandbox.run("--annotator ada duel --answers answers.jsonl");
        asked += usize::from(ran.code == Some(0));
        if ran.code != Some(0) {
            ran.refused(2, &["answers.jsonl:1: query: no attention task"]);
        }
    }
    assert_eq!(asked, 1, "one for ten queries begun");
    let after = sandbox.json("duel --result --json");
    let control = &after["controls"][0];
    assert_eq!(
        [&control["attention"], &control["attention_passed"]],
        [1, 1]
    );
    assert_eq!(
        [&after["judgments"], &after["credit"]],
        [&before["judgments"], &before["credit"]]
    );
    sandbox.done("duel --export events.csv --form events");
    let events = table(&sandbox.read("events.csv"));
    let check = events
        .iter()
        .find(|row| &row[3] == "ATTENTION_CHECK")
        .unwrap();
    assert_eq!([&check[0], &check[7], &check[9]], ["ada", "1", "attention"]);
}

#[test]
fn what_was_judged_is_written_with_where_it_came_from() {
    let (sandbox, made) = duel();
    answer(&sandbox, "ada", &choosing(&made, "top-of-a"));
    sandbox.write("answers.jsonl", r#"{"query": "q0", "none_serves": true}"#);
    sandbox.done("--annotator ada duel --answers answers.jsonl");
    sandbox.done("duel --export judged.csv");
    let text = sandbox.read("judged.csv");
    let header = "qid,docno,user,selected,passage,start,end,source,rank_a,rank_b,place,opened,seconds,created,";
    assert!(text.starts_with(header), "{text}");
    let judged = table(&text);
    assert_eq!(judged.len(), 8 * QUERIES);
    let chosen = judged.iter().filter(|row| &row[3] == "true");
    let chosen: Vec<_> = chosen.collect();
    assert_eq!(chosen.len(), 4 * (QUERIES - 1), "none of q0 any more");
    for row in &chosen {
        assert_eq!(
            [&row[2], &row[5], &row[6], &row[7]],
            ["ada", "0", "5", "top-of-a"]
        );
        assert_eq!(row[4].chars().count(), 5);
        assert_eq!(format!("d{}", row[8].parse::<usize>().unwrap() - 1), row[1]);
    }
    let places: BTreeSet<&str> = judged.iter().map(|row| &row[10]).collect();
    assert_eq!(places.len(), 8);
    assert_eq!(sandbox.done("export duel").text(), text, "one export");
    let events = table(sandbox.done("export duel --form events").text());
    let kinds: Vec<&str> = events.iter().map(|row| &row[3]).collect();
    assert_eq!(
        &kinds[..5],
        [
            "PASSAGE_SELECTION",
            "PASSAGE_SELECTION",
            "PASSAGE_SELECTION",
            "PASSAGE_SELECTION",
            "FINISH"
        ]
    );
    assert_eq!(&kinds[kinds.len() - 2..], ["NONE_SERVES", "FINISH"]);
    assert!(
        sandbox
            .done("export duel --format jsonl")
            .text()
            .starts_with("{\"qid\":")
    );
    let log = sandbox.done("log").text().to_owned();
    assert!(
        log.contains("duel 1, original against reversed (grid), 6 queries")
            && log.contains("duel chosen")
            && log.contains("duel none serves")
    );
    assert!(!log.contains("top-of-a"));
}

#[test]
fn choices_become_labels_and_rulings_when_asked() {
    let (sandbox, made) = duel();
    for who in ["ada", "bob", "eve"] {
        let source = if who == "eve" { "top-of-b" } else { "top-of-a" };
        answer(&sandbox, who, &choosing(&made, source));
    }
    let labels = sandbox.done("export qrels --from duel");
    labels.says("by what most participants of duel 1 chose");
    let of = |grade: &str| {
        labels
            .text()
            .lines()
            .filter(|line| line.ends_with(grade))
            .count()
    };
    assert_eq!([of(" 1"), of(" 0")], [4 * QUERIES, 4 * QUERIES]);
    assert_eq!(
        sandbox.count("SELECT count(*) FROM ruling"),
        0,
        "never by itself"
    );
    sandbox
        .done("--annotator eve duel --rulings")
        .says("24 rulings: 24 relevant, 0 not, by eve; 0 were there");
    sandbox
        .done("--annotator eve duel --rulings")
        .says("0 rulings: 0 relevant, 0 not, by eve; 24 were there");
    sandbox
        .done("--annotator ada duel --rulings all")
        .says("48 rulings: 24 relevant, 24 not, by ada");
    assert_eq!(sandbox.count("SELECT count(*) FROM ruling WHERE blind"), 72);
    sandbox.refused(
        "--annotator zoe duel --rulings",
        2,
        &["\"zoe\" has done nothing in duel 1"],
    );
}

#[rstest]
#[case("lists")]
#[case("interleaved")]
fn other_forms_have_results_too(#[case] form: &str) {
    let sandbox = project();
    sandbox.done(&format!(
        "duel --a original --b reversed.trec --form {form} --queries 4 --no-screen"
    ));
    let queries = sandbox.json("duel --list --json")[0]["queries"].clone();
    assert_eq!(queries, 4);
    let names = sandbox.json("queries --json");
    let names = names
        .as_array()
        .unwrap()
        .iter()
        .map(|query| query["query"].clone());
    let mut taken = 0;
    for name in names {
        let line = match form {
            "lists" => json!({ "query": name, "prefer": -1 }),
            _ => json!({ "query": name, "none_serves": true }),
        };
        sandbox.write("answers.jsonl", line.to_string());
        taken += usize::from(sandbox.run("duel --answers answers.jsonl").code == Some(0));
    }
    assert_eq!(taken, 4);
    let told = sandbox.json("duel --result --json");
    assert_eq!(told["judgments"], 4);
    assert_eq!(told["wins_a"], if form == "lists" { 4 } else { 0 });
    let rows = table(sandbox.done("export duel").text());
    match form {
        "lists" => {
            assert!(rows.iter().all(|row| [&row[15], &row[16]] == ["a", "1"]));
            let header = sandbox.done("export duel").text().to_owned();
            let left = header
                .lines()
                .next()
                .unwrap()
                .split(',')
                .position(|name| name == "left");
            let on_the_left = rows.iter().filter(|row| &row[left.unwrap()] == "a").count();
            let chosen = &told["places"][0]["chosen"];
            assert_eq!(*chosen, on_the_left, "{told}");
            sandbox.refused("export qrels --from duel", 2, &["no document is chosen"]);
        }
        _ => assert!(
            rows.iter()
                .all(|row| !row[14].is_empty() && &row[17] == "true")
        ),
    }
}

#[test]
fn a_merge_brings_what_others_did_and_can_be_repeated() {
    let (ada, made) = duel();
    let bob = Sandbox::new();
    ada.done("status");
    fs::copy(ada.project(), bob.project()).unwrap();
    answer(&ada, "ada", &choosing(&made, "top-of-a"));
    answer(&bob, "bob", &choosing(&made, "top-of-b"));
    let merged = merge(&ada, &bob, "");
    assert_eq!([&merged["duels"], &merged["duel_events"]], [0, 5 * QUERIES]);
    let told = ada.json("duel --result --json");
    assert_eq!(
        [&told["participants"], &told["judgments"]],
        [2, 2 * QUERIES]
    );
    let before = rows(&ada.project());
    let again = merge(&ada, &bob, "");
    assert_eq!([&again["duels"], &again["duel_events"]], [0, 0]);
    assert_eq!(rows(&ada.project()), before);
    // A file without the duel takes it over whole.
    let eve = Sandbox::new();
    eve.write("in.jsonl", dataset([20; QUERIES]));
    eve.done("import in.jsonl");
    let merged = merge(&eve, &ada, "");
    assert_eq!(
        [&merged["duels"], &merged["duel_events"]],
        [1, 10 * QUERIES]
    );
    assert_eq!(eve.json("duel --result --json"), told);
    // One name with other tasks: nothing is mixed up.
    answer(&bob, "ada", &choosing(&made, "top-of-b"));
    let merged = merge(&ada, &bob, "");
    assert_eq!(
        [
            &merged["duel_participants_left_out"],
            &merged["duel_events"]
        ],
        [1, 0]
    );
    assert_eq!(ada.json("duel --result --json"), told);
}

#[test]
fn without_a_terminal_a_duel_says_what_prints_it() {
    let (sandbox, _) = duel();
    sandbox.refused(
        "duel",
        2,
        &["duel --list", "duel --result", "duel --answers"],
    );
}

#[test]
fn a_project_that_cannot_be_written_shows_its_duels() {
    use std::os::unix::fs::PermissionsExt as _;
    let (sandbox, made) = duel();
    answer(&sandbox, "ada", &choosing(&made, "top-of-a"));
    let told = sandbox.json("duel --result --json");
    let mode = |mode| fs::set_permissions(sandbox.project(), fs::Permissions::from_mode(mode));
    mode(0o444).unwrap();
    assert_eq!(sandbox.json("--annotator ada duel --result --json"), told);
    assert_eq!(sandbox.json("duel --list --json")[0]["judgments"], QUERIES);
    mode(0o644).unwrap();
}
