//! `overrule sbr`: semantic boosting of a ranking, from files and from the project.

use crate::duels::{QUERIES, project, table};
use crate::support::Sandbox;
use rstest::rstest;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// A file as `numpy.save` writes it, a row a vector of 8-byte numbers.
fn npy(rows: &[Vec<f64>]) -> Vec<u8> {
    let columns = rows[0].len();
    let header = format!(
        "{{'descr': '<f8', 'fortran_order': False, 'shape': ({}, {columns}), }}\n",
        rows.len()
    );
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.as_bytes());
    file.extend(rows.iter().flatten().flat_map(|x| x.to_le_bytes()));
    file
}

#[test]
fn sbr_of_a_file_is_the_authors() {
    let sandbox = Sandbox::new();
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/sbr/step1_small.json");
    let golden: Value = serde_json::from_slice(&fs::read(golden).unwrap()).unwrap();
    let cases = golden.as_array().unwrap();
    // Every way of scoring once, and every odd input.
    let cases = cases
        .iter()
        .enumerate()
        .filter(|(at, _)| at % 7 == 1 || *at >= 30);
    let mut odd = 0;
    for (_, case) in cases {
        let input = case["input"].as_array().unwrap();
        let mut file = csv::Writer::from_writer(Vec::new());
        file.write_record(["qid", "docno", "score", "text"])
            .unwrap();
        for row in input {
            let cell = |name: &str| match &row[name] {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            file.write_record(["qid", "docno", "score", "text"].map(cell))
                .unwrap();
        }
        sandbox.write("in.csv", file.into_inner().unwrap());
        let vectors = input.iter().map(|row| {
            row["embedding"]
                .as_array()
                .unwrap()
                .iter()
                .map(|x| x.as_f64().unwrap())
                .collect::<Vec<f64>>()
        });
        sandbox.write("v.npy", npy(&vectors.collect::<Vec<_>>()));
        sandbox.done(&format!(
            "sbr --in in.csv --vectors v.npy --profile original --top-k {} --alpha {} --out out.csv",
            case["top_k"], case["alpha"]
        ));
        let written = table(&sandbox.read("out.csv"));
        let expected = case["output_sorted"].as_array().unwrap();
        assert_eq!(written.len(), expected.len(), "{}", case["name"]);
        for (row, expected) in written.iter().zip(expected) {
            assert_eq!(
                row[1],
                *expected["docno"].as_str().unwrap(),
                "{}",
                case["name"]
            );
            for (at, name) in [
                (3, "normalized_score"),
                (4, "semantic_sim"),
                (5, "sbr_score"),
            ] {
                let found: f64 = row[at].parse().unwrap();
                let expected = expected[name].as_f64().unwrap();
                assert!(
                    (found - expected).abs() < 1e-12,
                    "{}: {name} {found}",
                    case["name"]
                );
            }
            assert_eq!(row[6], expected["sbr_rank"].to_string(), "{}", case["name"]);
        }
        odd += usize::from(written.len() < input.len());
    }
    assert!(odd > 0, "no case leaves a repeated text out");
}

#[test]
fn sbr_makes_another_ranking_of_the_project() {
    let sandbox = project();
    let vectors = (0..20).map(|at| {
        let vector = [1.0, if at % 2 == 0 { 0.0 } else { 5.0 }];
        json!({ "docno": format!("d{at}"), "vector": vector }).to_string()
    });
    let mut vectors: Vec<String> = vectors.collect();
    sandbox.write("v.jsonl", vectors.join("\n"));
    let told = sandbox
        .json("sbr --run original --vectors v.jsonl --alpha 4 --as boosted --out b.trec --json");
    assert_eq!(told["queries"], QUERIES);
    assert_eq!(told["documents"], told["distinct_documents"]);
    assert!(told["notes"][0].as_str().unwrap().contains("no scores"));
    // Two of three of the best are even ones: what is like them moves up.
    assert!(
        sandbox.read("b.trec").starts_with("q0 Q0 d0 1 "),
        "{}",
        sandbox.read("b.trec")
    );
    let made = sandbox.json("nine --a original --b boosted --json");
    assert_eq!(made["b"], "boosted");
    // It is a ranking like others.
    assert!(
        sandbox
            .done("sbr --run original --vectors v.jsonl --as boosted")
            .stderr
            .contains("in place")
    );
    vectors.pop();
    sandbox.write("v.jsonl", vectors.join("\n"));
    let few = "sbr --run original --vectors v.jsonl";
    sandbox.refused(few, 2, &["6 documents without a vector", "d19 of query q0"]);
}

#[rstest]
#[case("sbr --run original", "--embed NAME")]
#[case(
    "sbr --run original --vectors v.jsonl --as original",
    "give the new ranking another name"
)]
#[case("sbr --in reversed.trec --vectors v.jsonl", "no output is named")]
#[case("sbr --run original --vectors v.npy", "--vector-names")]
#[case(
    "sbr --run nope --vectors v.jsonl",
    "no such ranking or file; the project has original"
)]
fn what_cannot_be_is_refused_with_a_remedy(#[case] command: &str, #[case] why: &str) {
    let sandbox = project();
    sandbox.write("v.jsonl", "{\"docno\": \"d0\", \"vector\": [1]}\n");
    sandbox.write("v.npy", npy(&[vec![1.0]]));
    sandbox.refused(command, 2, &[why]);
}

/// The table of the SBR study, with an identifier and a text that start like formulas.
const STUDY: &str = "qid,query,docno,text,score,rank
7,what is bone loss,-d1,=bones lose mass,26.5,0
7,what is bone loss,d2,\"Bones, and more\",25.25,1
7,what is bone loss,'-d3,another text,24,2
12,trams,d2,\"Bones, and more\",3,0
";

const VECTORS: &str = "{\"docno\":\"-d1\",\"vector\":[1,0]}
{\"docno\":\"d2\",\"vector\":[1,1]}
{\"docno\":\"'-d3\",\"vector\":[0,1]}
";

#[test]
fn the_table_of_the_study_is_a_project_in_one_import() {
    let sandbox = Sandbox::new();
    sandbox.write("colbert.csv", STUDY);
    let dry = sandbox.done("import colbert.csv --dry-run");
    dry.says(
        "queries, candidates and their ranking, read as query \"7\", document \"-d1\", rank 0",
    );
    dry.prints("2 queries, 4 documents");
    let done = sandbox.done("import colbert.csv");
    done.prints("colbert.csv: 2 queries added, 0 already there");
    done.prints("ranking colbert");
    assert_eq!(sandbox.count("SELECT count(*) FROM document"), 4);
    let order = |ranking: &str| -> Vec<String> {
        let run = sandbox.done(&format!("export run --ranking {ranking}"));
        let lines = run.text().lines();
        lines
            .map(|line| line.split(' ').take(4).collect::<Vec<_>>().join(" "))
            .collect()
    };
    assert_eq!(
        order("colbert"),
        ["12 Q0 d2 1", "7 Q0 -d1 1", "7 Q0 d2 2", "7 Q0 '-d3 3"]
    );
    assert_eq!(order("original"), order("colbert"));
    sandbox.write("v.jsonl", VECTORS);
    sandbox.done("sbr --run colbert --vectors v.jsonl --as boosted");
    sandbox.done("nine --a colbert --b boosted");
    // The same file again changes nothing, and another one cannot change texts.
    let again = sandbox.json("import colbert.csv --json");
    assert_eq!(again[0]["queries_unchanged"], 2);
    assert_eq!(again[0]["ranking_replaced"], true);
    sandbox.write("other.csv", STUDY.replace("another text", "edited"));
    sandbox.refused("import other.csv", 2, &["--as ranking", "7"]);
    sandbox
        .done("import other.csv --as ranking")
        .prints("ranking other of 2 queries");
    // Rows without a text are refused by line, and can be skipped.
    sandbox.write(
        "gaps.csv",
        "qid,query,docno,text,score\nx,q,a,of a,1\nx,q,b, ,2\n",
    );
    sandbox.refused(
        "import gaps.csv",
        2,
        &["gaps.csv:3: the text of the document is empty"],
    );
    sandbox.done("import gaps.csv --skip-bad");
    assert_eq!(
        sandbox.count("SELECT count(*) FROM ranked WHERE query = 'x'"),
        1
    );
}

/// `-d1` is `'-d1` in CSV, and each reader must see `-d1`, also after another program has added a
/// column or has moved some.
#[rstest]
#[case::as_written(&[0, 1, 2, 3, 4, 5, 6, 7])]
#[case::reordered(&[7, 6, 5, 4, 3, 2, 1, 0])]
fn what_sbr_wrote_is_read_back(#[case] order: &[usize]) {
    let sandbox = Sandbox::new();
    sandbox.write("colbert.csv", STUDY);
    sandbox.done("import colbert.csv");
    sandbox.write("v.jsonl", VECTORS);
    sandbox.done("sbr --in colbert.csv --vectors v.jsonl --out first.csv");
    let written = sandbox.read("first.csv");
    assert!(written.contains("'-d1") && written.contains("''-d3") && written.contains("'=bones"));
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(written.as_bytes());
    let mut moved = csv::Writer::from_writer(Vec::new());
    for (at, row) in reader.records().enumerate() {
        let row = row.unwrap();
        let cells = order.iter().map(|at| &row[*at]);
        let more = if at == 0 { "note" } else { "x" };
        moved.write_record(cells.chain([more])).unwrap();
    }
    sandbox.write("moved.csv", moved.into_inner().unwrap());
    for file in ["first.csv", "moved.csv"] {
        let read = format!("sbr --in {file} --vectors v.jsonl");
        sandbox.done(&format!("{read} --out again.csv"));
        assert_eq!(sandbox.read("again.csv"), written, "{file}");
        sandbox.done(&format!("import {file} --name boosted"));
        let run = sandbox
            .done("export run --ranking boosted")
            .text()
            .to_owned();
        assert!(
            run.contains("7 Q0 -d1 ") && run.contains("7 Q0 '-d3 "),
            "{run}"
        );
        sandbox.done(&format!("nine --a colbert --b {file}"));
        sandbox.write("qrels.txt", "7 0 -d1 1\n12 0 d2 1\n");
        let found = sandbox.json(&format!(
            "evaluate qrels.txt {file} --metrics recall@10 --json"
        ));
        assert_eq!(found["metrics"]["recall@10"]["mean"], 1.0);
    }
}
