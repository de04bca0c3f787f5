//! `export ai-scores` as zBench reads it: its data model stated again, member by member.

use crate::desk::{Desk, told};
use serde_json::{Value, json};

/// What zBench's model wants of a value, as pydantic checks it: the members are required, others
/// are passed over.
enum Schema {
    Text,
    Number,
    /// A dictionary with anything in it.
    Dictionary,
    List(&'static Schema),
    Object(&'static [(&'static str, Schema)]),
}

use Schema::{Dictionary, List, Number, Object, Text};

const DOCUMENT: Schema = Object(&[
    ("document_id", Text),
    ("metadata", Dictionary),
    ("content", Text),
]);
const PAIR: Schema = Object(&[
    ("pair_id", Text),
    ("query_id", Text),
    ("query", Text),
    ("document_a", DOCUMENT),
    ("document_b", DOCUMENT),
]);
const SCORE: Schema = Object(&[("thought", Text), ("score", Number)]);
const SCORED_PAIR: Schema = Object(&[
    ("pair", PAIR),
    ("openai_score", SCORE),
    ("gemini_score", SCORE),
    ("anthropic_score", SCORE),
]);
const SCORED_PAIRS: Schema = Object(&[("scored_pairs", List(&SCORED_PAIR))]);

/// What is wrong with a value, with the way to it.
fn faults(schema: &Schema, value: &Value, at: &str) -> Vec<String> {
    let sound = match schema {
        Text => value.is_string(),
        Number => value.is_number(),
        Dictionary | Object(_) => value.is_object(),
        List(_) => value.is_array(),
    };
    if !sound {
        return vec![format!("{at}: {value}")];
    }
    match (schema, value) {
        (List(of), Value::Array(items)) => {
            let items = items.iter().enumerate();
            items
                .flat_map(|(place, item)| faults(of, item, &format!("{at}[{place}]")))
                .collect()
        }
        (Object(members), value) => {
            let members = members.iter();
            members
                .flat_map(|(name, of)| faults(of, &value[name], &format!("{at}.{name}")))
                .collect()
        }
        _ => Vec::new(),
    }
}

fn exported(desk: &Desk, more: &[&str]) -> (Value, String) {
    let output = desk.run(&[&["export", "ai-scores"], more].concat());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    (serde_json::from_slice(&output.stdout).unwrap(), said)
}

#[test]
fn zbench_reads_the_votes_of_one_judge_of_each_of_its_providers() {
    let desk = Desk::new("");
    let run = desk.annotate(&["--yes", "--cycles", "2"]);
    assert_eq!(run.status.code(), Some(0), "{}", told(&run));
    let (file, said) = exported(&desk, &[]);
    assert_eq!(said, "");
    assert_eq!(file["scored_pairs"].as_array().unwrap().len(), 18);
    assert_eq!(faults(&SCORED_PAIRS, &file, "file"), [""; 0]);
    // Whose votes they are: the judges come in the order of the ensemble.
    let first = &file["scored_pairs"][0];
    let members: Vec<&String> = first.as_object().unwrap().keys().collect();
    assert_eq!(members.len(), 4, "{members:?}");
    for (judge, member) in [
        ("gpt", "openai"),
        ("claude", "anthropic"),
        ("gemini", "gemini"),
    ] {
        let margin = desk.count(&format!(
            "SELECT CAST(round(1e9 * margin) AS INTEGER) FROM vote JOIN judge ON judge.id = vote.judge WHERE name = '{judge}' ORDER BY battle LIMIT 1"
        ));
        let score = first[format!("{member}_score")]["score"].as_f64().unwrap();
        assert_eq!((1e9 * score).round() as i64, margin, "{judge}");
    }

    let (same, said) = exported(
        &desk,
        &["--as", "openai=gpt,anthropic=claude,gemini=gemini"],
    );
    assert_eq!((same, said.as_str()), (file.clone(), ""));
    let (turned, _) = exported(
        &desk,
        &["--as", "openai=claude,anthropic=gpt,gemini=gemini"],
    );
    assert_eq!(faults(&SCORED_PAIRS, &turned, "file"), [""; 0]);
    assert_eq!(
        turned["scored_pairs"][0]["openai_score"],
        first["anthropic_score"]
    );
}

#[test]
fn a_file_that_zbench_refuses_is_written_with_a_warning() {
    let desk = Desk::new("");
    std::fs::remove_file(desk.path("overrule.toml")).unwrap();
    let run = desk.annotate(&["--judges", "bm25,proximity,ngram", "--cycles", "2"]);
    assert_eq!(run.status.code(), Some(0), "{}", told(&run));
    let (file, said) = exported(&desk, &[]);
    assert!(
        said.contains("zBench's own reader refuses this file"),
        "{said}"
    );
    assert!(
        said.contains("(offline)") && said.contains("--as"),
        "{said}"
    );
    let wrong = faults(&SCORED_PAIRS, &file, "file");
    assert!(
        wrong.contains(&"file.scored_pairs[0].openai_score: null".to_owned()),
        "{wrong:?}"
    );
    let names: Vec<String> = file["scored_pairs"][0]
        .as_object()
        .unwrap()
        .keys()
        .filter_map(|name| Some(name.strip_suffix("_score")?.to_owned()))
        .collect();
    let chosen = format!(
        "openai={},gemini={},anthropic={}",
        names[0], names[1], names[2]
    );
    let (file, said) = exported(&desk, &["--as", &chosen]);
    assert_eq!(
        (faults(&SCORED_PAIRS, &file, "file"), said.as_str()),
        (Vec::new(), "")
    );
    for wrong in ["openai=nobody", "bm25=openai", "openai"] {
        let output = desk.run(&["export", "ai-scores", "--as", wrong]);
        assert_eq!(output.status.code(), Some(2), "{wrong}");
    }
    assert_eq!(
        json!(null),
        file["scored_pairs"][0][format!("{}_score", names[0])]
    );
}
