use super::*;
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::metrics::Qrels;
use clap::ValueEnum as _;
use proptest::prelude::*;
use rstest::rstest;
use std::collections::BTreeMap;

fn format(name: &str) -> JudgmentFormat {
    JudgmentFormat::from_str(name, false).unwrap()
}

fn read(name: &str, text: &str) -> (ReadJudgments, Vec<String>) {
    let mut problems = Vec::new();
    let options = AnswerOptions::default();
    let read = format(name).read(&mut text.as_bytes(), "f", &options, &mut |problem| {
        problems.push(problem.to_string());
    });
    (read, problems)
}

/// The formats in which labels are written and read back.
fn written_formats() -> impl Iterator<Item = &'static str> {
    let formats = JudgmentFormat::value_variants().iter();
    let names = formats
        .filter(|format| format.info().is_written)
        .map(|format| format.names().name);
    // Suggestions are not read as judgments.
    names.filter(|name| *name != "argilla")
}

fn qrels(labels: &[(&str, &str, i32)]) -> Qrels {
    let mut qrels = Qrels::new();
    for (query, document, grade) in labels {
        let grades = qrels.entry(QueryId::new(*query)).or_default();
        grades.insert(DocId::new(*document), *grade);
    }
    qrels
}

fn texts(texts: &[(&str, &str)]) -> BTreeMap<QueryId, String> {
    let texts = texts.iter();
    texts
        .map(|(id, text)| (QueryId::new(*id), (*text).to_owned()))
        .collect()
}

fn written(
    name: &str,
    labels: &Qrels,
    texts: &BTreeMap<QueryId, String>,
) -> Result<String, String> {
    let mut out = Vec::new();
    let labels = ExportedLabels {
        labels,
        texts,
        documents: &BTreeMap::new(),
        index: Some("shop"),
    };
    format(name)
        .write(&mut out, &labels)
        .map_err(|error| error.to_string())?;
    Ok(String::from_utf8(out).unwrap())
}

#[rstest]
#[case::quepid("query,docid,rating\nred shoes,1,3\n", Some("quepid"))]
#[case::quoted("\"query\",\"docid\",\"rating\"\r\n", Some("quepid"))]
#[case::sent(
    r#"{"name":"j","type":"IMPORT_JUDGMENT","judgmentRatings":[{"query":"red"#,
    Some("opensearch")
)]
#[case::returned(
    r#"{"took":1,"hits":{"hits":[{"_source":{"judgmentRatings":[]}}]}}"#,
    Some("opensearch")
)]
#[case::other_answer(r#"{"took":1,"hits":{"hits":[{"_source":{"title":"x"}}]}}"#, None)]
#[case::requests("{\"requests\": [\n{\"id\":\"a\",\"ratings\":[]}]}", Some("rank-eval"))]
#[case::template_first(
    r#"{"templates":[{"id":"t"}],"requests":[{"id":"a","template_id":"t","ratings":["#,
    Some("rank-eval")
)]
#[case::other_requests(r#"{"requests":[{"id":"a","body":{}}]}"#, None)]
#[case::judgment_list("4 qid:1 # 1271 300 Spartans\n", Some("ltr"))]
#[case::with_texts("# grade (0-4)\tqueryid\tdocId\n#\n# qid:1: rambo\n\n", Some("ltr"))]
#[case::letor("2 qid:10002 1:0.007477 2:0.0 #docid = GX008", Some("ltr"))]
#[case::svmlight("1 1:0.5 2:1\n", None)]
#[case::comments("# only\n# comments\n", None)]
#[case::book("query,docid,Ann,Bob\nq,d,1,2\n", None)]
#[case::tasks(
    r#"[{"id":1,"annotations":[{"id":7,"result":[]}],"data":{"query":"x"}}]"#,
    Some("label-studio")
)]
#[case::annotations(
    "[\n{\n  \"query\": \"x\",\n  \"id\": 1,\n  \"annotator\": 1,\n  \"annotation_id\": 7,\n  \"lead_time\": 2",
    Some("label-studio")
)]
#[case::potato_table("instance_id,user_id,rel.1\r\ni,ann,1\r\n", Some("potato"))]
#[case::potato_tabs("instance_id\tuser_id\trel.1", Some("potato"))]
#[case::potato_changes("user_id,instance_id,phase,page\n", None)]
#[case::records_of_one_version(r#"[{"id":"1","fields":{},"responses":{}}]"#, Some("argilla"))]
#[case::records_of_the_other(r#"{"id":"1","fields":{},"responses":[]}"#, Some("argilla"))]
#[case::other_columns("query,docid,rating,note\nq,d,1,\n", None)]
#[case::qrels("q 0 d 1\n", None)]
#[case::dataset(r#"{"query":{"id":"q","query":"x"},"documents":[]}"#, None)]
#[case::empty("", None)]
fn a_file_is_recognized_by_its_beginning(#[case] start: &str, #[case] expected: Option<&str>) {
    let found = JudgmentFormat::recognize(start);
    assert_eq!(found.map(|format| Some(format?.names().name)), Ok(expected));
}

#[rstest]
#[case::of_quepid(
    "quepid",
    "query,docid,rating\n\" =1+1\",a,3\nred shoes,b,2.0\n\"two, words\",\"c\"\"d\",0\nhats,,\n",
    &[("=1+1", "a", 3), ("red shoes", "b", 2), ("two, words", "c\"d", 0)],
)]
#[case::of_the_workbench(
    "opensearch",
    r#"{"name":"j","judgmentRatings":[{"query":"red dress","ratings":[{"docId":"B1","rating":"3.000"},{"docId":"B2","rating":0}]},
        {"query":"hats","failures":[{"docId":"B3"}],"ratings":[]}]}"#,
    &[("red dress", "B1", 3), ("red dress", "B2", 0)],
)]
#[case::of_its_answer(
    "opensearch",
    r#"{"took":1,"hits":{"total":{"value":1},"hits":[{"_id":"x","_source":{"type":"LLM_JUDGMENT","judgmentRatings":
        [{"query":"red dress","ratings":[{"docId":"B1","rating":"1.0"}]}]}}]}}"#,
    &[("red dress", "B1", 1)],
)]
#[case::of_rank_eval(
    "rank-eval",
    "{\"templates\":[{\"id\":\"t\",\"template\":{\"inline\":{\"query\":{}}}}],\n\"requests\":[{\"id\":\"JFK\",\"template_id\":\"t\",\"ratings\":\
     [{\"_index\":\"w\",\"_id\":\"305\",\"rating\":1},\n{\"_index\":\"w\",\"_id\":7,\"rating\":0}]}],\"metric\":{\"dcg\":{}}}",
    &[("JFK", "305", 1), ("JFK", "7", 0)],
)]
#[case::of_ranklib(
    "ltr",
    "# qid:1: rambo\n#\n# grade (0-4)\tqueryid\tdocId\ttitle\n4\tqid:1 #\t7555\tRambo\n\n0 qid:1 1:0.5 body:-2e3 # 1370 # III\n3.0 qid:2 # x\n",
    &[("1", "7555", 4), ("1", "1370", 0), ("2", "x", 3)],
)]
#[case::of_letor(
    "ltr",
    "2 qid:10002 1:0.007477 2:0.000000 #docid = GX008-86-4444840 inc = 1 prob = 0.086622\n",
    &[("10002", "GX008-86-4444840", 2)],
)]
fn a_file_is_read(#[case] name: &str, #[case] text: &str, #[case] expected: &[(&str, &str, i32)]) {
    let (found, problems) = read(name, text);
    assert_eq!(problems, Vec::<String>::new());
    assert_eq!(found.collected.labels, qrels(expected));
    let lines = found.collected.first_lines.keys();
    assert!(lines.eq(found.collected.labels.keys()));
}

#[rstest]
#[case::not_ratings("quepid", "q1,d1,3\n", "f:1: is not the header of Quepid's ratings")]
#[case::empty("quepid", "", "f: is empty")]
#[case::fraction(
    "quepid",
    "query,docid,rating\nq,a,1\nq,b,0.5\n",
    "f:3: the grade \"0.5\" is not a whole number; scores belong in a run"
)]
#[case::word("quepid", "query,docid,rating\nq,a,good\n", "f:2: the grade \"good\"")]
#[case::open_quote(
    "quepid",
    "query,docid,rating\n\"q,a,1\n",
    "f:2: a quoted cell of this row is never closed"
)]
#[case::twice(
    "quepid",
    "query,docid,rating\nq,a,1\n q,a,1\n",
    "f:3: document \"a\" of query \"q\" has a label on an earlier line; keep one"
)]
#[case::no_document("quepid", "query,docid,rating\nq,,1\n", "f:2: an identifier is empty")]
#[case::no_ratings(
    "rank-eval",
    "{\"requests\":[{\"id\":\"a\"}],\"metric\":{}}",
    "f:1: requests[0].ratings: is missing"
)]
#[case::no_requests("rank-eval", "{\"metric\":{}}", "f:1: requests: is missing")]
#[case::no_id(
    "rank-eval",
    "{\"requests\":[\n{\"id\":\"a\",\"ratings\":[]},\n{\"ratings\":[]}]}",
    "f:3: requests[1].id: is missing"
)]
#[case::cut_off(
    "rank-eval",
    "{\"requests\":[\n{\"id\":\"a\",",
    "f:2: the file is cut off inside the JSON"
)]
#[case::follows(
    "rank-eval",
    "{\"requests\":[]}\n{}",
    "f:2: broken JSON: more follows after the end of the object"
)]
#[case::no_array("rank-eval", "{\"requests\":{}}", "f:1: requests: expected an array")]
#[case::two_lists(
    "rank-eval",
    "{\"requests\":[],\n\"requests\":[]}",
    "f:2: requests: occurs more than once; keep one"
)]
#[case::rated_twice(
    "rank-eval",
    "{\"requests\":[{\"id\":\"a\",\"ratings\":[\n{\"_index\":\"v\",\"_id\":\"d\",\"rating\":1},\n{\"_index\":\"w\",\"_id\":\"d\",\"rating\":1}]}]}",
    "f:3: document \"d\" of query \"a\" has a label on an earlier line; keep one"
)]
#[case::click_rating(
    "opensearch",
    "{\"judgmentRatings\":[{\"query\":\"a\",\"ratings\":[\n{\"docId\":\"d\",\"rating\":\"0.070\"}]}]}",
    "f:2: judgmentRatings[0].ratings[0].rating: \"0.070\" is not a whole number, as grades are"
)]
#[case::no_document(
    "opensearch",
    "{\"judgmentRatings\":[{\"query\":\"a\",\"ratings\":[\n{\"rating\":\"1\"}]}]}",
    "f:2: judgmentRatings[0].ratings[0].docId: is missing"
)]
#[case::null(
    "opensearch",
    "{\"judgmentRatings\":[{\"query\":\"a\",\"ratings\":[{\"docId\":\"d\",\"rating\":null}]}]}",
    "f:1: judgmentRatings[0].ratings[0].rating: expected a whole number, found null"
)]
#[case::no_object("opensearch", "[]", "f:1: the file: expected an object")]
#[case::no_document("ltr", "4 qid:1 # a\n4 qid:1 1:0.5\n", "f:2: has no document after #")]
#[case::no_query(
    "ltr",
    "4 qid:1 # a\n4 # b\n",
    "f:2: expected GRADE qid:QUERY # DOCUMENT"
)]
#[case::words(
    "ltr",
    "4 qid:1 # a\n4 qid:1 b\n",
    "f:2: \"b\" is not a feature, such as 3:0.5"
)]
#[case::fraction(
    "ltr",
    "4 qid:1 # a\n0.5 qid:1 # b\n",
    "f:2: the grade \"0.5\" is not a whole number"
)]
#[case::twice(
    "ltr",
    "4 qid:1 # a\n3 qid:1 # a\n",
    "f:2: document \"a\" of query \"1\" has a label on an earlier line"
)]
#[case::two_texts(
    "ltr",
    "# qid:1: a\n# qid:1: b\n4 qid:1 # a\n",
    "f:2: query \"1\" has another text on an earlier line; keep one"
)]
fn a_broken_file_is_refused_with_its_line(
    #[case] name: &str,
    #[case] text: &str,
    #[case] expected: &str,
) {
    let (_, problems) = read(name, text);
    let [problem] = problems.as_slice() else {
        panic!("{problems:?}");
    };
    assert!(problem.starts_with(expected), "{problem}");
}

#[test]
fn each_rating_has_its_line() {
    let rating = |at: u32, grade: &str| format!("{{\"docId\":\"d{at}\",\"rating\":\"{grade}\"}}");
    let ratings: Vec<String> = (0..50)
        .map(|at| rating(at, if at % 7 == 3 { "x" } else { "1" }))
        .collect();
    let text = format!(
        "{{\"judgmentRatings\":[{{\"query\":\"q\",\"ratings\":[\n{}]}}]}}",
        ratings.join(",\n")
    );
    let (_, problems) = read("opensearch", &text);
    let lines = problems
        .iter()
        .map(|problem| problem.split(':').nth(1).unwrap().parse::<u32>().unwrap());
    assert!(
        lines.eq((0..50).filter(|at| at % 7 == 3).map(|at| at + 2)),
        "{problems:?}"
    );
}

#[test]
fn rows_without_a_rating_are_unjudged() {
    let text = "query,docid,rating\nstar wars,11,2\nstar trek\nalien,,\nheat,3,\n";
    let (found, problems) = read("quepid", text);
    assert_eq!(problems, Vec::<String>::new());
    assert_eq!(
        (found.collected.labels.len(), found.collected.unrated),
        (1, 3)
    );
}

#[test]
fn ratings_are_written_by_the_texts_of_queries() {
    let labels = qrels(&[("q1", "a", 3), ("q1", "b,c", 0), ("q2", "=x", -1)]);
    let texts = texts(&[("q1", "red \"shoes\""), ("q2", "=1+1"), ("q3", "unused")]);
    assert_eq!(
        written("quepid", &labels, &texts).unwrap(),
        "query,docid,rating\n\"red \"\"shoes\"\"\",a,3\n\"red \"\"shoes\"\"\",\"b,c\",0\n =1+1, =x,-1\n"
    );
}

#[test]
fn json_is_written_as_the_tools_expect_it() {
    let labels = qrels(&[("q1", "a", 3), ("q1", "b", 0), ("q2", "c", 1)]);
    let texts = texts(&[("q1", "red shoes"), ("q2", "hats")]);
    let json = |name| -> serde_json::Value {
        serde_json::from_str(&written(name, &labels, &texts).unwrap()).unwrap()
    };
    let sent = json("opensearch");
    assert_eq!(sent["type"], "IMPORT_JUDGMENT");
    assert_eq!(
        sent["judgmentRatings"],
        serde_json::json!([
            {"query": "red shoes", "ratings": [{"docId": "a", "rating": "3"}, {"docId": "b", "rating": "0"}]},
            {"query": "hats", "ratings": [{"docId": "c", "rating": "1"}]},
        ])
    );
    let request = &json("rank-eval")["requests"][1];
    assert_eq!(
        *request,
        serde_json::json!({
            "id": "q2",
            "request": {"query": {"multi_match": {"query": "hats"}}},
            "ratings": [{"_index": "shop", "_id": "c", "rating": 1}],
        })
    );
}

#[test]
fn judgment_lists_have_integers_for_queries_and_their_texts() {
    let labels = qrels(&[("7", "a", 3), ("12", "b", 0)]);
    let shops = texts(&[("7", "red\nshoes"), ("12", "hats")]);
    assert_eq!(
        written("ltr", &labels, &shops).unwrap(),
        "# qid:12: hats\n# qid:7: red shoes\n0\tqid:12 #\tb\n3\tqid:7 #\ta\n"
    );
    let labels = qrels(&[("q7", "a", 3), ("q8", "b", 0)]);
    let named = texts(&[("q7", "red shoes"), ("q8", "hats")]);
    assert_eq!(
        written("ltr", &labels, &named).unwrap(),
        "# qid:1: red shoes\n# qid:2: hats\n3\tqid:1 #\ta\n0\tqid:2 #\tb\n"
    );
    let spaced = qrels(&[("7", "my doc", 3)]);
    assert!(written("ltr", &spaced, &shops).is_err());
}

#[test]
fn a_query_without_its_own_text_is_not_written() {
    for name in written_formats().chain(["argilla"]) {
        let labels = qrels(&[("q1", "a", 3), ("q2", "b", 1)]);
        let error = written(name, &labels, &texts(&[("q1", "shoes")])).unwrap_err();
        assert!(
            error.starts_with("query \"q2\" has labels but no text"),
            "{error}"
        );
        let same = texts(&[("q1", "red shoes"), ("q2", "red  shoes")]);
        let written = written(name, &labels, &same);
        // These have the identifiers of the queries.
        if ["rank-eval", "label-studio", "argilla"].contains(&name) {
            assert!(written.is_ok());
            continue;
        }
        let error = written.unwrap_err();
        assert!(
            error.starts_with("queries \"q1\" and \"q2\" have the same text"),
            "{error}"
        );
    }
}

fn labels() -> impl Strategy<Value = BTreeMap<String, BTreeMap<String, i32>>> {
    let text = "[=+@a-c\"',.;#:-]{1,4}( [a-c\"é#=:]{1,3}){0,2}";
    let id = "[=+@a-c\"',.;#:-]{1,6}";
    let grades = prop::collection::btree_map(id, -2..5, 1..4);
    prop::collection::btree_map(text, grades, 1..4)
}

proptest! {
    /// Labels that are written and read again are the same; the queries are named by their texts.
    #[test]
    fn a_written_file_is_read_back(labels in labels()) {
        let named = |(at, (text, grades)): (usize, (&String, &BTreeMap<String, i32>))| {
            let grades = grades.iter().map(|(id, grade)| (DocId::new(id.as_str()), *grade));
            (QueryId::new(format!("q{at}")), text.clone(), grades.collect::<BTreeMap<_, _>>())
        };
        let queries: Vec<_> = labels.iter().enumerate().map(named).collect();
        let exported: Qrels = queries.iter().map(|(id, _, grades)| (id.clone(), grades.clone())).collect();
        let texts: BTreeMap<QueryId, String> =
            queries.iter().map(|(id, text, _)| (id.clone(), text.clone())).collect();
        for name in written_formats() {
            let text = written(name, &exported, &texts).unwrap();
            prop_assert_eq!(JudgmentFormat::recognize(&text), Ok(Some(format(name))));
            let (found, problems) = read(name, &text);
            prop_assert_eq!(problems, Vec::<String>::new());
            let mut by_text = BTreeMap::new();
            for (query, grades) in found.collected.labels {
                let name = found.texts.get(&query).map_or(query.as_str(), String::as_str).to_owned();
                // Some formats write the identifiers of queries.
                let exported_text = texts.get(&query).cloned();
                by_text.insert(exported_text.unwrap_or(name), grades);
            }
            let expected: BTreeMap<String, _> =
                queries.iter().map(|(_, text, grades)| (text.clone(), grades.clone())).collect();
            prop_assert_eq!(by_text, expected, "{}", name);
        }
    }

    /// No input makes a reader fail in another way than with a problem that names the file.
    #[test]
    fn any_input_is_read_or_refused(text in "\\PC{0,80}|[{}\\[\\]\",:a-c0-9 #\n]{0,80}") {
        for format in JudgmentFormat::value_variants() {
            let (_, problems) = read(format.names().name, &text);
            prop_assert!(problems.iter().all(|problem| problem.starts_with("f")));
        }
    }
}

const BOOK: &str =
    "query,docid,Ann,\"Lee, Bob\"\nred shoes,a,3.0,2\nred shoes,b,1,\n =hats,c,0,0\nhats,d,,\n";

fn read_by(name: &str, text: &str, options: &AnswerOptions) -> (ReadJudgments, Vec<String>) {
    let mut problems = Vec::new();
    let read = format(name).read(&mut text.as_bytes(), "f", options, &mut |problem| {
        problems.push(problem.to_string());
    });
    (read, problems)
}

#[test]
fn people_of_a_book_must_agree_unless_one_is_named_or_the_median_is_wanted() {
    let (_, problems) = read("quepid-book", BOOK);
    assert_eq!(
        problems,
        [
            "f:2: people differ on document \"a\" of query \"red shoes\": \"Ann\" 3, \"Lee, Bob\" 2; \
          `overrule import` reads one of them with --rater NAME, or their median with --median"
        ]
    );
    let median = AnswerOptions {
        median: true,
        ..AnswerOptions::default()
    };
    let (read, problems) = read_by("quepid-book", BOOK, &median);
    assert_eq!(problems, Vec::<String>::new());
    let expected = [
        ("red shoes", "a", 2),
        ("red shoes", "b", 1),
        ("=hats", "c", 0),
    ];
    assert_eq!(read.collected.labels, qrels(&expected));
    assert_eq!((read.collected.unrated, read.differing), (1, 1));
    let rater = |name: &str| AnswerOptions {
        rater: Some(name.to_owned()),
        ..AnswerOptions::default()
    };
    let (read, problems) = read_by("quepid-book", BOOK, &rater("Lee, Bob"));
    assert_eq!(problems, Vec::<String>::new());
    let expected = [("red shoes", "a", 2), ("=hats", "c", 0)];
    assert_eq!(read.collected.labels, qrels(&expected));
    let (_, problems) = read_by("quepid-book", BOOK, &rater("Eve"));
    assert_eq!(
        problems,
        ["f: has no answers of \"Eve\"; its people are \"Ann\", \"Lee, Bob\""]
    );
}

#[test]
fn grades_of_others_are_not_interpreted() {
    let options = AnswerOptions {
        rater: Some("Ann".to_owned()),
        ..AnswerOptions::default()
    };
    let book = "query,docid,Ann,Bob\nred shoes,a,3,good\nred shoes,b,,1\n";
    let (read, problems) = read_by("quepid-book", book, &options);
    assert_eq!(problems, Vec::<String>::new());
    assert_eq!(read.collected.labels, qrels(&[("red shoes", "a", 3)]));
    assert_eq!(read.collected.unrated, 1);
    let records = r#"{"fields":{"query":"hats","docid":"d"},"responses":{"rel":[{"value":"good","user_id":"Bob"},{"value":2,"user_id":"Ann"}]}}"#;
    let (read, problems) = read_by("argilla", records, &options);
    assert_eq!(problems, Vec::<String>::new());
    assert_eq!(read.collected.labels, qrels(&[("hats", "d", 2)]));
}

#[rstest]
#[case::not_a_book("quepid-book", "q,d,1\n", "f:1: is not the header of a book of Quepid")]
#[case::fraction(
    "quepid-book",
    "query,docid,Ann\nq,a,1\nq,b,1.5\n",
    "f:3: Ann: \"1.5\" is not a whole number"
)]
#[case::same_judge(
    "quepid-book",
    "query,docid,Ann,Ann\nq,a,1,1\n",
    "f:1: two judges are called \"Ann\""
)]
#[case::twice_in_a_book(
    "quepid-book",
    "query,docid,Ann\nq,a,1\nq,a,1\n",
    "f:3: document \"a\" of query \"q\" has a grade of \"Ann\" on an earlier line; keep one"
)]
#[case::cut_off(
    "label-studio",
    "[{\"data\":{},",
    "f:1: the file is cut off inside the array"
)]
#[case::a_word(
    "label-studio",
    r#"[{"data":{"query":"q","docid":"d"},"annotations":[{"result":[{"from_name":"r","type":"choices","value":{"choices":["Good"]}}]}]}]"#,
    "f:1: question \"r\": the answer \"Good\" is not a whole number; say which grade it means with --answer 'Good=GRADE'"
)]
#[case::a_pair(
    "argilla",
    r#"{"fields":{"query":"q","a":"x","b":"y"},"responses":{"best":[{"value":"a","user_id":"u"}]}}"#,
    "f:1: is about a pair of documents; `overrule import votes` imports such answers"
)]
#[case::no_document(
    "argilla",
    r#"{"fields":{"query":"q","answer":"x"},"responses":{"r":[{"value":1,"user_id":"u"}]}}"#,
    "f:1: has no field called document or document_id; its fields are \"query\", \"answer\"; name the field with --fields document=FIELD"
)]
#[case::two_questions(
    "argilla",
    r#"{"fields":{"query":"q","document":"x"},"responses":{"r":[{"value":1,"user_id":"u"}],"s":[{"value":1,"user_id":"u"}]}}"#,
    "f: holds answers to several questions: \"r\", \"s\"; name one of them with --question"
)]
fn a_broken_export_names_its_line(#[case] name: &str, #[case] text: &str, #[case] expected: &str) {
    let (_, problems) = read(name, text);
    let [problem] = problems.as_slice() else {
        panic!("{problems:?}");
    };
    assert!(problem.starts_with(expected), "{problem}");
}

/// Two tasks of Label Studio, each on a line: one rated by two people, one cancelled and one with
/// choices.
const TASKS: &str = r#"[
{"id":1,"data":{"qid":7,"query":"red shoes","document":"Shoes that are red."},"annotations":[
 {"id":1,"completed_by":{"id":1,"email":"ann@shop.org"},"was_cancelled":false,"updated_at":"2023-03-09T22:16:08.728353Z","result":[
  {"from_name":"rel","to_name":"document","type":"rating","value":{"rating":3}},
  {"from_name":"why","to_name":"document","type":"textarea","value":{"text":["so"]}}]},
 {"id":2,"completed_by":2,"was_cancelled":true,"result":[]}]},
{"id":2,"data":{"qid":"8","query":"hats","document":"d2"},"annotations":[
 {"id":3,"completed_by":2,"result":[{"from_name":"rel","to_name":"document","type":"choices","value":{"choices":["Not relevant"]}}]}]}]"#;

#[test]
fn tasks_of_label_studio_are_read_with_the_meanings_of_choices() {
    let meanings = [("Not relevant".to_owned(), "0".to_owned())];
    let options = AnswerOptions {
        meanings: meanings.into(),
        ..AnswerOptions::default()
    };
    let (read, problems) = read_by("label-studio", TASKS, &options);
    assert_eq!(problems, Vec::<String>::new());
    let expected = [("7", "Shoes that are red.", 3), ("8", "d2", 0)];
    assert_eq!(read.collected.labels, qrels(&expected));
    assert_eq!(read.collected.unrated, 1);
    assert_eq!(read.texts, texts(&[("7", "red shoes"), ("8", "hats")]));
    let lines: Vec<u64> = read.document_lines.into_values().collect();
    assert_eq!(lines, [2, 7]);
}

/// The same record as version 1 and version 2 of Argilla write it.
#[rstest]
#[case::version_1(
    r#"{"id":"r","fields":{"query":"hats","text":"x"},"metadata":{"docid":"d"},"responses":[
       {"user_id":"u","status":"submitted","values":{"rel":{"value":2},"comment":{"value":"so"}}},
       {"user_id":"v","status":"draft","values":{"rel":{"value":0}}}]}"#
)]
#[case::version_2(
    r#"[{"id":"r","fields":{"query":"hats","text":"x"},"metadata":{"docid":"d"},"suggestions":{"rel":{"value":9}},
       "responses":{"rel":[{"value":2,"user_id":"u"},{"value":null,"user_id":"v"}],"comment":[{"value":"so","user_id":"u"}]},
       "vectors":{},"status":"completed","_server_id":"s"}]"#
)]
fn records_of_argilla_are_read(#[case] text: &str) {
    let options = AnswerOptions {
        question: Some("rel".to_owned()),
        ..AnswerOptions::default()
    };
    let text = text.replace("\n       ", " ");
    let (read, problems) = read_by("argilla", &text, &options);
    assert_eq!(problems, Vec::<String>::new());
    assert_eq!(read.collected.labels, qrels(&[("hats", "d", 2)]));
    assert_eq!(read.collected.unrated, 1);
    assert!(read.document_lines.is_empty());
}

#[test]
fn labels_are_suggestions_for_argilla_and_annotations_for_label_studio() {
    let labels = qrels(&[("q1", "a", 3)]);
    let texts = texts(&[("q1", "red shoes")]);
    let documents = [(DocId::new("a"), "text a".to_owned())].into();
    let mut out = Vec::new();
    let exported = ExportedLabels {
        labels: &labels,
        texts: &texts,
        documents: &BTreeMap::from([(QueryId::new("q1"), documents)]),
        index: None,
    };
    format("argilla").write(&mut out, &exported).unwrap();
    let record: serde_json::Value = serde_json::from_slice(&out).unwrap();
    assert_eq!(
        record,
        serde_json::json!([{
            "id": "[\"q1\",\"a\"]",
            "fields": {"query": "red shoes", "document": "text a"},
            "metadata": {"query_id": "q1", "document_id": "a"},
            "suggestions": {"relevance": {"value": 3, "agent": "overrule"}},
            "responses": {},
            "vectors": {},
            "status": "pending",
        }])
    );
    out.clear();
    format("label-studio").write(&mut out, &exported).unwrap();
    let task: serde_json::Value = serde_json::from_slice(&out).unwrap();
    assert_eq!(task[0]["data"]["document"], "text a");
    assert_eq!(
        task[0]["annotations"][0]["result"][0]["value"],
        serde_json::json!({"number": 3})
    );
}

#[test]
fn exported_labels_are_recognized_before_a_long_text() {
    let long = "a word ".repeat(45_000);
    let documents = [(DocId::new("a"), long.clone())].into();
    let exported = ExportedLabels {
        labels: &qrels(&[("q1", "a", 3)]),
        texts: &texts(&[("q1", &long)]),
        documents: &BTreeMap::from([(QueryId::new("q1"), documents)]),
        index: None,
    };
    for name in ["argilla", "label-studio"] {
        let mut out = Vec::new();
        format(name).write(&mut out, &exported).unwrap();
        let start = std::str::from_utf8(&out[..256 * 1024]).unwrap();
        assert_eq!(JudgmentFormat::recognize(start), Ok(Some(format(name))));
    }
}

#[test]
fn chosen_labels_of_potato_are_grades() {
    let text = r#"{"instance_id":"i1","user_id":"ann","labels":{"rel":{"2":"2"}}}
{"instance_id":"i2","user_id":"ann","labels":{"rel":{"Not relevant":"true"}}}
{"instance_id":"i3","user_id":"ann","labels":{"rel":{}}}"#;
    let item = |id: &str| {
        let fields = [("query", "hats"), ("docid", id)];
        let fields = fields.map(|(name, value)| (name.to_owned(), value.to_owned()));
        (id.to_owned(), fields.to_vec())
    };
    let items = ["i1", "i2", "i3"].map(item).into_iter().collect();
    let options = AnswerOptions {
        items: Some(std::sync::Arc::new(items)),
        meanings: [("Not relevant".to_owned(), "0".to_owned())].into(),
        ..AnswerOptions::default()
    };
    let (read, problems) = read_by("potato", text, &options);
    assert_eq!(problems, Vec::<String>::new());
    assert_eq!(
        read.collected.labels,
        qrels(&[("hats", "i1", 2), ("hats", "i2", 0)])
    );
    assert_eq!(read.collected.unrated, 1);
}

/// The instances `i1` to `i3`, which are documents of a query.
fn instances() -> AnswerOptions {
    let item = |id: &str| {
        let fields = [("query", "hats"), ("docid", id)];
        let fields = fields.map(|(name, value)| (name.to_owned(), value.to_owned()));
        (id.to_owned(), fields.to_vec())
    };
    let items = ["i1", "i2", "i3"].map(item).into_iter().collect();
    AnswerOptions {
        items: Some(std::sync::Arc::new(items)),
        meanings: [("Not, ever".to_owned(), "0".to_owned())].into(),
        ..AnswerOptions::default()
    }
}

#[rstest]
#[case::comma(
    "instance_id,user_id,rel.2,rel.1,\"rel.Not, ever\",rel._spans\r\ni1,ann,2,False,,[]\r\ni2,ann,,0,True,\r\ni3,ann,,,,\r\n"
)]
#[case::tab(
    "instance_id\tuser_id\trel.2\trel.Not, ever\ni1\tann\t2\t\ni2\tann\t\ttrue\ni3\tann\t\t\n"
)]
#[case::resolved("instance_id,user_id,rel.Not.ever,rel\ni1,ann,,2\ni2,ann,,0\ni3,ann,,\n")]
fn a_table_of_potato_has_a_column_for_each_label(#[case] text: &str) {
    let (read, problems) = read_by("potato", text, &instances());
    assert_eq!(problems, Vec::<String>::new());
    let expected = [("hats", "i1", 2), ("hats", "i2", 0)];
    assert_eq!(read.collected.labels, qrels(&expected));
    assert_eq!(read.collected.unrated, 1);
}

#[test]
fn a_column_with_several_dots_needs_the_name_of_the_question() {
    let text = "instance_id,user_id,rel.1.0,why\ni1,ann,true,x\n";
    let mut options = instances();
    let (_, problems) = read_by("potato", text, &options);
    let expected = "f:2: rel.1.0: has several dots, one of which is between a question and its label; \
                    name the question with --question";
    assert_eq!(problems, [expected]);
    for (question, grade) in [("rel", 1), ("rel.1", 0)] {
        options.question = Some(question.to_owned());
        let (read, problems) = read_by("potato", text, &options);
        assert_eq!(problems, Vec::<String>::new());
        assert_eq!(read.collected.labels, qrels(&[("hats", "i1", grade)]));
    }
}

#[rstest]
#[case::several_labels(
    "instance_id,user_id,rel.1,rel.2,rel\ni1,ann,1,2,2\n",
    "f:2: question \"rel\": has 2 answers of one person, not one grade"
)]
#[case::slider(
    "instance_id,user_id,rel.scale\ni1,ann,37\n",
    "f:2: question \"rel\": the answer \"scale: 37\" is not a whole number; say which grade it means \
     with --answer 'scale: 37=GRADE'"
)]
#[case::no_person("instance_id,user_id,rel.1\ni1,,1\n", "f:2: user_id: is empty")]
#[case::no_instance(
    "instance_id,user_id,rel.1\ni1,ann,1\ni9,ann,1\n",
    "f:3: instance_id: \"i9\" is not in the file of --items"
)]
#[case::no_columns(
    "instance_id,rel.1\ni1,1\n",
    "f:1: has no column user_id; the first line names the columns instance_id, user_id and \
     optionally others"
)]
#[case::same_column(
    "instance_id,user_id,rel.1,rel.1\ni1,ann,1,1\n",
    "f:1: has two columns rel.1; remove or rename one of them"
)]
#[case::cut_off(
    "instance_id,user_id,rel.1\ni1,ann,\"1\n",
    "f:2: a quoted cell of this row is never closed; add the missing quote"
)]
#[case::width(
    "instance_id,user_id,rel.1\ni1,ann\n",
    "f:2: has 2 cells where the header has 3"
)]
fn a_broken_table_of_potato_names_its_line(#[case] text: &str, #[case] expected: &str) {
    let (_, problems) = read_by("potato", text, &instances());
    assert_eq!(problems, [expected]);
}

/// Label Studio's JSON-MIN of annotations with a rating, a choice and a number, and of a task that
/// nobody annotated.
const RECORDS: &str = r#"[
{"query_id":"q1","query":"hats","document":"d1","id":1,"rel":[{"rating":3}],"why":[{"text":["so","too"]}],"annotator":1,"annotation_id":5,"created_at":"2023-03-09T22:16:08.728353Z","updated_at":"2023-03-09T22:16:09Z","lead_time":3.1},
{"query_id":"q1","query":"hats","document":"d2","id":2,"rel":"Not relevant","annotator":"bob@shop.org","annotation_id":6,"created_at":null,"updated_at":null,"lead_time":null},
{"query_id":"q1","query":"hats","document":"d3","id":3,"rel":[{"number":1}],"annotator":1,"annotation_id":7,"created_at":null,"updated_at":null,"lead_time":null,"agreement":100.0},
{"query_id":"q1","query":"hats","document":"d4","id":4,"annotator":null,"annotation_id":null,"created_at":null,"updated_at":null,"lead_time":null}
]"#;

#[test]
fn annotations_of_label_studio_are_read_from_json_min() {
    let mut options = AnswerOptions {
        meanings: [("Not relevant".to_owned(), "0".to_owned())].into(),
        ..AnswerOptions::default()
    };
    let grades = [("q1", "d1", 3), ("q1", "d2", 0), ("q1", "d3", 1)];
    let (read, problems) = read_by("label-studio", RECORDS, &options);
    assert_eq!(problems, Vec::<String>::new());
    assert_eq!(read.collected.labels, qrels(&grades));
    assert_eq!(read.collected.unrated, 1);
    assert_eq!(read.texts, texts(&[("q1", "hats")]));
    options.rater = Some("1".to_owned());
    let (read, _) = read_by("label-studio", RECORDS, &options);
    assert_eq!(read.collected.labels, qrels(&[grades[0], grades[2]]));
}

#[rstest]
#[case::a_word(
    r#"[{"query":"q","document":"d","id":1,
"rel":"Good","annotator":1,"annotation_id":5}]"#,
    "f:1: question \"rel\": the answer \"Good\" is not a whole number; say which grade it means \
     with --answer 'Good=GRADE'"
)]
#[case::several_choices(
    r#"[{"query":"q","document":"d","id":1,"rel":[{"choices":["1","2"]}],"annotator":1,"annotation_id":5}]"#,
    "f:1: question \"rel\": has 2 answers of one person, not one grade"
)]
#[case::several_choices_of_one_result(
    r#"[{"query":"q","document":"d","id":1,"rel":{"choices":["1","2"]},"annotator":1,"annotation_id":5}]"#,
    "f:1: question \"rel\": has 2 answers of one person, not one grade"
)]
#[case::two_values(
    r#"[{"query":"q","document":"d","id":1,"rel":[{"rating":3,"number":1}],"annotator":1,"annotation_id":5}]"#,
    "f:1: rel: expected one answer, found several in one result"
)]
#[case::a_repeated_member(
    r#"[{"query":"q","document":"d","id":1,"rel":"1","rel":"2","annotator":1,"annotation_id":5}]"#,
    "f:1: rel: is repeated; remove one of them"
)]
#[case::a_text(
    r#"[{"query":"q","document":"d","id":1,"rel":"1","why":"so","annotator":1,"annotation_id":5}]"#,
    "f: holds answers to several questions: \"rel\", \"why\"; name one of them with --question"
)]
#[case::data_with_an_id(
    r#"[{"id":1,"query":"q","document":"d","rel":"1","annotator":1,"annotation_id":5}]"#,
    "f: holds answers to several questions: \"document\", \"query\", \"rel\"; name one of them with \
     --question"
)]
#[case::cut_off(
    r#"[{"query":"q","document":"d","id":1,"rel":"1","annotator":1,"annotation_id":5},"#,
    "f:1: the file is cut off inside the array; write or download it again"
)]
#[case::no_rating(
    r#"[{"query":"q","document":"d","id":1,"rel":[{"rating":null}],"annotator":1,"annotation_id":5}]"#,
    "f:1: rel: expected a number or choices, found null"
)]
#[case::a_time(
    r#"[{"query":"q","document":"d","id":1,"rel":"1","annotator":1,"annotation_id":5,"updated_at":"soon"}]"#,
    "f:1: updated_at: expected a time such as 2023-03-09T22:16:08Z, found soon"
)]
fn a_broken_record_of_json_min_names_its_line(#[case] text: &str, #[case] expected: &str) {
    let (_, problems) = read("label-studio", text);
    assert_eq!(problems, [expected]);
}

#[test]
fn data_with_an_id_is_read_if_the_question_is_named() {
    let text = r#"[{"id":1,"query":"q","document":"d","rel":"1","annotator":1,"annotation_id":5}]"#;
    let options = AnswerOptions {
        question: Some("rel".to_owned()),
        ..AnswerOptions::default()
    };
    let (read, problems) = read_by("label-studio", text, &options);
    assert_eq!(problems, Vec::<String>::new());
    assert_eq!(read.collected.labels, qrels(&[("q", "d", 1)]));
}
