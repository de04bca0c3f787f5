//! File formats: all messages of the readers, hostile input, and byte-exact round trips.

#![allow(
    clippy::unwrap_used,
    reason = "the helper functions here are tests too"
)]

mod ai_scores;
mod benchmarks;

use crate::domain::corpus::{DocId, Document, JsonObject, Pool, Query, QueryId};
use crate::formats::ai_scores::{ExpectedJudges, read_scored_pairs};
use crate::formats::dataset::{Unscored, read_pools, write_annotated, write_pool};
use proptest::prelude::*;
use rstest::rstest;
use std::io::{self, BufReader, Read};

fn problems(input: impl AsRef<[u8]>) -> Vec<String> {
    read_pools(input.as_ref(), "q.jsonl")
        .filter_map(|item| item.err().map(|problem| problem.to_string()))
        .collect()
}

fn pools(input: impl AsRef<[u8]>) -> Vec<Pool> {
    read_pools(input.as_ref(), "q.jsonl")
        .map(|item| item.unwrap())
        .collect()
}

fn written(pool: &Pool) -> String {
    let mut out = Vec::new();
    write_pool(&mut out, pool).unwrap();
    String::from_utf8(out).unwrap()
}

fn line_with(documents: &str) -> String {
    format!("{{\"query\":{{\"id\":\"q\",\"query\":\"why\"}},\"documents\":{documents}}}\n")
}

#[rstest]
#[case::missing_all("{}", &["query: is missing", "documents: is missing"])]
#[case::array("[[{}]]", &["expected an object, found an array; write one pool per line, without the brackets"])]
#[case::string("\"x\"", &["expected an object, found a string"])]
#[case::number(" 7", &["expected an object, found a number"])]
#[case::query_type(r#"{"query":"why","documents":[{"id":"d","content":"c"}]}"#,
    &["query: expected an object, found a string"])]
#[case::query_members(r#"{"query":{"id":7.5},"documents":[{"id":"d","content":"c"}]}"#,
    &["query.id: expected a string, found the number \"7.5\"; put it in quotes", "query.query: is missing"])]
#[case::query_empty(r#"{"query":{"id":"","query":" \t"},"documents":[{"id":"d","content":"c"}]}"#,
    &["query.id: is empty", "query.query: is empty"])]
#[case::query_twice(r#"{"query":{"id":"a","id":"b","query":"why"},"documents":[{"id":"d","content":"c"}]}"#,
    &["query.id: occurs more than once; keep one"])]
#[case::no_json("hello", &["broken JSON at column 1: expected value"])]
#[case::column_counts_characters("{\"é\": x}", &["broken JSON at column 7: expected value"])]
#[case::two_on_a_line(r#"{"query":1} {"query":2}"#,
    &["more follows after the object at column 13; write each pool on a separate line"])]
#[case::nan(r#"{"query":{},"documents":[{"score": NaN}]}"#,
    &["\"score\" is NaN at column 36, which JSON does not have; write null or omit the member"])]
#[case::minus_infinity(r#"{"score":-Infinity}"#,
    &["\"score\" is -Infinity at column 10, which JSON does not have; write null or omit the member"])]
#[case::control_in_string("{\"a\":\"b\u{1}\"}",
    &["broken JSON at column 7: control character (\\u0000-\\u001F) found while parsing a string"])]
fn a_bad_line_says_what_is_wrong(#[case] line: &str, #[case] expected: &[&str]) {
    let expected: Vec<String> = expected
        .iter()
        .map(|what| format!("q.jsonl:1: {what}"))
        .collect();
    assert_eq!(problems(format!("{line}\n")), expected);
}

#[rstest]
#[case(r#"{}"#, &["documents: expected an array, found an object"])]
#[case("null", &["documents: expected an array, found null"])]
#[case("[]", &["documents: is empty; a pool needs documents"])]
#[case("[7]", &["documents[0]: expected an object, found a number"])]
#[case("[{}]", &["documents[0].id: is missing", "documents[0].content: is missing"])]
#[case(r#"[{"id":1.5,"content":["c"]}]"#, &[
    "documents[0].id: expected a string, found the number \"1.5\"; put it in quotes",
    "documents[0].content: expected a string, found an array"])]
#[case(r#"[{"id":"a","content":"c"},{"id":"b","content":"\n\u2003"}]"#, &["documents[1].content: is empty"])]
#[case(r#"[{"id":"a","content":"c","metadata":null}]"#,
    &["documents[0].metadata: expected an object, found null; omit it if there is none"])]
#[case(r#"[{"id":"a","content":"c","score":"0.5"}]"#,
    &["documents[0].score: expected a number, found the string \"0.5\"; remove the quotes"])]
#[case(r#"[{"id":"a","content":"c","score":1e999}]"#, &["documents[0].score: \"1e999\" is too large to be a number"])]
#[case(r#"[{"id":"a","content":"c","score":true}]"#, &["documents[0].score: expected a number, found a boolean"])]
#[case(r#"[{"id":"a","content":"\ud800"}]"#, &["documents[0].content: unexpected end of hex escape: \
    an escape stands for no character; write the text as plain UTF-8"])]
#[case(r#"[{"id":"a","content":"c"},{"id":"b","content":"c"},{"id":"a","content":"d"}]"#,
    &["documents[2].id: \"a\" is already documents[0]; remove or rename one of them"])]
#[case("[1,2,3,4,5,6]", &[
    "documents[0]: expected an object, found a number", "documents[1]: expected an object, found a number",
    "documents[2]: expected an object, found a number", "documents[3]: expected an object, found a number",
    "documents[4]: expected an object, found a number", "and 1 more problem on this line"])]
fn a_bad_document_is_named_by_its_path(#[case] documents: &str, #[case] expected: &[&str]) {
    let expected: Vec<String> = expected
        .iter()
        .map(|what| format!("q.jsonl:1: {what}"))
        .collect();
    assert_eq!(problems(line_with(documents)), expected);
}

const GOOD: &str = r#"[{"id":"d","content":"c"}]"#;

#[test]
fn the_next_line_is_read_after_a_bad_one() {
    let good = line_with(GOOD);
    let other = good.replace("\"q\"", "\"r\"");
    let items: Vec<_> = read_pools(
        format!("{good}oops\n\n{{}}\n{good}{other}").as_bytes(),
        "q.jsonl",
    )
    .collect();
    let told: Vec<String> = items
        .iter()
        .map(|item| {
            item.as_ref()
                .map_or_else(ToString::to_string, |pool| pool.query.id.to_string())
        })
        .collect();
    assert_eq!(
        told,
        [
            "q",
            "q.jsonl:2: broken JSON at column 1: expected value",
            "q.jsonl:4: query: is missing",
            "q.jsonl:4: documents: is missing",
            "q.jsonl:5: query.id: \"q\" is already on line 1; give each query its own id, with all its documents on one line",
            "r"
        ]
    );
}

#[test]
fn a_cut_file_and_indented_json_are_told_apart() {
    let good = line_with(GOOD);
    let cut = format!("{good}{}", &good[..40]);
    assert_eq!(
        problems(&cut),
        [
            "q.jsonl:2: the file is cut off: its last line ends inside the JSON; write or download it again"
        ]
    );
    assert_eq!(
        problems("{\n  \"query\": 1\n}\n")[0],
        "q.jsonl:1: the line ends inside the JSON; write each pool on one line, without indentation"
    );
    assert_eq!(problems(good.trim_end()), [""; 0]);
}

#[rstest]
#[case(b"{\"a\":\"\xff\"}\n".as_slice(), "q.jsonl:1: invalid UTF-8 at byte 7 of the line (0xff); save the file as UTF-8")]
#[case(b"{\"a\":\"\xe6\x96".as_slice(),
    "q.jsonl:1: the file is cut off in the middle of a character (byte 7); write it again")]
#[case(b"\x1f\x8b\x08\0\n\n".as_slice(), "q.jsonl: is compressed with gzip; unpack it first (gunzip)")]
#[case(b"\xff\xfe{\0\n\0".as_slice(), "q.jsonl: is UTF-16 text; save it as UTF-8")]
fn what_is_not_utf8_is_named(#[case] input: &[u8], #[case] expected: &str) {
    assert_eq!(problems(input), [expected]);
}

#[test]
fn a_mark_crlf_and_blank_lines_are_fine() {
    let good = line_with(GOOD);
    let windows = format!("\u{feff}{}\r\n \r\n\r\n", good.trim_end());
    assert_eq!(pools(windows), pools(&good));
    assert!(pools("").is_empty());
}

#[test]
fn an_array_of_pools_is_read_as_its_lines_are() {
    let lines = [
        r#"{"query":{"id":1048585,"query":"how, [long]?"},"documents":[{"id":7,"content":"]"}]}"#,
        r#"{"query":{"qid":"2","text":"why"},"candidates":[{"docid":-7,"doc":"x"}]}"#,
    ];
    let expected = pools(lines.join("\n"));
    assert_eq!(expected[0].query.id.as_str(), "1048585");
    assert_eq!(expected[0].documents[0].id.as_str(), "7");
    assert_eq!(expected[1].documents[0].id.as_str(), "-7");
    let pretty: Vec<serde_json::Value> = lines
        .map(|line| serde_json::from_str(line).unwrap())
        .to_vec();
    for array in [
        format!("\u{feff}\r\n [{}]\r\n", lines.join(" , ")),
        format!("[\n{}\n]", lines.join(",\n")),
        serde_json::to_string_pretty(&pretty).unwrap(),
    ] {
        assert_eq!(pools(&array), expected, "{array}");
    }
    assert!(pools("[]").is_empty() && pools("\n[ ]\n").is_empty());
    for (array, message) in [
        (
            "[7,\n{}]",
            vec![
                "q.jsonl:1: expected an object, found a number",
                "q.jsonl:2: query: is missing",
                "q.jsonl:2: documents: is missing",
            ],
        ),
        (
            "\n[\n",
            vec!["q.jsonl:3: the file is cut off inside the array; write or download it again"],
        ),
        (
            "[1",
            vec!["q.jsonl:1: the file is cut off inside the array; write or download it again"],
        ),
        (
            "[],",
            vec!["q.jsonl:1: broken JSON: more follows after the end of the array"],
        ),
        (
            "[,]",
            vec!["q.jsonl:1: broken JSON at column 1: expected value"],
        ),
        (
            "[{},]",
            vec![
                "q.jsonl:1: query: is missing",
                "q.jsonl:1: documents: is missing",
                "q.jsonl:1: broken JSON: a comma with no element after it",
            ],
        ),
    ] {
        assert_eq!(problems(array), message, "{array}");
    }
}

#[test]
fn hostile_text_stays_out_of_messages_and_inside_pools() {
    let input = line_with(
        "[{\"id\":\"\\u001b[2J\u{202e}\",\"content\":\"x\\u0000\"},{\"id\":\"\\u001b[2J\u{202e}\",\"content\":\"x\"}]",
    );
    assert_eq!(
        problems(&input),
        [
            r#"q.jsonl:1: documents[1].id: "\u{1b}[2J\u{202e}" is already documents[0]; remove or rename one of them"#
        ]
    );
    let pool = &pools(line_with(
        "[{\"id\":\"\\u001b[2J\",\"content\":\"x\\u0000\"}]",
    ))[0];
    assert_eq!(pool.documents[0].id.as_str(), "\u{1b}[2J");
    assert_eq!(pool.documents[0].content, "x\0");
}

#[test]
fn deep_nesting_is_data_not_a_crash() {
    let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    let pool = pools(line_with(&format!(
        r#"[{{"id":"d","content":"c","metadata":{{"title":{deep}}},"title":{deep}}}]"#
    )));
    assert_eq!(pool[0].documents[0].title, None);
}

#[test]
fn an_unreadable_file_is_a_problem() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("disk on fire"))
        }
    }
    let items: Vec<_> = read_pools(BufReader::new(Broken), "q.jsonl").collect();
    assert_eq!(items.len(), 1);
    assert_eq!(
        items[0].as_ref().unwrap_err().to_string(),
        "q.jsonl:1: cannot read further: disk on fire"
    );
}

#[test]
fn what_is_not_known_is_kept_in_order_and_digits() {
    let line = concat!(
        r#"{"query":{"id":"q","query":"why","lang":"en","k":1.50},"documents":[{"id":"d","content":"c","#,
        r#""metadata":{"title":"T","z":1E5,"a":"\u00e9 x"},"score":0.30000000000000004,"url":"u","b":[1,{}]}],"#,
        r#""split":"test","n":12345678901234567890123}"#,
        "\n"
    );
    let spaced = line
        .replace("\"score\":", " \"score\" : ")
        .replace("[1,{}]", "[ 1, { } ]")
        .replace("1.50", "1.50 ");
    let pool = &pools(&spaced)[0];
    assert_eq!(pool.query.extra.as_str(), r#"{"lang":"en","k":1.50}"#);
    assert_eq!(pool.documents[0].title.as_deref(), Some("T"));
    assert_eq!(
        pool.documents[0].metadata.as_str(),
        r#"{"title":"T","z":1E5,"a":"\u00e9 x"}"#
    );
    assert_eq!(
        pool.documents[0].extra.as_str(),
        r#"{"url":"u","b":[1,{}]}"#
    );
    assert_eq!(pool.documents[0].input_score, Some(0.1 + 0.2));
    assert_eq!(
        pool.extra.as_str(),
        r#"{"split":"test","n":12345678901234567890123}"#
    );
    assert_eq!(written(pool), line);
}

#[rstest]
#[case(
    r#"{"id":"d","content":"c","title":"own","metadata":{"title":"other"}}"#,
    Some("own")
)]
#[case(
    r#"{"id":"d","content":"c","title":" ","metadata":{"title":"other"}}"#,
    Some("other")
)]
#[case(r#"{"id":"d","content":"c","title":7}"#, None)]
#[case(r#"{"id":"d","content":"c","metadata":{"subtitle":"x"}}"#, None)]
fn a_title_comes_from_the_document_or_its_metadata(
    #[case] document: &str,
    #[case] title: Option<&str>,
) {
    assert_eq!(
        pools(line_with(&format!("[{document}]")))[0].documents[0]
            .title
            .as_deref(),
        title
    );
}

#[test]
fn a_title_from_elsewhere_is_written_and_read_back() {
    let mut pool = pools(line_with(GOOD)).remove(0);
    pool.documents[0].title = Some("Über".into());
    assert_eq!(
        written(&pool),
        line_with(r#"[{"id":"d","content":"c","metadata":{},"title":"Über"}]"#)
    );
    assert_eq!(
        pools(written(&pool))[0].documents[0].title.as_deref(),
        Some("Über")
    );
}

/// The expected line is the output of pydantic 2.13's `model_dump_json()` for the same values.
#[test]
fn annotated_lines_are_zbenchs_own_bytes() {
    let documents = r#"[{"id":"d1","content":"a\u0000\u001f\u007f\u2028\"\\\/é😀\b\f\n\r\t","metadata":{"a": 1,"b": 1.0,"c": [ ]}},
        {"id":"d2","content":"</x>"},{"id":"d3","content":"c"},{"id":"d4","content":"c"}]"#;
    let pool = &pools(line_with(&documents.replace('\n', "")))[0];
    let mut out = Vec::new();
    let scores = [Some(1.0), Some(-0.1), Some(f64::NAN)];
    assert_eq!(
        write_annotated(&mut out, pool, &scores, Unscored::LeaveOut).unwrap(),
        2
    );
    let expected = concat!(
        r#"{"query":{"id":"q","query":"why"},"documents":[{"id":"d1","content":"a\u0000\u001f"#,
        "\u{7f}\u{2028}",
        r#"\"\\/é😀\b\f\n\r\t","metadata":{"a":1,"b":1.0,"c":[]},"score":1.0},"#,
        r#"{"id":"d2","content":"</x>","metadata":{},"score":-0.1}]}"#,
        "\n"
    );
    assert_eq!(String::from_utf8(out).unwrap(), expected);

    let mut kept = Vec::new();
    assert_eq!(
        write_annotated(&mut kept, pool, &scores, Unscored::Null).unwrap(),
        2
    );
    let again = &pools(&kept)[0];
    let read: Vec<_> = again
        .documents
        .iter()
        .map(|document| document.input_score)
        .collect();
    assert_eq!(read, [Some(1.0), Some(-0.1), None, None]);

    let mut nothing = Vec::new();
    assert_eq!(
        write_annotated(&mut nothing, pool, &[], Unscored::LeaveOut).unwrap(),
        4
    );
    assert!(nothing.is_empty());
}

fn json_object() -> impl Strategy<Value = JsonObject> {
    let key = "x[a-z\"\\\\é\u{1}]{0,4}";
    let leaf = prop_oneof![
        any::<String>().prop_map(serde_json::Value::from),
        any::<i64>().prop_map(serde_json::Value::from),
        Just(serde_json::Value::Null),
        prop::collection::vec(any::<bool>(), 0..3).prop_map(serde_json::Value::from),
    ];
    prop::collection::vec((key, leaf), 0..3).prop_map(|members| {
        let object: serde_json::Map<_, _> = members.into_iter().collect();
        JsonObject::from_compact(serde_json::Value::Object(object).to_string())
    })
}

fn words() -> impl Strategy<Value = String> {
    any::<String>().prop_map(|text| format!("{text}."))
}

fn pool() -> impl Strategy<Value = Pool> {
    let score = prop::option::of(any::<f64>().prop_filter("finite", |score| score.is_finite()));
    let document = (words(), words(), json_object(), json_object(), score);
    let documents = prop::collection::vec(document, 1..5);
    (words(), words(), json_object(), json_object(), documents).prop_map(
        |(id, text, query, extra, documents)| Pool {
            query: Query {
                id: QueryId::new(id),
                text,
                extra: query,
            },
            documents: documents
                .into_iter()
                .enumerate()
                .map(
                    |(index, (id, content, metadata, extra, input_score))| Document {
                        id: DocId::new(format!("{id}{index}")),
                        title: None,
                        content,
                        metadata,
                        extra,
                        input_score,
                    },
                )
                .collect(),
            extra,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn pools_survive_writing_and_reading(pool in pool()) {
        let line = written(&pool);
        let read = pools(&line);
        prop_assert_eq!(&read, std::slice::from_ref(&pool));
        prop_assert_eq!(written(&read[0]), line);
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for problem in problems(&bytes) {
            prop_assert!(!problem.chars().any(char::is_control));
        }
        prop_assert!(read_scored_pairs(bytes.as_slice(), "a.json", ExpectedJudges::Any).count() < 2);
    }

    #[test]
    fn a_damaged_line_is_read_without_a_panic(pool in pool(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = written(&pool).into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        for problem in problems(&bytes) {
            prop_assert!(!problem.chars().any(char::is_control));
        }
    }
}
