//! TREC's and BEIR's files: every message, hostile input, and round trips.

use crate::domain::corpus::{DocId, QueryId};
use crate::domain::metrics::{Qrels, RankedRun};
use crate::formats::file_kind::{FileKind, recognise};
use crate::formats::problem::Problem;
use crate::formats::trec::{self, CandidateLists};
use crate::formats::{beir, dataset};
use proptest::prelude::*;
use rstest::rstest;

fn told(problems: &[Problem]) -> Vec<String> {
    problems.iter().map(ToString::to_string).collect()
}

fn qrels(input: impl AsRef<[u8]>) -> (Qrels, Vec<String>) {
    let mut problems = Vec::new();
    let rows = trec::read_qrels(input.as_ref(), "q.txt");
    let qrels = trec::collect_qrels(rows, "q.txt", &mut |problem| problems.push(problem));
    (qrels, told(&problems))
}

fn beir_qrels(input: impl AsRef<[u8]>) -> (Qrels, Vec<String>) {
    let mut problems = Vec::new();
    let rows = beir::read_qrels(input.as_ref(), "q.tsv");
    let qrels = trec::collect_qrels(rows, "q.tsv", &mut |problem| problems.push(problem));
    (qrels, told(&problems))
}

fn run(input: impl AsRef<[u8]>) -> (RankedRun, Vec<String>) {
    let mut problems = Vec::new();
    let rows = trec::read_run(input.as_ref(), "r.txt");
    let run = trec::collect_run(rows, "r.txt", &mut |problem| problems.push(problem));
    (run, told(&problems))
}

fn candidates(input: impl AsRef<[u8]>) -> (CandidateLists, Vec<String>) {
    let mut problems = Vec::new();
    let rows = trec::read_candidates(input.as_ref(), "c.tsv");
    let found = trec::collect_candidates(rows, "c.tsv", &mut |problem| problems.push(problem));
    (found, told(&problems))
}

fn grades(qrels: &Qrels, query: &str) -> Vec<(String, i32)> {
    let grades = &qrels[&QueryId::new(query)];
    grades
        .iter()
        .map(|(id, grade)| (id.as_str().to_owned(), *grade))
        .collect()
}

const NONE: [&str; 0] = [];

#[test]
fn labels_are_read_from_both_forms() {
    let (trec, problems) = qrels("\u{feff}q1 0 d1 2\r\n\r\nq1\tQ0  d2 -1\nq2 0 d1 0");
    assert_eq!(problems, NONE);
    assert_eq!(grades(&trec, "q1"), [("d1".into(), 2), ("d2".into(), -1)]);
    let (beir, problems) = beir_qrels(
        "\u{feff}query-id\tcorpus-id\tscore\r\nq1\td1\t2\r\nq1\td2\t-1\r\nq2\td1\t0\r\n",
    );
    assert_eq!((beir, problems.len()), (trec, 0));
    let (spaced, _) = beir_qrels("query-id\tcorpus-id\tscore\nq 1\td 1\t1\n");
    assert_eq!(grades(&spaced, "q 1"), [("d 1".into(), 1)]);
}

#[rstest]
#[case(
    "q1 0 d1\n",
    "q.txt:1: has 3 columns; a line of qrels has 4: query, iteration, document, grade"
)]
#[case(
    "q1 0 d1 1\nq1\n",
    "q.txt:2: has 1 column; a line of qrels has 4: query, iteration, document, grade"
)]
#[case(
    "q1 0 d1 0.5\n",
    "q.txt:1: the grade \"0.5\" is not a whole number; scores belong into a run"
)]
#[case(
    "q1 0 d1 99999999999\n",
    "q.txt:1: the grade \"99999999999\" is not a whole number; scores belong into a run"
)]
#[case(
    "q1 0 d1 1\nq2 0 d1 1\nq1 0 d1 1\n",
    "q.txt:3: document \"d1\" of query \"q1\" has a label on an earlier line; keep one"
)]
#[case(
    "q1 0 d\u{202e} 1\nq1 0 d\u{202e} 0\n",
    "q.txt:2: document \"d\\u{202e}\" of query \"q1\" has a label on an earlier line; keep one"
)]
fn a_bad_label_says_what_is_wrong(#[case] input: &str, #[case] expected: &str) {
    assert_eq!(qrels(input).1, [expected]);
}

#[rstest]
#[case(
    "q1\td1\t1\n",
    "q.tsv:1: the header is missing; the first line is query-id, corpus-id, score"
)]
#[case(
    "query-id\tcorpus-id\tscore\nq1 d1 1\n",
    "q.tsv:2: has 1 column; a line of BEIR's qrels has 3, with tabs between them: query-id, corpus-id, score"
)]
#[case(
    "query-id\tcorpus-id\tscore\n\td1\t1\n",
    "q.tsv:2: an identifier is empty"
)]
#[case(
    "query-id\tcorpus-id\tscore\nq1\td1\t1.0\n",
    "q.tsv:2: the grade \"1.0\" is not a whole number; scores belong into a run"
)]
fn a_bad_label_of_beirs_says_what_is_wrong(#[case] input: &str, #[case] expected: &str) {
    assert_eq!(beir_qrels(input).1, [expected]);
}

#[test]
fn runs_are_read_with_ranks_nobody_reads() {
    let (read, problems) = run("q2 Q0 b 1 0.5 x\nq1 Q0 a 7 -1e3 x\nq2 Q0 a - 1e999 x\n");
    assert_eq!(problems, NONE);
    assert_eq!(
        read[&QueryId::new("q2")],
        [(DocId::new("b"), 0.5), (DocId::new("a"), f64::INFINITY)]
    );
    assert_eq!(read[&QueryId::new("q1")], [(DocId::new("a"), -1000.0)]);
}

#[rstest]
#[case("q Q0 d 1 0.5\n", &["r.txt:1: has 5 columns; a line of a run has 6: query, Q0, document, rank, score, name"])]
#[case("q Q0 d 1 NaN x\n", &["r.txt:1: the score \"NaN\" is not a number"])]
#[case("q Q0 d 1 x x\nq Q0 d 1 1 x\n", &["r.txt:1: the score \"x\" is not a number"])]
#[case("q Q0 d 1 3 x\np Q0 d 1 3 x\nq Q0 e 1 2 x\nq Q0 d 1 1 x\nq Q0 d 1 0 x\n", &[
    "r.txt:4: document \"d\" of query \"q\" is already on line 1; keep one",
    "r.txt:5: document \"d\" of query \"q\" is already on line 1; keep one"])]
fn a_bad_run_says_what_is_wrong(#[case] input: &str, #[case] expected: &[&str]) {
    assert_eq!(run(input).1, expected);
}

#[test]
fn candidates_are_in_the_order_of_their_lines() {
    let (read, problems) =
        candidates("query-id\tcorpus-id\trank\tscore\nq\tb\t1\t0.5\nq\ta\t2\t0.7\np\tx\n");
    assert_eq!(problems, NONE);
    let found = [(DocId::new("b"), Some(0.5)), (DocId::new("a"), Some(0.7))];
    assert_eq!(read[&QueryId::new("q")], found);
    assert_eq!(read[&QueryId::new("p")], [(DocId::new("x"), None)]);
    for (input, expected) in [
        (
            "q\n",
            "c.tsv:1: has 1 column; a line of candidates has 2 to 4: query, document, rank, score",
        ),
        (
            "q d first\n",
            "c.tsv:1: the score \"first\" is not a number",
        ),
        (
            "q d 2\nq e 1\n",
            "c.tsv:2: rank 1 comes after rank 2; sort the file",
        ),
        (
            "q d\nq d\n",
            "c.tsv:2: document \"d\" of query \"q\" is already on line 1; keep one",
        ),
    ] {
        assert_eq!(candidates(input).1, [expected]);
    }
}

#[test]
fn a_file_is_known_by_its_first_line() {
    let of = |input: &str| recognise(input.as_bytes(), "f").map_err(|problem| problem.to_string());
    for (input, kind) in [
        ("\n q 0 d 1\n", FileKind::Qrels),
        (
            "\u{feff}query-id\tcorpus-id\tscore\r\n",
            FileKind::BeirQrels,
        ),
        ("q Q0 d 1 0.5 x\n", FileKind::Run),
        ("\u{feff} {\"query\"", FileKind::Dataset),
        ("q\td", FileKind::Candidates),
        ("q,d,1,12.5", FileKind::Candidates),
        ("query_id,corpus_id,rank", FileKind::Candidates),
        ("Query\tDoc-ID\tscore", FileKind::Candidates),
        ("q,d,1", FileKind::Candidates),
        ("q 0 d 1.5", FileKind::Qrels),
    ] {
        assert_eq!(of(input), Ok(kind), "{input}");
    }
    for (input, message) in [
        ("", "f: is empty"),
        ("\n\n", "f: is empty"),
        (
            "a\tb\t1",
            "f:1: has 3 columns and no header; BEIR's qrels begin with query-id, corpus-id, score, candidates with \
             query_id, corpus_id, rank",
        ),
        (
            "a\u{1b}[2J",
            "f:1: begins with \"a\\u{1b}[2J\", which is neither qrels (4 columns, or BEIR's 3 with a header), a run \
             (6 columns), candidates (2, or 4 with a score) nor JSON lines",
        ),
    ] {
        assert_eq!(of(input), Err(message.to_owned()), "{input}");
    }
    let endless = vec![b'x'; 2 << 20];
    let problem = recognise(endless.as_slice(), "f").unwrap_err();
    assert_eq!(
        problem.to_string(),
        "f:1: is longer than 1048576 bytes, which no record is"
    );
}

#[test]
fn a_corpus_and_its_queries_are_read() {
    let corpus = "\u{feff}{\"_id\":\"1\",\"title\":\" T \",\"text\":\"x\",\"metadata\":{\"a\": 1}}\r\n\n\
                  {\"_id\":\"2\",\"title\":null,\"text\":\"\"}\n";
    let read: Vec<_> = beir::read_corpus(corpus.as_bytes(), "c")
        .map(|item| item.unwrap())
        .collect();
    assert_eq!(
        (read[0].content(), read[0].metadata.as_str()),
        ("T\n\nx".to_owned(), "{\"a\":1}")
    );
    assert_eq!(
        (read[1].title.as_str(), read[1].content()),
        ("", String::new())
    );
    let queries = "{\"_id\":\"q\",\"text\":\"why\",\"metadata\":{}}\n";
    let read = beir::read_queries(queries.as_bytes(), "q").next().unwrap();
    assert_eq!(read.unwrap().text, "why");
}

#[rstest]
#[case("{}", &["_id: is missing", "text: is missing"])]
#[case(r#"{"_id":7,"text":null}"#, &["_id: expected a string, found the number \"7\"; put it in quotes",
    "text: expected a string, found null"])]
#[case(r#"{"_id":" ","text":"x","metadata":[],"title":1}"#, &["_id: is empty",
    "title: expected a string, found the number \"1\"; put it in quotes", "metadata: expected an object, found an array"])]
#[case("[]", &["expected an object, found an array; write one document a line, without the brackets"])]
#[case(r#"{"_id":"1","text":"x"} {}"#, &["more follows after the object at column 24; write each document on a line of its own"])]
fn a_bad_document_says_what_is_wrong(#[case] line: &str, #[case] expected: &[&str]) {
    let input =
        format!("{{\"_id\":\"1\",\"text\":\"x\"}}\n{line}\n{{\"_id\":\"1\",\"text\":\"x\"}}\n");
    let problems: Vec<String> = beir::read_corpus(input.as_bytes(), "c")
        .filter_map(|item| item.err().map(|problem| problem.to_string()))
        .collect();
    let mut expected: Vec<String> = expected.iter().map(|what| format!("c:2: {what}")).collect();
    expected.push("c:3: _id: \"1\" is on an earlier line too; keep one".to_owned());
    assert_eq!(problems, expected);
}

#[test]
fn what_columns_cannot_hold_is_not_written() {
    let of = |query: &str, document: &str| {
        Qrels::from([(QueryId::new(query), [(DocId::new(document), 1)].into())])
    };
    for (query, document) in [("a b", "d"), ("q", ""), ("q", "d\n")] {
        assert!(trec::write_qrels(&mut Vec::new(), &of(query, document)).is_err());
    }
    assert!(trec::write_run(&mut Vec::new(), &QueryId::new("q"), &[], "two words").is_err());
    for (query, document) in [("a\tb", "d"), ("q", " "), ("q ", "d")] {
        assert!(beir::write_qrels(&mut Vec::new(), &of(query, document)).is_err());
    }
}

proptest! {
    #[test]
    fn labels_and_runs_survive_writing_and_reading(
        labels in prop::collection::btree_map("[!-~é–]{1,4}", prop::collection::btree_map("[!-~é–]{1,4}", any::<i32>(), 1..4), 0..4),
        scores in prop::collection::vec(any::<f64>().prop_filter("no NaN", |score| !score.is_nan()), 1..6),
    ) {
        let labels: Qrels = labels.into_iter().map(|(query, grades)| {
            (QueryId::new(query), grades.into_iter().map(|(id, grade)| (DocId::new(id), grade)).collect())
        }).collect();
        let mut out = Vec::new();
        trec::write_qrels(&mut out, &labels).unwrap();
        prop_assert_eq!(qrels(&out), (labels.clone(), Vec::new()));
        let mut out = Vec::new();
        beir::write_qrels(&mut out, &labels).unwrap();
        prop_assert_eq!(beir_qrels(&out), (labels, Vec::new()));
        let ranking: Vec<(DocId, f64)> =
            scores.into_iter().enumerate().map(|(at, score)| (DocId::new(format!("d{at}")), score)).collect();
        let mut out = Vec::new();
        trec::write_run(&mut out, &QueryId::new("q"), &ranking, "name").unwrap();
        prop_assert_eq!(run(&out), (RankedRun::from([(QueryId::new("q"), ranking)]), Vec::new()));
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in prop_oneof![
        prop::collection::vec(any::<u8>(), 0..200),
        "([qd01 \t.-]{0,8}\r?\n){0,8}".prop_map(String::into_bytes),
    ]) {
        let mut problems = Vec::new();
        problems.extend(recognise(bytes.as_slice(), "f").err().map(|problem| problem.to_string()));
        problems.extend(qrels(&bytes).1);
        problems.extend(beir_qrels(&bytes).1);
        problems.extend(run(&bytes).1);
        problems.extend(candidates(&bytes).1);
        problems.extend(beir::read_corpus(bytes.as_slice(), "c").filter_map(|item| item.err().map(|p| p.to_string())));
        problems.extend(beir::read_queries(bytes.as_slice(), "c").filter_map(|item| item.err().map(|p| p.to_string())));
        problems.extend(dataset::read_pools(bytes.as_slice(), "c").filter_map(|item| item.err().map(|p| p.to_string())));
        prop_assert!(!problems.iter().any(|problem| problem.chars().any(char::is_control)));
    }
}
