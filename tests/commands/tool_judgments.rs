//! Judgments of other search tools: imported by the ids or the texts of queries, and written back.

use crate::support::Sandbox;
use rstest::rstest;
use serde_json::{Value, json};

/// A project with two queries: q1 *red shoes*, q2 *blue jeans*.
fn shop() -> Sandbox {
    let sandbox = Sandbox::new();
    add_query(&sandbox, "q1", "red shoes");
    add_query(&sandbox, "q2", "blue jeans");
    sandbox
}

fn add_query(sandbox: &Sandbox, id: &str, text: &str) {
    let documents = ["a", "b", "c"].map(|id| json!({"id": id, "content": format!("text {id}")}));
    let pool = json!({"query": {"id": id, "query": text}, "documents": documents});
    sandbox.write("in.jsonl", format!("{pool}\n"));
    sandbox.done("import in.jsonl");
}

fn said(sandbox: &Sandbox, command: &str) -> String {
    sandbox.done(command).text().to_owned()
}

fn labels(sandbox: &Sandbox) -> String {
    said(sandbox, "export qrels")
}

const QRELS: &str = "q1 0 a 3\nq1 0 b 0\nq2 0 c 1\n";

#[rstest]
#[case::quepid("quepid", "ratings.csv", "")]
#[case::opensearch("opensearch", "judgments.json", "")]
#[case::rank_eval("rank-eval", "eval.json", "--index shop")]
#[case::ltr("ltr", "judgments.txt", "")]
fn labels_are_written_for_a_tool_and_read_back(
    #[case] form: &str,
    #[case] file: &str,
    #[case] more: &str,
) {
    let sandbox = shop();
    sandbox.write("labels.qrels", QRELS);
    sandbox.done("import labels.qrels");
    sandbox.done(&format!("export qrels --form {form} {more} --out {file}"));
    let other = shop();
    other.write(file, sandbox.read(file));
    let dry = said(&other, &format!("import {file} --dry-run"));
    assert!(dry.contains("already here: 2 queries"), "{dry}");
    assert_eq!(other.count("SELECT count(*) FROM label"), 0);
    let import: Value = other.json(&format!("import {file} --json"));
    let told = [
        &import[0]["labels_added"],
        &import[0]["queries_matched"],
        &import[0]["queries_skipped"],
    ];
    assert_eq!(told, [&json!(3), &json!(2), &json!(0)]);
    assert_eq!(labels(&other), QRELS);
    // The format can be named, and importing again adds nothing.
    let again = said(&other, &format!("import {file} --as {form}"));
    assert!(
        again.contains("3 labels, 0 new, 3 already there"),
        "{again}"
    );
    assert_eq!(
        said(&sandbox, &format!("export qrels --form {form} {more}")),
        sandbox.read(file)
    );
}

#[test]
fn the_result_says_whether_queries_were_matched_by_id_or_by_text() {
    let sandbox = shop();
    sandbox.write(
        "texts.csv",
        "query,docid,rating\nred  shoes,a,3\nsocks,b,1\n",
    );
    let text = said(&sandbox, "import texts.csv");
    assert!(
        text.ends_with("1 label, 1 new, 0 already there; 1 query matched by text, skipped 1 query whose text is not in the project\n"),
        "{text}"
    );
    sandbox.write("ids.csv", "query,docid,rating\nq2,a,3\n");
    let text = said(&sandbox, "import ids.csv");
    assert!(
        text.ends_with("1 label, 1 new, 0 already there; 1 query matched by id\n"),
        "{text}"
    );
    sandbox.write("none.csv", "query,docid,rating\nsocks,a,3\n");
    let text = said(&sandbox, "import none.csv");
    assert!(
        text.contains("no query of the project has such an id or text"),
        "{text}"
    );
    sandbox.refused(
        "import none.csv --match text",
        2,
        &["none.csv: none of its queries is the text"],
    );
    sandbox.refused(
        "import in.jsonl --match text",
        2,
        &["in.jsonl: is a dataset; --match is for labels"],
    );
    assert_eq!(labels(&sandbox), "q1 0 a 3\nq2 0 a 3\nsocks 0 a 3\n");
}

#[test]
fn an_ambiguous_text_names_both_queries_and_stores_nothing() {
    let sandbox = shop();
    add_query(&sandbox, "q9", "red shoes");
    sandbox.write(
        "r.csv",
        "query,docid,rating\nblue jeans,a,1\nred shoes,a,3\n",
    );
    for command in [
        "import r.csv",
        "import r.csv --dry-run",
        "import r.csv --match text",
    ] {
        sandbox.refused(
            command,
            2,
            &["r.csv:3: \"red shoes\" is the text of the queries \"q1\" and \"q9\" of the project"],
        );
    }
    assert_eq!(sandbox.count("SELECT count(*) FROM label"), 0);
    sandbox.write("labels.qrels", "q1 0 a 3\nq9 0 a 3\n");
    sandbox.done("import labels.qrels");
    sandbox.refused(
        "export qrels --form quepid",
        2,
        &["queries \"q1\" and \"q9\" have the same text"],
    );
}

#[rstest]
#[case::quepid(
    "r.csv",
    "query,docid,rating\nred shoes,a,3\nred shoes,b,0.5\n",
    "r.csv:3: the grade \"0.5\""
)]
#[case::opensearch(
    "r.json",
    "{\"judgmentRatings\":[\n{\"query\":\"red shoes\",\"ratings\":[{\"docId\":\"a\",\"rating\":\"x\"}]}]}",
    "r.json:2: judgmentRatings[0].ratings[0].rating"
)]
#[case::rank_eval(
    "r.json",
    "{\"requests\":[\n{\"id\":\"q1\",\"ratings\":[{\"_id\":\"a\"}]}]}",
    "r.json:2: requests[0].ratings[0].rating: is missing"
)]
#[case::ltr(
    "r.txt",
    "3 qid:1 # a\n3 qid:1 1:2\n",
    "r.txt:2: has no document after #"
)]
fn a_broken_file_is_refused_and_nothing_is_stored(
    #[case] file: &str,
    #[case] text: &str,
    #[case] words: &str,
) {
    let sandbox = Sandbox::new();
    sandbox.write(file, text);
    sandbox.refused(&format!("import {file}"), 2, &[words]);
    assert!(!sandbox.project().exists(), "no project is made");
    let sandbox = shop();
    sandbox.write(file, text);
    sandbox.refused(&format!("import {file}"), 2, &[words]);
    assert_eq!(sandbox.count("SELECT count(*) FROM label"), 0);
}

#[test]
fn an_index_is_named_for_rank_eval_only() {
    let sandbox = shop();
    sandbox.write("labels.qrels", QRELS);
    sandbox.done("import labels.qrels");
    let words = "--index names the search index of the documents";
    sandbox.refused("export qrels --form rank-eval", 2, &[words]);
    sandbox.refused("export qrels --index shop", 2, &[words]);
}

#[test]
fn a_judgment_list_is_not_a_ranking() {
    let sandbox = shop();
    sandbox.write("q.qrels", "q1 0 a 1\n");
    sandbox.write("list.txt", "4 qid:q1 # a\n");
    let words = "list.txt: holds labels, not a ranking";
    sandbox.refused("evaluate q.qrels list.txt", 2, &[words]);
    sandbox.refused(
        "import list.txt --as ranking",
        2,
        &["list.txt:1: is a line of a judgment list"],
    );
}

/// MS MARCO's qrels are TREC's, with tabs: query, 0, passage, 1.
#[test]
fn ms_marco_is_read_as_qrels() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "qrels.dev.tsv",
        "300674\t0\t7067032\t1\n125705\t0\t7067056\t1\n",
    );
    let ran = sandbox.done("import qrels.dev.tsv");
    ran.says(
        "qrels.dev.tsv:1: labels (qrels), read as query \"300674\", document \"7067032\", grade 1",
    );
    assert_eq!(labels(&sandbox), "125705 0 7067056 1\n300674 0 7067032 1\n");
}
