//! Leaving with one's own data, without a label: runs and labels made of the scores, and rankings
//! measured against them.

use crate::support::{AI_SCORES, Sandbox};
use std::process::Command;

/// A project with votes of three judges on one query of three documents: d2, then d3, then d1.
fn judged() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.done(&["import", AI_SCORES]);
    sandbox
}

#[test]
fn the_scores_leave_as_a_run_that_is_its_own_truth() {
    let sandbox = judged();
    let run = sandbox.done("export run --tag mine");
    let rows: Vec<Vec<&str>> = run
        .text()
        .lines()
        .map(|line| line.split(' ').collect())
        .collect();
    let of = |at: usize| rows.iter().map(|row| row[at]).collect::<Vec<_>>();
    assert_eq!(of(0), ["capital-of-france"; 3]);
    assert_eq!(of(2), ["d2", "d3", "d1"]);
    assert_eq!(of(3), ["1", "2", "3"]);
    assert_eq!(of(5), ["mine"; 3]);
    sandbox.done("export run --out zelo.trec");
    let found =
        sandbox.json("evaluate zelo.trec --truth zelo --metrics ndcg@10,mrr,judged@3 --json");
    for metric in ["ndcg@10", "mrr", "judged@3"] {
        assert_eq!(found["metrics"][metric]["mean"], 1.0, "{metric}");
    }
    assert_eq!(found["truth"], "zelo");
    assert_eq!(
        found["against"],
        "against the scores that this ranking was exported from"
    );
    // A word is never a file.
    sandbox.write("zelo", "capital-of-france 0 d1 1\n");
    let told = sandbox.done("evaluate zelo.trec --truth zelo --metrics ndcg@10");
    told.prints("against the scores that this ranking was exported from");
    told.says("use ./zelo for the file of that name");
    let file = sandbox.json("evaluate zelo.trec --truth ./zelo --metrics mrr --json");
    assert_eq!(file["metrics"]["mrr"]["mean"], 1.0 / 3.0);
    std::fs::remove_file(sandbox.path("zelo")).unwrap();
    sandbox.write("worst.trec", "capital-of-france Q0 d1 1 3 x\ncapital-of-france Q0 d3 2 2 x\ncapital-of-france Q0 d2 3 1 x\n");
    let told = sandbox.done("evaluate worst.trec --truth zelo --metrics ndcg@10");
    told.prints("1 query, against these judges, not against people\n");
    told.says("not calibrated");
    let both = sandbox.json("compare zelo.trec worst.trec --truth zelo --metrics ndcg@10 --json");
    let row = &both["metrics"]["ndcg@10"];
    let of = |name: &str| row[name]["capital-of-france"].as_f64().unwrap();
    let delta = row["difference"]["per_query"]["capital-of-france"].as_f64();
    assert_eq!(delta, Some(of("per_query") - of("baseline_per_query")));
    assert!(delta > Some(0.1), "{row}");
}

#[test]
fn the_scores_leave_as_labels_and_the_assumption_is_told() {
    let sandbox = judged();
    let labels = sandbox.done("export qrels --from zelo");
    // Of three documents, 3, 7 and 15 % are one each.
    assert_eq!(
        labels.text(),
        "capital-of-france 0 d1 0\ncapital-of-france 0 d2 3\ncapital-of-france 0 d3 0\n"
    );
    labels.says("grades by rank, not calibrated");
    labels.says("against these judges, not against people");
    let by_score = sandbox.done("export qrels --from zelo --cuts score --form beir");
    by_score.says("grades by score, not calibrated");
    assert!(by_score.text().starts_with("query-id\tcorpus-id\tscore\n"));
    sandbox.refused(
        "export qrels --from zelo --cuts labels",
        2,
        &["cut points need 30 labeled documents", "there are 0 and 0"],
    );
    sandbox.refused(
        "export qrels --from zelo --diff",
        2,
        &["--corrected and --diff"],
    );
    sandbox.refused(
        "export verdicts --form arena --corrected",
        2,
        &["--corrected is for qrels"],
    );
    sandbox.refused(
        "evaluate x --truth qrels",
        2,
        &["the project holds no labels"],
    );
    sandbox.refused(
        "evaluate x --truth rulings",
        2,
        &["the project holds no rulings"],
    );
}

#[test]
fn a_project_without_votes_has_no_scores_to_leave_with() {
    let sandbox = Sandbox::new();
    sandbox.write("in.jsonl", crate::support::dataset([2, 3]));
    sandbox.done("import in.jsonl");
    sandbox.refused("export run", 2, &["no document has a zELO score"]);
    sandbox.refused(
        "export qrels --from zelo",
        2,
        &["no document has a zELO score"],
    );
}

#[test]
fn a_name_that_ends_in_gz_is_compressed_and_read_back() {
    let sandbox = judged();
    sandbox.done("export run --out zelo.trec.gz");
    let unpacked = Command::new("gzip")
        .args(["-dc", "zelo.trec.gz"])
        .current_dir(sandbox.path(""))
        .output()
        .unwrap();
    let plain = sandbox.done("export run");
    assert_eq!(String::from_utf8(unpacked.stdout).unwrap(), plain.text());
    sandbox.done("export qrels --from zelo --out zelo.tsv.gz");
    let again = sandbox.json("evaluate zelo.tsv.gz zelo.trec.gz --metrics mrr --json");
    assert_eq!(again["metrics"]["mrr"]["mean"], 1.0);
}

#[test]
fn a_cut_off_or_damaged_gzip_file_is_refused() {
    let sandbox = judged();
    sandbox.done("export run --out zelo.trec.gz");
    let mut bytes = std::fs::read(sandbox.path("zelo.trec.gz")).unwrap();
    bytes.truncate(bytes.len() - 12);
    sandbox.write("cut.gz", &bytes);
    sandbox.refused("import cut.gz", 2, &["cut.gz: ", "cut off or damaged"]);
}

#[test]
fn a_ranking_of_some_of_the_judged_queries_is_incomplete() {
    let sandbox = Sandbox::new();
    sandbox.write("qrels", "q1 0 a 1\nq2 0 a 1\nq3 0 a 1\nq4 0 a 1\n");
    sandbox.write("part", "q1 Q0 a 1 1 x\n");
    let ran = sandbox.run("evaluate qrels part --metrics mrr");
    assert_eq!(ran.code, Some(3), "{}", ran.stderr);
    ran.says("3 queries missing from the ranking");
    ran.says("incomplete: 1 of 4 judged queries measured");
    ran.prints("mrr");
    let compared = sandbox.run("compare part part --truth ./qrels --metrics mrr --json");
    assert_eq!(compared.code, Some(3), "{}", compared.stderr);
    sandbox.done("evaluate qrels part --metrics mrr --partial");
    let counted = sandbox.json("evaluate qrels part --metrics mrr --count-missing --json");
    assert_eq!(counted["metrics"]["mrr"]["mean"], 0.25);
    sandbox.write("strangers", "z Q0 a 1 1 x\n");
    sandbox.refused(
        "evaluate qrels strangers --count-missing",
        2,
        &["strangers: shares no query with the labels"],
    );
    sandbox.write("others", "q1 Q0 doc-a 1 1 x\nq2 Q0 doc-b 1 1 x\n");
    sandbox.refused(
        "evaluate qrels others --partial",
        2,
        &["others: none of its documents has a label"],
    );
    sandbox.refused("evaluate part", 2, &["--truth qrels|rulings|zelo"]);
    sandbox.refused(
        "evaluate qrels part --truth qrels",
        2,
        &["name one ranking"],
    );
}

#[test]
fn requests_of_rankllm_are_pools_in_their_order() {
    let sandbox = Sandbox::new();
    let lines = r#"{"query":{"text":"what is a fox","qid":7},"candidates":[{"doc":{"segment":"A fox is a canid.","title":"Fox"},"docid":"d9","score":2.5},{"doc":"A dog.","docid":4,"score":1.5}]}
"#;
    sandbox.write("requests.jsonl", lines);
    sandbox
        .done("import requests.jsonl --dry-run")
        .prints("requests.jsonl: reranking requests (RankLLM): 1 query, 2 documents");
    sandbox.done("import requests.jsonl");
    let matrix = sandbox.json("matrix --query 7 --json");
    assert!(matrix.to_string().contains("\"d9\""), "{matrix}");
    sandbox.write(
        "bad.jsonl",
        lines.replace("\"docid\":4", "\"docid\":\"d9\""),
    );
    sandbox.refused(
        "import bad.jsonl",
        2,
        &["bad.jsonl:1: candidates[1].docid: \"d9\" is already candidates[0]"],
    );
}

#[test]
fn rankings_and_labels_of_ranx_are_told_apart_by_their_numbers() {
    let sandbox = Sandbox::new();
    sandbox.write("qrels.json", r#"{"q1":{"a":1,"b":0},"q2":{"a":2}}"#);
    sandbox.write(
        "run.json",
        "{\n  \"q1\": {\"a\": 0.5, \"b\": 0.75},\n  \"q2\": {\"a\": 3}\n}\n",
    );
    let found = sandbox.json("evaluate qrels.json run.json --metrics mrr --json");
    assert_eq!(found["metrics"]["mrr"]["mean"], 0.75);
    sandbox
        .done("import qrels.json --dry-run")
        .prints("labels (ranx's JSON): 2 queries, 3 labels");
    sandbox
        .done("import run.json --dry-run")
        .prints("a run (ranx's JSON): 2 queries, 3 ranked documents");
    sandbox.refused(
        "evaluate run.json qrels.json",
        2,
        &["run.json: is a run (ranx's JSON), not labels"],
    );
}

#[test]
fn a_file_may_come_by_the_standard_input() {
    let sandbox = Sandbox::new();
    let pools = crate::support::dataset([2, 3]);
    let ran = sandbox.with_stdin("import -", &pools);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    ran.prints("standard input: ");
    assert_eq!(sandbox.count("SELECT count(*) FROM query"), 2);
    sandbox.write("qrels", "q1 0 a 1\n");
    let ran = sandbox.with_stdin("evaluate qrels - --metrics mrr", "q1 Q0 a 1 1 x\n");
    ran.prints("1.0000");
    let ran = sandbox.with_stdin("import -", "{\"query\":");
    ran.refused(2, &["standard input:1: "]);
}
