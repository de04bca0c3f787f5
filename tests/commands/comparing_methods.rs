//! `methods`: what `rerank` has run, beside the first stage, in every form.

use crate::support::Sandbox;
use rstest::rstest;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A project with two judged queries, labels, and two methods run by an offline judge.
fn reranked() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("in.jsonl", crate::support::dataset([6, 6, 6]));
    sandbox.done("annotate in.jsonl out.jsonl --judges bm25,ngram --yes");
    sandbox.write(
        "labels.qrels",
        "q0 0 d3 1\nq0 0 d1 0\nq1 0 d5 2\nq1 0 d0 0\nq2 0 d2 1\n",
    );
    sandbox.done("import labels.qrels");
    sandbox.done("rerank --method rankgpt@6 --method pointwise@6 --judges bm25 --yes");
    sandbox
}

#[test]
fn methods_are_measured_against_labels_and_tested_against_a_baseline() {
    let sandbox = reranked();
    let found = sandbox.json("methods --truth qrels --at 3 --json");
    assert_eq!(found["queries"], 3);
    assert_eq!(found["baseline"], "original");
    let methods = found["methods"].as_array().unwrap();
    assert_eq!(methods.len(), 3);
    assert_eq!(methods[0]["method"], "original");
    assert_eq!(methods[0]["calls"], 0);
    assert!(methods[0]["metrics"]["ndcg@3"]["difference"].is_null());
    for method in &methods[1..] {
        assert_eq!(method["queries"], 3);
        assert_eq!(method["failed"], 0);
        let metric = &method["metrics"]["ndcg@3"];
        let values = metric["per_query"].as_object().unwrap();
        let sum: f64 = values.values().map(|value| value.as_f64().unwrap()).sum();
        assert!((metric["mean"].as_f64().unwrap() - sum / 3.0).abs() < 1e-12);
        let of = &metric["difference"];
        let count = |name: &str| of[name].as_u64().unwrap();
        assert_eq!(count("better") + count("equal") + count("worse"), 3);
        assert!(of["p_randomisation_holm"].as_f64() >= of["p_randomisation"].as_f64());
    }
    let table = sandbox.done("methods --truth qrels");
    table.prints("3 queries, against qrels");
    table.prints("rankgpt@6");
    let markdown = sandbox.done("methods --truth qrels --md");
    markdown.prints("| --- | ---: |");
    let csv = sandbox.done("methods --truth qrels --csv");
    assert_eq!(csv.text().lines().count(), 4);
    sandbox.refused(
        "methods --truth qrels --baseline nobody",
        2,
        &["no method \"nobody\"; the methods are original"],
    );
    sandbox.refused("methods --at 0", 2, &["--at"]);
    // Each method by a field of the queries.
    let queries: Vec<&str> = found["methods"][0]["metrics"]["ndcg@3"]["per_query"]
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    let tags = queries.iter().enumerate();
    let tags = tags.map(|(at, query)| format!("{query}\ttopic {at}\n"));
    let tags: String = std::iter::once("query_id\ttopic\n".to_owned())
        .chain(tags)
        .collect();
    sandbox.write("tags.tsv", tags);
    let command = "methods --truth qrels --at 3 --slice topic --tags tags.tsv";
    let sliced = sandbox.json(&format!("{command} --json"));
    let slices = &sliced["slices"];
    assert_eq!(
        (&slices["field"], &slices["metric"]),
        (&json!("topic"), &json!("ndcg@3"))
    );
    for method in methods {
        let name = method["method"].as_str().unwrap();
        let rows = slices["methods"][name].as_array().unwrap();
        assert_eq!(rows.len(), queries.len());
        for (row, query) in rows.iter().zip(&queries) {
            assert_eq!(row["mean"], method["metrics"]["ndcg@3"]["per_query"][query]);
        }
    }
    let printed = sandbox.done(command);
    assert!(
        printed.text().contains("ndcg@3 of original by topic"),
        "{}",
        printed.text()
    );
    sandbox.refused(
        "methods --slice topc --tags tags.tsv",
        2,
        &["no query has a field \"topc\"", "(did you mean \"topic\"?)"],
    );
}

#[test]
fn the_log_says_what_picks_and_rerankings_asked() {
    let sandbox = reranked();
    sandbox.done("pick --judges bm25");
    let asked = |more: &str| {
        let rows = sandbox.json(&format!("log --json {more}"));
        let rows = rows.as_array().unwrap().iter();
        let asked =
            rows.filter(|row| ["picks", "rerank"].contains(&row["event"].as_str().unwrap()));
        let words = asked.map(|row| row["about"].as_str().unwrap().to_owned());
        words.collect::<Vec<_>>()
    };
    let begins = |words: &[String], with: &str| words.iter().any(|one| one.starts_with(with));
    let all = asked("");
    assert_eq!(all.len(), 3, "{all:?}");
    for with in [
        "bm25: 3 calls on 3 queries, $0.00, ",
        "rankgpt@6/bm25: 3 calls on 3 queries, $0.00, ",
        "pointwise@6:grade/bm25: 18 calls on 3 queries, $0.00, ",
    ] {
        assert!(begins(&all, with), "{with}: {all:?}");
    }
    let one = asked("--query q0");
    assert!(
        begins(&one, "pointwise@6:grade/bm25: 6 calls on 1 query, "),
        "{one:?}"
    );
    assert_eq!(asked("--annotator ada"), [] as [String; 0]);
}

#[test]
fn a_judge_of_the_truth_is_told_of_and_left_out() {
    let sandbox = reranked();
    let told = sandbox.done("methods --truth zelo");
    told.prints("against these judges, not against people");
    told.says("zELO was judged by bm25, ngram");
    told.says("asked bm25, which judged the truth too");
    let found = sandbox.json("methods --truth zelo --json");
    let of = |at: usize| &found["methods"][at]["self_preference"];
    assert!(of(0).is_null());
    assert!(of(1)["rank"].as_u64() >= Some(1));
    assert!(of(1)["rank_without_own_votes"].as_u64() >= Some(1));
}

#[test]
fn the_plane_and_the_artifact_are_written() {
    let sandbox = reranked();
    sandbox.done("methods --truth qrels --svg plane.svg --export artefact.json");
    let picture = sandbox.read("plane.svg");
    assert!(picture.starts_with("<svg") && picture.contains("calls per query"));
    assert_eq!(picture.matches("class=\"method\"").count(), 3);
    let artifact: serde_json::Value = serde_json::from_str(&sandbox.read("artefact.json")).unwrap();
    assert_eq!(artifact["schema_version"], 1);
    assert_eq!(artifact["per_query"].as_array().unwrap().len(), 9);
    let ranked = artifact["per_query"][0]["ranked_ids"].as_array().unwrap();
    assert_eq!(ranked.len(), 6);
}

#[test]
fn a_project_without_methods_says_how_to_run_one() {
    let sandbox = Sandbox::new();
    sandbox.write("in.jsonl", crate::support::dataset([3]));
    sandbox.done("annotate in.jsonl out.jsonl --judges bm25 --yes");
    sandbox.refused("methods", 2, &["no method has been run; `overrule rerank"]);
}

#[rstest]
#[case(include_str!("../golden/ranksmith/compare/fixture.json"))]
#[case(include_str!("../golden/ranksmith/compare/scifact_first20.json"))]
#[case(include_str!("../golden/ranksmith/compare/scifact_oracle_random.json"))]
fn the_artifact_has_the_fields_and_values_of_compare_reranking(#[case] golden: &str) {
    let golden: Value = serde_json::from_str(golden).unwrap();
    let rows = golden["per_query"].as_array().unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let ids = |row: &Value| -> Vec<String> {
        let ids = row["ranked_ids"].as_array().unwrap();
        ids.iter().map(text).collect()
    };
    let mut labels = String::new();
    let mut runs: BTreeMap<String, String> = BTreeMap::new();
    for row in rows {
        let query = text(&row["query_id"]);
        // A file, and not the method of that name.
        let file = format!("{}.trec", text(&row["algorithm"]));
        let run = runs.entry(file).or_default();
        for (rank, id) in ids(row).iter().enumerate() {
            writeln!(run, "{query} Q0 {id} {} {} x", rank + 1, 100 - rank).unwrap();
        }
    }
    let sandbox = Sandbox::new();
    let mut lines = String::new();
    for (query, case) in golden["cases"].as_object().unwrap() {
        for (id, grade) in case["qrels"].as_object().unwrap() {
            writeln!(labels, "{query} 0 {id} {grade}").unwrap();
        }
        let documents = case["first_stage"].as_array().unwrap().iter();
        let documents: Vec<Value> = documents
            .map(|id| json!({"id": id, "content": format!("text {id}")}))
            .collect();
        let line = json!({"query": {"id": query, "query": "?"}, "documents": documents});
        writeln!(lines, "{line}").unwrap();
    }
    sandbox.write("in.jsonl", lines);
    sandbox.write("labels.qrels", labels);
    let mut command = vec!["rerank".to_owned(), "in.jsonl".to_owned()];
    for (name, run) in &runs {
        sandbox.write(name, run);
        command.extend(["--method".to_owned(), name.clone()]);
    }
    sandbox.done("import in.jsonl labels.qrels");
    sandbox.done(&command.join(" "));
    sandbox.done(&format!(
        "methods --truth qrels --at {} --export artefact.json",
        golden["top_k"]
    ));
    let ours: Value = serde_json::from_str(&sandbox.read("artefact.json")).unwrap();
    for (field, value) in golden.as_object().unwrap() {
        if field.starts_with("cases") {
            continue;
        }
        assert!(ours.get(field).is_some(), "{field} is missing");
        if ["schema_version", "top_k", "case_count"].contains(&field.as_str()) {
            assert_eq!(ours[field], *value, "{field}");
        }
    }
    let same = |parts: &str, key: &str| {
        let known = ours[parts].as_array().unwrap();
        for row in golden[parts].as_array().unwrap() {
            let mut rows = known.iter();
            let algorithm = format!("{}.trec", text(&row["algorithm"]));
            let found =
                rows.find(|found| found["algorithm"] == algorithm && found[key] == row[key]);
            let found = found.unwrap_or_else(|| panic!("no {row}"));
            for (name, value) in row["metrics"].as_object().unwrap() {
                let (value, found) = (value.as_f64(), found["metrics"][name].as_f64());
                assert!((value.unwrap() - found.unwrap()).abs() < 1e-12, "{row}");
            }
            if let Some(ranked) = row.get("ranked_ids") {
                assert_eq!(found["ranked_ids"], *ranked);
            }
        }
    };
    same("aggregate", "case_count");
    same("per_query", "query_id");
}

#[test]
fn documents_that_the_first_stage_missed_are_told_of() {
    let sandbox = Sandbox::new();
    let document = |id: &str, source: &str, rank: Option<u32>| json!({"id": id, "content": format!("text {id}"), "metadata": {"source": source, "first_stage_rank": rank}});
    let documents = [
        document("a", "label-missed", None),
        document("b", "label-found", Some(1)),
        document("c", "fill", Some(2)),
    ];
    let line = json!({"query": {"id": "q", "query": "text"}, "documents": documents});
    sandbox.write("in.jsonl", format!("{line}\n"));
    sandbox.write("labels.qrels", "q 0 a 1\nq 0 b 1\n");
    sandbox.done("import in.jsonl labels.qrels");
    sandbox.done("rerank --method pointwise --judges bm25");
    let ran = sandbox.done("methods");
    ran.says("1 document is in the pools only because of labels");
}

#[test]
fn what_a_method_made_leaves_as_a_run() {
    let sandbox = reranked();
    sandbox.done("methods --truth qrels --export artefact.json");
    let artifact: Value = serde_json::from_str(&sandbox.read("artefact.json")).unwrap();
    let mut rows = artifact["per_query"].as_array().unwrap().iter();
    let of_method =
        |row: &&Value| row["algorithm"] == "pointwise@6:grade/bm25" && row["query_id"] == "q1";
    let row = rows.find(of_method).unwrap();
    assert_eq!(row["scores"].as_array().unwrap().len(), 6);
    assert!(artifact["per_query"][0]["scores"].is_null());

    let told = sandbox.done("export run --ranking pointwise@6 --out scored.trec");
    told.says("with the score of the one before");
    let scored = sandbox.read("scored.trec");
    let mut of_query = scored.lines().filter(|line| line.starts_with("q1 "));
    for (id, score) in row["ranked_ids"]
        .as_array()
        .unwrap()
        .iter()
        .zip(row["scores"].as_array().unwrap())
    {
        let cells: Vec<&str> = of_query.next().unwrap().split(' ').collect();
        assert_eq!(cells[2], id.as_str().unwrap());
        assert_eq!(cells[4].parse::<f64>().unwrap(), score.as_f64().unwrap());
    }
    sandbox.done("export run --ranking pointwise@6 --places --out p.trec");
    let run = sandbox.read("p.trec");
    assert_eq!(run.lines().count(), 18);
    let of_query: Vec<&str> = run.lines().filter(|line| line.starts_with("q1 ")).collect();
    for (at, (line, id)) in of_query
        .iter()
        .zip(row["ranked_ids"].as_array().unwrap())
        .enumerate()
    {
        let id = id.as_str().unwrap();
        assert_eq!(
            *line,
            format!("q1 Q0 {id} {} {} pointwise@6:grade/bm25", at + 1, 6 - at)
        );
    }
    let one = sandbox.done("export run --ranking original --query q2 --tag first");
    one.says("original: 1 query without scores that give its order");
    assert!(
        one.text().starts_with("q2 Q0 d0 1 6 first\n"),
        "{}",
        one.text()
    );
    // It measures as the method does.
    let mean = |report: &Value| report["metrics"]["ndcg@10"]["mean"].as_f64().unwrap();
    let methods = sandbox.json("methods --truth qrels --json");
    let mut methods = methods["methods"].as_array().unwrap().iter();
    let method = methods
        .find(|of| of["method"] == "pointwise@6:grade/bm25")
        .unwrap();
    let evaluated = sandbox.json("evaluate p.trec --truth qrels --metrics ndcg@10 --json");
    assert!((mean(method) - mean(&evaluated)).abs() < 1e-12);
    sandbox.refused(
        "export run --ranking nobody",
        2,
        &["no such ranking", "pointwise@6:grade/bm25"],
    );
    sandbox.refused(
        "export qrels --ranking original",
        2,
        &["--ranking is for run and annotated"],
    );
    sandbox.refused("export annotated --places", 2, &["--ranking"]);
}

#[test]
fn a_depth_below_every_ranking_is_told_of() {
    let sandbox = reranked();
    let told = sandbox.done("methods --truth qrels --at 10");
    told.says(
        "the longest ranking has 6 documents, so a depth of 10 covers all rankings completely",
    );
    let told = sandbox.done("methods --truth qrels --at 6");
    assert!(
        !told.stderr.contains("the longest ranking"),
        "{}",
        told.stderr
    );
}

/// The candidates that an evaluation of MTEB's reranking tasks builds from the lists that come with
/// the queries.
#[test]
fn native_candidates_are_ranked_in_their_order_with_title_and_text() {
    const GOLDEN: &str = include_str!("../golden/ranksmith/mteb_samples.json");
    let golden: Value = serde_json::from_str(GOLDEN).unwrap();
    let data = &golden["dataset"]["default"]["test"];
    let sandbox = Sandbox::new();
    std::fs::create_dir_all(sandbox.path("toy/qrels")).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let lines = |name: &str, fields: &[&str]| {
        let rows = data[name].as_array().unwrap().iter();
        let rows = rows.map(|row| {
            let mut line = json!({"_id": row["id"]});
            fields
                .iter()
                .for_each(|field| line[*field] = row[*field].clone());
            format!("{line}\n")
        });
        rows.collect::<String>()
    };
    sandbox.write("toy/corpus.jsonl", lines("corpus", &["title", "text"]));
    sandbox.write("toy/queries.jsonl", lines("queries", &["text"]));
    let mut labels = "query-id\tcorpus-id\tscore\n".to_owned();
    for (query, grades) in data["relevant_docs"].as_object().unwrap() {
        for (id, grade) in grades.as_object().unwrap() {
            writeln!(labels, "{query}\t{id}\t{grade}").unwrap();
        }
    }
    sandbox.write("toy/qrels/test.tsv", labels);
    let mut candidates = "query_id\tdocument_id\n".to_owned();
    for (query, ids) in data["top_ranked"].as_object().unwrap() {
        for id in ids.as_array().unwrap() {
            writeln!(candidates, "{query}\t{}", text(id)).unwrap();
        }
    }
    sandbox.write("top.tsv", candidates);
    sandbox.done("pool build --beir toy --candidates top.tsv --depth 6");
    sandbox.done("rerank --method original --method rankgpt --judges bm25 --candidates top.tsv");
    sandbox.done("methods --truth qrels --export artefact.json");
    let artifact: Value = serde_json::from_str(&sandbox.read("artefact.json")).unwrap();
    let rows = artifact["per_query"].as_array().unwrap();
    for sample in golden["samples"]["False"].as_array().unwrap() {
        let wanted =
            |row: &&Value| row["algorithm"] == "original" && row["query_id"] == sample["query_id"];
        let ranked = &rows.iter().find(wanted).unwrap()["ranked_ids"];
        let candidates = sample["candidates"].as_array().unwrap();
        let ids: Vec<&Value> = candidates.iter().map(|candidate| &candidate[0]).collect();
        assert_eq!(*ranked, json!(ids));
        for candidate in candidates {
            let (id, content) = (
                text(&candidate[0]),
                text(&candidate[1]).replace('\n', "' || char(10) || '"),
            );
            let query = text(&sample["query_id"]);
            let stored = format!(
                "SELECT count(*) FROM document JOIN query ON query.id = query JOIN content ON content.id = content
                 WHERE query.name = '{query}' AND document.name = '{id}' AND content.text = '{content}'"
            );
            assert_eq!(sandbox.count(&stored), 1, "{query} {id}");
        }
    }
    // Shuffled as ranksmith does it, by CPython's generator.
    sandbox.done(
        "rerank --method original --candidates top.tsv --shuffle-candidates --shuffle-seed 13 --shuffle-task AskUbuntuDupQuestions",
    );
    sandbox.done("methods --truth qrels --export shuffled.json");
    let shuffled: Value = serde_json::from_str(&sandbox.read("shuffled.json")).unwrap();
    for sample in golden["samples"]["True"].as_array().unwrap() {
        let mut rows = shuffled["per_query"].as_array().unwrap().iter();
        let row = rows
            .find(|row| row["query_id"] == sample["query_id"])
            .unwrap();
        let candidates = sample["candidates"].as_array().unwrap();
        let ids: Vec<&Value> = candidates.iter().map(|candidate| &candidate[0]).collect();
        assert_eq!(row["ranked_ids"], json!(ids));
    }
}

/// zBench's second step: a reranker's scores in its format, measured against zELO as its truth.
#[test]
fn what_a_reranker_scored_is_written_for_zbench() {
    let sandbox = reranked();
    sandbox.done("annotate in.jsonl zelo.jsonl --judges bm25 --yes");
    let told = sandbox.done("export annotated --ranking pointwise@6 --out scored.jsonl");
    assert!(!told.stderr.contains("skipped"), "{}", told.stderr);
    sandbox.done("export run --ranking pointwise@6 --out scored.trec");
    let mut in_run = BTreeMap::new();
    for line in sandbox.read("scored.trec").lines() {
        let cells: Vec<&str> = line.split(' ').collect();
        let score: f64 = cells[4].parse().unwrap();
        in_run.insert((cells[0].to_owned(), cells[2].to_owned()), score);
    }
    let input = sandbox.read("in.jsonl");
    let written = sandbox.read("scored.jsonl");
    assert_eq!(written.lines().count(), input.lines().count());
    for (line, given) in written.lines().zip(input.lines()) {
        let pool: Value = serde_json::from_str(line).unwrap();
        let given: Value = serde_json::from_str(given).unwrap();
        let documents = pool["documents"].as_array().unwrap();
        // In the order of the input, of which zBench measures the first ten.
        for (document, given) in documents.iter().zip(given["documents"].as_array().unwrap()) {
            assert_eq!(document["id"], given["id"]);
            let id = document["id"].as_str().unwrap().to_owned();
            let query = pool["query"]["id"].as_str().unwrap().to_owned();
            assert_eq!(document["score"].as_f64().unwrap(), in_run[&(query, id)]);
        }
    }
    let measured = sandbox.json("evaluate zelo.jsonl scored.jsonl --profile zbench --json");
    assert_eq!(measured["queries"], input.lines().count());
    let told = sandbox.done("export annotated --ranking original --query q1");
    told.says("original: 1 query without scores that give its order");
    assert!(told.text().contains("\"score\":6.0"), "{}", told.text());
    sandbox.refused("export annotated --ranking nobody", 2, &["no such ranking"]);
}

#[test]
fn documents_that_a_method_does_not_score_are_counted() {
    let sandbox = reranked();
    sandbox.done("rerank --method pointwise@3 --judges bm25");
    let told = sandbox.done("export annotated --ranking pointwise@3 --query q1 --out three.jsonl");
    told.says("3 documents without a score or outside of the pool: skipped");
    assert_eq!(sandbox.read("three.jsonl").matches("\"score\":").count(), 3);
    let told = sandbox.done("export run --ranking pointwise@3 --query q1");
    told.says("3 documents that it does not score");
    let scores = told.text().lines().map(|line| {
        let cell = line.split(' ').nth(4).unwrap();
        cell.parse::<f64>().unwrap()
    });
    let scores: Vec<f64> = scores.collect();
    assert_eq!(scores.len(), 6);
    assert_eq!(scores[3], scores[2] - 1.0);
    assert_eq!(scores[5], scores[2] - 3.0);
}
