//! Several people on one project: whose verdict counts, who said what, the log, and the known
//! answers.

use crate::support::{AI_SCORES, Arguments as _, Sandbox, dataset};
use rstest::rstest;
use serde_json::{Value, json};

/// A query of eight documents, all of them judged by the offline judges.
pub(crate) fn annotated() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("in.jsonl", dataset([8]));
    sandbox.done("annotate in.jsonl out.jsonl --cycles 3");
    sandbox
}

pub(crate) fn says(sandbox: &Sandbox, who: &str, a: &str, b: &str, verdict: &str) -> Value {
    sandbox.json(&format!(
        "override --annotator {who} --query q0 --a {a} --b {b} --verdict {verdict} --json"
    ))
}

fn scores(sandbox: &Sandbox) -> Value {
    sandbox.json("matrix --query q0 --json")["documents"].clone()
}

fn follow(sandbox: &Sandbox, rule: &str) {
    sandbox.done(&format!("config project --final {rule}"));
}

fn verdicts(sandbox: &Sandbox) -> Vec<Value> {
    let lines = sandbox.done("export verdicts --format jsonl");
    lines
        .text()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn the_rule_decides_whose_verdict_moves_the_scores() {
    let sandbox = annotated();
    let judges_alone = scores(&sandbox);
    says(&sandbox, "ada", "d0", "d1", "much-a");
    let of_ada = scores(&sandbox);
    says(&sandbox, "eve", "d1", "d0", "much-a");
    let of_eve = scores(&sandbox);
    assert_ne!(of_ada, of_eve);

    follow(&sandbox, "majority");
    assert_eq!(
        scores(&sandbox),
        judges_alone,
        "one against one is no majority"
    );
    let status = sandbox.json("status --json");
    assert_eq!(
        (
            &status["verdicts"],
            &status["conflicts"],
            &status["rating"]["final"]
        ),
        (&json!(0), &json!(1), &json!("majority"))
    );

    follow(&sandbox, "adjudicator --adjudicator ada");
    assert_eq!(scores(&sandbox), of_ada);
    let settings = sandbox.json("config project --json");
    assert_eq!(
        (&settings["final"], &settings["adjudicator"]),
        (&json!("adjudicator"), &json!("ada"))
    );
    follow(&sandbox, "adjudicator --adjudicator bob");
    assert_eq!(
        scores(&sandbox),
        judges_alone,
        "bob says nothing, and the others differ"
    );

    follow(&sandbox, "latest");
    assert_eq!(scores(&sandbox), of_eve);
    follow(&sandbox, "majority");
    let told = says(&sandbox, "bob", "d0", "d1", "a");
    assert_eq!(told["in_force"], true, "two of three, and not both by far");
    sandbox.done("undo --annotator bob");
    says(&sandbox, "bob", "d0", "d1", "cannot-tell");
    assert_eq!(
        scores(&sandbox),
        judges_alone,
        "who cannot tell does not vote"
    );
    sandbox.done("undo --annotator bob");
    sandbox.done("undo --annotator eve");
    assert_eq!(scores(&sandbox), of_ada);
}

#[test]
fn a_verdict_that_does_not_count_is_said_not_to() {
    let sandbox = annotated();
    follow(&sandbox, "adjudicator --adjudicator ada");
    says(&sandbox, "ada", "d0", "d1", "a");
    let ran = sandbox.done("override --query q0 --a d0 --b d1 --verdict b");
    ran.prints("d1 is better: stored; the verdict of ada counts (adjudicator): d0 is better");
    let ran = sandbox.done("undo");
    ran.prints("the verdict that counts now: d0 is better");
}

#[rstest]
#[case::nobody("--final adjudicator", "--adjudicator NAME")]
#[case::empty("--final adjudicator --adjudicator=\t", "the name is blank")]
#[case::needless("--final majority --adjudicator ada", "goes with --final adjudicator")]
#[case::unknown("--final vote", "possible values")]
fn a_rule_that_makes_no_sense_is_refused(#[case] rule: &str, #[case] words: &str) {
    let sandbox = annotated();
    let before = sandbox.json("config project --json");
    sandbox.refused(&format!("config project {rule}"), 2, &[words]);
    assert_eq!(sandbox.json("config project --json"), before);
}

#[test]
fn who_said_what_is_told_with_the_battle() {
    let sandbox = Sandbox::new();
    sandbox.done(&["import", AI_SCORES]);
    let give = |who: &str, verdict: &str, more: &[&str]| {
        let arguments = format!("override --query capital-of-france --annotator {who} {verdict}");
        sandbox.done(&[&arguments.list(), more].concat());
    };
    let sure = ["--confidence", "high", "--cause", "judge-wrong"];
    give("ada", "--a d2 --b d3 --verdict a", &sure);
    let note = ["--note", "it rhymes"];
    give("eve", "--a d3 --b d2 --verdict much-a", &note);
    give("eve", "--a d1 --b d3 --verdict tie", &[]);
    let output = sandbox.json("battles --query capital-of-france --json");
    let of_pair = |battle: &&Value| battle["a"] == "d2" && battle["b"] == "d3";
    let battles = output["battles"].as_array().unwrap();
    assert!(battles.iter().any(|battle| of_pair(&battle)));
    for battle in battles.iter().filter(of_pair) {
        assert_eq!((&battle["a"], &battle["b"]), (&json!("d2"), &json!("d3")));
        assert_eq!(battle["conflict"], true);
        let said = battle["said"].as_array().unwrap();
        assert_eq!(
            (
                &said[0]["annotator"],
                &said[0]["decision"],
                &said[0]["confidence"],
                &said[0]["cause"],
                &said[0]["in_force"]
            ),
            (
                &json!("ada"),
                &json!("a"),
                &json!("high"),
                &json!("judge-wrong"),
                &json!(false)
            )
        );
        assert_eq!(
            (
                &said[1]["annotator"],
                &said[1]["decision"],
                &said[1]["note"],
                &said[1]["in_force"]
            ),
            (
                &json!("eve"),
                &json!("much-b"),
                &json!("it rhymes"),
                &json!(true)
            )
        );
    }
    let alone = &output["judged_without_battle"];
    assert_eq!(alone.as_array().unwrap().len(), 1);
    assert_eq!(
        (&alone[0]["a"], &alone[0]["b"]),
        (&json!("d3"), &json!("d1"))
    );
    assert_eq!(alone[0]["verdict"]["decision"], "tie");
    let text = sandbox.done("battles --query capital-of-france");
    for words in [
        "A  Paris is the capital of France (d2)\nB  Rome is the capital of Italy (d3)\n",
        "overruled by eve: Rome is the capital of Italy is much better",
        "ada: Paris is the capital of France is better (sure; the judges are wrong)",
        "eve: Rome is the capital of Italy is much better (it rhymes)",
        "people differ: eve counts (latest)",
        "never fought",
    ] {
        assert!(text.text().contains(words), "{words}: {}", text.text());
    }
    let one = sandbox.json("battles --query capital-of-france --document d2 --json");
    assert_eq!(one["judged_without_battle"], json!([]));
}

#[test]
fn every_annotators_verdict_is_exported_with_all_that_is_known_of_it() {
    let sandbox = annotated();
    says(&sandbox, "ada", "d0", "d1", "a");
    says(&sandbox, "eve", "d0", "d1", "b");
    sandbox.done("override --annotator ada --query q0 --a d1 --b d0 --verdict b --confidence low --cause query-unclear");
    let rows = verdicts(&sandbox);
    let told: Vec<_> = rows
        .iter()
        .map(|row| {
            (
                &row["annotator"],
                &row["verdict"],
                &row["confidence"],
                &row["cause"],
                &row["in_force"],
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            (
                &json!("eve"),
                &json!("b"),
                &Value::Null,
                &Value::Null,
                &json!(false)
            ),
            (
                &json!("ada"),
                &json!("b"),
                &json!("low"),
                &json!("query-unclear"),
                &json!(true)
            ),
        ]
    );
    assert!(
        !rows[1]["replaces"].is_null(),
        "a reason for what she said before"
    );
    // Taking it back takes both back.
    sandbox.done("undo --annotator ada");
    assert_eq!(verdicts(&sandbox).len(), 1);
    sandbox.refused("undo --annotator ada", 2, &["\"ada\""]);
    sandbox.refused(
        "override --query q0 --a d0 --b d1 --verdict a --cause tired",
        2,
        &["judge-wrong"],
    );
    sandbox.refused(&["undo", "--annotator", ""], 2, &["--annotator"]);
}

#[test]
fn the_annotator_is_the_options_then_the_environments() {
    let sandbox = annotated();
    sandbox.write("config.toml", "annotator = \"from the file\"\n");
    let who = |options: &str, variable: Option<&str>| {
        let mut command = sandbox.command(&format!("{options} config show --json"));
        command.env_remove("OVERRULE_ANNOTATOR");
        if let Some(name) = variable {
            command.env("OVERRULE_ANNOTATOR", name);
        }
        let shown: Value = serde_json::from_slice(&command.output().unwrap().stdout).unwrap();
        shown["annotator"].as_str().unwrap().to_owned()
    };
    let file = "--config config.toml";
    assert_eq!(who(file, None), "from the file");
    assert_eq!(who(file, Some("env")), "env");
    assert_eq!(who(&format!("{file} --annotator me"), Some("env")), "me");
}

#[test]
fn imports_are_in_the_log_and_come_along() {
    let sandbox = Sandbox::new();
    sandbox.write("in.jsonl", dataset([3, 2]));
    sandbox.done("import in.jsonl --annotator ada");
    sandbox.done("import in.jsonl --dry-run");
    sandbox.write("qrels.tsv", "query-id\tcorpus-id\tscore\nq0\td1\t1\n");
    sandbox.done("import qrels.tsv --annotator eve");
    let rows = log(&sandbox, "");
    let told: Vec<_> = rows
        .iter()
        .map(|row| ["event", "who", "about"].map(|name| row[name].as_str().unwrap().to_owned()))
        .collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert_eq!(
        told[0],
        [
            "import",
            "ada",
            "in.jsonl: 2 queries added, 0 already there"
        ]
    );
    assert!(told[1][2].starts_with("qrels.tsv: ") && told[1][1] == "eve");
    assert_eq!(log(&sandbox, "--annotator eve"), rows[1..]);
    assert_eq!(log(&sandbox, "--query q0"), [] as [Value; 0]);

    std::fs::rename(sandbox.project(), sandbox.path("other.db")).unwrap();
    sandbox.done("import in.jsonl --annotator bob");
    for _ in 0..2 {
        sandbox.done("merge other.db");
        let merged = log(&sandbox, "");
        assert_eq!((&merged[..2], merged.len()), (&rows[..], 3));
    }
}

#[test]
fn the_project_tells_of_its_guideline_and_of_an_unknown_adjudicator() {
    let sandbox = annotated();
    assert_eq!(
        sandbox.json("config project --json")["guideline"],
        Value::Null
    );
    sandbox.write("guide.md", "\n# Helpful or not?\n\nPréfère what answers.\n");
    let text = sandbox.done("config project --guideline guide.md");
    assert!(
        text.text()
            .contains("[guideline]\nfirst_line = \"# Helpful or not?\"\ncharacters = 42\n"),
        "{}",
        text.text()
    );
    says(&sandbox, "ada", "d0", "d1", "a");
    let name = |name: &str| {
        let rule = format!("config project --final adjudicator --adjudicator {name}");
        sandbox.done(&rule).stderr
    };
    let note = name("eve");
    assert!(
        note.contains("nobody called eve has judged") && note.contains("known: ada"),
        "{note}"
    );
    assert_eq!(name("ada"), "");
}

fn log(sandbox: &Sandbox, more: &str) -> Vec<Value> {
    let rows = sandbox.json(&format!("log --json {more}"));
    rows.as_array().unwrap().clone()
}

#[test]
fn the_log_has_every_verdict_and_undo_with_before_and_after() {
    let sandbox = annotated();
    says(&sandbox, "ada", "d0", "d1", "a");
    says(&sandbox, "eve", "d0", "d1", "tie");
    says(&sandbox, "ada", "d1", "d0", "a");
    sandbox.done("undo --annotator ada");
    sandbox.done(&[
        "override",
        "--query",
        "q0",
        "--a",
        "d2",
        "--b",
        "d3",
        "--verdict",
        "cannot-tell",
        "--note",
        "both say it",
    ]);
    let rows = log(&sandbox, "");
    let told: Vec<_> = rows
        .iter()
        .map(|row| {
            ["event", "who", "a", "before", "after"]
                .map(|name| row[name].as_str().unwrap_or("-").to_owned())
        })
        .collect();
    let told: Vec<Vec<&str>> = told
        .iter()
        .map(|row| row.iter().map(String::as_str).collect())
        .collect();
    assert_eq!(
        told,
        [
            ["run begun", "-", "-", "-", "-"],
            ["run ended", "-", "-", "-", "-"],
            ["verdict", "ada", "d0", "-", "a"],
            ["verdict", "eve", "d0", "-", "tie"],
            // Seen with d1 first, her verdict before was b.
            ["verdict", "ada", "d1", "b", "a"],
            ["undo", "ada", "d1", "a", "b"],
            ["verdict", "tester", "d2", "-", "cannot-tell"],
        ]
    );
    assert_eq!(rows[6]["note"], "both say it");
    assert_eq!(rows[5]["about"], rows[4]["uid"]);
    assert!(
        rows[0]["about"]
            .as_str()
            .unwrap()
            .contains("3 cycles, seed 0, judges bm25")
    );
    for row in &rows {
        let when = row["when"].as_str().unwrap();
        assert!(
            when.len() == 24 && when.ends_with('Z') && when.as_bytes()[10] == b'T',
            "{when}"
        );
    }
    assert!(rows.is_sorted_by_key(|row| row["when"].as_str().unwrap().to_owned()));

    assert_eq!(log(&sandbox, "--annotator ada").len(), 3);
    assert_eq!(log(&sandbox, "--query q0").len(), 5);
    assert_eq!(log(&sandbox, "--limit 2"), rows[5..]);
    assert_eq!(log(&sandbox, "--limit 0"), [] as [Value; 0]);
    sandbox.refused("log --query q9", 2, &["\"q9\""]);
    let table = sandbox.done("log --csv");
    let mut reader = csv::Reader::from_reader(table.stdout.as_slice());
    assert_eq!(&reader.headers().unwrap()[0], "when");
    assert_eq!(reader.records().count(), 7);
    let text = sandbox.done("log --limit 1");
    text.prints("cannot-tell  both say it");
}

#[test]
fn the_ranks_that_count_as_the_top_are_the_projects() {
    let sandbox = annotated();
    let before = scores(&sandbox);
    let words = |sandbox: &Sandbox| sandbox.done("status").text().to_owned();
    assert_eq!(sandbox.json("config project --json")["top"], 10);
    let usual = words(&sandbox);
    let set = sandbox.json("config project --top 2 --json");
    assert_eq!(set["top"], 2);
    assert_ne!(
        words(&sandbox),
        usual,
        "what is settled is another question"
    );
    assert_eq!(scores(&sandbox), before, "no score is another");
    sandbox.refused("config project --top 0", 2, &["--top = 0", "1 to 10000"]);
}

#[test]
fn every_conflict_is_listed_for_those_who_have_not_judged_it() {
    let sandbox = annotated();
    // The second pair may never have been fought.
    for (a, b) in [("d0", "d1"), ("d2", "d7")] {
        says(&sandbox, "ada", a, b, "a");
        says(&sandbox, "bob", a, b, "b");
    }
    let listed = |who: &str| {
        let queue = sandbox.json(&format!(
            "queue --conflicts --annotator {who} --policy mixed --json"
        ));
        queue.as_array().unwrap().len()
    };
    assert_eq!((listed("eve"), listed("ada"), listed("bob")), (2, 0, 0));
    let told = sandbox.done("queue --conflicts --annotator ada");
    assert!(
        told.stderr
            .contains("people differ on 2 pairs already judged by you")
    );
}

#[test]
fn a_person_has_one_spelling_and_a_blank_name_is_refused() {
    let sandbox = annotated();
    let given = |who: &str| {
        let verdict = "override --query q0 --a d0 --b d1 --verdict a --annotator".list();
        sandbox.run(&[&verdict[..], &[who]].concat()[..])
    };
    for who in ["jos\u{e9}", "jose\u{301}", " jos\u{e9} "] {
        assert_eq!(given(who).code, Some(0), "{who:?}");
    }
    assert_eq!(given("  ").code, Some(2));
    assert_eq!(verdicts(&sandbox).len(), 1);
    assert!(given("Jose").stderr.contains("looks like jos\u{e9};"));
}

#[test]
fn changed_settings_are_logged_and_verdicts_know_their_guideline() {
    let sandbox = annotated();
    sandbox.write("g.md", "Prefer trials.\n");
    sandbox.done("config project --guideline g.md --final majority");
    says(&sandbox, "ada", "d0", "d1", "a");
    let log = sandbox.json("log --json");
    let changes: Vec<&str> = log
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["event"] == "setting")
        .map(|row| row["about"].as_str().unwrap())
        .collect();
    assert_eq!(changes.len(), 2, "{changes:?}");
    assert!(changes.contains(&"final: latest → majority"), "{changes:?}");
    let guideline = verdicts(&sandbox)[0]["guideline"].clone();
    let guideline = guideline.as_str().unwrap();
    assert_eq!(guideline.len(), 64);
    assert!(changes.iter().any(|change| change.contains(guideline)));
}
