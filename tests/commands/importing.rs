//! `overrule import` and `overrule export`: files in, files out, and what is refused.

use crate::support::{AI_SCORES, Sandbox, dataset};
use rstest::rstest;
use serde_json::{Value, json};
use std::fs;
use std::io::Write as _;

const GOOD: &str = r#"{"query":{"id":"good","query":"red apples"},"documents":[{"id":"a","content":"apples"},{"id":"b","content":"pears"}]}"#;

fn queries(sandbox: &Sandbox) -> i64 {
    sandbox.count("SELECT count(*) FROM query")
}

#[test]
fn recorded_votes_come_back_out_byte_for_byte() {
    let sandbox = Sandbox::new();
    let ran = sandbox.done(&["import", AI_SCORES]);
    assert!(
        ran.text()
            .contains("8 battles with 24 votes and 0 failed calls"),
        "{}",
        ran.text()
    );
    let input = fs::read_to_string(AI_SCORES).unwrap();
    assert_eq!(sandbox.done("export ai-scores").text(), input);
    sandbox.done("export ai-scores --out again.json");
    assert_eq!(sandbox.read("again.json"), input);
}

#[test]
fn importing_twice_changes_nothing() {
    let sandbox = Sandbox::new();
    sandbox.done(&["import", AI_SCORES]);
    let state = |sandbox: &Sandbox| {
        (
            sandbox.json("status --json"),
            sandbox.done("export ai-scores").text().to_owned(),
        )
    };
    let before = state(&sandbox);
    let report = sandbox.json(&["import", AI_SCORES, "--json"]);
    assert_eq!(report[0]["queries_added"], 0);
    assert_eq!(report[0]["queries_unchanged"], 1);
    assert_eq!(report[0]["votes"], 0);
    assert_eq!(state(&sandbox), before);
}

#[test]
fn the_battles_of_a_document_carry_every_vote_and_its_reasoning() {
    let sandbox = Sandbox::new();
    sandbox.done(&["import", AI_SCORES]);
    let output = sandbox.json("battles --query capital-of-france --document d2 --json");
    let battles = output["battles"].as_array().unwrap();
    assert_eq!(battles.len(), 8);
    for battle in battles {
        assert!(battle["a"] == "d2" || battle["b"] == "d2");
        let votes = battle["votes"].as_array().unwrap();
        let judges: Vec<_> = votes
            .iter()
            .map(|vote| vote["judge"].as_str().unwrap())
            .collect();
        assert_eq!(judges, ["openai", "gemini", "anthropic"]);
        for vote in votes {
            assert!(vote["reasoning"].as_str().unwrap().len() > 20);
            assert_eq!(vote["margin"].as_f64().unwrap().abs(), 1.0);
            assert_eq!(vote["offline"], false);
            assert!(vote["failure"].is_null());
        }
        assert_eq!(battle["missing"], 0);
    }
}

#[test]
fn a_dataset_and_its_recorded_votes_unite() {
    let sandbox = Sandbox::new();
    sandbox.done(&["import", AI_SCORES]);
    let recorded: Value = serde_json::from_slice(&fs::read(AI_SCORES).unwrap()).unwrap();
    let mut documents = Vec::new();
    for pair in recorded["scored_pairs"].as_array().unwrap() {
        for side in ["document_a", "document_b"] {
            let found = &pair["pair"][side];
            let (id, content, metadata) =
                (&found["document_id"], &found["content"], &found["metadata"]);
            let it = json!({ "id": id, "content": content, "metadata": metadata });
            if !documents.contains(&it) {
                documents.push(it);
            }
        }
    }
    documents.sort_by_key(|document| document["id"].to_string());
    let pair = &recorded["scored_pairs"][0]["pair"];
    let line = json!({ "query": { "id": pair["query_id"], "query": pair["query"] }, "documents": documents });
    let fresh = Sandbox::new();
    fresh.write("in.jsonl", line.to_string());
    fresh.done(&["import", "in.jsonl", AI_SCORES]);
    assert_eq!(fresh.json("status --json")["votes"], 24);
    assert_eq!(
        fresh.done("export ai-scores").text(),
        fs::read_to_string(AI_SCORES).unwrap()
    );
    let matrix = fresh.json("matrix --query capital-of-france --order hybrid --json");
    let order: Vec<_> = matrix["documents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["document"].clone())
        .collect();
    assert_eq!(
        order,
        ["d1", "d2", "d3"],
        "the dataset's order is the hybrid order"
    );

    // The other way round the pool's order is known only from the votes, so the dataset is another
    // pool.
    sandbox.write("in.jsonl", line.to_string());
    let before = sandbox.json("status --json");
    sandbox.refused("import in.jsonl", 2, &["capital-of-france"]);
    assert_eq!(sandbox.json("status --json"), before);
}

#[test]
fn an_annotated_dataset_exports_as_it_was_annotated() {
    let sandbox = Sandbox::new();
    sandbox.write("in.jsonl", dataset([3, 5]));
    sandbox.done("annotate in.jsonl out.jsonl");
    assert_eq!(
        sandbox.done("export annotated").text(),
        sandbox.read("out.jsonl")
    );
    let one = sandbox.done("export annotated --query q1");
    assert_eq!(one.text().lines().count(), 1);
    sandbox.refused("export annotated --query q9", 2, &["\"q9\""]);
}

#[test]
fn exported_votes_re_import_to_the_same_scores() {
    let sandbox = Sandbox::new();
    sandbox.write("in.jsonl", dataset([6]));
    sandbox.done("annotate in.jsonl out.jsonl");
    sandbox.done("export ai-scores --out votes.json");
    let other = Sandbox::new();
    fs::copy(sandbox.path("in.jsonl"), other.path("in.jsonl")).unwrap();
    fs::copy(sandbox.path("votes.json"), other.path("votes.json")).unwrap();
    other.done("import in.jsonl votes.json");
    assert_eq!(
        other.done("export annotated").text(),
        sandbox.read("out.jsonl")
    );
    assert_eq!(
        other.done("export ai-scores").text(),
        sandbox.read("votes.json")
    );
}

#[test]
fn votes_export_one_row_a_vote() {
    let sandbox = Sandbox::new();
    sandbox.write("in.jsonl", dataset([4]));
    sandbox.done("annotate in.jsonl out.jsonl");
    let votes = sandbox.json("status --json")["votes"].as_u64().unwrap() as usize;
    let lines = sandbox.done("export votes --format jsonl");
    let rows: Vec<Value> = lines
        .text()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(rows.len(), votes);
    assert!(rows.iter().all(|row| row["failure"].is_null()
        && row["provider"] == "offline"
        && row["attempt"] == 1));
    let table = sandbox.done("export votes");
    let mut reader = csv::Reader::from_reader(table.stdout.as_slice());
    assert_eq!(&reader.headers().unwrap()[0], "query");
    let records: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().unwrap();
    assert_eq!(records.len(), votes);
    for (record, row) in records.iter().zip(&rows) {
        assert_eq!(
            record[8].parse::<f64>().unwrap(),
            row["margin"].as_f64().unwrap()
        );
    }
}

/// `GOOD` first, so that a reader that stored as it went would be found out; the bad part follows
/// on line 2.
fn with_good_first(bad: &[u8]) -> Vec<u8> {
    [GOOD.as_bytes(), b"\n", bad].concat()
}

#[rstest]
#[case::broken_json(
    br#"{"query":{"id":"x","query":"y"},"documents":[{"id":}]}"#,
    "broken JSON"
)]
#[case::truncated_last_line(br#"{"query":{"id":"x","query":"y"},"docum"#, "cut off")]
#[case::duplicate_documents(
    br#"{"query":{"id":"x","query":"y"},"documents":[{"id":"a","content":"1"},{"id":"a","content":"2"}]}"#,
    "already documents[0]"
)]
#[case::duplicate_query(GOOD.as_bytes(), "already on line 1")]
#[case::empty_content(
    br#"{"query":{"id":"x","query":"y"},"documents":[{"id":"a","content":" "}]}"#,
    "documents[0].content: is empty"
)]
#[case::empty_query(
    br#"{"query":{"id":"x","query":""},"documents":[{"id":"a","content":"1"}]}"#,
    "query.query: is empty"
)]
#[case::no_documents(
    br#"{"query":{"id":"x","query":"y"},"documents":[]}"#,
    "documents: is empty"
)]
#[case::missing_query(br#"{"documents":[{"id":"a","content":"1"}]}"#, "query: is missing")]
#[case::invalid_utf8(
    b"{\"query\":{\"id\":\"x\",\"query\":\"\xff\"},\"documents\":[]}",
    "invalid UTF-8"
)]
#[case::number_as_id(
    br#"{"query":{"id":7.5,"query":"y"},"documents":[{"id":"a","content":"1"}]}"#,
    "query.id"
)]
#[case::documents_as_object(
    br#"{"query":{"id":"x","query":"y"},"documents":{"id":"a"}}"#,
    "expected an array"
)]
#[case::metadata_as_text(
    br#"{"query":{"id":"x","query":"y"},"documents":[{"id":"a","content":"1","metadata":"m"}]}"#,
    "documents[0].metadata"
)]
#[case::score_as_text(
    br#"{"query":{"id":"x","query":"y"},"documents":[{"id":"a","content":"1","score":"1"}]}"#,
    "documents[0].score"
)]
#[case::python_nan(
    br#"{"query":{"id":"x","query":"y"},"documents":[{"id":"a","content":"1","score":NaN}]}"#,
    "NaN"
)]
#[case::an_array_of_pools(b"[]", "expected an object, found an array")]
fn a_bad_line_is_named_and_nothing_is_imported(#[case] bad: &[u8], #[case] word: &str) {
    let sandbox = Sandbox::new();
    sandbox.write("in.jsonl", with_good_first(bad));
    sandbox.refused(
        "import in.jsonl",
        2,
        &["in.jsonl:2: ", word, "nothing imported"],
    );
    sandbox.refused("import in.jsonl --dry-run", 2, &["in.jsonl:2: ", word]);
    assert_eq!(queries(&sandbox), 0);

    let report = sandbox.json("import in.jsonl --skip-bad --json");
    assert_eq!(report[0]["queries_added"], 1);
    assert_eq!(report[0]["skipped"], 1);
    assert_eq!(queries(&sandbox), 1);
    let again = sandbox.done("import in.jsonl --skip-bad");
    again.prints("skipped 1 invalid part");
    again.says("in.jsonl:2: ");
}

#[rstest]
#[case::crlf([GOOD, "\r\n"].concat())]
#[case::byte_order_mark(["\u{feff}", GOOD, "\n"].concat())]
#[case::no_last_line_break(GOOD.to_owned())]
#[case::blank_lines(["\n\n", GOOD, "\n\n"].concat())]
#[case::unknown_members(GOOD.replace(r#""content""#, r#""lang":"en","content""#))]
fn harmless_irregularities_are_read(#[case] content: String) {
    let sandbox = Sandbox::new();
    sandbox.write("in.jsonl", content);
    sandbox.done("import in.jsonl");
    let queries = sandbox.json("queries --json");
    assert_eq!(queries[0]["query"], "good");
    assert_eq!(queries[0]["documents"], 2);
}

#[rstest]
#[case::a_folder("folder", "is a folder")]
#[case::a_missing_file("absent.jsonl", "cannot be opened")]
#[case::an_empty_file("empty.jsonl", "is empty")]
#[case::gzip("packed.jsonl", "cut off or damaged")]
#[case::utf_16("wide.jsonl", "UTF-16")]
#[case::a_database("other.db", "not a text file")]
fn what_is_no_dataset_is_refused(#[case] name: &str, #[case] word: &str) {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("folder")).unwrap();
    sandbox.write("empty.jsonl", "");
    sandbox.write("packed.jsonl", b"\x1f\x8b\x08\x00");
    sandbox.write("wide.jsonl", b"\xff\xfe{\x00");
    sandbox.write("other.db", b"SQLite format 3\0");
    sandbox.refused(&["import", name], 2, &[name, word]);
    assert_eq!(queries(&sandbox), 0);
}

#[rstest]
#[case::cut_off(|text: &str| text[..text.len() / 2].to_owned(), "cut off")]
#[case::score_as_text(|text: &str| text.replacen("\"score\": -1.0", "\"score\": \"A\"", 1), "score")]
#[case::not_a_list(|_: &str| r#"{"scored_pairs": 7}"#.to_owned(), "scored_pairs")]
fn bad_recorded_votes_are_refused_with_their_line(
    #[case] spoil: fn(&str) -> String,
    #[case] word: &str,
) {
    let sandbox = Sandbox::new();
    let text = fs::read_to_string(AI_SCORES).unwrap();
    sandbox.write("ai_scores.json", spoil(&text));
    let ran = sandbox.refused("import ai_scores.json", 2, &[word, "nothing imported"]);
    let place = ran
        .stderr
        .strip_prefix("ai_scores.json:")
        .and_then(|rest| rest.split_once(": "))
        .unwrap()
        .0;
    assert!(place.parse::<u32>().is_ok(), "{}", ran.stderr);
    assert_eq!(queries(&sandbox), 0);
}

#[test]
fn good_pairs_of_a_bad_file_are_imported_when_asked() {
    let sandbox = Sandbox::new();
    let text = fs::read_to_string(AI_SCORES).unwrap();
    sandbox.write(
        "ai_scores.json",
        text.replacen("\"score\": -1.0", "\"score\": \"A\"", 1),
    );
    let report = sandbox.json("import ai_scores.json --skip-bad --json");
    assert_eq!(report[0]["battles"], 7);
    assert_eq!(report[0]["votes"], 21);
    assert_eq!(report[0]["skipped"], 1);
}

/// zBench makes pairs of a document with itself for queries with one document, and checks no score.
#[test]
fn what_zbench_writes_and_is_no_vote_is_counted() {
    let sandbox = Sandbox::new();
    let mut recorded: Value = serde_json::from_slice(&fs::read(AI_SCORES).unwrap()).unwrap();
    recorded["scored_pairs"][0]["gemini_score"]["score"] = json!(1.5);
    recorded["scored_pairs"][1]["openai_score"]["score"] = json!(-7);
    let mut alone = recorded["scored_pairs"][2].clone();
    alone["pair"]["query_id"] = json!("alone");
    alone["pair"]["document_b"] = alone["pair"]["document_a"].clone();
    for _ in 0..4 {
        let pairs = recorded["scored_pairs"].as_array_mut().unwrap();
        pairs.push(alone.clone());
    }
    sandbox.write("ai_scores.json", recorded.to_string());
    let checked = sandbox.done("import ai_scores.json --dry-run");
    checked.prints("2 queries, 4 documents, 8 battles, 22 votes");
    let report = sandbox.json("import ai_scores.json --json");
    assert_eq!(report[0]["queries_added"], 2);
    assert_eq!(report[0]["battles"], 8);
    assert_eq!(report[0]["votes"], 22);
    assert_eq!(report[0]["failures"], 2);
    assert_eq!(report[0]["self_pairs"], 4);
    assert_eq!(report[0]["out_of_range"], 2);
    assert_eq!(report[0]["skipped"], 0);
    let again = sandbox.done("import ai_scores.json");
    again.prints("4 pairs of a document with itself skipped");
    again.prints("2 scores outside -1..1 read as failed calls");
    again.prints("0 queries added, 2 already there");
    let votes = sandbox.done("export votes --format jsonl --query capital-of-france");
    let message = "recorded score -7 is outside -1..1";
    assert!(votes.text().contains(message), "{}", votes.text());
}

#[test]
fn a_recorded_failure_is_a_failure_and_not_a_tie() {
    let sandbox = Sandbox::new();
    let mut recorded: Value = serde_json::from_slice(&fs::read(AI_SCORES).unwrap()).unwrap();
    recorded["scored_pairs"][0]["openai_score"] = json!({ "thought": "", "score": 0.0 });
    sandbox.write(
        "ai_scores.json",
        serde_json::to_string_pretty(&recorded).unwrap(),
    );
    sandbox.done("import ai_scores.json");
    let status = sandbox.json("status --json");
    assert_eq!(
        (
            &status["votes"],
            &status["failures"],
            &status["votes_missing"]
        ),
        (&json!(23), &json!(1), &json!(1))
    );
}

#[test]
fn a_bad_file_among_good_ones_imports_none_of_them() {
    let sandbox = Sandbox::new();
    sandbox.write("good.jsonl", GOOD);
    sandbox.write("bad.jsonl", "{");
    sandbox.refused(
        "import good.jsonl bad.jsonl",
        2,
        &["bad.jsonl:1: ", "nothing imported"],
    );
    assert_eq!(queries(&sandbox), 0);
}

#[test]
fn recorded_votes_are_taken_over_after_an_annotation_too() {
    let sandbox = Sandbox::new();
    sandbox.write("in.jsonl", dataset([5]));
    sandbox.done("annotate in.jsonl out.jsonl");
    let recorded = sandbox
        .done("export ai-scores")
        .text()
        .replace("bm25_score", "openai_score");
    let recorded = recorded
        .replace("proximity_score", "gemini_score")
        .replace("ngram_score", "anthropic_score");
    sandbox.write("ai_scores.json", &recorded);
    let report = sandbox.json("import ai_scores.json --json");
    assert_eq!(report[0]["votes"], 60);
    assert_eq!(sandbox.done("export ai-scores").text(), recorded);
}

#[rstest]
#[case::query("What is the capital of France?", "query")]
#[case::document("Paris is the capital of France.", "d2")]
fn one_identifier_with_two_texts_is_refused(#[case] text: &str, #[case] word: &str) {
    let sandbox = Sandbox::new();
    let recorded = fs::read_to_string(AI_SCORES).unwrap();
    let member = |text: &str| format!(": \"{text}\"");
    let spoiled = recorded.replacen(&member(text), &member("Another text"), 1);
    assert_ne!(spoiled, recorded);
    sandbox.write("ai_scores.json", spoiled);
    sandbox.refused(
        "import ai_scores.json",
        2,
        &["ai_scores.json:", word, "nothing imported"],
    );
}

#[test]
fn a_small_packed_file_with_an_endless_line_is_refused() {
    let sandbox = Sandbox::new();
    for (name, start) in [
        ("line.jsonl.gz", "{\"query\": \"x"),
        ("cell.csv.gz", "query,document,grade\nq,\"d"),
        ("value.json.gz", "{\"q\": {\"d"),
    ] {
        let file = std::fs::File::create(sandbox.path(name)).unwrap();
        let mut packed = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
        packed.write_all(start.as_bytes()).unwrap();
        let block = vec![b'x'; 1 << 20];
        (0..66).for_each(|_| packed.write_all(&block).unwrap());
        packed.finish().unwrap();
        sandbox.refused(&["import", name], 2, &[name, "is longer than"]);
    }
}
