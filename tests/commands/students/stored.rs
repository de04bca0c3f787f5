//! Students that a project keeps.

use super::{PREDICTIONS, judged, lines};
use serde_json::{Value, json};

#[test]
fn a_student_is_kept_by_name_and_step_and_the_same_file_changes_nothing() {
    let sandbox = judged();
    sandbox.write("p.csv", PREDICTIONS);
    let before = crate::merging::rows(&sandbox.project());
    sandbox.write(
        "foreign.csv",
        format!("{PREDICTIONS}q0,q0-d1,nobody,.5,.5,0\nq9,x,y,.5,.5,0\n"),
    );
    sandbox.refused(
        "student import foreign.csv --name llama",
        2,
        &[
            "foreign.csv:6: the project has no query \"q0\" with documents \"q0-d1\" and \"nobody\"",
            "foreign.csv:7:",
            "2 problems, nothing was done",
        ],
    );
    for name in ["built-in", "two words", ""] {
        let arguments = ["student", "import", "p.csv", "--name", name];
        sandbox.refused(&arguments[..], 2, &[name]);
    }
    assert!(crate::merging::rows(&sandbox.project()) == before);
    let first = sandbox.json("student import p.csv --name llama --step 100 --json");
    let steps = json!([{
        "step": 100, "queries": 2, "pairs": 3, "stored": true,
        "order": { "pairs": 1, "toward_first": first["steps"][0]["order"]["toward_first"], "flips": 0.0 },
    }]);
    assert_eq!(first["steps"], steps);
    // P(B) − P(A) is −.5 shown A first and −.3 shown B first: half of the difference is toward the
    // first.
    let toward = first["steps"][0]["order"]["toward_first"].as_f64().unwrap();
    assert!((toward - 0.1).abs() < 1e-12, "{toward}");
    let kept = crate::merging::rows(&sandbox.project());
    sandbox
        .done("student import p.csv --name llama --step 100")
        .says("already there");
    assert!(crate::merging::rows(&sandbox.project()) == kept);
    // A later one of the same name and step is in force, and what it replaces stays in the file.
    sandbox.write("later.csv", PREDICTIONS.replace(".9,.05,.05", ".8,.1,.1"));
    sandbox.done("student import later.csv --name llama --step 100");
    sandbox.done("student import p.csv --name llama --step 50");
    let listed = sandbox.json("student list --json");
    let names: Vec<(&Value, &Value)> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|of| (&of["step"], &of["source"]))
        .collect();
    assert_eq!(
        names,
        [
            (&json!(50), &json!("p.csv")),
            (&json!(100), &json!("later.csv"))
        ]
    );
    assert_eq!(listed[1]["pairs_in_both_orders"], 1);
    let shown = lines(
        sandbox
            .done("export predictions --student llama --format jsonl")
            .text(),
    );
    assert_eq!(shown.len(), 8);
    let of = |step: u64| {
        shown
            .iter()
            .find(|row| row["step"] == step && row["query"] == "q1")
    };
    assert_eq!(
        (&of(50).unwrap()["p_a"], &of(100).unwrap()["p_a"]),
        (&json!(0.9), &json!(0.8))
    );
    sandbox
        .done("status")
        .prints("students      llama, 2 checkpoints");
    assert_eq!(sandbox.json("status --json")["students"][1]["pairs"], 3);
    sandbox
        .done("log")
        .prints("later.csv: student llama, step 100, 3 pairs of 2 queries, 1 in both orders");
    sandbox.refused(
        "student report --student lama",
        2,
        &["no student \"lama\" in the project (did you mean \"llama\"?); it has llama"],
    );
    sandbox.write(
        "steps.csv",
        "query,a,b,p_a,p_b,step\nq0,q0-d0,q0-d1,.7,.2,7\n",
    );
    sandbox.refused(
        "student import steps.csv --name llama --step 8",
        2,
        &["steps.csv: its lines contain their own step"],
    );
}

#[test]
fn what_a_student_of_the_project_predicts_goes_out_and_in_and_into_another_file() {
    let sandbox = judged();
    sandbox.done("student train --name own");
    let listed = sandbox.json("student list --json");
    assert_eq!(listed[0]["source"], "built-in");
    assert_eq!(listed[0]["pairs"], 6 * 8 * 7 / 2);
    assert_eq!(
        listed[0]["model"]["training_hash"].as_str().unwrap().len(),
        16
    );
    let kept = crate::merging::rows(&sandbox.project());
    sandbox
        .done("student train --name own")
        .says("already there");
    assert!(crate::merging::rows(&sandbox.project()) == kept);
    // Its figures are those of the predictions that were written to a file.
    sandbox.done("student train --predictions p.jsonl");
    let of_file = sandbox.json("student report p.jsonl --json");
    let of_kept = sandbox.json("student report --student own --json");
    assert_eq!(
        of_kept["steps"][0]["figures"],
        of_file["steps"][0]["figures"]
    );
    sandbox.done("export predictions --student own --out p.csv");
    sandbox.done("student import p.csv --name copy");
    let written = |name: &str| {
        let arguments = format!("export predictions --student {name} --format jsonl");
        sandbox.done(&arguments).text().to_owned()
    };
    assert_eq!(written("copy"), written("own"));

    let other = judged();
    let merged = crate::merging::merge(&other, &sandbox, "");
    assert_eq!(merged["students"], 2);
    assert_eq!(
        other
            .done("export predictions --student own --format jsonl")
            .text(),
        written("own")
    );
    assert_eq!(crate::merging::merge(&other, &sandbox, "")["students"], 0);
    other.refused("export predictions", 2, &["--student"]);
}
