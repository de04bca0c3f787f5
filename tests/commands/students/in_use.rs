//! Students beside the judges, in scores, in the queue and in sampling.

use super::{PREDICTIONS, judged, judged_in, lines};
use crate::support::Sandbox;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write as _;

#[test]
fn a_student_stands_beside_the_judges_and_is_a_layer_of_the_matrix() {
    let sandbox = judged();
    let alone = sandbox.json("judges --json");
    assert_eq!(alone["students"], json!([]));
    sandbox.write("p.csv", PREDICTIONS);
    sandbox.done("student import p.csv --name llama --step 9");
    let judges = sandbox.json("judges --json");
    assert_eq!(judges["judges"], alone["judges"]);
    let card = &judges["students"][0];
    assert_eq!(
        (&card["student"], &card["step"]),
        (&json!("llama"), &json!(9))
    );
    assert_eq!(card["order"]["pairs"], 1);
    // Its figures are those of its report, where it has judged pairs.
    let report = sandbox.json("student report --student llama --json");
    let figures = &report["steps"][0]["figures"];
    assert_eq!(card["pairs"], figures["n"]);
    assert_eq!(card["ece"], figures["calibration"]["ece"]);
    sandbox.done("judges").prints("llama step 9");
    // The layer: what it expects of the row's document, judged or not.
    let matrix = sandbox.json("matrix --query q0 --layer student:llama --order hybrid --json");
    let layer = &matrix["student"];
    assert_eq!(layer["step"], 9);
    let p = |name: &str, row: usize, column: usize| layer[name][row][column].as_f64();
    // Both orders: (.7 + .6) / 2 for q0-d0.
    assert!((p("p_row", 0, 1).unwrap() - 0.65).abs() < 1e-12);
    assert_eq!(p("p_row", 0, 1), p("p_column", 1, 0));
    assert!((p("p_tie", 1, 2).unwrap() - 0.4).abs() < 1e-12);
    assert_eq!((p("p_row", 0, 2), p("p_row", 3, 3)), (None, None));
    let observed = sandbox.json("matrix --query q0 --order hybrid --json");
    assert_eq!(matrix["observed"], observed["observed"]);
    let csv = sandbox.done("matrix --query q0 --layer student:llama --order hybrid --format csv");
    // q0-d0 against q0-d1: .65 + .05 ties.
    let row = csv.text().lines().nth(1).unwrap().to_owned();
    let cell: f64 = row.split(',').nth(7).unwrap().parse().unwrap();
    assert!((cell - 0.7).abs() < 1e-12, "{row}");
    let fought = |row: usize, column: usize| !observed["observed"][row][column].is_null();
    let text = sandbox.done("matrix --query q0 --layer student:llama --order hybrid");
    let line = text
        .text()
        .lines()
        .find(|line| line.contains("q0-d0"))
        .unwrap();
    let sign = if fought(0, 1) { "\\7" } else { "\\₇" };
    assert!(line.contains(sign), "{line}");
    sandbox
        .done("matrix --query q0 --layer student:llama --format svg")
        .prints("what a student expects");
    sandbox.refused(
        "matrix --query q0 --layer student:lama",
        2,
        &["it has llama"],
    );
    sandbox.refused(
        "matrix --query q0 --layer lama",
        2,
        &["expected observed or student:NAME"],
    );
}

#[test]
fn a_student_counts_in_scores_only_where_it_is_told_to() {
    let sandbox = judged_in(2);
    let scores = || sandbox.done("export annotated").text().to_owned();
    let alone = scores();
    sandbox.refused(
        "config project --student own",
        2,
        &["no student \"own\"", "the project has none"],
    );
    sandbox.refused(
        "config project --student-weight auto",
        2,
        &["the project has no student"],
    );
    sandbox.done("student train --name own");
    assert_eq!(scores(), alone);
    let named = sandbox.json("config project --student own --json");
    assert_eq!(named["student"]["weight_in_force"], 0.0);
    assert_eq!(scores(), alone);
    sandbox.refused(
        "config project --student-weight -1",
        2,
        &["--student-weight"],
    );
    let taught = sandbox
        .done("student export --form pointwise")
        .text()
        .to_owned();
    let counted = sandbox.json("config project --student-weight 0.5 --json");
    assert_eq!(counted["student"]["weight"], 0.5);
    let with = scores();
    assert_ne!(with, alone);
    let note = "scores count student own too: 0.5 battles per document, on";
    // No student learns what a student said, and grades made of scores say what is in them.
    assert_eq!(
        sandbox.done("student export --form pointwise").text(),
        taught
    );
    sandbox
        .done("export qrels --from zelo")
        .says("scores count student own too: 0.5 battles per document");
    sandbox.done("matrix --query q0").prints(note);
    sandbox
        .done("export run")
        .says("scores count student own too");
    sandbox
        .done("status")
        .prints("counts 0.5 battles per document in the fit (set)");
    let matrix = sandbox.json("matrix --query q0 --json");
    let fought = matrix["observed"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|row| row.as_array().unwrap());
    let fought = fought.filter(|cell| !cell.is_null()).count() / 2;
    assert_eq!(matrix["student_in_fit"]["pairs"], 8 * 7 / 2 - fought);
    // What it learns from is what people and judges said, not what it said itself.
    let hash = sandbox.json("student train --json")["model"]["training_hash"].clone();
    let listed = sandbox.json("student list --json");
    assert_eq!(listed[0]["model"]["training_hash"], hash);
    // In zBench's iteration, it counts in the same way.
    sandbox.done("config project --model zbench");
    sandbox
        .done("status")
        .prints("counts 0.5 battles per document in the fit (set)");
    let zbench = scores();
    sandbox.done("config project --student-weight 0");
    assert_ne!(scores(), zbench);
    sandbox.done("config project --model map --student -");
    assert_eq!(scores(), alone);
    assert!(sandbox.json("status --json")["student"].is_null());
    let auto = sandbox.done("config project --student own --student-weight auto");
    auto.says("6 queries)");
    // What changes the student has its weight estimated anew.
    sandbox.done("override --query q0 --a q0-d0 --b q0-d1 --verdict a");
    sandbox.done("student train --name own");
    sandbox.done("status").prints("6 queries)");
    sandbox
        .done("student report --student own")
        .says("each predicted by a model that never saw its query");
    // A student that is told the zELO of a query has seen each of its votes.
    sandbox.done("student train --other-battles --name told");
    let told = sandbox.done("config project --student told --student-weight auto");
    told.says("it has seen every vote that could test it");
    let told = sandbox.json("config project --json");
    assert_eq!(told["student"]["weight_in_force"], 0.0);
    assert_eq!(told["student"]["not_learned"], "saw-votes");
    sandbox
        .done("student import --help")
        .prints("--student-weight auto");
}

#[test]
fn the_queue_begins_with_what_a_student_would_not_have_said() {
    let sandbox = judged();
    sandbox.refused("queue --policy student", 2, &["the project has no student"]);
    let rows = lines(sandbox.done("student export --form pairwise").text());
    let mut text = String::new();
    let odd = rows.iter().position(|row| row["target"] == 1.0).unwrap();
    for (at, row) in rows.iter().enumerate() {
        let target = row["target"].as_f64().unwrap();
        let said = if at == odd { 1.0 - target } else { target };
        let line = json!({
            "query": row["query_id"], "a": row["a_id"], "b": row["b_id"],
            "p_a": 0.05 + 0.8 * (1.0 - said), "p_b": 0.05 + 0.8 * said, "p_tie": 0.1,
        });
        writeln!(text, "{line}").unwrap();
    }
    sandbox.write("p.jsonl", text);
    sandbox.done("student import p.jsonl --name llama");
    sandbox.done("config project --student llama");
    let first = &sandbox.json("queue --policy student --limit 3 --json")[0];
    let pair = BTreeSet::from([first["a"].as_str().unwrap(), first["b"].as_str().unwrap()]);
    let expected = BTreeSet::from([
        rows[odd]["a_id"].as_str().unwrap(),
        rows[odd]["b_id"].as_str().unwrap(),
    ]);
    assert_eq!(pair, expected, "{first}");
    // All votes were for the one that it gave .05: log2(1 / .05).
    let bits = first["priority"].as_f64().unwrap();
    assert!((bits - 20f64.log2()).abs() < 1e-9, "{first}");
}

#[test]
fn pairs_are_chosen_by_a_student_and_scores_rest_on_votes_alone() {
    let ask =
        "annotate in.jsonl out.jsonl --judges bm25,ngram,proximity --sampler top --battles 2 --yes";
    let sandbox = judged();
    let other = Sandbox::new();
    other.write(
        "in.jsonl",
        std::fs::read_to_string(sandbox.path("in.jsonl")).unwrap(),
    );
    other.done("import in.jsonl");
    other.refused(
        &format!("{ask} --prior student"),
        2,
        &["the project has no student"],
    );
    other.refused(
        "annotate in.jsonl out.jsonl --judges bm25 --prior student --yes",
        2,
        &["--prior student goes with --sampler swiss, eig or top"],
    );
    sandbox.done("student train --name own");
    sandbox.done("export predictions --student own --out own.csv");
    other.write(
        "own.csv",
        std::fs::read_to_string(sandbox.path("own.csv")).unwrap(),
    );
    other.done("student import own.csv --name own");
    other.done("config project --student own");
    other.done(&format!("{ask} --prior student"));
    let pairs = |sandbox: &Sandbox| -> BTreeSet<(String, String, String)> {
        let votes = lines(sandbox.done("export votes --format jsonl").text());
        let name = |row: &Value, key: &str| row[key].as_str().unwrap().to_owned();
        votes
            .iter()
            .map(|row| (name(row, "query"), name(row, "a"), name(row, "b")))
            .collect()
    };
    let plain = Sandbox::new();
    plain.write(
        "in.jsonl",
        std::fs::read_to_string(sandbox.path("in.jsonl")).unwrap(),
    );
    plain.done(ask);
    assert_ne!(pairs(&other), pairs(&plain));
    // Nothing of the student is in the scores.
    let matrix = other.json("matrix --query q0 --json");
    assert!(matrix["student_in_fit"].is_null());
}

#[test]
fn predictions_of_pairs_judged_since_are_known_by_the_pairs_and_not_by_their_number() {
    let sandbox = judged_in(1);
    let fought = sandbox.json("battles --query q0 --json");
    let fought: BTreeSet<[String; 2]> = fought["battles"]
        .as_array()
        .unwrap()
        .iter()
        .map(|battle| {
            let mut pair = ["a", "b"].map(|side| battle[side].as_str().unwrap().to_owned());
            pair.sort();
            pair
        })
        .collect();
    let unfought: Vec<[String; 2]> = (0..8)
        .flat_map(|low| (low + 1..8).map(move |high| [low, high]))
        .map(|pair| pair.map(|at| format!("q0-d{at}")))
        .filter(|pair| !fought.contains(pair))
        .collect();
    let judge = |[a, b]: &[String; 2]| {
        sandbox.done(&format!("override --query q0 --a {a} --b {b} --verdict a"));
    };
    judge(&unfought[0]);
    sandbox.done("student train --name own");
    let since = "those judged since are predicted by a model that learned from all queries";
    let told = || {
        format!(
            "{:?}",
            sandbox.json("student report --student own --json")["notes"]
        )
    };
    assert!(!told().contains(since));
    sandbox.done("undo");
    judge(&unfought[1]);
    assert!(told().contains(since), "{}", told());
}
