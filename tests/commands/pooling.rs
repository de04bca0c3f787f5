//! `pool build`: a benchmark's folder in, a run and pools out.

use crate::support::{Sandbox, benchmark};
use rstest::rstest;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const BUILD: &str = "pool build --beir beir --out pools.jsonl --depth 4";

fn build(sandbox: &Sandbox, more: &str) -> Vec<Value> {
    sandbox.done(&format!("{BUILD} {more}"));
    lines(sandbox)
}

fn lines(sandbox: &Sandbox) -> Vec<Value> {
    let text = sandbox.read("pools.jsonl");
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Ids, sources and first-stage ranks in the order of the file.
fn shown(pool: &Value) -> Vec<(&str, &str, Option<u64>)> {
    let documents = pool["documents"].as_array().unwrap();
    documents
        .iter()
        .enumerate()
        .map(|(at, document)| {
            let marks = &document["metadata"];
            assert_eq!(marks["slot"], at as u64 + 1);
            (
                document["id"].as_str().unwrap(),
                marks["source"].as_str().unwrap(),
                marks["first_stage_rank"].as_u64(),
            )
        })
        .collect()
}

#[test]
fn the_original_layout_has_the_labelled_documents_first() {
    let sandbox = Sandbox::new();
    benchmark(&sandbox);
    let pools = build(&sandbox, "--layout original --run-out run.trec");
    let ids: Vec<&str> = pools
        .iter()
        .map(|pool| pool["query"]["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["2", "10"], "numbers are ordered as numbers");
    assert_eq!(
        shown(&pools[0]),
        [
            ("d1", "label-found", Some(1)),
            ("d5", "label-missed", None),
            ("d3", "fill", Some(2)),
            ("d2", "fill", Some(3)),
        ]
    );
    let first = &pools[0]["documents"][0];
    assert_eq!(
        first["content"],
        "Aspirin\n\nAspirin lowers fever in adults."
    );
    assert_eq!(
        first["metadata"].to_string(),
        r#"{"title":"Aspirin","grade":2,"label":"SUPPORT","evidence_sentences":[0,2],"source":"label-found","first_stage_rank":1,"slot":1,"corpus":{"year":1.5}}"#
    );
    let text = sandbox.read("pools.jsonl");
    assert!(
        text.contains(r#""corpus":{"year":1.50}}"#),
        "digits are kept"
    );
    assert_eq!(
        pools[0]["documents"][3]["metadata"]["grade"], 0,
        "judged, and not relevant"
    );
    assert_eq!(
        pools[0]["documents"][2]["metadata"].get("grade"),
        None,
        "unjudged"
    );
    assert_eq!(
        pools[0]["pool"],
        json!({"layout": "original", "positives": 2})
    );
    let run = sandbox.read("run.trec");
    let columns: Vec<&str> = run.lines().next().unwrap().split(' ').collect();
    assert_eq!(
        [columns[0], columns[1], columns[2], columns[3], columns[5]],
        ["2", "Q0", "d1", "1", "bm25-overrule"]
    );
    let found = sandbox.json("evaluate beir/qrels/test.tsv run.trec --metrics recall@4 --json");
    let summary = sandbox.json(&format!("{BUILD} --json"));
    assert_eq!(
        found["metrics"]["recall@4"]["mean"],
        summary["first_stage"]["recall@4"]["mean"]
    );
}

#[test]
fn slots_are_shuffled_by_a_recorded_seed() {
    let sandbox = Sandbox::new();
    benchmark(&sandbox);
    let order = |pools: &[Value]| -> Vec<Vec<String>> {
        let ids = |pool| {
            shown(pool)
                .into_iter()
                .map(|(id, ..)| id.to_owned())
                .collect()
        };
        pools.iter().map(ids).collect()
    };
    let seeds: Vec<Vec<Vec<String>>> = (0..12)
        .map(|seed: u64| {
            let pools = build(&sandbox, &format!("--seed {seed}"));
            assert_eq!(
                pools[0]["pool"]["layout"],
                json!({"shuffled": {"seed": seed}})
            );
            order(&pools)
        })
        .collect();
    assert_eq!(order(&build(&sandbox, "--seed 3")), seeds[3]);
    let firsts: BTreeMap<&str, usize> = seeds.iter().fold(BTreeMap::new(), |mut counts, pools| {
        *counts.entry(pools[0][0].as_str()).or_default() += 1;
        counts
    });
    assert!(firsts.len() > 2, "{firsts:?}");
    let sorted = |pools: &[Vec<String>]| {
        let mut pools = pools.to_vec();
        pools.iter_mut().for_each(|pool| pool.sort());
        pools
    };
    assert!(seeds.iter().all(|pools| sorted(pools) == sorted(&seeds[0])));
}

#[test]
fn pools_are_a_dataset_that_can_be_annotated() {
    let sandbox = Sandbox::new();
    benchmark(&sandbox);
    build(&sandbox, "");
    sandbox.done("annotate pools.jsonl zelo.jsonl --judges bm25");
    let found = sandbox.json("evaluate pools.jsonl zelo.jsonl --metrics ndcg@4 --json");
    assert_eq!(found["queries"], 2);
    let other = Sandbox::new();
    benchmark(&other);
    let ran = other.done("pool build --beir beir --depth 4");
    assert!(
        ran.text()
            .contains("2 pools with 7 documents: 3 labeled relevant"),
        "{}",
        ran.text()
    );
    other.write("pools.jsonl", sandbox.read("pools.jsonl"));
    let again = other.done("import pools.jsonl");
    assert!(again.text().contains("0 queries added, 2 already there"));
}

#[test]
fn what_is_missing_is_said_and_left_out() {
    let sandbox = Sandbox::new();
    benchmark(&sandbox);
    let labels = sandbox.read("beir/qrels/test.tsv");
    // A document that is nowhere, one that is empty, a query that is nowhere.
    sandbox.write(
        "beir/qrels/test.tsv",
        format!("{labels}2\tnowhere\t1\n2\tempty\t1\n99\td1\t1\n"),
    );
    let summary = sandbox.json(&format!("{BUILD} --json"));
    assert_eq!(summary["pools"]["positives"], 3);
    let warnings = summary["warnings"].to_string();
    for words in [
        "1 query of the labels missing from queries.jsonl",
        "2 relevant documents missing from the corpus, or empty there",
    ] {
        assert!(warnings.contains(words), "{warnings}");
    }
    // They are missed by the first stage all the same.
    assert_eq!(
        summary["first_stage"]["recall@4"]["mean"],
        (0.25 + 1.0) / 2.0
    );
}

#[test]
fn a_query_without_documents_is_named_and_is_no_pool() {
    let sandbox = Sandbox::new();
    std::fs::create_dir_all(sandbox.path("beir/qrels")).unwrap();
    let record = |id: &str, text: &str| json!({"_id": id, "text": text}).to_string() + "\n";
    sandbox.write(
        "beir/corpus.jsonl",
        record("d1", "apple") + &record("d2", "apple pie"),
    );
    let queries = [("q1", "apple"), ("q2", "zebra"), ("q3", "apple")];
    sandbox.write(
        "beir/queries.jsonl",
        queries.map(|(id, text)| record(id, text)).concat(),
    );
    sandbox.write(
        "beir/qrels/test.tsv",
        "query-id\tcorpus-id\tscore\nq1\td9\t1\nq2\td2\t0\nq3\td9\t1\n",
    );
    let ran = sandbox.done(BUILD);
    ran.prints("2 pools with 4 documents");
    ran.says("note: 1 query without a document, neither found nor labeled relevant: no pool (q2)");
    ran.says("note: 1 relevant document missing from the corpus, or empty there: in no pool (d9)");
    assert_eq!(lines(&sandbox).len(), 2);
    let summary = sandbox.json(&format!("{BUILD} --json"));
    assert_eq!(summary["pools"]["count"], 2);
    assert_eq!(summary["pools"]["short"], 2);
    assert_eq!(summary["queries"], 3);

    sandbox.write("c.tsv", "query-id\tcorpus-id\nq1\td1\nq1\td8\nq3\td8\n");
    let ran = sandbox.done(&format!("{BUILD} --candidates c.tsv"));
    ran.says("note: 1 candidate missing from the corpus, or empty there: skipped (d8)");
    ran.prints("1 pool with 1 document");
    ran.says("no pool (q2, q3)");
}

#[test]
fn another_first_stage_may_be_given() {
    let sandbox = Sandbox::new();
    benchmark(&sandbox);
    sandbox.write(
        "c.tsv",
        "query-id\tcorpus-id\n2\td4\n2\tempty\n2\td2\n10\td1\n",
    );
    let pools = build(&sandbox, "--candidates c.tsv --layout original");
    let expected = [
        ("d1", "label-missed", None),
        ("d5", "label-missed", None),
        ("d4", "fill", Some(1)),
        ("d2", "fill", Some(2)),
    ];
    assert_eq!(shown(&pools[0]), expected);
    sandbox.write("run.trec", "2 Q0 d2 1 0.5 x\n2 Q0 d4 2 0.7 x\n");
    let pools = build(&sandbox, "--candidates run.trec --layout original");
    assert_eq!(
        shown(&pools[0]),
        expected,
        "a run is in the order of its scores"
    );
}

#[rstest]
#[case::split("--split dev", &["beir/qrels/dev.tsv: there is no such file; --split is one of test"])]
#[case::overwrite("--run-out beir/corpus.jsonl", &["would overwrite the corpus"])]
#[case::depth("--depth 0", &["--depth"])]
fn bad_usage_is_refused(#[case] more: &str, #[case] words: &[&str]) {
    let sandbox = Sandbox::new();
    benchmark(&sandbox);
    let fixed = "pool build --beir beir --out pools.jsonl";
    sandbox.refused(&format!("{fixed} {more}"), 2, words);
    assert!(!sandbox.path("pools.jsonl").exists());
}

#[rstest]
#[case("corpus.jsonl", "{\"_id\":\"d1\",\"text\":\"x\"}\n{\"_id\":7.5}\n",
    &["corpus.jsonl:2: _id: expected a string, found the number \"7.5\"", "corpus.jsonl:2: text: is missing", "2 problems"])]
#[case("corpus.jsonl", "", &["corpus.jsonl: holds no document"])]
#[case("queries.jsonl", "{\"_id\":\"2\",\"text\":\"\"}\n", &["queries.jsonl:1: text: is empty"])]
#[case("queries.jsonl", "{\"_id\":\"x\",\"text\":\"y\"}\n", &["queries.jsonl: contains none of the \
                                                               labeled queries"])]
#[case("qrels/test.tsv", "2\td1\t1\n", &["test.tsv:1: has 3 columns and no header"])]
fn broken_files_name_file_and_line(
    #[case] file: &str,
    #[case] content: &str,
    #[case] words: &[&str],
) {
    let sandbox = Sandbox::new();
    benchmark(&sandbox);
    sandbox.write(&format!("beir/{file}"), content);
    sandbox.refused(&BUILD, 2, words);
    assert!(!sandbox.path("pools.jsonl").exists());
}

/// As in ArguAna and Quora, the queries are documents of the corpus.
#[test]
fn a_querys_own_document_is_in_no_pool_and_not_measured() {
    let sandbox = Sandbox::new();
    let records = |ids: &[&str]| -> String {
        let line = |id: &&str| {
            json!({"_id": id, "text": format!("speech in schools {id}")}).to_string() + "\n"
        };
        ids.iter().map(line).collect()
    };
    std::fs::create_dir_all(sandbox.path("beir/qrels")).unwrap();
    sandbox.write(
        "beir/corpus.jsonl",
        records(&["arg", "con", "labelled", "other"]),
    );
    sandbox.write("beir/queries.jsonl", records(&["arg", "labelled"]));
    sandbox.write(
        "beir/qrels/test.tsv",
        "query-id\tcorpus-id\tscore\narg\tcon\t1\nlabelled\tcon\t1\nlabelled\tlabelled\t1\n",
    );
    let told = "1 query with a document of the same id, which has no label: that document is skipped, as in BEIR \
                (ignore_identical_ids)";
    sandbox.write(
        "own.run",
        "arg Q0 arg 1 9 r\narg Q0 con 2 8 r\nlabelled Q0 labelled 1 9 r\nlabelled Q0 con 2 8 r\n",
    );
    for more in ["--run-out found.run", "--candidates own.run"] {
        let ran = sandbox.done(&format!("{BUILD} {more}"));
        ran.says(told);
        let pools = lines_of(&sandbox);
        assert!(!pools[0].contains(&"arg".to_owned()), "{pools:?}");
        assert!(pools[1].contains(&"labelled".to_owned()), "{pools:?}");
    }
    let found = sandbox.read("found.run");
    assert!(
        !found.contains("arg Q0 arg ") && found.contains("labelled Q0 labelled "),
        "{found}"
    );
    let evaluate = "evaluate beir/qrels/test.tsv own.run --metrics mrr --json";
    let measured = sandbox.json(evaluate);
    assert_eq!(measured["metrics"]["mrr"]["mean"], 1.0);
    assert!(measured["warnings"].to_string().contains(told));
    let kept = sandbox.json(&format!("{evaluate} --keep-identical-ids"));
    assert_eq!(kept["metrics"]["mrr"]["mean"], 0.75);
    assert!(
        !kept["warnings"]
            .to_string()
            .contains("ignore_identical_ids")
    );

    // A pool that somebody else built holds the document; methods do not measure it.
    let pool = json!({"query": {"id": "arg", "query": "speech"}, "documents": [
        {"id": "arg", "content": "speech"}, {"id": "con", "content": "schools"},
    ]});
    sandbox.write("in.jsonl", pool.to_string());
    sandbox.write("q.qrels", "arg 0 con 1\n");
    sandbox.done("import in.jsonl q.qrels");
    sandbox.done("rerank --method original");
    let methods = sandbox.json("methods --truth qrels --json");
    assert!(methods["notes"].to_string().contains(told), "{methods}");
    assert_eq!(
        methods["methods"][0]["metrics"]["mrr@10"]["mean"], 1.0,
        "{methods}"
    );
}

/// The identifiers of each pool's documents.
fn lines_of(sandbox: &Sandbox) -> Vec<Vec<String>> {
    let pools = lines(sandbox);
    let ids = |pool| {
        shown(pool)
            .into_iter()
            .map(|(id, ..)| id.to_owned())
            .collect()
    };
    pools.iter().map(ids).collect()
}
