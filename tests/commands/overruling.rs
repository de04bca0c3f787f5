//! `overrule override` and `undo`: a person's verdict, and taking it back to the last bit.

use crate::support::{AI_SCORES, Arguments as _, Sandbox, dataset};
use rstest::rstest;
use serde_json::{Value, json};

fn annotated() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("in.jsonl", dataset([12]));
    sandbox.done("annotate in.jsonl out.jsonl --cycles 2");
    sandbox
}

fn matrix(sandbox: &Sandbox) -> String {
    sandbox.done("matrix --query q0 --json").text().to_owned()
}

fn verdict(a: &str, b: &str, verdict: &str) -> String {
    format!("override --query q0 --a {a} --b {b} --verdict {verdict}")
}

/// Two documents whose pair has, or has not, been fought.
fn pair(sandbox: &Sandbox, fought: bool) -> (String, String) {
    let matrix: Value = serde_json::from_str(&matrix(sandbox)).unwrap();
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
    let sandbox = annotated();
    let before = matrix(&sandbox);
    let (better, worse) = pair(&sandbox, fought);
    for decision in ["much-b", "b", "tie", "a", "much-a"] {
        let ran = sandbox.done(&verdict(&better, &worse, decision));
        let said = [
            "contradicts the judges' votes; counts as ",
            "confirms the judges' votes; counts as ",
        ];
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
        assert_ne!(matrix(&sandbox), before, "{decision}");
        assert_eq!(sandbox.json("status --json")["verdicts"], 1);
        let ran = sandbox.done("undo");
        assert!(ran.text().starts_with("q0: undone: "), "{}", ran.text());
        assert_eq!(matrix(&sandbox), before, "{decision}");
    }
    sandbox.refused("undo", 2, &["no verdict by \"tester\" to undo"]);
}

#[test]
fn cannot_tell_is_stored_and_moves_no_score() {
    let sandbox = annotated();
    let scores = |sandbox: &Sandbox| {
        let matrix: Value = serde_json::from_str(&matrix(sandbox)).unwrap();
        matrix["documents"].clone()
    };
    let before = scores(&sandbox);
    let (a, b) = pair(&sandbox, true);
    let ran = sandbox.done(&verdict(&a, &b, "cannot-tell"));
    ran.prints("the judges' votes stay as they are");
    assert_eq!(scores(&sandbox), before);
    assert_eq!(sandbox.json("status --json")["verdicts"], 1);
}

#[test]
fn the_latest_verdict_on_a_pair_counts_in_either_orientation() {
    let sandbox = annotated();
    let (a, b) = pair(&sandbox, true);
    sandbox.done(&verdict(&a, &b, "much-a"));
    let once = matrix(&sandbox);
    sandbox.done(&verdict(&b, &a, "much-a"));
    assert_ne!(matrix(&sandbox), once);
    assert_eq!(sandbox.json("status --json")["verdicts"], 1);
    sandbox.done("undo");
    assert_eq!(matrix(&sandbox), once, "the earlier verdict counts again");
    sandbox.done(&verdict(&b, &a, "much-b"));
    assert_eq!(
        matrix(&sandbox),
        once,
        "the same verdict said the other way round"
    );
}

#[test]
fn undo_takes_back_only_ones_own_verdicts() {
    let sandbox = annotated();
    let (a, b) = pair(&sandbox, true);
    sandbox.done(&(verdict(&a, &b, "a") + " --annotator ada"));
    sandbox.refused("undo", 2, &["\"tester\""]);
    let undone = sandbox.json("undo --annotator ada --json");
    assert_eq!(undone["verdict"], "a");
    assert_eq!((&undone["a"], &undone["b"]), (&json!(a), &json!(b)));
}

#[test]
fn a_verdict_is_shown_with_its_battle() {
    let sandbox = Sandbox::new();
    sandbox.done(&["import", AI_SCORES]);
    let arguments = "override --query capital-of-france --a d3 --b d2 --verdict much-a --json";
    let output = sandbox.json(&[&arguments.list()[..], &["--note", "a joke"]].concat());
    assert_eq!(output["verdict"], "much-a");
    let moved = output["moved"].as_array().unwrap();
    assert!(moved.iter().any(|row| row["document"] == "d3"), "{output}");
    let battles = sandbox.json("battles --query capital-of-france --document d3 --json");
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
        assert_eq!(battle["replaced"], false);
        assert_eq!(
            battle["votes"].as_array().unwrap().len(),
            3,
            "the votes stay visible"
        );
    }
    sandbox.done("config project --override-mode replace");
    let battles = sandbox.json("battles --query capital-of-france --document d3 --json");
    let replaced = |battle: &Value| battle["replaced"] == true;
    assert!(battles["battles"].as_array().unwrap().iter().all(replaced));
    let text = sandbox.done("battles --query capital-of-france");
    assert!(text.text().contains("overruled by tester: "));
}

#[rstest]
#[case::query(&["override", "--query", "q9", "--a", "d1", "--b", "d2", "--verdict", "a"], &["\"q9\"", "overrule queries"])]
#[case::document(&["override", "--query", "q0", "--a", "d99", "--b", "d2", "--verdict", "a"], &["\"d99\""])]
#[case::other_document(&["override", "--query", "q0", "--a", "d1", "--b", "", "--verdict", "a"], &["\"\""])]
#[case::same_document(&["override", "--query", "q0", "--a", "d1", "--b", "d1", "--verdict", "a"], &["same document"])]
#[case::verdict(&["override", "--query", "q0", "--a", "d1", "--b", "d2", "--verdict", "better"], &["cannot-tell"])]
fn a_verdict_on_what_is_not_there_is_refused(#[case] arguments: &[&str], #[case] words: &[&str]) {
    let sandbox = annotated();
    let before = matrix(&sandbox);
    sandbox.refused(arguments, 2, words);
    assert_eq!(matrix(&sandbox), before);
    assert_eq!(sandbox.count("SELECT count(*) FROM verdict"), 0);
}

#[test]
fn verdicts_export_as_lines_and_as_a_table() {
    let sandbox = annotated();
    let noted = verdict("d0", "d1", "a");
    sandbox.done(&[&noted.list()[..], &["--note", "names the trial"]].concat());
    sandbox.done(&verdict("d2", "d3", "tie"));
    sandbox.done(&verdict("d4", "d5", "b"));
    sandbox.done("undo");
    let lines = sandbox.done("export verdicts --format jsonl");
    let rows: Vec<Value> = lines
        .text()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(rows.len(), 2, "a verdict that was undone does not count");
    assert_eq!(rows[0]["note"], "names the trial");
    assert_eq!(rows[0]["annotator"], "tester");
    assert!(rows[1]["note"].is_null());
    let table = sandbox.done("export verdicts");
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
        "blind_verdict",
        "guideline",
    ];
    assert_eq!(reader.headers().unwrap(), headers.as_slice());
    let records: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().unwrap();
    assert_eq!(records.len(), 2);
    assert_eq!(&records[0][5], "names the trial");
    assert_eq!(&records[0][0], rows[0]["uid"].as_str().unwrap());
}

#[test]
fn no_cell_of_a_table_is_a_formula() {
    let sandbox = Sandbox::new();
    let document = |id: &str| json!({ "id": id, "content": format!("apples {id}") });
    let documents = ["=cmd|'/C calc'!A0", "@SUM(1)", "+1+1", "-2+3"].map(document);
    let line = json!({ "query": { "id": "=q()", "query": "apples" }, "documents": documents });
    sandbox.write("in.jsonl", line.to_string());
    sandbox.done("annotate in.jsonl out.jsonl");
    let note = "=HYPERLINK(\"http://x\",\"y\")";
    sandbox.done(&[
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
        "export verdicts",
        "export votes",
        "matrix --query =q() --format csv",
    ] {
        let table = sandbox.done(arguments);
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

/// How far a document is above another, in zELO.
fn gap(sandbox: &Sandbox, upper: &str, lower: &str) -> f64 {
    let matrix: Value = serde_json::from_str(&matrix(sandbox)).unwrap();
    let rows = matrix["documents"].as_array().unwrap();
    let zelo = |document: &str| {
        let row = rows.iter().find(|row| row["document"] == document).unwrap();
        row["zelo"].as_f64().unwrap()
    };
    zelo(upper) - zelo(lower)
}

#[rstest]
#[case::alongside(
    "alongside",
    "contradicts the judges' votes; counts as a direction, alongside them"
)]
#[case::former_name(
    "beside",
    "contradicts the judges' votes; counts as a direction, alongside them"
)]
#[case::replace("replace", ", instead of them")]
fn a_contradicting_verdict_raises_its_winner_in_every_mode(
    #[case] mode: &str,
    #[case] words: &str,
) {
    let sandbox = annotated();
    let settings = sandbox.json(&format!("config project --override-mode {mode} --json"));
    let expected = if mode == "beside" { "alongside" } else { mode };
    assert_eq!(settings["override_mode"], expected);
    let matrix: Value = serde_json::from_str(&matrix(&sandbox)).unwrap();
    let name = |at: usize| {
        matrix["documents"][at]["document"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let against_the_row = |(row, column): &(usize, usize)| {
        let share = matrix["observed"][*row][*column].as_f64();
        share.is_some_and(|share| share < 0.5)
    };
    let cells = (0..12).flat_map(|row| (0..12).map(move |column| (row, column)));
    let contradicted: Vec<_> = cells.filter(against_the_row).take(8).collect();
    assert_eq!(contradicted.len(), 8);
    for (row, column) in contradicted {
        let (winner, loser) = (name(row), name(column));
        let gap = || gap(&sandbox, &winner, &loser);
        let before = gap();
        sandbox.done(&verdict(&winner, &loser, "a")).prints(words);
        let plain = gap();
        sandbox.done(&verdict(&winner, &loser, "much-a"));
        let by_far = gap();
        assert!(
            before < plain && plain <= by_far,
            "{before} {plain} {by_far}"
        );
        sandbox.done("undo");
        sandbox.done("undo");
        assert_eq!(gap(), before);
    }
}

#[test]
fn replace_with_joint_weights_is_reported_to_count_as_alongside() {
    let sandbox = annotated();
    sandbox.done("config project --override-mode replace --judge-weights joint");
    let rating = &sandbox.json("status --json")["rating"];
    assert_eq!(rating["override_mode"], "replace");
    let note = "with judge weights `joint`, override mode `replace` counts as `alongside`";
    assert_eq!(rating["override_note"], note);
    sandbox.done("status").prints(note);
}
