//! Judges that are shown metadata: what they are sent, what it is counted as, and what it never
//! contains.

use crate::desk::{Desk, json_of, told};
use serde_json::{Value, json};

/// Two documents with the same text and another price, in a pool built from labels.
fn desk(setting: &str) -> Desk {
    let desk = Desk::new("");
    let document = |id: &str, price: f64, source: &str| {
        json!({ "id": id, "content": "a lamp", "metadata": {
            "price": price, "brand": "O'Neil", "grade": 1, "first_stage_rank": 1, "source": source } })
    };
    let documents = [
        document("d1", 9.5, "label-found"),
        document("d2", 12.0, "fill"),
        json!({ "id": "d3", "content": "a desk" }),
    ];
    let line = json!({ "query": { "id": "q", "query": "lamp" }, "documents": documents });
    std::fs::write(desk.path("in.jsonl"), format!("{line}\n")).unwrap();
    configure(&desk, setting);
    desk
}

fn configure(desk: &Desk, setting: &str) {
    let text = format!(
        "[[judge]]\nname = \"j\"\nprovider = \"openai\"\nmodel = \"gpt-6.1-terra\"\nbase_url = {:?}\n{setting}\n",
        desk.server.v1()
    );
    std::fs::write(desk.path("overrule.toml"), text).unwrap();
}

/// The messages that were sent, from this request on.
fn sent(desk: &Desk, from: usize) -> Vec<String> {
    let requests = desk.server.requests();
    let bodies = requests.iter().skip(from).map(|request| &request.body);
    bodies.map(texts).collect()
}

/// All strings of a request.
fn texts(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{text}\n"),
        Value::Array(items) => items.iter().map(texts).collect(),
        Value::Object(members) => members.values().map(texts).collect(),
        _ => String::new(),
    }
}

fn tokens(desk: &Desk) -> u64 {
    let dry = json_of(&desk.annotate(&["--dry-run", "--json"]));
    dry["judges"][0]["tokens_input"]
        .as_u64()
        .unwrap_or_else(|| panic!("{dry}"))
}

const WITHHELD: &str = "j is not shown the metadata fields that hold labels: grade";

#[test]
fn metadata_is_shown_as_zbench_shows_it_and_labels_never() {
    let desk = desk("");
    let bare = tokens(&desk);
    let output = desk.annotate(&[]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert!(!told(&output).contains(WITHHELD));
    let plain = sent(&desk, 0);
    assert!(plain.iter().all(|text| !text.contains("Metadata:")));

    configure(&desk, "metadata = [\"price\", \"brand\", \"none\"]");
    assert!(tokens(&desk) > bare, "counted in the estimate");
    let words = told(&desk.annotate(&["--dry-run"]));
    let changed = "is another judge than before: its prompt has changed";
    assert!(words.contains(changed), "{words}");
    assert!(!words.contains(WITHHELD), "{words}");
    let output = desk.annotate(&[]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let shown = sent(&desk, plain.len());
    // Two documents with one text are not the same to this judge.
    assert!(shown.len() >= plain.len());
    let [one, other, none] = [
        "Metadata: {'price': 9.5, 'brand': \"O'Neil\"}\nContent: a lamp\n",
        "Metadata: {'price': 12.0, 'brand': \"O'Neil\"}\nContent: a lamp\n",
        "Metadata: {}\nContent: a desk\n",
    ];
    for text in &shown {
        let of = [one, other, none].map(|part| usize::from(text.contains(part)));
        assert_eq!(of.iter().sum::<usize>(), 2, "{text}");
        assert!(
            !text.contains("grade") && !text.contains("label-found"),
            "{text}"
        );
    }

    let before = desk.server.requests().len();
    configure(&desk, "metadata = [\"none\", \"brand\", \"price\"]");
    assert_eq!(desk.annotate(&[]).status.code(), Some(0));
    assert_eq!(
        desk.server.requests().len(),
        before,
        "the order of the list"
    );

    configure(&desk, "metadata = \"all\"");
    let output = desk.annotate(&[]);
    assert!(told(&output).contains(WITHHELD), "{}", told(&output));
    let all = sent(&desk, before);
    assert!(!all.is_empty());
    for text in &all {
        assert!(
            !text.contains("'grade'") && !text.contains("'source'"),
            "{text}"
        );
        assert!(!text.contains("first_stage_rank"), "{text}");
    }

    // The judge of before has its votes again.
    let before = desk.server.requests().len();
    configure(&desk, "");
    assert_eq!(desk.annotate(&[]).status.code(), Some(0));
    assert_eq!(desk.server.requests().len(), before);
}

#[test]
fn every_kind_of_question_shows_metadata() {
    let price = "Metadata: {'price': 9.5}\nContent: a lamp";
    let commands: [&[&str]; 5] = [
        &["annotate", "in.jsonl", "out.jsonl", "--batch"],
        &["pick", "in.jsonl"],
        &["pick", "in.jsonl", "--per-document"],
        &["rerank", "in.jsonl", "--method", "rankgpt"],
        &["rerank", "in.jsonl", "--method", "pointwise"],
    ];
    for command in commands {
        let desk = desk("metadata = [\"price\"]");
        let output = desk.run(&[command, &["--yes"]].concat());
        let sent = sent(&desk, 0);
        let with = sent.iter().filter(|text| text.contains(price)).count();
        assert!(with > 0, "{command:?}: {sent:?} {}", told(&output));
        let without = sent
            .iter()
            .filter(|text| text.contains("a lamp") && !text.contains("Metadata: {"));
        assert_eq!(without.count(), 0, "{command:?}");
    }
}

/// A method's result is of the metadata that its judge was shown.
#[test]
fn a_method_is_run_again_when_shown_metadata_has_changed() {
    let desk = desk("metadata = [\"price\"]");
    let rerank = ["rerank", "in.jsonl", "--method", "rankgpt", "--yes"];
    assert_eq!(desk.run(&rerank).status.code(), Some(0));
    let calls = desk.server.requests().len();
    assert_eq!(desk.run(&rerank).status.code(), Some(0));
    assert_eq!(desk.server.requests().len(), calls);
    let text = std::fs::read_to_string(desk.path("in.jsonl")).unwrap();
    let text = text.replacen("9.5", "8.5", 1);
    std::fs::write(desk.path("in.jsonl"), text).unwrap();
    assert_eq!(desk.run(&rerank).status.code(), Some(0));
    assert!(desk.server.requests().len() > calls);
}
