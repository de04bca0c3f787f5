//! `overrule override` and `undo`: a person's verdict, and taking it back to the last bit.

use crate::support::{AI_SCORES, Desk, dataset};
use rstest::rstest;
use serde_json::{Value, json};

fn annotated() -> Desk {
    let desk = Desk::new();
    desk.write("in.jsonl", dataset([12]));
    desk.done(&["annotate", "in.jsonl", "out.jsonl", "--cycles", "2"]);
    desk
}

fn matrix(desk: &Desk) -> String {
    desk.done(&["matrix", "--query", "q0", "--json"])
        .text()
        .to_owned()
}

fn verdict<'a>(a: &'a str, b: &'a str, verdict: &'a str) -> Vec<&'a str> {
    vec![
        "override",
        "--query",
        "q0",
        "--a",
        a,
        "--b",
        b,
        "--verdict",
        verdict,
    ]
}

/// Two documents whose pair has, or has not, been fought.
fn pair(desk: &Desk, fought: bool) -> (String, String) {
    let matrix: Value = serde_json::from_str(&matrix(desk)).unwrap();
    let name = |at: usize| {
        matrix["documents"][at]["document"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let (row, column) = (0..12)
        .flat_map(|row| (0..12).map(move |column| (row, column)))
        .find(|(row, column)| row != column && matrix["observed"][row][column].is_null() != fought)
        .unwrap();
    (name(row), name(column))
}

#[rstest]
#[case::fought(true)]
#[case::never_fought(false)]
fn a_verdict_moves_the_scores_and_undo_restores_them_byte_for_byte(#[case] fought: bool) {
    let desk = annotated();
    let before = matrix(&desk);
    let (better, worse) = pair(&desk, fought);
    for decision in ["much-b", "b", "tie", "a", "much-a"] {
        let ran = desk.done(&verdict(&better, &worse, decision));
        let said = ["replaces the judges' votes", "confirms the judges' votes"];
        let said = if fought {
            said
        } else {
            ["no votes on the pair"; 2]
        };
        assert!(
            said.iter().any(|words| ran.text().contains(words)),
            "{}",
            ran.text()
        );
        assert_ne!(matrix(&desk), before, "{decision}");
        assert_eq!(desk.json(&["status", "--json"])["verdicts"], 1);
        let ran = desk.done(&["undo"]);
        assert!(ran.text().starts_with("q0: taken back: "), "{}", ran.text());
        assert_eq!(matrix(&desk), before, "{decision}");
    }
    desk.refused(&["undo"], 2, &["no verdict by \"tester\" to take back"]);
}

#[test]
fn cannot_tell_is_stored_and_moves_no_score() {
    let desk = annotated();
    let scores = |desk: &Desk| {
        let matrix: Value = serde_json::from_str(&matrix(desk)).unwrap();
        matrix["documents"].clone()
    };
    let before = scores(&desk);
    let (a, b) = pair(&desk, true);
    let ran = desk.done(&verdict(&a, &b, "cannot-tell"));
    assert!(
        ran.text().contains("the judges' votes stay as they are"),
        "{}",
        ran.text()
    );
    assert_eq!(scores(&desk), before);
    assert_eq!(desk.json(&["status", "--json"])["verdicts"], 1);
}

#[test]
fn the_latest_verdict_on_a_pair_counts_in_either_orientation() {
    let desk = annotated();
    let (a, b) = pair(&desk, true);
    desk.done(&verdict(&a, &b, "much-a"));
    let once = matrix(&desk);
    desk.done(&verdict(&b, &a, "much-a"));
    assert_ne!(matrix(&desk), once);
    assert_eq!(desk.json(&["status", "--json"])["verdicts"], 1);
    desk.done(&["undo"]);
    assert_eq!(matrix(&desk), once, "the earlier verdict is in force again");
    desk.done(&verdict(&b, &a, "much-b"));
    assert_eq!(
        matrix(&desk),
        once,
        "the same verdict said the other way round"
    );
}

#[test]
fn undo_takes_back_only_ones_own_verdicts() {
    let desk = annotated();
    let (a, b) = pair(&desk, true);
    desk.done(&[verdict(&a, &b, "a"), vec!["--annotator", "ada"]].concat());
    desk.refused(&["undo"], 2, &["\"tester\""]);
    let undone = desk.json(&["undo", "--annotator", "ada", "--json"]);
    assert_eq!(undone["verdict"], "a");
    assert_eq!((&undone["a"], &undone["b"]), (&json!(a), &json!(b)));
}

#[test]
fn a_verdict_is_shown_with_its_battle() {
    let desk = Desk::new();
    desk.done(&["import", AI_SCORES]);
    let arguments = [
        "override",
        "--query",
        "capital-of-france",
        "--a",
        "d3",
        "--b",
        "d2",
        "--verdict",
        "much-a",
    ];
    let output = desk.json(&[&arguments[..], &["--note", "a joke", "--json"]].concat());
    assert_eq!(output["verdict"], "much-a");
    let moved = output["moved"].as_array().unwrap();
    assert!(moved.iter().any(|row| row["document"] == "d3"), "{output}");
    let battles = desk.json(&[
        "battles",
        "--query",
        "capital-of-france",
        "--document",
        "d3",
        "--json",
    ]);
    for battle in battles["battles"].as_array().unwrap() {
        let expected = if battle["a"] == "d3" {
            "much-a"
        } else {
            "much-b"
        };
        assert_eq!(
            battle["verdict"]["decision"], expected,
            "told in the battle's own orientation"
        );
        assert_eq!(battle["verdict"]["note"], "a joke");
        assert_eq!(battle["replaced"], true);
        assert_eq!(
            battle["votes"].as_array().unwrap().len(),
            3,
            "the votes stay visible"
        );
    }
    let text = desk.done(&["battles", "--query", "capital-of-france"]);
    assert!(text.text().contains("overruled by tester: "));
}

#[rstest]
#[case::query(&["override", "--query", "q9", "--a", "d1", "--b", "d2", "--verdict", "a"], &["\"q9\"", "overrule queries"])]
#[case::document(&["override", "--query", "q0", "--a", "d99", "--b", "d2", "--verdict", "a"], &["\"d99\""])]
#[case::other_document(&["override", "--query", "q0", "--a", "d1", "--b", "", "--verdict", "a"], &["\"\""])]
#[case::same_document(&["override", "--query", "q0", "--a", "d1", "--b", "d1", "--verdict", "a"], &["same document"])]
#[case::verdict(&["override", "--query", "q0", "--a", "d1", "--b", "d2", "--verdict", "better"], &["cannot-tell"])]
fn a_verdict_on_what_is_not_there_is_refused(#[case] arguments: &[&str], #[case] words: &[&str]) {
    let desk = annotated();
    let before = matrix(&desk);
    desk.refused(arguments, 2, words);
    assert_eq!(matrix(&desk), before);
    assert_eq!(desk.count("SELECT count(*) FROM verdict"), 0);
}

#[test]
fn verdicts_export_as_lines_and_as_a_table() {
    let desk = annotated();
    desk.done(&[verdict("d0", "d1", "a"), vec!["--note", "names the trial"]].concat());
    desk.done(&verdict("d2", "d3", "tie"));
    desk.done(&verdict("d4", "d5", "b"));
    desk.done(&["undo"]);
    let lines = desk.done(&["export", "verdicts", "--format", "jsonl"]);
    let rows: Vec<Value> = lines
        .text()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(
        rows.len(),
        2,
        "a verdict that was taken back is not in force"
    );
    assert_eq!(rows[0]["note"], "names the trial");
    assert_eq!(rows[0]["annotator"], "tester");
    assert!(rows[1]["note"].is_null());
    let table = desk.done(&["export", "verdicts"]);
    let mut reader = csv::Reader::from_reader(table.stdout.as_slice());
    let headers = [
        "uid",
        "query",
        "a",
        "b",
        "verdict",
        "note",
        "annotator",
        "created_ms",
        "in_force",
        "confidence",
        "cause",
        "blind",
        "active_ms",
        "policy",
        "role",
        "inclusion",
        "revealed_ms",
        "shown",
        "replaces",
    ];
    assert_eq!(reader.headers().unwrap(), headers.as_slice());
    let records: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().unwrap();
    assert_eq!(records.len(), 2);
    assert_eq!(&records[0][5], "names the trial");
    assert_eq!(&records[0][0], rows[0]["uid"].as_str().unwrap());
}

#[test]
fn no_cell_of_a_table_is_a_formula() {
    let desk = Desk::new();
    let document = |id: &str| json!({ "id": id, "content": format!("apples {id}") });
    let documents = ["=cmd|'/C calc'!A0", "@SUM(1)", "+1+1", "-2+3"].map(document);
    let line = json!({ "query": { "id": "=q()", "query": "apples" }, "documents": documents });
    desk.write("in.jsonl", line.to_string());
    desk.done(&["annotate", "in.jsonl", "out.jsonl"]);
    let note = "=HYPERLINK(\"http://x\",\"y\")";
    desk.done(&[
        "override",
        "--query",
        "=q()",
        "--a",
        "@SUM(1)",
        "--b=+1+1",
        "--verdict",
        "a",
        "--note",
        note,
    ]);
    for arguments in [
        &["export", "verdicts"][..],
        &["export", "votes"],
        &["matrix", "--query", "=q()", "--format", "csv"],
    ] {
        let table = desk.done(arguments);
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .from_reader(table.stdout.as_slice());
        let mut defused = 0;
        for record in reader.records() {
            for cell in &record.unwrap() {
                assert!(
                    !cell.starts_with(['=', '+', '-', '@', '\t', '\r'])
                        || cell.parse::<f64>().is_ok(),
                    "{arguments:?}: {cell:?}"
                );
                defused += usize::from(cell.starts_with('\''));
            }
        }
        assert!(defused >= 4, "{arguments:?}: {}", table.text());
    }
}
