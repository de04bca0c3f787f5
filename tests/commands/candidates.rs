//! `rerank --candidates`: the first stage's own candidates, shuffled ones, a part of the queries, and
//! reranking sets of MTEB.

use crate::support::{Sandbox, benchmark, dataset};
use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use serde_json::{Value, json};
use std::sync::Arc;

/// What `methods` has measured.
fn artifact(sandbox: &Sandbox) -> Value {
    sandbox.done("methods --truth qrels --export artefact.json");
    serde_json::from_str(&sandbox.read("artefact.json")).unwrap()
}

/// The ranked documents of a query by a method, sorted.
fn ranked(artifact: &Value, method: &str, query: &str) -> Vec<String> {
    let mut rows = artifact["per_query"].as_array().unwrap().iter();
    let row = rows.find(|row| row["algorithm"] == method && row["query_id"] == query);
    let ids = row.unwrap()["ranked_ids"].as_array().unwrap().iter();
    let mut ids: Vec<String> = ids.map(|id| id.as_str().unwrap().to_owned()).collect();
    ids.sort();
    ids
}

/// Pools of two documents, of which one is there only because of its label, and the run of the
/// first stage.
fn pooled(more: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    benchmark(&sandbox);
    sandbox.done(&format!(
        "pool build --beir beir --depth 2 --run-out bm25.trec {more}"
    ));
    sandbox
}

const RERANK: &str = "rerank --method rankgpt --judges bm25";

#[test]
fn the_run_of_pool_build_names_candidates_with_texts() {
    let sandbox = pooled("");
    sandbox.done(RERANK);
    let of_pools = artifact(&sandbox);
    assert_eq!(of_pools["benchmark_type"], "diagnostic_not_retrieval");
    assert_eq!(of_pools["candidates_from_labels"], 1);
    let note = of_pools["notes"].to_string();
    assert!(
        note.contains("1 document is in the pools only because of labels"),
        "{note}"
    );
    assert!(note.contains("--candidates"), "{note}");
    assert_eq!(ranked(&of_pools, "rankgpt/bm25", "2"), ["d1", "d5"]);

    sandbox.done(&format!("{RERANK} --candidates bm25.trec"));
    let own = artifact(&sandbox);
    let first_stage = "reranking_with_first_stage_candidates";
    assert_eq!(own["benchmark_type"], first_stage);
    assert_eq!(own["candidates_from_labels"], 0);
    assert!(
        !own["notes"].to_string().contains("because of labels"),
        "{}",
        own["notes"]
    );
    for method in ["rankgpt/bm25", "original"] {
        assert_eq!(ranked(&own, method, "2"), ["d1", "d3"], "{method}");
    }
    // The ranking of the project has the same candidates.
    sandbox.done(&format!("{RERANK} --candidates bm25-overrule"));
    assert_eq!(artifact(&sandbox)["per_query"], own["per_query"]);
    // Back to the pools, also for the original order.
    sandbox.done(RERANK);
    let again = artifact(&sandbox);
    assert_eq!(again["benchmark_type"], "diagnostic_not_retrieval");
    assert_eq!(ranked(&again, "original", "2"), ["d1", "d5"]);
    // A method that has ranked other candidates is told of.
    sandbox.done("rerank --method pointwise --judges bm25 --candidates bm25.trec");
    let mixed = artifact(&sandbox)["notes"].to_string();
    assert!(
        mixed.contains("rankgpt/bm25: ranked other candidates than original on 1 of 2 queries"),
        "{mixed}"
    );
}

#[test]
fn texts_that_the_project_lacks_are_read_from_the_corpus() {
    let sandbox = pooled("--out pools.jsonl");
    sandbox.done("import pools.jsonl");
    let run = format!("{RERANK} --candidates bm25.trec");
    sandbox.refused(
        &run,
        2,
        &[
            "document \"d3\" of query \"2\" is not in its pool",
            "--corpus FILE",
        ],
    );
    sandbox.done(&format!("{run} --corpus beir"));
    sandbox.done(&format!("{run} --corpus beir/corpus.jsonl"));
    assert_eq!(
        sandbox.count("SELECT count(*) FROM rerank_result WHERE ranking LIKE '%d3%'"),
        2
    );
    sandbox.write("part.jsonl", "{\"_id\":\"d9\",\"text\":\"nine\"}\n");
    sandbox.refused(
        &format!("{run} --corpus part.jsonl"),
        2,
        &["part.jsonl lacks it"],
    );
    sandbox.refused(
        &format!("{RERANK} --candidates nobody.trec"),
        2,
        &["no such file"],
    );
    sandbox.refused(&format!("{RERANK} --corpus beir"), 2, &["--candidates"]);
}

#[test]
fn a_merge_takes_candidates_along() {
    let sandbox = pooled("");
    let other = Sandbox::new();
    other.write("bm25.trec", sandbox.read("bm25.trec"));
    benchmark(&other);
    other.done("pool build --beir beir --depth 2 --out pools.jsonl");
    other.done("import pools.jsonl");
    let project = sandbox.project();
    let merge = ["merge", project.to_str().unwrap()];
    other.done(&merge);
    other.done(&format!("{RERANK} --candidates bm25.trec"));
    // A text that this project has is never replaced by another one.
    let change = "UPDATE candidate SET content = (SELECT min(id) FROM content)";
    let theirs = rusqlite::Connection::open(sandbox.project()).unwrap();
    assert!(theirs.execute(change, []).unwrap() > 0);
    drop(theirs);
    let texts = "SELECT sum(content) FROM candidate";
    let before = other.count(texts);
    other.done(&merge);
    assert_eq!(other.count(texts), before);
}

#[test]
fn max_queries_takes_the_first_by_identifier() {
    let sandbox = Sandbox::new();
    sandbox.write("in.jsonl", dataset([3, 3, 3]).replace("\"q1\"", "\"q10\""));
    sandbox.done("import in.jsonl");
    let ran = sandbox.json("rerank --method original --max-queries 2 --json");
    assert_eq!(ran["queries"], 2);
    let names = "SELECT group_concat(name) FROM (SELECT DISTINCT query.name FROM rerank_result JOIN query ON query.id = query ORDER BY 1)";
    let wanted = format!("SELECT ({names}) = 'q0,q10'");
    assert_eq!(sandbox.count(&wanted), 1);
    assert_eq!(
        sandbox.json("rerank --method original --max-queries 9 --json")["queries"],
        3
    );
    sandbox.refused(
        "rerank --method original --max-queries 0",
        2,
        &["--max-queries"],
    );
}

#[test]
fn strict_stages_of_a_tournament_refuse_other_numbers_of_candidates_without_a_call() {
    let sandbox = Sandbox::new();
    sandbox.write("in.jsonl", dataset([6, 5]));
    sandbox.done("import in.jsonl");
    let method = "rerank --method tourrank:r1:s2x3x1-1x2x1";
    let ran = sandbox.json(&format!("{method} --judges bm25 --json"));
    assert_eq!(ran["methods"][0]["failed"], 0);
    let ran = sandbox.run(&format!("{method}:strict --judges bm25 --json"));
    assert_eq!(ran.code, Some(3));
    ran.says("its stages are for 6 candidates, and the query has 5; nothing was asked");
    let found: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(found["methods"][0]["failed"], 1);
    // Two groups, and the final of their winners.
    assert_eq!(found["methods"][0]["calls"], 3);
    sandbox.refused("rerank --method tourrank:s2x3x1-1x3x1", 2, &["leaves 2"]);
}

const SET: &str = r#"{"query": "aspirin for fever", "positive": ["aspirin lowers fever"], "negative": ["bread is baked", "fever is common"]}
{"query": "warm bread", "positive": ["bread is warm", "warm ovens"], "negative": ["rye and wheat"]}
"#;

/// The examples of the set as Parquet, compressed as those that are published.
fn parquet_of(set: &str) -> Vec<u8> {
    let schema = "message schema {
        optional binary query (STRING);
        optional group positive (LIST) { repeated group list { optional binary element (STRING); } }
        optional group negative (LIST) { repeated group list { optional binary element (STRING); } }
    }";
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY);
    let rows: Vec<Value> = set
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let mut bytes = Vec::new();
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut file =
        SerializedFileWriter::new(&mut bytes, schema, Arc::new(properties.build())).unwrap();
    let mut group = file.next_row_group().unwrap();
    let text = |value: &Value| ByteArray::from(value.as_str().unwrap());
    let mut write = |values: Vec<ByteArray>, defined: Vec<i16>, repeated: Option<Vec<i16>>| {
        let mut column = group.next_column().unwrap().unwrap();
        let typed = column.typed::<ByteArrayType>();
        typed
            .write_batch(&values, Some(&defined), repeated.as_deref())
            .unwrap();
        column.close().unwrap();
    };
    let queries: Vec<ByteArray> = rows.iter().map(|row| text(&row["query"])).collect();
    let defined = vec![1; queries.len()];
    write(queries, defined, None);
    for name in ["positive", "negative"] {
        let lists = rows.iter().map(|row| row[name].as_array().unwrap());
        let repeated: Vec<i16> = lists
            .clone()
            .flat_map(|list| (0..list.len()).map(|at| i16::from(at > 0)))
            .collect();
        let values: Vec<ByteArray> = lists.flatten().map(text).collect();
        write(values, vec![3; repeated.len()], Some(repeated));
    }
    group.close().unwrap();
    file.close().unwrap();
    bytes
}

#[test]
fn a_reranking_set_of_mteb_is_imported_from_json_lines_and_from_parquet() {
    let rows = |sandbox: &Sandbox| {
        let db = rusqlite::Connection::open(sandbox.project()).unwrap();
        let sql = "SELECT query.name, query.text, document.name, content.text, label.grade FROM document
                   JOIN query ON query.id = document.query JOIN content ON content.id = document.content
                   JOIN label ON label.query = query.name AND label.document = document.name
                   ORDER BY query.id, position";
        let mut statement = db.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| {
            let texts: [String; 4] = [row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?];
            Ok((texts, row.get::<_, i64>(4)?))
        });
        rows.unwrap().collect::<Result<Vec<_>, _>>().unwrap()
    };
    let lines = Sandbox::new();
    lines.write("test.jsonl", SET);
    let ran = lines.done("import test.jsonl");
    ran.prints("2 queries");
    let found = rows(&lines);
    assert_eq!(found.len(), 6);
    assert_eq!(
        found[1],
        (
            [
                "test_query0",
                "aspirin for fever",
                "negative_test_query0_00000",
                "bread is baked"
            ]
            .map(str::to_owned),
            0
        )
    );
    assert_eq!(found[4].0[2], "apositive_test_query1_00001");
    assert_eq!(found[4].1, 1);

    let table = Sandbox::new();
    table.write("test-00000-of-00001.parquet", parquet_of(SET));
    table.done("import test-00000-of-00001.parquet");
    assert_eq!(rows(&table), found);
    table.write("cut.parquet", &parquet_of(SET)[..200]);
    table.refused("import cut.parquet", 2, &["is Parquet that cannot be read"]);

    // The labels have put the positives first, which is told.
    lines.done("rerank --method rankgpt --judges bm25");
    assert_eq!(
        artifact(&lines)["benchmark_type"],
        "diagnostic_not_retrieval"
    );
    lines.done("rerank --method rankgpt --judges bm25 --shuffle-candidates --shuffle-task Toy");
    let shuffled = artifact(&lines);
    let order = |row: &Value| row["algorithm"] == "original" && row["query_id"] == "test_query1";
    let mut rows = shuffled["per_query"].as_array().unwrap().iter();
    // random.Random(int.from_bytes(sha256(b"13:Toy:test_query1").digest()[:4], "big")).shuffle
    let ids = [
        "apositive_test_query1_00000",
        "apositive_test_query1_00001",
        "negative_test_query1_00000",
    ];
    let expected = TOY.map(|at| ids[at]);
    assert_eq!(
        rows.find(|row| order(row)).unwrap()["ranked_ids"],
        json!(expected)
    );
}

/// The places of three candidates after the shuffle above, by Python 3.
const TOY: [usize; 3] = [2, 1, 0];
