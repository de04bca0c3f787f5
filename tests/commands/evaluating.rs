//! `evaluate` and `compare`: trec_eval's numbers from every form of file, and what is refused.

use crate::support::Sandbox;
use rstest::rstest;
use serde_json::{Value, json};
use std::fmt::Write as _;

const TREC: &str = include_str!("../golden/metrics/trec_eval.json");

/// The golden labels in both forms, the run, and the run as documents with scores.
fn golden() -> (Sandbox, Value) {
    let golden: Value = serde_json::from_str(TREC).unwrap();
    let (mut qrels, mut run, mut pools) = (String::new(), String::new(), String::new());
    let mut beir = "query-id\tcorpus-id\tscore\r\n".to_owned();
    for (query, of) in golden["queries"].as_object().unwrap() {
        for (document, grade) in of["qrels"].as_object().into_iter().flatten() {
            writeln!(qrels, "{query}\t0\t{document}\t{grade}").unwrap();
            write!(beir, "{query}\t{document}\t{grade}\r\n").unwrap();
        }
        let mut documents = Vec::new();
        for (document, score) in of["run"].as_object().into_iter().flatten() {
            writeln!(run, "{query} Q0 {document} 0 {score} golden").unwrap();
            documents.push(json!({"id": document, "content": "x", "score": score}));
        }
        if !documents.is_empty() {
            let line = json!({"query": {"id": query, "query": "x"}, "documents": documents});
            writeln!(pools, "{line}").unwrap();
        }
    }
    let sandbox = Sandbox::new();
    sandbox.write("qrels.txt", qrels);
    sandbox.write("qrels.tsv", beir);
    sandbox.write("run.txt", run);
    sandbox.write("run.jsonl", pools);
    (sandbox, golden)
}

#[rstest]
#[case("qrels.txt", "run.txt")]
#[case("qrels.tsv", "run.jsonl")]
fn every_value_is_trec_evals(#[case] truth: &str, #[case] test: &str) {
    let (sandbox, golden) = golden();
    let known = golden["metrics"].as_array().unwrap();
    let names = ["map", "mrr", "ndcg@10", "recall@10", "p@5"];
    let found = sandbox.json(&[
        "evaluate",
        truth,
        test,
        "--metrics",
        &names.join(","),
        "--partial",
        "--json",
    ]);
    assert_eq!(found["queries"], 50);
    let mut checked = 0;
    for name in names {
        let at = known.iter().position(|known| known == name).unwrap();
        let metric = &found["metrics"][name];
        for (query, value) in metric["per_query"].as_object().unwrap() {
            let golden = golden["queries"][query]["values"][at].as_f64().unwrap();
            assert!(
                (value.as_f64().unwrap() - golden).abs() <= 1e-12,
                "{query} {name}"
            );
            checked += 1;
        }
        let (mean, low, high) = (&metric["mean"], &metric["low"], &metric["high"]);
        let mean = mean.as_f64().unwrap();
        assert!(
            (mean - golden["mean"][at].as_f64().unwrap()).abs() <= 1e-12,
            "{name}"
        );
        assert!(
            low.as_f64().unwrap() <= mean && mean <= high.as_f64().unwrap(),
            "{name}"
        );
    }
    assert_eq!(checked, 50 * names.len());
    let warnings = found["warnings"].to_string();
    for words in [
        "3 queries without a relevant document",
        "q41, q42, q43",
        "1 query missing from the ranking",
        "1 query without labels: skipped",
        "with equal scores for documents of different grades",
    ] {
        assert!(warnings.contains(words), "{words}: {warnings}");
    }
}

#[test]
fn levels_and_missing_queries_follow_the_flags() {
    let (sandbox, golden) = golden();
    let at = golden["metrics"]
        .as_array()
        .unwrap()
        .iter()
        .position(|name| name == "map")
        .unwrap();
    let map = |more: &str| {
        sandbox.json(&format!(
            "evaluate qrels.txt run.txt --metrics map --json {more}"
        ))
    };
    let strict = map("--level 2 --partial");
    for (query, of) in golden["queries"].as_object().unwrap() {
        if let Some(value) = of["level_2"][at].as_f64() {
            let found = strict["metrics"]["map"]["per_query"][query]
                .as_f64()
                .unwrap();
            assert!((found - value).abs() <= 1e-12, "{query}");
        }
    }
    let (some, all) = (map("--partial"), map("--count-missing"));
    assert_eq!(
        (&some["queries"], &all["queries"]),
        (&json!(50), &json!(51))
    );
    assert_eq!(all["metrics"]["map"]["per_query"]["q_missing_in_run"], 0.0);
}

const QRELS: &str = "q1 0 a 1\nq2 0 a 1\nq3 0 a 1\n";

fn run(places: [usize; 3]) -> String {
    let mut text = String::new();
    for (query, place) in places.iter().enumerate() {
        for rank in 1..=4 {
            let id = if rank == *place {
                "a".to_owned()
            } else {
                format!("x{rank}")
            };
            writeln!(text, "q{} Q0 {id} {rank} {} name", query + 1, 5 - rank).unwrap();
        }
    }
    text
}

#[test]
fn a_baseline_is_compared_query_by_query() {
    let sandbox = Sandbox::new();
    sandbox.write("qrels", QRELS);
    sandbox.write("new", run([1, 1, 2]));
    sandbox.write("old", run([2, 4, 2]));
    let found = sandbox.json("evaluate ./qrels new --metrics mrr,p@1 --baseline old --json");
    let mrr = &found["metrics"]["mrr"];
    assert_eq!(
        (
            mrr["mean"].as_f64().unwrap() * 3.0,
            mrr["baseline"].as_f64().unwrap() * 3.0
        ),
        (2.5, 1.25)
    );
    let difference = &mrr["difference"];
    assert!((difference["mean"].as_f64().unwrap() - 1.25 / 3.0).abs() < 1e-15);
    assert_eq!(
        [
            &difference["better"],
            &difference["equal"],
            &difference["worse"]
        ],
        [&json!(2), &json!(1), &json!(0)]
    );
    // Four of the eight sign patterns of (½, ¾, 0) have a sum as far from zero.
    assert_eq!(difference["p_randomisation"], 0.5);
    assert!(difference["p_t_test"].as_f64().is_some());
    let before = sandbox.json("evaluate qrels new --metrics mrr --before qrels --json");
    let untested = &before["metrics"]["mrr"]["difference"];
    assert!(untested["mean"].is_number() && untested.get("p_randomisation").is_none());
    assert!(
        before["warnings"][0]
            .as_str()
            .unwrap()
            .starts_with("no p-value")
    );
    let compared = sandbox.json("compare new old --truth ./qrels --metrics mrr,p@1 --json");
    assert_eq!(compared, found);
    let text = sandbox.done("compare new old --truth ./qrels --metrics mrr");
    let row = text.text().lines().nth(2).unwrap();
    assert!(
        row.starts_with("mrr") && row.contains("+0.4167") && row.ends_with("2/1/0"),
        "{row}"
    );
}

#[test]
fn the_order_of_close_scores_is_said_to_hang_on_their_width() {
    let sandbox = Sandbox::new();
    sandbox.write("qrels", "q 0 a 1\n");
    sandbox.write("run", "q Q0 a 1 1.00000001 x\nq Q0 b 2 1.0 x\n");
    let mrr = |more: &str| sandbox.json(&format!("evaluate qrels run --metrics mrr --json {more}"));
    let (single, double) = (mrr("--scores single"), mrr(""));
    assert_eq!(
        (
            &single["metrics"]["mrr"]["mean"],
            &double["metrics"]["mrr"]["mean"]
        ),
        (&json!(0.5), &json!(1.0))
    );
    for found in [single, double] {
        assert!(
            found["warnings"].to_string().contains("--scores"),
            "{found}"
        );
        assert_eq!(
            found["metrics"]["mrr"]["low"],
            Value::Null,
            "one query has no interval"
        );
    }
}

#[test]
fn grades_of_documents_are_labels() {
    let sandbox = Sandbox::new();
    let document = |id: &str, metadata: Value, score: f64| json!({"id": id, "content": id, "metadata": metadata, "score": score});
    let line = json!({"query": {"id": "q", "query": "x"}, "documents": [
        document("a", json!({"grade": 2}), 0.1), document("b", json!({"grade": null}), 0.5), document("c", json!({"grade": 0}), 0.3)]});
    sandbox.write("pools.jsonl", line.to_string());
    let found = sandbox.json("evaluate pools.jsonl pools.jsonl --metrics mrr,judged@3 --json");
    assert_eq!(found["metrics"]["mrr"]["mean"].as_f64(), Some(1.0 / 3.0));
    assert_eq!(
        found["metrics"]["judged@3"]["mean"].as_f64(),
        Some(2.0 / 3.0)
    );
    sandbox.write(
        "bad.jsonl",
        line.to_string().replace("{\"grade\":2}", "{\"grade\":0.5}"),
    );
    sandbox.refused(
        "evaluate bad.jsonl pools.jsonl",
        2,
        &[
            "bad.jsonl:1: documents[0].metadata.grade",
            "1 problem",
            "correct the file",
        ],
    );
}

/// The example of zBench's notebook: the source's scores against zELO.
const ZELO: [f64; 3] = [-1.8984783374773527, 4.8935459093094655, -2.995067571832113];

fn scored(scores: &[f64]) -> String {
    let documents: Vec<Value> = scores
        .iter()
        .enumerate()
        .map(|(at, score)| json!({"id": format!("d{at}"), "content": "x", "score": score}))
        .collect();
    json!({"query": {"id": "q", "query": "x"}, "documents": documents}).to_string()
}

#[test]
fn zbenchs_own_numbers_come_out() {
    let sandbox = Sandbox::new();
    sandbox.write("zelo.jsonl", scored(&ZELO));
    sandbox.write("source.jsonl", scored(&[0.9, 0.7, 0.2]));
    let of = |more: &str| {
        sandbox.json(&format!(
            "evaluate zelo.jsonl source.jsonl --profile zbench --json {more}"
        ))
    };
    let found = of("");
    let mean = |name: &str| found["metrics"][name]["mean"].as_f64().unwrap();
    assert!((mean("ndcg") - 0.6316740659321393).abs() < 1e-12);
    assert_eq!((mean("accuracy"), mean("recall@5")), (2.0 / 3.0, 0.6));
    let few = of("--metrics recall@1,recall@2/1 --document-limit 2");
    assert_eq!(few["metrics"]["recall@1"]["mean"], 0.0);
    assert_eq!(few["metrics"]["recall@2/1"]["mean"], 1.0);
    sandbox.refused(
        "evaluate zelo.jsonl source.jsonl --profile zbench --metrics map",
        2,
        &["\"map\" is not a zBench metric", "recall@K/G"],
    );
    sandbox.write("run", "q Q0 d0 1 1 x\n");
    sandbox.refused(
        "evaluate zelo.jsonl run --profile zbench",
        2,
        &["run: holds a run; --profile zbench takes datasets with scores"],
    );
}

#[rstest]
#[case::swapped("run qrels", &["run: is a run, not labels; name the file of labels first"])]
#[case::two_labels("qrels qrels", &["qrels: holds labels, not a ranking"])]
#[case::strange("qrels strange", &["strange:1: has semicolons between its cells", "commas or tabs"])]
#[case::no_file("nowhere run", &["nowhere: cannot be opened"])]
#[case::no_scores("qrels bare.jsonl", &["bare.jsonl: holds no scores; `overrule annotate`"])]
#[case::no_grades("bare.jsonl run", &["bare.jsonl: holds no labels", "metadata.grade or a score"])]
#[case::other_queries("qrels other", &["other: shares no query with the labels"])]
#[case::bad_line("qrels bad", &["bad:2: the score \"x\" is not a number", "bad:3: document \"a\" of query \"q1\" is already on line 1", "bad: 2 problems"])]
#[case::bad_metric("qrels run --metrics p", &["--metrics: \"p\" is not a metric: expected ndcg[@K]"])]
fn what_cannot_be_measured_is_refused(#[case] arguments: &str, #[case] words: &[&str]) {
    let sandbox = Sandbox::new();
    sandbox.write("qrels", QRELS);
    sandbox.write("run", run([1, 2, 3]));
    sandbox.write("other", "z Q0 a 1 1 x\n");
    sandbox.write("bad", "q1 Q0 a 1 1 x\nq1 Q0 b 1 x x\nq1 Q0 a 1 1 x\n");
    sandbox.write("strange", "a;b\n");
    sandbox.write(
        "bare.jsonl",
        r#"{"query":{"id":"q","query":"x"},"documents":[{"id":"a","content":"x"}]}"#,
    );
    sandbox.refused(&format!("evaluate {arguments}"), 2, words);
}

#[test]
fn a_p_value_is_never_printed_as_nothing() {
    let sandbox = Sandbox::new();
    let lines = |line: fn(usize) -> String| (0..40).map(line).collect::<String>();
    sandbox.write("qrels", lines(|q| format!("q{q} 0 d1 1\n")));
    sandbox.write(
        "new",
        lines(|q| format!("q{q} Q0 d1 1 2.0 x\nq{q} Q0 d2 2 {}.0 x\n", q % 2)),
    );
    sandbox.write(
        "old",
        lines(|q| format!("q{q} Q0 d2 1 2.0 x\nq{q} Q0 d{} 2 1.0 x\n", 1 + 2 * (q % 2))),
    );
    let text = sandbox.done("compare new old --truth ./qrels --metrics mrr");
    let row = text.text().lines().nth(2).unwrap();
    assert!(
        row.contains("< 0.0001") && !row.contains(" 0.0000 "),
        "{row}"
    );
    let text = sandbox.done("evaluate qrels new --metrics mrr --before qrels");
    assert!(
        !text.text().contains("p (randomization)"),
        "{}",
        text.text()
    );
}

/// What `annotate` wrote, as the truth of every command that measures.
#[test]
fn documents_with_scores_are_a_truth() {
    let sandbox = Sandbox::new();
    sandbox.write("zelo.jsonl", scored(&ZELO));
    let documents = ["q Q0 d0 1 3 x", "q Q0 d1 2 2 x", "q Q0 d2 3 1 x"];
    sandbox.write("run", documents.join("\n"));
    sandbox.write("other", "q Q0 d1 1 3 x\nq Q0 d0 2 2 x\nq Q0 d2 3 1 x\n");
    let found = sandbox.json("evaluate zelo.jsonl run --json");
    assert_eq!(found["truth"], "zelo.jsonl");
    assert_eq!(found["against"], "against these judges, not against people");
    let warnings = found["warnings"].to_string();
    assert!(warnings.contains("the scores of zelo.jsonl count as zELO"));
    assert!(warnings.contains("not calibrated"), "{warnings}");
    // The best document by zELO is second in the run and first in the other one.
    let mean = |of: &Value| of["metrics"]["ndcg@10"]["mean"].as_f64().unwrap();
    assert!(mean(&found) < 1.0);
    let best = sandbox.json("evaluate --truth zelo.jsonl other --json");
    assert!((mean(&best) - 1.0).abs() < 1e-9);
    let compared = sandbox.json("compare other run --truth zelo.jsonl --metrics ndcg@10 --json");
    let row = &compared["metrics"]["ndcg@10"];
    assert_eq!(row["baseline"].as_f64().unwrap(), mean(&found));
    let refused = "evaluate zelo.jsonl run --cuts labels";
    sandbox.refused(refused, 2, &["cut points need 30 labeled documents"]);

    // Grades count before scores, unless --cuts asks for the scores.
    let graded = scored(&ZELO).replacen(
        "\"id\":\"d0\"",
        "\"id\":\"d0\",\"metadata\":{\"grade\":1}",
        1,
    );
    sandbox.write("both.jsonl", graded);
    let found = sandbox.json("evaluate both.jsonl run --json");
    assert!(found["against"].is_null());
    assert!((mean(&found) - 1.0).abs() < 1e-9);
    let warnings = found["warnings"].to_string();
    assert!(
        warnings.contains("the truth has grades and scores"),
        "{warnings}"
    );
    let found = sandbox.json("evaluate both.jsonl run --cuts rank --json");
    assert!(mean(&found) < 1.0, "{found}");

    // The comparison of methods reads it as well.
    sandbox.done("import zelo.jsonl");
    sandbox.done("rerank --method run --method other");
    let found = sandbox.json("methods --truth zelo.jsonl --json");
    let methods = found["methods"].as_array().unwrap();
    assert!(
        methods.iter().any(|of| of["method"] == "other"
            && of["metrics"]["ndcg@10"]["mean"].as_f64().unwrap() > 0.999)
    );
    let told = sandbox.done("methods --truth zelo.jsonl --histogram --histogram-svg m.svg");
    told.prints("other: n 1, mean 1.0000\n0.0 to 0.1   0\n");
    assert!(sandbox.read("m.svg").contains("other · mean 1.0000, n 1"));
}

#[test]
fn ndcg_is_shown_by_query_as_a_histogram() {
    let sandbox = Sandbox::new();
    sandbox.write("qrels", "q1 0 a 1\nq2 0 a 1\nq3 0 a 1\n");
    sandbox.write(
        "run",
        "q1 Q0 a 1 2 x\nq2 Q0 b 1 2 x\nq2 Q0 a 2 1 x\nq3 Q0 b 1 1 x\n",
    );
    let told = sandbox.done("evaluate qrels run --histogram --histogram-svg h.svg");
    told.says("wrote h.svg");
    told.prints("ndcg@10: n 3, mean 0.5436\n");
    let bar = "█".repeat(40);
    for (line, count) in [("0.0 to 0.1", 1), ("0.6 to 0.7", 1), ("0.9 to 1.0", 1)] {
        told.prints(&format!("{line}  {bar} {count}\n"));
    }
    told.prints("0.1 to 0.2   0\n");
    let svg = sandbox.read("h.svg");
    assert!(svg.contains("ndcg@10 · mean 0.5436, n 3"), "{svg}");
    assert_eq!(svg.matches("class=\"bar\"").count(), 3);
    let found = sandbox.json("evaluate qrels run --json");
    let histogram = &found["metrics"]["ndcg@10"]["histogram"];
    assert_eq!(
        *histogram,
        serde_json::json!([1, 0, 0, 0, 0, 0, 1, 0, 0, 1])
    );
    assert!(found["metrics"]["map"]["histogram"].is_null());
    let both = sandbox.done("compare run run --truth ./qrels --metrics ndcg@10 --histogram");
    both.prints("ndcg@10, baseline: n 3");
    sandbox.write("zelo.jsonl", scored(&ZELO));
    let told = sandbox.done("evaluate zelo.jsonl zelo.jsonl --profile zbench --histogram");
    told.prints("ndcg: n 1, mean 1.0000");
    let no_ndcg = "evaluate qrels run --metrics map --histogram";
    sandbox.refused(no_ndcg, 2, &["--histogram is of ndcg"]);
    let project = "evaluate qrels run --histogram-svg qrels";
    sandbox.refused(project, 2, &["would overwrite the truth"]);
}

#[test]
fn metrics_by_query_and_means_are_written_as_the_study_does() {
    let (sandbox, _) = golden();
    let done = sandbox.done(
        "evaluate qrels.txt run.txt --metrics recall@10,mrr@10 --count-missing --csv q.csv \
         --summary-csv s.csv",
    );
    done.says("wrote q.csv");
    let found = sandbox
        .json("evaluate qrels.txt run.txt --metrics recall@10,mrr@10 --count-missing --json");
    let (csv, summary) = (sandbox.read("q.csv"), sandbox.read("s.csv"));
    let mut lines = csv.lines();
    assert_eq!(
        lines.next(),
        Some("query_id,n_rel,n_rel_retrieved,recall_at_10,mrr_at_10")
    );
    let mut queries = 0;
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        let value = |name: &str| {
            found["metrics"][name]["per_query"][cells[0]]
                .as_f64()
                .unwrap()
        };
        let is_near = |at: usize, expected: f64| {
            let found: f64 = cells[at].parse().unwrap();
            (found - expected).abs() < 1e-12
        };
        assert!(is_near(3, value("recall@10")) && is_near(4, value("mrr@10")));
        let [relevant, retrieved] = [1, 2].map(|at| cells[at].parse::<f64>().unwrap());
        if relevant > 0.0 {
            assert!((retrieved / relevant - value("recall@10")).abs() < 1e-12);
        }
        queries += 1;
    }
    assert_eq!(found["queries"], queries);
    let mut lines = summary.lines();
    let header = "avg_recall_at_10,avg_mrr_at_10,n_queries";
    assert_eq!(lines.next(), Some(header));
    let cells: Vec<f64> = lines
        .next()
        .unwrap()
        .split(',')
        .map(|cell| cell.parse().unwrap())
        .collect();
    for (cell, name) in cells.iter().zip(["recall@10", "mrr@10"]) {
        let mean = found["metrics"][name]["mean"].as_f64().unwrap();
        assert!((cell - mean).abs() < 1e-12);
    }
    assert_eq!(cells[2], f64::from(queries));
}

#[test]
fn a_query_named_like_a_formula_is_safe_in_csv() {
    let sandbox = Sandbox::new();
    sandbox.write("q.txt", "=1+1 0 d1 1\n10 0 d1 1\n9 0 d1 1\n");
    sandbox.write(
        "r.txt",
        "=1+1 Q0 d1 1 1 x\n9 Q0 d1 1 1 x\n10 Q0 d2 1 1 x\n10 Q0 d1 2 0 x\n",
    );
    sandbox.write("b.txt", "=1+1 Q0 d1 1 1 x\n9 Q0 d2 1 1 x\n10 Q0 d1 1 1 x\n");
    let csv = "evaluate q.txt r.txt --metrics mrr@10 --baseline b.txt --csv -";
    let text = sandbox.done(csv).text().to_owned();
    let table = text.split("\n3 queries").next().unwrap();
    assert!(
        table.starts_with(
            "query_id,n_rel,n_rel_retrieved,mrr_at_10,baseline_mrr_at_10\n9,1,1,1.0,0.0\n10,1,1,0.5,1.0\n'=1+1,1,1,1.0,1.0"
        ),
        "{text}"
    );
    for (wrong, words) in [
        ("--csv x.parquet", "CSV (.csv)"),
        ("--csv q.txt", "q.txt"),
        ("--csv - --json", "--json"),
        ("--profile zbench --csv x.csv", "--profile zbench"),
    ] {
        sandbox.refused(&format!("evaluate q.txt r.txt {wrong}"), 2, &[words]);
    }
}

/// A run in which the relevant document of query `qN` is at this place, over this many queries.
fn long_run(queries: usize, place: impl Fn(usize) -> usize) -> String {
    let mut text = String::new();
    for query in 0..queries {
        for rank in 1..=10 {
            let id = if rank == place(query) {
                "a".to_owned()
            } else {
                format!("x{rank}")
            };
            writeln!(text, "q{query} Q0 {id} {rank} {} name", 11 - rank).unwrap();
        }
    }
    text
}

fn several_runs() -> Sandbox {
    let sandbox = Sandbox::new();
    let qrels: String = (0..40).map(|query| format!("q{query} 0 a 1\n")).collect();
    sandbox.write("people.qrels", qrels);
    sandbox.write("new", long_run(40, |query| 1 + query % 3));
    // Much worse, the same but for one query, and slightly worse.
    sandbox.write("bad", long_run(40, |query| 4 + query % 5));
    sandbox.write(
        "alike",
        long_run(40, |query| if query == 0 { 2 } else { 1 + query % 3 }),
    );
    sandbox.write("close", long_run(40, |query| 1 + (query + query % 2) % 3));
    sandbox
}

#[test]
fn several_rankings_are_compared_with_holms_correction() {
    let sandbox = several_runs();
    let options = "--truth people.qrels --metrics mrr,ndcg@10 --json";
    let all = sandbox.json(&format!("compare new bad alike close {options}"));
    let comparisons = all["comparisons"].as_array().unwrap();
    assert_eq!((comparisons.len(), &all["ranking"]), (3, &json!("new")));
    for metric in ["mrr", "ndcg@10"] {
        let mut p: Vec<(f64, f64)> = Vec::new();
        for (comparison, name) in comparisons.iter().zip(["bad", "alike", "close"]) {
            assert_eq!(comparison["baseline"], name);
            let alone = sandbox.json(&format!("compare new {name} {options}"));
            let (row, alone) = (&comparison["metrics"][metric], &alone["metrics"][metric]);
            for key in ["mean", "baseline", "per_query", "baseline_per_query"] {
                assert_eq!(row[key], alone[key], "{name} {metric} {key}");
            }
            let (found, alone) = (&row["difference"], &alone["difference"]);
            assert_eq!(found["per_query"], alone["per_query"]);
            assert_eq!(found["p_randomisation"], alone["p_randomisation"]);
            assert_eq!(alone["p_randomisation_holm"], Value::Null);
            p.push((
                found["p_randomisation"].as_f64().unwrap(),
                found["p_randomisation_holm"].as_f64().unwrap(),
            ));
        }
        p.sort_by(|x, y| x.0.total_cmp(&y.0));
        let mut largest: f64 = 0.0;
        for (rank, (plain, corrected)) in p.into_iter().enumerate() {
            largest = largest.max(((3 - rank) as f64 * plain).min(1.0));
            assert!((corrected - largest).abs() < 1e-12, "{metric} {rank}");
        }
        assert_eq!(
            comparisons[0]["metrics"][metric]["difference"]["verdict"],
            "better"
        );
    }
    let ran = sandbox.done("compare new bad alike close --truth people.qrels --metrics mrr");
    ran.prints("differences are new minus the other ranking");
    ran.prints("p (Holm)");
    sandbox.refused(
        "compare new bad close --truth people.qrels --csv out.csv",
        2,
        &["--csv", "name two rankings"],
    );
}

#[test]
fn two_one_sided_tests_tell_equal_from_undecided() {
    let sandbox = several_runs();
    let row = |other: &str, margin: &str| {
        let options = format!("--truth people.qrels --metrics mrr --json --tost {margin}");
        sandbox.json(&format!("compare new {other} {options}"))["metrics"]["mrr"]["difference"]
            .clone()
    };
    let alike = row("alike", "0.05");
    assert_eq!(alike["verdict"], "equal", "{alike}");
    let (low, high) = (&alike["tost"]["low_90"], &alike["tost"]["high_90"]);
    assert!(low.as_f64() > Some(-0.05) && high.as_f64() < Some(0.05));
    assert!(alike["tost"]["p"].as_f64() < Some(0.05));
    let narrow = row("alike", "0.001");
    assert_eq!(narrow["verdict"], "undecided", "{narrow}");
    assert!(narrow["tost"]["p"].as_f64() > Some(0.05));
    assert_eq!(row("bad", "0.05")["verdict"], "better");
    let same = row("new", "0.05");
    assert_eq!(
        (&same["verdict"], &same["tost"]["p"]),
        (&json!("equal"), &Value::Null)
    );
    let ran = sandbox.done("compare new alike --truth people.qrels --metrics mrr --tost 0.05");
    ran.prints("p (within 0.05)");
    ran.prints("equal");
    sandbox.refused("evaluate people.qrels new --tost 0.05", 2, &["--baseline"]);
    sandbox.refused(
        "compare new bad --truth people.qrels --tost -1",
        2,
        &["above 0"],
    );
}

/// A project with votes of the offline judges, and its zELO run.
fn annotated() -> Sandbox {
    let sandbox = Sandbox::new();
    let mut lines = String::new();
    for query in 0..4 {
        let documents: Vec<Value> = (0..8)
            .map(|at| {
                let words = "apple ".repeat(1 + (at * 5 + query) % 8);
                json!({"id": format!("d{at}"), "content": format!("{words} text {at} on {query}")})
            })
            .collect();
        let line = json!({
            "query": {"id": format!("q{query}"), "query": format!("apple question {query}")},
            "documents": documents,
        });
        writeln!(lines, "{line}").unwrap();
    }
    sandbox.write("pools.jsonl", lines);
    sandbox.done("annotate pools.jsonl out.jsonl --cycles 2");
    sandbox.done("export run --out zelo.trec");
    sandbox
}

#[test]
fn a_run_that_was_exported_from_the_scores_is_reported() {
    let sandbox = annotated();
    let found = sandbox.json("evaluate zelo.trec --truth zelo --metrics ndcg@10 --json");
    let shared = &found["shared_with_truth"][0];
    assert_eq!(
        (
            &shared["from_same_scores"],
            &shared["same_scores"],
            &shared["queries"]
        ),
        (&json!(true), &json!(4), &json!(4)),
        "{found}"
    );
    assert!(
        found["warnings"]
            .to_string()
            .contains("it was exported from them")
    );
    let ran = sandbox.done("evaluate zelo.trec --truth zelo --metrics ndcg@10");
    ran.prints("against the scores that this ranking was exported from");
    // Positions in the same order, and another order.
    let run = sandbox.read("zelo.trec");
    let mut turned = String::new();
    let mut places = String::new();
    for (at, line) in run.lines().enumerate() {
        let cells: Vec<&str> = line.split_whitespace().collect();
        let (query, document) = (cells[0], cells[2]);
        writeln!(turned, "{query} Q0 {document} 1 {at} other").unwrap();
        writeln!(places, "{query} Q0 {document} 1 {} other", 1000 - at).unwrap();
    }
    sandbox.write("turned.trec", turned);
    sandbox.write("places.trec", places);
    let shared = |file: &str| {
        let command = format!("evaluate {file} --truth zelo --metrics ndcg@10 --json");
        sandbox.json(&command)["shared_with_truth"][0]["from_same_scores"].clone()
    };
    assert_eq!(
        (shared("turned.trec"), shared("places.trec")),
        (json!(false), json!(true))
    );
    // Against labels, nothing is shared.
    sandbox.write(
        "people.qrels",
        "q0 0 d1 1\nq1 0 d2 1\nq2 0 d1 1\nq3 0 d3 1\n",
    );
    let found = sandbox.json("evaluate people.qrels zelo.trec --json");
    assert_eq!(found["shared_with_truth"], json!([]));
}

#[test]
fn a_run_by_a_judge_of_the_truth_is_reported() {
    let sandbox = annotated();
    let judges = sandbox.json("judges --json");
    let judge = judges["judges"][0]["name"].as_str().unwrap().to_owned();
    let mut turned = String::new();
    for (at, line) in sandbox.read("zelo.trec").lines().enumerate() {
        let cells: Vec<&str> = line.split_whitespace().collect();
        writeln!(turned, "{} Q0 {} 1 {at} other", cells[0], cells[2]).unwrap();
    }
    let file = format!("rerank-{judge}.trec");
    sandbox.write(&file, &turned);
    let ran = sandbox.run(&format!("evaluate {file} --truth zelo --metrics ndcg@10"));
    assert!(
        ran.stderr.contains("shares") && ran.stderr.contains(&judge),
        "{}",
        ran.stderr
    );
    sandbox.write("mine.trec", turned);
    let ran = sandbox.done("evaluate mine.trec --truth zelo --metrics ndcg@10");
    assert!(!ran.stderr.contains("shares"), "{}", ran.stderr);
}

/// Eight queries with one relevant document each, which the run has at rank 1, or at rank 2 for the
/// queries about cars.
fn sliced() -> Sandbox {
    let sandbox = Sandbox::new();
    let (mut qrels, mut run, mut even, mut topics) =
        (String::new(), String::new(), String::new(), String::new());
    topics.push_str("query_id\ttopic\n");
    for at in 0..8 {
        let (right, topic) = if at < 4 {
            (2, "cars")
        } else {
            (1, "sea, sand")
        };
        // The relevant documents of some queries come last, so that values vary within a slice.
        let right = if at % 4 == 3 { 3 } else { right };
        writeln!(qrels, "q{at} 0 d{right} 1").unwrap();
        writeln!(topics, "q{at}\t{topic}").unwrap();
        for rank in 1..=3 {
            writeln!(run, "q{at} Q0 d{rank} {rank} {} one", 4 - rank).unwrap();
            writeln!(even, "q{at} Q0 d{rank} {rank} {rank} two").unwrap();
        }
    }
    sandbox.write("qrels.txt", qrels);
    sandbox.write("run.trec", run);
    sandbox.write("even.trec", even);
    sandbox.write("topics.tsv", topics);
    sandbox
}

#[test]
fn a_slice_that_is_worse_is_named() {
    let sandbox = sliced();
    let command = "evaluate qrels.txt run.trec --metrics mrr@10 --slice topic --tags topics.tsv";
    let printed = sandbox.done(command);
    let text = printed.text();
    assert!(
        text.contains("Lowest mrr@10: cars (4 queries), 0.4583, not shown to differ"),
        "{text}"
    );
    let found = sandbox.json(&format!("{command} --json"));
    let slices = found["slices"]["metrics"]["mrr@10"].as_array().unwrap();
    let names: Vec<_> = slices.iter().map(|of| of["slice"].clone()).collect();
    assert_eq!(names, ["cars", "sea, sand"]);
    assert_eq!(slices[0]["queries"], 4);
    let rest = &slices[0]["against_other_queries"];
    let p = |name: &str| rest[name].as_f64().unwrap();
    assert!(p("p") <= p("p_holm"));
    // Against a baseline, slices have differences.
    let printed = sandbox.done(
        "compare run.trec even.trec --truth qrels.txt --metrics mrr@10 --slice topic --tags \
         topics.tsv",
    );
    let text = printed.text();
    assert!(
        text.contains("Worst slice by mrr@10 against the baseline: cars"),
        "{text}"
    );
}

#[test]
fn queries_without_a_value_form_a_slice_and_the_project_has_fields_too() {
    let sandbox = sliced();
    let lines = (0..6).map(|at| {
        let documents = [1, 2].map(|of| json!({"id": format!("d{of}"), "content": "x"}));
        let mut line =
            json!({"query": {"id": format!("q{at}"), "query": "x"}, "documents": documents});
        if at < 3 {
            line["query"]["metadata"] = json!({"topic": "cars"});
        }
        format!("{line}\n")
    });
    sandbox.write("in.jsonl", lines.collect::<String>());
    sandbox.done("import in.jsonl");
    let found = sandbox.json("evaluate qrels.txt run.trec --metrics mrr@10 --slice topic --json");
    let slices = found["slices"]["metrics"]["mrr@10"].as_array().unwrap();
    let counts: Vec<_> = slices
        .iter()
        .map(|of| (of["slice"].clone(), of["queries"].clone()))
        .collect();
    assert_eq!(counts, [(json!("cars"), json!(3)), (Value::Null, json!(5))]);
    let failed = sandbox.run("evaluate qrels.txt run.trec --slice colour");
    assert!(
        failed
            .stderr
            .contains("no query of the project has a field \"colour\""),
        "{}",
        failed.stderr
    );
}

#[rstest]
#[case(
    "--slice colour --tags topics.tsv",
    "topics.tsv: no query has a field \"colour\"; its fields are topic"
)]
#[case(
    "--slice topic --tags bad.csv",
    "bad.csv:3: query \"q1\" has \"sea\" here"
)]
#[case("--tags topics.tsv", "--slice <FIELD>")]
#[case(
    "--slice topic --tags others.csv",
    "none of the 8 measured queries has a value; the field is known for other"
)]
#[case(
    "--slice topic --tags qrels.txt",
    "qrels.txt:1: expected a header with query_id and topic"
)]
fn slices_that_cannot_be_made_are_refused(#[case] options: &str, #[case] words: &str) {
    let sandbox = sliced();
    sandbox.write("others.csv", "query_id,topic\nother,cars\n");
    sandbox.write("bad.csv", "query_id,topic\nq1,cars\nq1,sea\n");
    let failed = sandbox.run(&format!("evaluate qrels.txt run.trec {options}"));
    assert!(failed.stderr.contains(words), "{}", failed.stderr);
    assert_ne!(failed.code, Some(0));
}
