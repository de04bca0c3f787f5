//! Several people on one project: whose verdict counts, who said what, the log, and the known answers.

use crate::support::{AI_SCORES, Desk, dataset};
use rstest::rstest;
use serde_json::{Value, json};

/// A query of eight documents, all of them judged by the offline judges.
pub(crate) fn annotated() -> Desk {
    let desk = Desk::new();
    desk.write("in.jsonl", dataset([8]));
    desk.done(&["annotate", "in.jsonl", "out.jsonl", "--cycles", "3"]);
    desk
}

pub(crate) fn says(desk: &Desk, who: &str, a: &str, b: &str, verdict: &str) -> Value {
    desk.json(&[
        "override",
        "--annotator",
        who,
        "--query",
        "q0",
        "--a",
        a,
        "--b",
        b,
        "--verdict",
        verdict,
        "--json",
    ])
}

fn scores(desk: &Desk) -> Value {
    desk.json(&["matrix", "--query", "q0", "--json"])["documents"].clone()
}

fn follow(desk: &Desk, rule: &[&str]) {
    desk.done(&[&["config", "project", "--final"], rule].concat());
}

fn verdicts(desk: &Desk) -> Vec<Value> {
    let lines = desk.done(&["export", "verdicts", "--format", "jsonl"]);
    let rows = lines.text().lines();
    rows.map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn the_rule_decides_whose_verdict_moves_the_scores() {
    let desk = annotated();
    let judges_alone = scores(&desk);
    says(&desk, "ada", "d0", "d1", "much-a");
    let of_ada = scores(&desk);
    says(&desk, "eve", "d1", "d0", "much-a");
    let of_eve = scores(&desk);
    assert_ne!(of_ada, of_eve);

    follow(&desk, &["majority"]);
    assert_eq!(
        scores(&desk),
        judges_alone,
        "one against one is no majority"
    );
    let status = desk.json(&["status", "--json"]);
    assert_eq!(
        (
            &status["verdicts"],
            &status["conflicts"],
            &status["rating"]["final"]
        ),
        (&json!(0), &json!(1), &json!("majority"))
    );

    follow(&desk, &["adjudicator", "--adjudicator", "ada"]);
    assert_eq!(scores(&desk), of_ada);
    let settings = desk.json(&["config", "project", "--json"]);
    assert_eq!(
        (&settings["final"], &settings["adjudicator"]),
        (&json!("adjudicator"), &json!("ada"))
    );
    follow(&desk, &["adjudicator", "--adjudicator", "bob"]);
    assert_eq!(
        scores(&desk),
        judges_alone,
        "bob says nothing, and the others differ"
    );

    follow(&desk, &["latest"]);
    assert_eq!(scores(&desk), of_eve);
    follow(&desk, &["majority"]);
    let told = says(&desk, "bob", "d0", "d1", "a");
    assert_eq!(told["in_force"], true, "two of three, and not both by far");
    desk.done(&["undo", "--annotator", "bob"]);
    says(&desk, "bob", "d0", "d1", "cannot-tell");
    assert_eq!(scores(&desk), judges_alone, "who cannot tell does not vote");
    desk.done(&["undo", "--annotator", "bob"]);
    desk.done(&["undo", "--annotator", "eve"]);
    assert_eq!(scores(&desk), of_ada);
}

#[test]
fn a_verdict_that_does_not_count_is_said_not_to() {
    let desk = annotated();
    follow(&desk, &["adjudicator", "--adjudicator", "ada"]);
    says(&desk, "ada", "d0", "d1", "a");
    let arguments = ["--query", "q0", "--a", "d0", "--b", "d1", "--verdict", "b"];
    let ran = desk.done(&[&["override"], &arguments[..]].concat());
    assert!(
        ran.text().contains(
            "d1 is better: stored; in force is the verdict of ada (adjudicator): d0 is better"
        ),
        "{}",
        ran.text()
    );
    let ran = desk.done(&["undo"]);
    assert!(
        ran.text().contains("in force now: d0 is better"),
        "{}",
        ran.text()
    );
}

#[rstest]
#[case::nobody(&["--final", "adjudicator"], "--adjudicator NAME")]
#[case::empty(&["--final", "adjudicator", "--adjudicator", " "], "--adjudicator is empty")]
#[case::needless(&["--final", "majority", "--adjudicator", "ada"], "goes with --final adjudicator")]
#[case::unknown(&["--final", "vote"], "possible values")]
fn a_rule_that_makes_no_sense_is_refused(#[case] rule: &[&str], #[case] words: &str) {
    let desk = annotated();
    let before = desk.json(&["config", "project", "--json"]);
    desk.refused(&[&["config", "project"], rule].concat(), 2, &[words]);
    assert_eq!(desk.json(&["config", "project", "--json"]), before);
}

#[test]
fn who_said_what_is_told_with_the_battle() {
    let desk = Desk::new();
    desk.done(&["import", AI_SCORES]);
    let give = |who: &str, a: &str, b: &str, verdict: &str, more: &[&str]| {
        let arguments = [
            "override",
            "--annotator",
            who,
            "--query",
            "capital-of-france",
            "--a",
            a,
            "--b",
            b,
            "--verdict",
            verdict,
        ];
        desk.done(&[&arguments[..], more].concat());
    };
    give(
        "ada",
        "d2",
        "d3",
        "a",
        &["--confidence", "high", "--cause", "judge-wrong"],
    );
    give("eve", "d3", "d2", "much-a", &["--note", "it rhymes"]);
    give("eve", "d1", "d3", "tie", &[]);
    let output = desk.json(&["battles", "--query", "capital-of-france", "--json"]);
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
    let text = desk.done(&["battles", "--query", "capital-of-france"]);
    for words in [
        "overruled by eve: d3 is much better",
        "ada: d2 is better (sure; the judges are wrong)",
        "eve: d3 is much better (it rhymes)",
        "people differ: eve counts (latest)",
        "never fought",
    ] {
        assert!(text.text().contains(words), "{words}: {}", text.text());
    }
    let one = desk.json(&[
        "battles",
        "--query",
        "capital-of-france",
        "--document",
        "d2",
        "--json",
    ]);
    assert_eq!(one["judged_without_battle"], json!([]));
}

#[test]
fn every_annotators_verdict_is_exported_with_all_that_is_known_of_it() {
    let desk = annotated();
    says(&desk, "ada", "d0", "d1", "a");
    says(&desk, "eve", "d0", "d1", "b");
    desk.done(&[
        "override",
        "--annotator",
        "ada",
        "--query",
        "q0",
        "--a",
        "d1",
        "--b",
        "d0",
        "--verdict",
        "b",
        "--confidence",
        "low",
        "--cause",
        "query-unclear",
    ]);
    let rows = verdicts(&desk);
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
    desk.done(&["undo", "--annotator", "ada"]);
    assert_eq!(verdicts(&desk).len(), 1);
    desk.refused(&["undo", "--annotator", "ada"], 2, &["\"ada\""]);
    desk.refused(
        &[
            "override",
            "--query",
            "q0",
            "--a",
            "d0",
            "--b",
            "d1",
            "--verdict",
            "a",
            "--cause",
            "tired",
        ],
        2,
        &["judge-wrong"],
    );
    desk.refused(&["undo", "--annotator", ""], 2, &["--annotator"]);
}

#[test]
fn the_annotator_is_the_options_then_the_environments() {
    let desk = annotated();
    desk.write("config.toml", "annotator = \"from the file\"\n");
    let who = |options: &[&str], variable: Option<&str>| {
        let mut command = desk.command(&[options, &["config", "show", "--json"]].concat());
        command.env_remove("OVERRULE_ANNOTATOR");
        if let Some(name) = variable {
            command.env("OVERRULE_ANNOTATOR", name);
        }
        let shown: Value = serde_json::from_slice(&command.output().unwrap().stdout).unwrap();
        shown["annotator"].as_str().unwrap().to_owned()
    };
    let file = ["--config", "config.toml"];
    assert_eq!(who(&file, None), "from the file");
    assert_eq!(who(&file, Some("env")), "env");
    assert_eq!(
        who(&[&file[..], &["--annotator", "me"]].concat(), Some("env")),
        "me"
    );
}

#[test]
fn imports_are_in_the_log_and_come_along() {
    let desk = Desk::new();
    desk.write("in.jsonl", dataset([3, 2]));
    desk.done(&["import", "in.jsonl", "--annotator", "ada"]);
    desk.done(&["import", "in.jsonl", "--dry-run"]);
    desk.write("qrels.tsv", "query-id\tcorpus-id\tscore\nq0\td1\t1\n");
    desk.done(&["import", "qrels.tsv", "--annotator", "eve"]);
    let rows = log(&desk, &[]);
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
            "in.jsonl: 2 queries added, 0 were there already"
        ]
    );
    assert!(told[1][2].starts_with("qrels.tsv: ") && told[1][1] == "eve");
    assert_eq!(log(&desk, &["--annotator", "eve"]), rows[1..]);
    assert_eq!(log(&desk, &["--query", "q0"]), [] as [Value; 0]);

    std::fs::rename(desk.project(), desk.path("other.db")).unwrap();
    desk.done(&["import", "in.jsonl", "--annotator", "bob"]);
    for _ in 0..2 {
        desk.done(&["merge", "other.db"]);
        let merged = log(&desk, &[]);
        assert_eq!((&merged[..2], merged.len()), (&rows[..], 3));
    }
}

#[test]
fn the_project_tells_of_its_guideline_and_of_an_unknown_adjudicator() {
    let desk = annotated();
    let project = ["config", "project"];
    assert_eq!(
        desk.json(&["config", "project", "--json"])["guideline"],
        Value::Null
    );
    desk.write("guide.md", "\n# Helpful or not?\n\nPréfère what answers.\n");
    let text = desk.done(&[&project[..], &["--guideline", "guide.md"]].concat());
    assert!(
        text.text()
            .contains("[guideline]\nfirst_line = \"# Helpful or not?\"\ncharacters = 42\n"),
        "{}",
        text.text()
    );
    says(&desk, "ada", "d0", "d1", "a");
    let name = |name: &str| {
        let options = ["--final", "adjudicator", "--adjudicator", name];
        desk.done(&[&project[..], &options].concat()).stderr
    };
    let note = name("eve");
    assert!(
        note.contains("nobody called eve has judged") && note.contains("known: ada"),
        "{note}"
    );
    assert_eq!(name("ada"), "");
}

fn log(desk: &Desk, more: &[&str]) -> Vec<Value> {
    let rows = desk.json(&[&["log", "--json"], more].concat());
    rows.as_array().unwrap().clone()
}

#[test]
fn the_log_has_every_verdict_and_undo_with_before_and_after() {
    let desk = annotated();
    says(&desk, "ada", "d0", "d1", "a");
    says(&desk, "eve", "d0", "d1", "tie");
    says(&desk, "ada", "d1", "d0", "a");
    desk.done(&["undo", "--annotator", "ada"]);
    desk.done(&[
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
    let rows = log(&desk, &[]);
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

    assert_eq!(log(&desk, &["--annotator", "ada"]).len(), 3);
    assert_eq!(log(&desk, &["--query", "q0"]).len(), 5);
    assert_eq!(log(&desk, &["--limit", "2"]), rows[5..]);
    assert_eq!(log(&desk, &["--limit", "0"]), [] as [Value; 0]);
    desk.refused(&["log", "--query", "q9"], 2, &["\"q9\""]);
    let table = desk.done(&["log", "--csv"]);
    let mut reader = csv::Reader::from_reader(table.stdout.as_slice());
    assert_eq!(&reader.headers().unwrap()[0], "when");
    assert_eq!(reader.records().count(), 7);
    let text = desk.done(&["log", "--limit", "1"]);
    assert!(
        text.text().contains("cannot-tell  both say it"),
        "{}",
        text.text()
    );
}
