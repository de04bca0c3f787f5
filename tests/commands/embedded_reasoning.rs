//! What embedded judges write is kept nowhere, and is there wherever reasoning is read.

use crate::support::{Sandbox, dataset};
use serde_json::{Value, json};

fn votes(sandbox: &Sandbox) -> Vec<Value> {
    let battles = sandbox.json("battles --query q0 --json");
    let votes = battles["battles"].as_array().unwrap().iter();
    votes
        .flat_map(|battle| battle["votes"].as_array().unwrap().clone())
        .collect()
}

#[test]
fn embedded_judges_write_their_reasoning_again_or_it_is_said_that_they_cannot() {
    let sandbox = Sandbox::new();
    sandbox.write("in.jsonl", dataset([8, 6, 4]));
    sandbox.done("annotate in.jsonl out.jsonl");
    assert_eq!(sandbox.count("SELECT count(*) FROM reply"), 0);
    let before = votes(&sandbox);
    assert!(before.len() > 50);
    for vote in &before {
        let words = vote["reasoning"].as_str().unwrap();
        assert!(words.contains("Document A"), "{words}");
        assert!(vote.get("reasoning_note").is_none());
        // What the judge concludes is what it voted, as it saw the two.
        let margin = vote["margin"].as_f64().unwrap();
        let shown = if vote["swapped"] == true {
            -margin
        } else {
            margin
        };
        let better = words.contains("so Document A is").then_some(-1.0);
        let better = better.or(words.contains("so Document B is").then_some(1.0));
        assert_eq!(
            better.unwrap_or(0.0),
            if shown == 0.0 { 0.0 } else { shown.signum() }
        );
    }
    let exported = sandbox.done("export votes --format jsonl");
    assert!(!exported.text().contains("\"reasoning\":\"\""));
    let audit = &sandbox.json("judges --json");
    assert!(audit.to_string().contains("quotes"));

    // A document more, and judges that weigh words by the whole pool come to other margins.
    let document = |id: &str, text: &str| json!({ "id": id, "content": text });
    let pool = sandbox.read("in.jsonl");
    let first: Value = serde_json::from_str(pool.lines().next().unwrap()).unwrap();
    let known = &first["documents"][0];
    let line = json!({
        "query": first["query"], "by": "m", "kind": "llm", "score": 0.5, "a": known,
        "b": document("new", &"other words entirely ".repeat(400)),
    });
    sandbox.write("votes.jsonl", format!("{line}\n"));
    sandbox.done("import votes votes.jsonl");
    let after = votes(&sandbox);
    let gone = after
        .iter()
        .filter(|vote| vote.get("reasoning_note").is_some());
    assert!(gone.clone().count() > 0);
    assert!(gone.into_iter().all(|vote| vote["reasoning"] == ""));
    sandbox
        .done("battles --query q0")
        .prints("the reasoning cannot be written again");
    let exported = sandbox.done("export votes --format jsonl");
    assert!(exported.stderr.contains("cannot be written again"));
}
