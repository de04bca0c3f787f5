//! Whole imports of foreign files into a project, or of nothing.

use super::pair_votes::read_pair_votes;
use super::votes::{self, PairOptions, TextsByQuery};
use super::{ImportOptions, check};
use crate::app::error::AppError;
use crate::app::export::request::{Export, ExportRequest};
use crate::app::output_file::ProtectedFiles;
use crate::app::review::pair_verdicts::PairVerdicts;
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::verdict::Decision;
use crate::formats::answers::AnswerOptions;
use crate::formats::pairs::PairForm;
use crate::store::Store;
use crate::store::verdicts::NewVerdict;
use crate::suites::fixtures::pool;
use rstest::rstest;
use serde_json::json;
use std::path::PathBuf;
use std::sync::Arc;
use tempfile::TempDir;

/// A project with a query *red shoes* and the documents a and b, whose texts are *text a* and
/// *text b*.
struct Shop {
    folder: TempDir,
    store: Store,
}

impl Shop {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("p.db")).unwrap();
        let shop = Self { folder, store };
        let documents = ["a", "b"].map(|id| json!({"id": id, "content": format!("text {id}")}));
        let pool = json!({"query": {"id": "q1", "query": "red shoes"}, "documents": documents});
        shop.import("in.jsonl", &pool.to_string()).unwrap();
        shop
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    fn import(&self, name: &str, text: &str) -> Result<String, String> {
        let options = ImportOptions::default();
        let imported = check(&self.write(name, text), &options)
            .and_then(|checked| checked.import(&self.store));
        imported.map(|import| import.to_string()).map_err(words)
    }

    fn import_votes(&self, text: &str) -> Result<String, String> {
        self.import_votes_by(text, &left_is_a())
    }

    fn import_votes_by(&self, text: &str, options: &PairOptions) -> Result<String, String> {
        let path = self.write("pairs.json", text);
        let mut texts = TextsByQuery::new();
        let checked = votes::check(&path, Some(&self.store), options, &mut texts);
        let checked = checked.map_err(words)?;
        checked.problems.refuse("nothing").map_err(words)?;
        let rehearsed = votes::rehearse(std::slice::from_ref(&path), Some(&self.store), options);
        let rehearsed = rehearsed.map_err(words)?[0].to_string();
        let imported = votes::import(&self.store, &path, options).map_err(words)?;
        assert_eq!(imported.to_string(), rehearsed);
        Ok(format!("{}|{}", checked.notes.join("|"), imported))
    }

    fn labels(&self) -> Vec<(String, String, i32)> {
        let labels = self.store.read_blocking(|db| db.labels()).unwrap();
        let labels = labels.into_iter().flat_map(|(query, grades)| {
            let grades = grades.into_iter();
            grades.map(move |(id, grade)| (query.to_string(), id.to_string(), grade))
        });
        labels.collect()
    }

    fn queries(&self) -> Vec<(QueryId, usize)> {
        let queries = self.store.read_blocking(|db| db.queries()).unwrap();
        queries
            .into_iter()
            .map(|of| (of.id, of.documents))
            .collect()
    }
}

fn left_is_a() -> PairOptions {
    let mut options = PairOptions::default();
    let left = ("left".to_owned(), "a".to_owned());
    options.answers.meanings = [left].into();
    options
}

/// An error with the problems of its file.
fn words(error: AppError) -> String {
    match error {
        AppError::Problems(problems) => problems.first[0].message.clone(),
        error => error.to_string(),
    }
}

fn label(document: &str, grade: i32) -> (String, String, i32) {
    ("q1".to_owned(), document.to_owned(), grade)
}

const REQUEST: &str = r#"{"query":{"text":"life cycle of a flea","qid":264014},"candidates":[{"docid":"1","score":15.7,"doc":{"contents":"A flea lives long."}},{"docid":2,"score":14.2,"doc":{"contents":"Four stages."}}]}"#;
const POOL: &str = r#"{"query":{"id":264014,"query":"life cycle of a flea"},"documents":[{"id":"1","content":"A flea lives long."},{"id":2,"content":"Four stages."}]}"#;

#[rstest]
#[case::requests(REQUEST)]
#[case::pools(POOL)]
fn arrays_of_requests_and_of_pools_are_imported(#[case] object: &str) {
    for text in [
        format!("[{object}]"),
        format!("\u{feff}\n [\n  {object}\n]\n"),
        object.replace(",\"d", ",\n\"d").replacen('{', "[{", 1) + "]",
    ] {
        let shop = Shop::new();
        let imported = shop.import("r.json", &text).unwrap();
        assert!(imported.contains("1 query added"), "{imported}");
        let flea = (QueryId::new("264014"), 2);
        assert_eq!(shop.queries()[1], flea);
    }
    // A second element that is broken stores nothing.
    let shop = Shop::new();
    let broken = object
        .replacen("\"query\"", "\"qury\"", 1)
        .replace("264014", "7");
    let error = shop
        .import("r.json", &format!("[{object},\n{broken}]"))
        .unwrap_err();
    assert_eq!(error, "query: is missing");
    assert_eq!(shop.queries().len(), 1);
}

#[test]
fn labels_find_queries_and_documents_by_their_texts() {
    let shop = Shop::new();
    let record = |query: &str, document: &str, grade: i32| {
        let fields = json!({"query": query, "document": document});
        json!({"fields": fields, "responses": {"rel": [{"value": grade, "user_id": "u"}]}})
    };
    let texts = json!([
        record("red  shoes", "text a", 2),
        record("red  shoes", "b", 0)
    ]);
    let told = shop.import("texts.json", &texts.to_string()).unwrap();
    assert!(
        told.contains("2 new, 0 already there; 1 query matched by text"),
        "{told}"
    );
    assert_eq!(shop.labels(), [label("a", 2), label("b", 0)]);
    let ids = json!([record("q1", "text a", 2)]);
    let told = shop.import("ids.json", &ids.to_string()).unwrap();
    assert!(
        told.contains("0 new, 1 already there; 1 query matched by id"),
        "{told}"
    );
    let unknown = json!([record("q1", "text c", 2)]);
    let error = shop
        .import("unknown.json", &unknown.to_string())
        .unwrap_err();
    assert!(
        error.starts_with("\"text c\" is neither the identifier nor the text of a document"),
        "{error}"
    );
    let twice = json!([record("q1", "text a", 2), record("q1", "a", 2)]);
    let error = shop.import("twice.json", &twice.to_string()).unwrap_err();
    assert!(error.contains("is named in two ways"), "{error}");
    assert_eq!(shop.labels().len(), 2);
}

fn task(query: &str, a: &str, b: &str, person: u32) -> serde_json::Value {
    let result = json!({"from_name": "pw", "type": "pairwise", "value": {"selected": "left"}});
    let annotation = json!({"completed_by": person, "result": [result]});
    json!({"data": {"query": query, "a": a, "b": b}, "annotations": [annotation]})
}

#[test]
fn comparisons_become_verdicts_on_the_documents_with_their_texts() {
    let shop = Shop::new();
    let tasks = json!([
        task("red shoes", "text b", "a", 1),
        task("red shoes", "text a", "text b", 2)
    ]);
    let told = shop.import_votes(&tasks.to_string()).unwrap();
    assert!(
        told.contains("pairs.json: 1 query matched by text|"),
        "{told}"
    );
    assert!(
        told.ends_with("0 documents added; 2 verdicts of 1, 2"),
        "{told}"
    );
    let again = shop.import_votes(&tasks.to_string()).unwrap();
    assert!(again.contains("2 lines already there"), "{again}");
    for (text, expected) in [
        (
            task("red shoes", "text c", "a", 1),
            "\"text c\" is neither the identifier nor the text",
        ),
        (
            task("red shoes", "text a", "a", 1),
            "both documents are \"a\"",
        ),
        (
            task("hats", "x", "y", 1),
            "query \"hats\" is not in the project",
        ),
    ] {
        let error = shop.import_votes(&json!([text]).to_string()).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
    // Queries that the project lacks are refused if others are found by their texts.
    let some = json!([task("red shoes", "a", "b", 3), task("hats", "x", "y", 3)]);
    let error = shop.import_votes(&some.to_string()).unwrap_err();
    assert!(
        error.starts_with("query \"hats\" is not in the project, where other queries"),
        "{error}"
    );
}

#[rstest]
#[case(false)]
#[case(true)]
fn comparisons_are_blind_only_if_the_user_says_so(#[case] blind: bool) {
    let shop = Shop::new();
    let path = shop.write("t.json", &json!([task("q1", "a", "b", 1)]).to_string());
    let options = PairOptions {
        blind,
        ..left_is_a()
    };
    let read = read_pair_votes(&path, Some(&shop.store), &options);
    let read = read.unwrap().unwrap();
    assert_eq!(read.votes[0].as_ref().unwrap().1.blind, blind);
    assert_eq!(read.notes("f").join("").contains("--blind"), !blind);
    let own = shop.write("own.jsonl", "{}\n");
    let options = PairOptions {
        blind,
        ..PairOptions::default()
    };
    let refused = read_pair_votes(&own, Some(&shop.store), &options);
    assert_eq!(refused.is_err(), blind);
}

#[test]
fn comparisons_are_imported_one_file_at_a_time() {
    let shop = Shop::new();
    let tasks = json!([task("q1", "a", "b", 1)]).to_string();
    let own = shop.write("own.jsonl", "{}\n");
    let paths = [own, shop.write("t.json", &tasks)];
    let options = PairOptions::default();
    let error = votes::refuse_several(&paths, &options).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("run the command once for each file"),
        "{error}"
    );
    for one in &paths {
        votes::refuse_several(std::slice::from_ref(one), &options).unwrap();
    }
}

#[test]
fn an_arena_brings_its_questions_and_answers() {
    let shop = Shop::new();
    let said = |answer: &str| json!([{"role": "user", "content": "why?"}, {"role": "assistant", "content": answer}]);
    let row = |judge: serde_json::Value, winner: &str| {
        json!({"question_id": 81, "model_a": "m1", "model_b": "m2", "winner": winner, "judge": judge,
               "turn": 1, "conversation_a": said("so"), "conversation_b": said("so")})
    };
    let model = json!([row(json!(["gpt-4", "v2"]), "model_a")]);
    let error = shop.import_votes(&model.to_string()).unwrap_err();
    assert!(error.contains("which answer it saw first"), "{error}");
    let rows = json!([row(json!("ann"), "tie (bothbad)")]);
    let told = shop.import_votes(&rows.to_string()).unwrap();
    assert!(told.contains("1 query added"), "{told}");
    assert!(told.ends_with("; 1 verdict of ann"), "{told}");
    let added = (QueryId::new("81"), 2);
    assert_eq!(shop.queries()[1], added);
    let documents = shop
        .store
        .read_blocking(|db| db.texts("81"))
        .unwrap()
        .unwrap()
        .documents;
    assert!(documents.contains_key(DocId::new("m1").as_str()));
    // Another answer of the same model contradicts the first one.
    let mut other = row(json!("bob"), "tie");
    other["conversation_a"] = said("because");
    let error = shop.import_votes(&json!([other]).to_string()).unwrap_err();
    assert!(
        error.starts_with("a.content: \"m1\" has a different text than before"),
        "{error}"
    );
}

#[test]
fn comparisons_and_labels_are_told_apart() {
    let shop = Shop::new();
    let error = shop
        .import("t.json", &json!([task("q1", "a", "b", 1)]).to_string())
        .unwrap_err();
    assert!(error.contains("`overrule import votes`"), "{error}");
    let vote = json!([{"model_a": "m", "model_b": "n", "winner": "tie"}]);
    let error = shop.import("v.json", &format!("{vote:#}")).unwrap_err();
    assert!(
        error.contains("holds votes of an arena (LMSYS); `overrule import votes"),
        "{error}"
    );
    let record = json!([{"fields": {"query": "q1", "document": "a"},
                         "responses": {"rel": [{"value": 1, "user_id": "u"}]}}]);
    let error = shop.import_votes(&record.to_string()).unwrap_err();
    assert!(error.contains("imports such answers as labels"), "{error}");
    let both = json!([{"fields": {"query": "q1"}, "responses": {}, "annotations": [], "data": {}}]);
    for error in [
        shop.import("both.json", &both.to_string()).unwrap_err(),
        shop.import_votes(&both.to_string()).unwrap_err(),
    ] {
        assert!(
            error.contains("(Label Studio) (--as label-studio) or "),
            "{error}"
        );
        assert!(
            error.contains("(Argilla) (--as argilla); say which with --as"),
            "{error}"
        );
    }
    assert!(shop.labels().is_empty());
}

/// A good record and a broken one.
#[rstest]
#[case::json_min(
    r#"[{"query":"q1","document":"a","id":1,"rel":"1","annotator":1,"annotation_id":5,"lead_time":1},
{"query":"q1","document":"b","id":2,"rel":"x","annotator":1,"annotation_id":6,"lead_time":1}]"#,
    "question \"rel\": the answer \"x\" is not a whole number"
)]
#[case::potato("instance_id,user_id,rel.1\na,ann,1\nb,,1\n", "user_id: is empty")]
fn a_broken_export_of_labels_stores_nothing(#[case] text: &str, #[case] expected: &str) {
    let shop = Shop::new();
    let options = ImportOptions {
        answers: instances(),
        ..ImportOptions::default()
    };
    let path = shop.write("labels", text);
    let imported = check(&path, &options).and_then(|checked| checked.import(&shop.store));
    let error = imported.map(drop).map_err(words).unwrap_err();
    assert!(error.contains(expected), "{error}");
    assert!(shop.labels().is_empty());
}

#[rstest]
#[case::json_min(
    r#"[{"query":"q1","a":"a","b":"b","id":1,"pw":"a","annotator":"ann","annotation_id":5,"lead_time":1},
{"query":"q1","a":"a","b":"b","id":2,"pw":"x","annotator":"ann","annotation_id":6,"lead_time":1}]"#
)]
#[case::potato("instance_id\tuser_id\tpw.selection\na\tann\tA\nb\tann\tx\n")]
fn a_broken_export_of_comparisons_stores_nothing(#[case] text: &str) {
    let shop = Shop::new();
    let options = PairOptions {
        answers: instances(),
        ..PairOptions::default()
    };
    let error = shop.import_votes_by(text, &options).unwrap_err();
    let expected = "question \"pw\": the answer \"x\" does not say which document is better";
    assert!(error.contains(expected), "{error}");
    assert_eq!(said(&shop.store), []);
}

/// The instances `a` and `b`, which have a document and the pair of both.
fn instances() -> AnswerOptions {
    let item = |id: &str| {
        let fields = [("query", "q1"), ("document", id), ("a", "a"), ("b", "b")];
        let fields = fields.map(|(name, value)| (name.to_owned(), value.to_owned()));
        (id.to_owned(), fields.to_vec())
    };
    AnswerOptions {
        items: Some(Arc::new(["a", "b"].map(item).into())),
        ..AnswerOptions::default()
    }
}

/// Query, a, b, direction, annotator, time and note of each person's verdict on each pair.
fn said(store: &Store) -> Vec<(String, String, Option<i64>, Option<String>)> {
    let rows = store.read_blocking(|db| {
        let mut rows = Vec::new();
        for query in db.queries()? {
            let pool = db.pool(query.key)?;
            for (row, _) in PairVerdicts::load(db, query.key)?.rows() {
                let said = row.verdict.clone();
                let [a, b] = [said.a, said.b].map(|at| pool.documents[at].id.as_str());
                let what = said.decision.direction();
                let words = format!("{} {a} {b} {what:?}", query.id);
                rows.push((words, said.annotator, Some(said.created_ms), said.note));
            }
        }
        Ok(rows)
    });
    let mut rows = rows.unwrap();
    rows.sort();
    rows
}

#[test]
fn exported_comparisons_are_the_same_verdicts_in_another_project_and_none_in_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let open = |name: &str| Store::open(&folder.path().join(name)).unwrap();
    let store = open("p.db");
    let written = store.write_blocking(|db| {
        let key = db.add_pool(&pool(1, 3), "set")?.key();
        db.add_pool(&pool(2, 2), "set")?;
        let add = |a, b, decision, who, at, note: Option<&str>| {
            db.add_verdict(&NewVerdict {
                created_ms: 1_700_000_000_000_i64 + at,
                note: note.map(str::to_owned),
                blind: true,
                ..NewVerdict::open(key, a, b, decision, who)
            })
        };
        add(2, 1, Decision::A, "ann@lab.org", 1, None)?;
        add(
            2,
            1,
            Decision::MuchB,
            "ann@lab.org",
            202,
            Some("so \"much\""),
        )?;
        add(1, 2, Decision::Tie, "bob", 303, Some("both are bad"))?;
        add(0, 1, Decision::MuchA, "7", 404, None)
    });
    written.unwrap();
    let given = said(&store);
    assert_eq!(given.len(), 3);
    for form in PairForm::all() {
        let name = form.names().name;
        let path = folder.path().join(format!("{name}.json.gz"));
        let request = ExportRequest::new(Export::Verdicts(Some(form)));
        let protected = ProtectedFiles {
            project: store.path(),
            configuration: None,
        };
        let files = request.write_file(&store, &path, protected, &mut |_| {});
        assert_eq!(files.unwrap(), [path.as_path()]);
        let mut expected = given.clone();
        for (_, annotator, time, note) in &mut expected {
            match name {
                "argilla" => *time = None,
                "arena" if annotator != "bob" => *note = None,
                _ => {}
            }
        }
        expected.sort();
        for has_pools in [false, true] {
            let other = open(&format!("{name} {has_pools}.db"));
            let pools = other.write_blocking(move |db| match has_pools {
                true => db.add_pool(&pool(1, 3), "set").map(drop),
                false => Ok(()),
            });
            pools.unwrap();
            votes::import(&other, &path, &PairOptions::default()).unwrap();
            let mut found = said(&other);
            if name == "argilla" {
                found.iter_mut().for_each(|row| row.2 = None);
            }
            found.sort();
            assert_eq!(found, expected, "{name} {has_pools}");
        }
        let again = votes::import(&store, &path, &PairOptions::default()).unwrap();
        assert_eq!((again.verdicts, again.given_before), (0, 3), "{name}");
        let notes = again.notes().join(" ");
        assert!(
            notes.contains("skipped 3 verdicts that the same person"),
            "{notes}"
        );
        assert_eq!(said(&store), given);
    }
}

#[test]
fn a_choice_that_differs_from_what_the_person_said_is_added() {
    let shop = Shop::new();
    let before = shop.store.write_blocking(|db| {
        let key = db.find_query("q1")?;
        db.add_verdict(&NewVerdict::open(key, 0, 1, Decision::MuchA, "1"))
    });
    before.unwrap();
    let all = [
        task("q1", "a", "b", 1),
        task("q1", "b", "a", 1),
        task("q1", "a", "b", 1),
    ];
    let told = shop.import_votes(&json!(all).to_string()).unwrap();
    assert!(told.contains("2 verdicts of 1; 1 line already"), "{told}");
    let said = said(&shop.store);
    assert_eq!(said.len(), 1);
    assert_eq!(said[0].0, "q1 a b Some(A)");
}
