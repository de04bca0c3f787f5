//! TREC and BEIR files: all messages, hostile input, and round trips.

use crate::domain::corpus::{DocId, QueryId};
use crate::domain::metrics::{Qrels, RankedRun};
use crate::formats::answers::AnswerOptions;
use crate::formats::columns::{self, Layout, TableContent};
use crate::formats::file_kind::{FileKind, recognize};
use crate::formats::problem::Problem;
use crate::formats::{beir, dataset, trec};
use proptest::prelude::*;
use rstest::rstest;

fn layout(input: &[u8]) -> Result<Layout, Vec<String>> {
    match recognize(input, "f", None) {
        Ok(FileKind::Table(layout)) => Ok(layout),
        Ok(other) => panic!("{}", other.describe()),
        Err(problem) => Err(vec![problem.to_string()]),
    }
}

fn told(problems: &[Problem]) -> Vec<String> {
    problems.iter().map(ToString::to_string).collect()
}

/// The labels of a file in columns, and its problems.
fn labels_of(input: impl AsRef<[u8]>) -> (Qrels, Vec<String>) {
    let mut problems = Vec::new();
    if let Ok(FileKind::Judgments(format)) = recognize(input.as_ref(), "f", None) {
        let read = format.read(
            &mut input.as_ref(),
            "f",
            &AnswerOptions::default(),
            &mut |problem| problems.push(problem),
        );
        return (read.collected.labels, told(&problems));
    }
    let layout = match layout(input.as_ref()) {
        Ok(layout) => layout,
        Err(told) => return (Qrels::new(), told),
    };
    let rows = columns::read_labels(input.as_ref(), "f", &layout);
    let found = columns::collect_labels(rows, "f", &mut |problem| problems.push(problem));
    (found.labels, told(&problems))
}

/// The rankings of a file in columns, the queries whose ranks contradict the scores, and its
/// problems.
fn rankings(input: impl AsRef<[u8]>) -> (RankedRun, Vec<QueryId>, Vec<String>) {
    let layout = match layout(input.as_ref()) {
        Ok(layout) => layout,
        Err(told) => return (RankedRun::new(), Vec::new(), told),
    };
    let mut problems = Vec::new();
    let rows = columns::read_rankings(input.as_ref(), "f", &layout);
    let found =
        columns::collect_rankings(rows, &layout, "f", &mut |problem| problems.push(problem));
    (found.run, found.contradicted, told(&problems))
}

fn run(input: impl AsRef<[u8]>) -> (RankedRun, Vec<String>) {
    let (run, _, problems) = rankings(input);
    (run, problems)
}

/// The ranking of query `q`.
fn ranked(input: &str) -> Vec<(String, f64)> {
    let (run, problems) = run(input);
    assert_eq!(problems, NONE, "{input}");
    let documents = run[&QueryId::new("q")].iter();
    documents
        .map(|(id, score)| (id.to_string(), *score))
        .collect()
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
fn labels_are_read_from_every_form() {
    let (expected, problems) = labels_of("\u{feff}q1 0 d1 2\r\n\r\nq1 Q0  d2 -1\nq2 0 d1 0");
    assert_eq!(problems, NONE);
    assert_eq!(
        grades(&expected, "q1"),
        [("d1".into(), 2), ("d2".into(), -1)]
    );
    for other in [
        "\u{feff}query-id\tcorpus-id\tscore\r\nq1\td1\t2\r\nq1\td2\t-1\r\nq2\td1\t0\r\n",
        "query_id,corpus_id,score\nq1,d1,2\nq1,d2,-1\nq2,d1,0\n",
        "q1\t0\td1\t2\nq1\tQ0\td2\t-1\nq2\t0\td1\t0\n",
        "Query,DocID,Rating\nq1,d1,2\nq1,d2,-1\nq2,d1,0\n",
        "qid docno label\nq1 d1 2\nq1 d2 -1\nq2 d1 0\n",
        "grade,title,topic_id,document_id\n2,\"a, b\",q1,d1\n-1,,q1,d2\n0,,q2,d1",
        "\"qid\",\"query\",\"docid\",\"docno\",\"relevance\",\"score\"\nq1,who,7,d1,2,.5\nq1,who,8,d2,-1,.7\nq2,\"how,\",7,d1,0,.1\n",
    ] {
        assert_eq!(labels_of(other), (expected.clone(), Vec::new()), "{other}");
    }
    let (spaced, problems) = labels_of("query\tdocid\trating\nred shoes, new\tmy doc\t1\n");
    assert_eq!(problems, NONE);
    assert_eq!(grades(&spaced, "red shoes, new"), [("my doc".into(), 1)]);
}

#[test]
fn what_nobody_has_rated_is_unjudged() {
    let input = "query,docid,rating,note\nstar wars,11,2,\nstar trek\nalien,,,\nheat,3,,\n";
    let layout = layout(input.as_bytes()).unwrap();
    let rows = columns::read_labels(input.as_bytes(), "f", &layout);
    let found = columns::collect_labels(rows, "f", &mut |problem| panic!("{problem}"));
    assert_eq!((found.labels.len(), found.unrated), (1, 3));
}

#[rstest]
#[case(
    "q1 0 d1 1\nq1\n",
    "f:2: has 1 column; a line of qrels has 4: query, iteration, document, grade"
)]
#[case(
    "q1 0 d1 0.5\n",
    "f:1: the grade \"0.5\" is not a whole number; scores belong in a run"
)]
#[case(
    "q1 0 d1 99999999999\n",
    "f:1: the grade \"99999999999\" is not a whole number; scores belong in a run"
)]
#[case(
    "q1 0 d1 1,0\n",
    "f:1: the grade \"1,0\" is not a whole number; write it with a decimal point: 1.0; scores belong in a run"
)]
#[case(
    "q1 d1 1 12.5\n",
    "f:1: the second column of qrels is the iteration (0 or Q0), found \"d1\"; give other columns a header"
)]
#[case(
    "q1 7067032 1 3\n",
    "f:1: the second column of qrels is the iteration (0 or Q0), found \"7067032\"; give other columns a header"
)]
#[case(
    "q1 0 d1 1\nred shoes\t11\t2\n",
    "f:2: has a tab, and the first line has spaces between its columns; use one of them in the whole file"
)]
#[case(
    "q1\t0\td1\t1\nq2 0 d1 2\n",
    "f:2: has 1 column; a line of qrels has 4: query, iteration, document, grade"
)]
#[case(
    "q1 0 d1 1\nq2 0 d1 1\nq1 0 d1 1\n",
    "f:3: document \"d1\" of query \"q1\" has a label on an earlier line; keep one"
)]
#[case(
    "q1 0 d\u{202e} 1\nq1 0 d\u{202e} 0\n",
    "f:2: document \"d\\u{202e}\" of query \"q1\" has a label on an earlier line; keep one"
)]
#[case(
    "query-id\tcorpus-id\tscore\nq1 d1 1\n",
    "f:2: has 1 column where the first line has 3"
)]
#[case("query-id\tcorpus-id\tscore\n\td1\t1\n", "f:2: an identifier is empty")]
#[case(
    "query-id\tcorpus-id\tscore\nq1\td1\t1.0\n",
    "f:2: the grade \"1.0\" is not a whole number; scores belong in a run"
)]
#[case(
    "query-id\tcorpus-id\tscore\nq1\td1\t\n",
    "f:2: the grade is empty; scores belong in a run"
)]
#[case(
    "query,docid,rating\nq1,d1,1,5\n",
    "f:2: has 4 columns where the first line has 3; quote a cell that has a comma, and write decimal points"
)]
#[case(
    "query,docid,rating\nq1,\"d\"1,1\n",
    "f:2: text follows the closing quote of a cell; double the quotes inside a quoted cell"
)]
#[case(
    "query,docid,rating\nq1,d1,1\nq1,\"d2,1\nq1,d3,1\n",
    "f:3: a quoted cell of this row is never closed; add the missing quote"
)]
#[case(
    "q1 0 d1 1\n3 qid:1 # 1271\n",
    "f:2: is a line of a judgment list for learning to rank (qid: and #), which cannot be among other columns and is not a \
     ranking"
)]
fn a_bad_label_says_what_is_wrong(#[case] input: &str, #[case] expected: &str) {
    assert_eq!(labels_of(input).1, [expected]);
}

#[test]
fn a_run_is_ordered_by_its_scores_and_names_what_it_likes() {
    let (read, contradicted, problems) =
        rankings("q2 Q0 b 1 0.5 x\nq1 Q0 a 7 -1e3 x\nq2 Q0 a - 1e99 x\nq2 Q0 c 3 0 x y, z\n");
    assert_eq!((contradicted, problems), (Vec::new(), Vec::new()));
    assert_eq!(
        read[&QueryId::new("q2")],
        [
            (DocId::new("b"), 0.5),
            (DocId::new("a"), 1e99),
            (DocId::new("c"), 0.0)
        ]
    );
    assert_eq!(read[&QueryId::new("q1")], [(DocId::new("a"), -1000.0)]);
    let tag = ranked("q Q0 a 1 3 bm25(k1=0.9,b=0.4)\nq Q0 b 2 2 bm25(k1=0.9,b=0.4)\n");
    assert_eq!(tag, [("a".to_owned(), 3.0), ("b".to_owned(), 2.0)]);
    let spaced = ranked("q\tQ0\tmy doc\t1\t3\ta name\nq\tQ0\tother, one\t2\t2\ta name\n");
    assert_eq!(spaced[1], ("other, one".to_owned(), 2.0));
}

#[rstest]
#[case::run("q Q0 a 1 1 x\nq Q0 b 2 2 x\np Q0 a 1 2 x\np Q0 b 2 1 x\n", true)]
#[case::far_apart("q Q0 a 1 3 x\nq Q0 b 3 2 x\nq Q0 c 2 1 x\n", true)]
#[case::table("qid,docno,rank,score\nq,a,1,1\nq,b,2,2\n", true)]
#[case::equal_ranks("q Q0 a 1 2 x\nq Q0 b 1 1 x\nq Q0 c 2 0 x\n", true)]
#[case::unsorted("q Q0 b 2 1 x\nq Q0 a 1 2 x\n", false)]
#[case::gaps("q Q0 a 0 2 x\nq Q0 b 7 1 x\n", false)]
#[case::ties_are_ordered_by_identifier("q Q0 a 2 2 x\nq Q0 b 1 2 x\nq Q0 c 3 1 x\n", false)]
#[case::nobody_ranked("q Q0 a 0 2 x\nq Q0 b 0 1 x\n", false)]
fn ranks_that_contradict_the_scores_are_told(#[case] input: &str, #[case] expected: bool) {
    let (_, contradicted, problems) = rankings(input);
    assert_eq!(problems, NONE);
    let queries: Vec<QueryId> = expected.then(|| QueryId::new("q")).into_iter().collect();
    assert_eq!(contradicted, queries);
}

#[rstest]
#[case::score_and_rank("query-id\tcorpus-id\trank\tscore\nq\tb\t1\t0.5\nq\ta\t2\t0.25\n", &[("b", 0.5), ("a", 0.25)])]
#[case::any_order("score, docno ,extra,Query ID\n.5,b,7,q\n.25,a,7,q\n", &[("b", 0.5), ("a", 0.25)])]
#[case::rank("query_id\tdoc_id\trank\nq\tmy doc 1\t2\nq\tmy doc, 2\t1\n", &[("my doc, 2", 2.0), ("my doc 1", 1.0)])]
#[case::neither("query,document\nq,b\nq,a\n", &[("b", 2.0), ("a", 1.0)])]
#[case::with_texts("qid,docno,text\nq,b,\"two\nlines\"\nq,a,one\n", &[("b", 2.0), ("a", 1.0)])]
#[case::pyterrier("qid,docid,docno,rank,score,query\nq,17,b,0,0.5,who\nq,3,a,1,0.25,who\n", &[("b", 0.5), ("a", 0.25)])]
#[case::index_of_pandas(",qid,docno,score\n0,q,b,.5\n1,q,a,.25\n", &[("b", 0.5), ("a", 0.25)])]
#[case::white_space("query_id doc_id score\nq b .5\nq   a .25\n", &[("b", 0.5), ("a", 0.25)])]
#[case::of_sbr(
    "qid,docno,score,normalized_score,semantic_sim,sbr_score,sbr_rank,text\nq,'-b,1,0,0,7,1,x\nq,''=a,2,1,0,3,2,y\n",
    &[("-b", 7.0), ("'=a", 3.0)]
)]
fn a_header_says_what_orders_the_documents(#[case] input: &str, #[case] expected: &[(&str, f64)]) {
    let found = ranked(input);
    let found: Vec<(&str, f64)> = found
        .iter()
        .map(|(id, score)| (id.as_str(), *score))
        .collect();
    assert_eq!(found, expected);
}

#[rstest]
#[case("q Q0 d 1 3 x\nq Q0 d 1 0.5\n", &["f:2: has 5 columns; a line of a run has 6: query, Q0, document, rank, score, name"])]
#[case("q Q0 my d 1 0.5 x\n", &[
    "f:1: has 7 columns; a line of a run has 6: query, Q0, document, rank, score, name; separate identifiers with spaces by tabs"])]
#[case("q Q0 d 1 NaN x\n", &["f:1: the score \"NaN\" is not a number"])]
#[case("q Q0 d 1 2 x\nq Q0 e 2 -inf x\n", &["f:2: the score \"-inf\" is infinite; write a finite score, or remove the row"])]
#[case("qid,docno,score\nq,d,1e999\n", &["f:2: the score \"1e999\" is infinite; write a finite score, or remove the row"])]
#[case("q Q0 d 1 1,5 x\n", &["f:1: the score \"1,5\" is not a number; write it with a decimal point: 1.5"])]
#[case("q Q0 d 1 x x\nq Q0 d 1 1 x\n", &["f:1: the score \"x\" is not a number"])]
#[case("q Q0 d 1 3 x\np Q0 d 1 3 x\nq Q0 e 1 2 x\nq Q0 d 1 1 x\nq Q0 d 1 0 x\n", &[
    "f:4: document \"d\" of query \"q\" is already on line 1; keep one",
    "f:5: document \"d\" of query \"q\" is already on line 1; keep one"])]
#[case("qid,docno,rank\nq,a,first\nq,b,2\nq,c,2\n", &[
    "f:2: the rank \"first\" is not a whole number",
    "f:4: rank 2 of query \"q\" is already on line 3; a rank occurs once per query"])]
#[case("qid,docno,score\nq,a,\n", &["f:2: the score is empty"])]
fn a_bad_ranking_says_what_is_wrong(#[case] input: &str, #[case] expected: &[&str]) {
    assert_eq!(run(input).1, expected);
}

#[test]
fn a_file_is_known_by_its_first_line() {
    let of = |input: &str| {
        let found = recognize(input.as_bytes(), "f", None);
        found
            .map(|kind| kind.describe())
            .map_err(|problem| problem.to_string())
    };
    for (input, kind) in [
        ("\n q 0 d 1\n", "labels (qrels)"),
        ("\u{feff}query-id\tcorpus-id\tscore\r\n", "labels (qrels)"),
        ("query_id,doc_id,relevance\n", "labels (qrels)"),
        ("q Q0 d 1 0.5 x\n", "a run"),
        ("q Q0 d 1 0.5 two words\n", "a run"),
        ("\u{feff} {\"query\"", "a dataset"),
        ("[{\"query\"", "a dataset"),
        ("[\n  {", "a dataset"),
        ("[1] 0 d 1\n", "labels (qrels)"),
        ("{1} 0 d 1\n", "labels (qrels)"),
        ("{\"query\":{\"id\":7,\"query\":\"x\"}", "a dataset"),
        ("{\"q\":{\"d\":7}}", "labels (ranx's JSON)"),
        ("query_id,corpus_id,rank", "a list of candidates"),
        ("query;doc,doc_id,query_id,score", "rankings"),
        ("Query\tDoc-ID\tscore", "rankings"),
    ] {
        assert_eq!(of(input), Ok(kind), "{input}");
    }
    let names = "query_id, doc_id and score, rank or rating";
    let unnamed = |columns: usize| {
        format!("f:1: has {columns} columns and no header; the first line must name them: {names}")
    };
    let neither = |begin: &str| {
        format!(
            "f:1: begins with \"{begin}\", which is neither qrels (4 columns), a run (6 columns), a table whose first line \
             names {names}, nor JSON"
        )
    };
    for (input, message) in [
        ("", "f: is empty".to_owned()),
        ("\n\n", "f: is empty".to_owned()),
        ("q\td", unnamed(2)),
        ("1\tparis", unnamed(2)),
        ("a\tb\t1", unnamed(3)),
        ("q,d,1,12.5", unnamed(4)),
        ("red shoes\t11\t2", unnamed(3)),
        ("q Q0 d 1 0.5", neither("q Q0 d 1 0.5")),
        ("a\u{1b}[2J", neither("a\\u{1b}[2J")),
        (
            "query;docid;rating",
            "f:1: has semicolons between its cells; save it with commas or tabs between them, and with decimal points"
                .to_owned(),
        ),
        (
            "\"query\"|\"docid\"|\"rating\"",
            "f:1: has vertical bars between its cells; save it with commas or tabs between them, and with decimal points"
                .to_owned(),
        ),
        (
            "q1;d1;2",
            "f:1: has semicolons between its cells; save it with commas or tabs between them, under a header, and with \
             decimal points"
                .to_owned(),
        ),
        (
            "query,docid,stars,shown",
            "f:1: no column of the header is a score or a rank, and stars, shown may be anything; name it score, rank or rating, \
             or remove it, or read judges of a book of Quepid with --as quepid-book"
                .to_owned(),
        ),
        (
            "query_id,doc_id,document_id,score",
            "f:1: the columns doc_id and document_id mean the same; remove or rename one of them".to_owned(),
        ),
        (
            "query,rating",
            format!("f:1: is a header that names no column of queries or none of documents; the first line must name {names}"),
        ),
        (
            "query,a,b,p_a,p_b",
            "f:1: is a table of pairs; `overrule import votes`, `overrule student import` and `overrule gold import` read \
             such tables"
                .to_owned(),
        ),
        (
            "query,docid,rating\rq,d,1\r",
            "f:1: its lines end with carriage returns alone; save it with line feeds".to_owned(),
        ),
    ] {
        assert_eq!(of(input), Err(message), "{input}");
    }
    let endless = vec![b'x'; 2 << 20];
    let problem = recognize(endless.as_slice(), "f", None).unwrap_err();
    assert_eq!(
        problem.to_string(),
        "f:1: is longer than 1048576 bytes; no record is that long"
    );
}

#[rstest]
#[case("q\td\n", TableContent::Rankings, Ok("a list of candidates"))]
#[case(
    "q,my doc\n",
    TableContent::Rankings,
    Err("has 2 columns and no header")
)]
#[case("q,d,2\n", TableContent::Rankings, Ok("rankings"))]
#[case("q d 1 12\n", TableContent::Rankings, Ok("rankings"))]
#[case("q\td\t2\n", TableContent::Labels, Ok("labels (qrels)"))]
#[case("query-id,corpus-id,score\n", TableContent::Rankings, Ok("rankings"))]
#[case("qid,docno,score\n", TableContent::Labels, Ok("labels (qrels)"))]
#[case("qid,docno,rating,score\n", TableContent::Rankings, Ok("rankings"))]
#[case(
    "qid,docno,rating\n",
    TableContent::Rankings,
    Err("rating may be anything")
)]
#[case(
    "qid,docno,rank\n",
    TableContent::Labels,
    Err("no column of the header is a rating")
)]
#[case("{\"q\":{\"d\":7}}", TableContent::Rankings, Ok("a run (ranx's JSON)"))]
#[case(
    "{\"q\":{\"d\":0.5}}",
    TableContent::Labels,
    Ok("labels (ranx's JSON)")
)]
fn what_the_user_says_counts(
    #[case] input: &str,
    #[case] wanted: TableContent,
    #[case] expected: Result<&str, &str>,
) {
    let found = recognize(input.as_bytes(), "f", Some(wanted));
    match (found, expected) {
        (Ok(kind), Ok(expected)) => assert_eq!(kind.describe(), expected),
        (Err(problem), Err(words)) => {
            assert!(problem.to_string().contains(words), "{problem}");
        }
        (found, expected) => panic!("{input:?}: {found:?} where {expected:?}"),
    }
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
#[case(r#"{"_id":7.5,"text":null}"#, &["_id: expected a string, found the number \"7.5\"; put it in quotes",
    "text: expected a string, found null"])]
#[case(r#"{"_id":" ","text":"x","metadata":[],"title":1}"#, &["_id: is empty",
    "title: expected a string, found the number \"1\"; put it in quotes", "metadata: expected an object, found an array"])]
#[case("[7]", &["expected an object, found an array; write one document per line, without the brackets"])]
#[case(r#"{"_id":"1","text":"x"} {}"#, &["more follows after the object at column 24; write each document on a separate line"])]
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
        scores in prop::collection::vec(any::<f64>().prop_filter("finite", |score| score.is_finite()), 1..6),
    ) {
        let labels: Qrels = labels.into_iter().map(|(query, grades)| {
            (QueryId::new(query), grades.into_iter().map(|(id, grade)| (DocId::new(id), grade)).collect())
        }).collect();
        // An identifier may begin a file the way JSON does.
        let begins = |json: &str| labels.keys().next().is_some_and(|query| query.as_str().starts_with(json));
        prop_assume!(!["{\"", "{}", "[{", "[[", "[]"].iter().any(|json| begins(json)));
        let mut out = Vec::new();
        trec::write_qrels(&mut out, &labels).unwrap();
        prop_assert!(labels.is_empty() || labels_of(&out) == (labels.clone(), Vec::new()));
        let mut out = Vec::new();
        beir::write_qrels(&mut out, &labels).unwrap();
        prop_assert_eq!(labels_of(&out), (labels, Vec::new()));
        let ranking: Vec<(DocId, f64)> =
            scores.into_iter().enumerate().map(|(at, score)| (DocId::new(format!("d{at}")), score)).collect();
        let mut out = Vec::new();
        trec::write_run(&mut out, &QueryId::new("q"), &ranking, "name").unwrap();
        prop_assert_eq!(run(&out), (RankedRun::from([(QueryId::new("q"), ranking)]), Vec::new()));
    }

    #[test]
    fn any_identifiers_are_read_from_a_table(
        rows in prop::collection::btree_map(("[!-~é–]([ !-~]{0,3}[!-~])?", "[!-~é–]([ !-~]{0,3}[!-~])?"), any::<i16>(), 1..6),
        delimiter in prop::sample::select(vec![b'\t', b',']),
    ) {
        let mut table = csv::WriterBuilder::new().delimiter(delimiter).from_writer(Vec::new());
        table.write_record(["Doc ID", "grade", "query-id"]).unwrap();
        let mut expected = Qrels::new();
        for ((query, document), grade) in rows {
            table.write_record([&document, &grade.to_string(), &query]).unwrap();
            expected.entry(QueryId::new(query)).or_default().insert(DocId::new(document), i32::from(grade));
        }
        prop_assert_eq!(labels_of(table.into_inner().unwrap()), (expected, Vec::new()));
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in prop_oneof![
        prop::collection::vec(any::<u8>(), 0..200),
        "([qd01 \t.-]{0,8}\r?\n){0,8}".prop_map(String::into_bytes),
    ]) {
        let mut problems = Vec::new();
        if !matches!(recognize(bytes.as_slice(), "f", None), Ok(FileKind::Dataset | FileKind::RanxQrels | FileKind::RanxRun)) {
            problems.extend(labels_of(&bytes).1);
            problems.extend(run(&bytes).1);
        }
        problems.extend(beir::read_corpus(bytes.as_slice(), "c").filter_map(|item| item.err().map(|p| p.to_string())));
        problems.extend(beir::read_queries(bytes.as_slice(), "c").filter_map(|item| item.err().map(|p| p.to_string())));
        problems.extend(dataset::read_pools(bytes.as_slice(), "c").filter_map(|item| item.err().map(|p| p.to_string())));
        prop_assert!(!problems.iter().any(|problem| problem.chars().any(char::is_control)));
    }
}
