//! `measure`: the next document to rule on, and what the rulings show.

use crate::support::{Sandbox, dataset};
use serde_json::{Value, json};

/// Eight judged queries, and their zELO as a run.
fn measured() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("in.jsonl", dataset([12; 8]));
    sandbox.done("annotate in.jsonl out.jsonl --judges bm25 --yes");
    sandbox.done("export run --out zelo.trec");
    sandbox
}

#[test]
fn a_document_is_drawn_ruled_on_and_counted() {
    let sandbox = measured();
    let measure = "measure --run zelo.trec --baseline original --metric p@3 --json";
    let found = sandbox.json(measure);
    assert_eq!(
        (&found["drawn"], &found["not_yet"]),
        (&0.into(), &true.into())
    );
    assert!(found["these_queries"].is_null() && found["verdict"].is_null());
    let item = found["next"]["item"].as_str().unwrap().to_owned();
    assert_eq!(sandbox.json(measure)["next"]["item"], item.as_str());
    sandbox.done(&format!("rule --item {item} --ruling partially"));
    let found = sandbox.json(measure);
    assert_eq!((&found["drawn"], &found["ruled"]), (&1.into(), &1.into()));
    assert_ne!(found["next"]["item"], item.as_str());
    let draws = sandbox.done("export draws --format jsonl");
    let draws: Vec<Value> = draws
        .text()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let rulings: Vec<&Value> = draws.iter().map(|draw| &draw["ruling"]).collect();
    assert_eq!(rulings, [&json!("partially"), &Value::Null]);
    assert!(draws[0]["probability"].as_f64().unwrap() > 0.0);
    let status = sandbox.json("status --json");
    assert_eq!(status["measurements"][0]["draws"], 2);
    let log = sandbox.json("log --json").to_string();
    assert!(log.contains("draw 1 to measure p@3 of zelo.trec"), "{log}");
    let other = sandbox.json(&format!("{measure} --annotator ada"));
    assert_eq!(
        (&other["drawn"], &other["next"]["number"]),
        (&1.into(), &1.into())
    );
    let told = sandbox.done("measure --run zelo.trec --metric ndcg@3");
    told.prints("Not yet: 0 of 20 rulings on drawn documents.");
    told.prints("First order: the interval can be too narrow");
    told.prints("Rule on it with `overrule rule --item ");
}

#[test]
fn what_cannot_be_measured_is_refused_with_a_remedy() {
    let sandbox = measured();
    sandbox.refused(
        "measure --run nothing",
        2,
        &["no such ranking or file", "original"],
    );
    sandbox.refused(
        "measure --run zelo.trec --metric bpref",
        2,
        &["bpref: cannot be measured; expected p@K"],
    );
    sandbox.refused(
        "measure --run zelo.trec --baseline original --margin 0",
        2,
        &["--margin must be above 0"],
    );
    sandbox.write("other.trec", "q0 Q0 elsewhere 1 1.0 x\n");
    sandbox.refused(
        "measure --run other.trec",
        2,
        &["skipped 1 query with documents in the top 10 that are not in the pool: q0"],
    );
}

#[test]
fn slices_are_printed_with_what_is_not_known() {
    let sandbox = measured();
    let tags: Vec<String> = (0..8)
        .map(|query| format!("q{query},{}", if query < 3 { "=cars" } else { "sea" }))
        .collect();
    sandbox.write("tags.csv", format!("query_id,topic\n{}\n", tags.join("\n")));
    let measure = "measure --run zelo.trec --baseline original --metric p@3";
    let sliced = format!("{measure} --slice topic --tags tags.csv");
    let told = sandbox.done(&sliced);
    told.prints("P@3 by topic");
    told.prints("not known yet: −");
    told.prints("A slice has a value after the first ruling on one of its drawn documents");
    let found = sandbox.json(&format!("{measure} --json"));
    assert!(found.get("slices").is_none());
    for _ in 0..4 {
        let item = sandbox.json(&format!("{measure} --json"))["next"]["item"].clone();
        let item = item.as_str().unwrap().to_owned();
        sandbox.done(&format!("rule --item {item} --ruling relevant"));
    }
    let slices = sandbox.json(&format!("{sliced} --json"))["slices"].clone();
    assert_eq!(
        (&slices["field"], &slices["family"], &slices["unused_draws"]),
        (&json!("topic"), &json!(2), &json!(0))
    );
    let rows = slices["rows"].as_array().unwrap();
    let rulings = rows.iter().map(|row| row["rulings"].as_u64().unwrap());
    assert_eq!(rulings.sum::<u64>(), 4);
    for row in rows.iter().filter(|row| !row["value"].is_null()) {
        let number = |name: &str| row[name].as_f64().unwrap();
        assert!(number("least") <= number("low") && number("high") <= number("greatest"));
        assert!(number("p_holm") > 0.0);
    }
    sandbox.refused(
        &format!("{sliced} --interval t"),
        2,
        &["--interval t cannot be used with --slice"],
    );
    sandbox.refused(
        "measure --run zelo.trec --metric ndcg@3 --slice topic --tags tags.csv",
        2,
        &["ndcg@3 cannot be measured by slice", "use p@K"],
    );
}
