use super::*;
use crate::app::export::AddedExport as _;
use crate::domain::candidate_question::Answer;
use crate::domain::corpus::{Document, JsonObject, Pool, Query};
use crate::features::lists::app::export::ListExport;
use crate::features::lists::domain::AnswerForm;
use crate::features::methods::store::RerankCall;
use crate::formats::table_file::TableFormat;
use crate::judge::{FailureCause, JudgeSpec};
use serde_json::{Value, json};

const UIDS: [&str; 3] = [
    "01890a5d-ac96-774b-bcce-b302099a8057",
    "01890a5d-ac96-774b-bcce-b302099a8058",
    "01890a5d-ac96-774b-bcce-b302099a8059",
];

type Project = (tempfile::TempDir, Store);

fn pool(text: &str, field: &str) -> Pool {
    let document = |at: usize| Document {
        id: DocId::new(format!("d{at}")),
        title: None,
        content: format!("{text} {at}"),
        metadata: JsonObject::from_compact(format!("{{\"{field}\":\"{at}\"}}")),
        extra: JsonObject::default(),
        input_score: None,
    };
    Pool {
        query: Query {
            id: QueryId::new("q"),
            text: "question".to_owned(),
            extra: JsonObject::default(),
        },
        documents: (0..5).map(document).collect(),
        extra: JsonObject::default(),
    }
}

fn project_of(text: &str, field: &str) -> Project {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("p.db")).unwrap();
    let pool = pool(text, field);
    let add = move |db: &mut Db| db.add_pool(&pool, "set").map(drop);
    store.write_blocking(add).unwrap();
    (folder, store)
}

fn project(text: &str) -> Project {
    project_of(text, "brand")
}

fn spec() -> JudgeSpec {
    JudgeSpec {
        name: "one".to_owned(),
        provider: "compatible".to_owned(),
        model: "m".to_owned(),
        prompt_hash: String::new(),
        params: "{\"max_document_chars\":16000}".to_owned(),
    }
}

fn spec_of(name: &str) -> JudgeSpec {
    JudgeSpec {
        name: name.to_owned(),
        ..spec()
    }
}

/// A list call of the judge `one` with this spec, which is shown these metadata.
fn list_of(db: &Db, at: usize, spec: &JudgeSpec, fields: &MetadataFields) -> StoredList {
    let form = [
        AnswerForm::Order,
        AnswerForm::BestWorst,
        AnswerForm::Best(2),
    ][at];
    let shown = ["d3", "d0", "d2"].map(DocId::new);
    let judge = ListJudge::new(spec, Some(fields), form).unwrap();
    let texts = shown_texts(db, db.find_query("q").unwrap(), &shown).unwrap();
    StoredList {
        uid: UIDS[at].to_owned(),
        query: QueryId::new("q"),
        judge: "one".to_owned(),
        identity: judge.identity(),
        form: form.to_string(),
        key: judge.key(texts.unwrap()),
        shown: shown.to_vec(),
        plan: "swiss".to_owned(),
        round: at,
        created_ms: 1_000,
    }
}

/// A list that has a failed call, a malformed answer and a valid one, and lists of other forms
/// without calls.
fn judged() -> Project {
    judged_with(&MetadataFields::All)
}

fn judged_with(fields: &MetadataFields) -> Project {
    let project = project("text");
    let fields = fields.clone();
    let add = move |db: &mut Db| {
        for at in 0..UIDS.len() {
            let list = list_of(db, at, &spec(), &fields);
            db.add_list_call(&list)?;
            if at == 0 {
                calls(list.key)
                    .iter()
                    .try_for_each(|call| db.add_rerank_call(call))?;
            }
        }
        Ok(())
    };
    project.1.write_blocking(add).unwrap();
    project
}

fn calls(key: [u8; 32]) -> [RerankCall; 3] {
    let call = |number: u8| RerankCall {
        uid: [number; 16],
        key,
        service: "one".to_owned(),
        answer: None,
        cause: None,
        message: None,
        tokens_input: 100,
        tokens_output: 7,
        cost_usd: Some(0.1 + 0.2),
        latency_ms: 1_234.567_890_123_456_7,
        truncated: 2,
        model: Some("m-2026".to_owned()),
        created_ms: 2_000 + i64::from(number),
        raw: Some("[3, 1]\u{1b}[2J\u{202e}".to_owned()),
    };
    [
        RerankCall {
            cause: Some(FailureCause::Server),
            message: Some("server error: 500".to_owned()),
            cost_usd: None,
            raw: None,
            model: None,
            ..call(1)
        },
        RerankCall {
            answer: Some(Answer::Unreadable("malformed reply: no JSON".to_owned())),
            cause: Some(FailureCause::Malformed),
            message: Some("no JSON".to_owned()),
            ..call(2)
        },
        RerankCall {
            answer: Some(Answer::Numbers(vec![3, 1, 2])),
            ..call(3)
        },
    ]
}

/// The exported lines, and the messages.
fn exported_by(store: &Store, judges: Vec<JudgeSpec>) -> (String, Vec<String>) {
    exported_with(store, judges, &MetadataFields::All)
}

fn exported_with(
    store: &Store,
    judges: Vec<JudgeSpec>,
    fields: &MetadataFields,
) -> (String, Vec<String>) {
    let judges = judges.into_iter();
    let export = ListExport {
        judges: judges.map(|spec| (spec, Some(fields.clone()))).collect(),
        notes: vec!["a note".to_owned()],
    };
    let keys = store
        .read_blocking(|db| Ok(vec![db.find_query("q")?]))
        .unwrap();
    let (mut out, mut told) = (Vec::new(), Vec::new());
    let mut tell = |message: &str| told.push(message.to_owned());
    export
        .write(store, &keys, TableFormat::Jsonl, &mut out, &mut tell)
        .unwrap();
    (String::from_utf8(out).unwrap(), told)
}

fn exported(store: &Store) -> String {
    let (text, told) = exported_by(store, vec![spec()]);
    assert_eq!(told, [""; 0]);
    text
}

fn import_as(store: &Store, text: impl AsRef<[u8]>, dry_run: bool) -> Result<[usize; 4], AppError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lists.jsonl");
    std::fs::write(&path, text).unwrap();
    let import = import_lists(store, &path, "ada", dry_run)?;
    Ok([
        import.lists,
        import.lists_added,
        import.calls,
        import.calls_added,
    ])
}

fn import(store: &Store, text: impl AsRef<[u8]>) -> Result<[usize; 4], AppError> {
    import_as(store, text, false)
}

/// Adds a judge that has voted.
fn add_voter(store: &Store, spec: JudgeSpec) {
    store
        .write_blocking(move |db| db.judge(&spec).map(drop))
        .unwrap();
}

/// The names of the judges of the lists, each once.
fn names(store: &Store) -> Vec<String> {
    let mut names: Vec<_> = rows(store).0.into_iter().map(|list| list.judge).collect();
    names.sort();
    names.dedup();
    names
}

fn logged(store: &Store) -> Vec<String> {
    let imports = store.read_blocking(|db| db.imports()).unwrap();
    imports.into_iter().map(|import| import.told).collect()
}

type Rows = (Vec<StoredList>, Vec<RerankCall>);

fn rows(store: &Store) -> Rows {
    let read = |db: &mut Db| {
        let lists = db.list_calls(None)?;
        let calls = lists.iter().map(|list| db.rerank_calls(&list.key));
        let calls = calls.collect::<Result<Vec<_>, _>>()?.concat();
        Ok((lists, calls))
    };
    store.read_blocking(read).unwrap()
}

#[track_caller]
fn refused(store: &Store, text: impl AsRef<[u8]>, line: u64, why: &str) {
    let before = rows(store);
    let AppError::Problems(problems) = import(store, text).unwrap_err() else {
        panic!("{why}");
    };
    let first = problems.first[0].to_string();
    let place = format!("lists.jsonl:{line}: ");
    assert!(first.contains(&place) && first.contains(why), "{first}");
    assert!(!first.contains("at line"), "{first}");
    assert!(first.chars().count() < 600, "{first}");
    assert_eq!(rows(store), before, "{why}");
}

#[test]
fn lists_with_all_their_calls_come_back_as_they_were_and_only_once() {
    let (_here, here) = judged();
    let text = exported(&here);
    assert!(!text.contains(['\u{1b}', '\u{202e}']));
    let (_there, there) = project("text");
    assert_eq!(import_as(&there, &text, true).unwrap(), [3, 3, 3, 3]);
    assert_eq!(rows(&there), Rows::default());
    assert_eq!(logged(&there), [""; 0]);
    assert_eq!(import(&there, &text).unwrap(), [3, 3, 3, 3]);
    assert_eq!(rows(&there), rows(&here));
    assert_eq!(exported(&there), text);
    for again in [text.clone(), text.repeat(2)] {
        assert_eq!(import(&there, &again).unwrap(), [3, 0, 3, 0]);
    }
    assert_eq!(rows(&there), rows(&here));
    // Imports that add nothing are not logged.
    let logged = logged(&there);
    assert_eq!(logged.len(), 1);
    let told = "lists.jsonl: 3 list calls, 3 new; 3 calls made for them, 3 new";
    assert!(logged[0].ends_with(told), "{logged:?}");
}

#[test]
fn lists_with_named_metadata_are_checked_with_those_fields() {
    let fields = MetadataFields::Named(["brand".to_owned()].into());
    let (_here, here) = judged_with(&fields);
    let (text, told) = exported_with(&here, vec![spec()], &fields);
    assert_eq!(told, [""; 0]);
    let line: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!(line["metadata"], json!("[\"brand\"]"));
    let (_there, there) = project("text");
    import(&there, &text).unwrap();
    assert_eq!(rows(&there), rows(&here));
    for other in ["[\\\"price\\\"]", "[\\\"brand\\\",1]"] {
        let changed = text.replace("[\\\"brand\\\"]", other);
        assert_ne!(changed, text);
        let (_there, there) = project("text");
        refused(&there, &changed, 1, "spec: this version");
    }
}

#[test]
fn nothing_is_imported_during_a_run() {
    let (_here, here) = judged();
    let text = exported(&here);
    let (_there, there) = project("text");
    let run = RunLock::take(there.path()).unwrap();
    let error = import(&there, &text).unwrap_err().to_string();
    assert!(error.contains("another overrule process"), "{error}");
    assert_eq!(rows(&there), Rows::default());
    assert_eq!(import_as(&there, &text, true).unwrap(), [3, 3, 3, 3]);
    drop(run);
    assert_eq!(import(&there, &text).unwrap(), [3, 3, 3, 3]);
}

#[test]
fn another_form_of_the_same_answer_is_stored_in_canonical_spelling() {
    let (_here, here) = judged();
    let text = exported(&here).replace("\"best:2\"", "\"best:+02\"");
    assert!(text.contains("+02"));
    let (_there, there) = project("text");
    import(&there, &text).unwrap();
    assert_eq!(rows(&there), rows(&here));
}

#[test]
fn lists_of_a_renamed_judge_are_the_same_lists() {
    let (_here, here) = judged();
    let (_there, there) = project("text");
    let text = exported(&here);
    import(&there, &text).unwrap();
    let rename = |db: &mut Db| db.rename_list_judges("one", "uno");
    there.write_blocking(rename).unwrap();
    let renamed = rows(&there);
    assert_eq!(import(&there, &text).unwrap(), [3, 0, 3, 0]);
    assert_eq!(rows(&there), renamed);
    let (text, told) = exported_by(&there, vec![spec_of("uno")]);
    assert_eq!((text.lines().count(), told.len()), (3, 0), "{told:?}");
    let line: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!(
        (&line["judge"], &line["spec"]["name"]),
        (&json!("uno"), &json!("one"))
    );
    assert_eq!(import(&here, &text).unwrap(), [3, 0, 3, 0]);
    let (_new, new) = project("text");
    import(&new, &text).unwrap();
    assert_eq!(rows(&new), renamed);
    // A list that a project lacks gets the name that its judge has there.
    let (_part, part) = project("text");
    let (first, _) = text.split_once('\n').unwrap();
    import(&part, first).unwrap();
    let planned_twice = StoredList {
        uid: UIDS[0].replace("57", "60"),
        ..rows(&here).0[0].clone()
    };
    let uid = planned_twice.uid.clone();
    let add = move |db: &mut Db| db.add_list_call(&planned_twice);
    here.write_blocking(add).unwrap();
    assert_eq!(import(&part, exported(&here)).unwrap(), [4, 3, 3, 0]);
    let found = part.read_blocking(move |db| db.list_call(&uid)).unwrap();
    assert_eq!(found.unwrap().judge, "uno");
}

#[test]
fn a_judge_renamed_in_one_project_gets_the_name_that_it_has_in_the_other() {
    let (_here, here) = judged();
    let before = exported(&here);
    here.write_blocking(|db| db.rename_list_judges("one", "uno"))
        .unwrap();
    let (after, _) = exported_by(&here, vec![spec_of("uno")]);
    let other = JudgeSpec {
        model: "n".to_owned(),
        ..spec_of("two")
    };
    for (text, voters, name) in [
        (&before, vec![], "one"),
        (&before, vec![spec_of("one"), spec_of("uno")], "one"),
        // Renamed here.
        (&before, vec![spec_of("uno")], "uno"),
        (&before, vec![spec_of("uno"), other.clone()], "uno"),
        (&before, vec![spec_of("uno"), spec_of("dos")], "one"),
        (&before, vec![other.clone()], "one"),
        // Renamed there.
        (&after, vec![], "uno"),
        (&after, vec![spec_of("one")], "one"),
        (&after, vec![spec_of("one"), spec_of("uno")], "uno"),
        (&after, vec![other], "uno"),
    ] {
        let (_there, there) = project("text");
        voters.iter().for_each(|of| add_voter(&there, of.clone()));
        assert_eq!(import(&there, text).unwrap(), [3, 3, 3, 3]);
        assert_eq!(names(&there), [name], "{voters:?}");
    }
}

#[test]
fn the_name_of_a_voter_is_chosen_if_lists_of_a_judge_have_two_names() {
    let (_here, here) = judged();
    let text = exported(&here);
    let (first, _) = text.split_once('\n').unwrap();
    for voter in ["one", "uno"] {
        let (_there, there) = project("text");
        import(&there, first).unwrap();
        let known = rows(&there).0.remove(0);
        let add = move |db: &mut Db| {
            db.rename_list_judges("one", "uno")?;
            let uid = known.uid.replace("57", "60");
            db.add_list_call(&StoredList { uid, ..known })
        };
        there.write_blocking(add).unwrap();
        assert_eq!(names(&there), ["one", "uno"]);
        add_voter(&there, spec_of(voter));
        let again = first.replace("8057", "8061");
        assert_eq!(import(&there, &again).unwrap(), [1, 1, 3, 0]);
        let added = rows(&there).0.into_iter().find(|of| of.uid.ends_with("61"));
        assert_eq!(added.unwrap().judge, voter);
    }
}

#[test]
fn a_list_asked_under_both_names_of_a_judge_does_not_count_twice() {
    let (_here, here) = judged();
    let before = exported(&here);
    here.write_blocking(|db| db.rename_list_judges("one", "uno"))
        .unwrap();
    let (after, _) = exported_by(&here, vec![spec_of("uno")]);
    for text in [before, after] {
        let (_there, there) = project("text");
        add_voter(&there, spec_of("uno"));
        let add = |db: &mut Db| {
            let list = list_of(db, 0, &spec_of("uno"), &MetadataFields::All);
            let uid = list.uid.replace("57", "60");
            db.add_list_call(&StoredList { uid, ..list }.of_judge("uno"))
        };
        there.write_blocking(add).unwrap();
        assert_eq!(import(&there, &text).unwrap(), [3, 3, 3, 3]);
        let judges: Vec<_> = UIDS
            .iter()
            .map(|uid| {
                let found = there.read_blocking(move |db| db.list_call(uid));
                found.unwrap().unwrap().judge
            })
            .collect();
        assert_eq!(judges, ["one", "uno", "uno"]);
    }
}

#[test]
fn an_export_names_the_lists_that_it_skips() {
    let (_here, here) = judged();
    let other = JudgeSpec {
        model: "other".to_owned(),
        ..spec()
    };
    let (text, told) = exported_by(&here, vec![other]);
    assert_eq!(text, "");
    assert!(
        told[0].starts_with("skipped 3 list calls; judge not available: one ("),
        "{told:?}"
    );
    assert_eq!(told[1..], ["a note"]);
    // Judges that have voted are known without the configuration.
    add_voter(&here, spec());
    assert_eq!(exported_by(&here, vec![]), (exported(&here), Vec::new()));
    let add = |db: &mut Db| {
        let list = list_of(db, 0, &spec(), &MetadataFields::All);
        db.add_list_call(&StoredList {
            uid: UIDS[0].replace("57", "60"),
            query: QueryId::new("gone"),
            ..list
        })
    };
    here.write_blocking(add).unwrap();
    let (text, told) = exported_by(&here, vec![spec()]);
    assert_eq!(text.lines().count(), 3);
    assert_eq!(
        told,
        ["skipped 1 list call about queries that the project no longer has"]
    );
}

#[test]
fn lists_about_other_texts_are_refused() {
    let (_here, here) = judged();
    let text = exported(&here);
    let (_there, there) = project("another text");
    refused(
        &there,
        &text,
        1,
        "document_sha256: document \"d3\" has another text",
    );
    let (_there, there) = project_of("text", "price");
    refused(
        &there,
        &text,
        1,
        "key: does not match this project: the metadata of a document differs",
    );
    // Nor are they exported once the texts have changed.
    assert_eq!(exported_by(&here, vec![spec()]).0, text);
    let pool = pool("text", "price");
    here.write_blocking(move |db| db.add_pool(&pool, "set").map(drop))
        .unwrap();
    let (text, told) = exported_by(&here, vec![spec()]);
    assert_eq!(text, "");
    assert_eq!(
        told,
        ["skipped 3 list calls: a text or metadata has changed since then"]
    );
}

#[test]
fn an_invalid_line_is_named_and_nothing_of_the_file_is_stored() {
    let (_here, here) = judged();
    let text = exported(&here);
    let (_there, there) = project("text");
    let (first, second) = text.split_once('\n').unwrap();
    let line: Value = serde_json::from_str(first).unwrap();
    let with = |pointer: &str, value: Value| {
        let mut line = line.clone();
        *line.pointer_mut(pointer).unwrap() = value;
        format!("{second}{line}\n")
    };
    let zeros = "0".repeat(64);
    let long = "x".repeat(5 << 20);
    for (pointer, value, why) in [
        (
            "/uid",
            json!("a\u{1b}[2J"),
            "uid: \"a\\u{1b}[2J\" is not a UUID",
        ),
        ("/query", json!("r"), "import its dataset first"),
        ("/judge", json!(" "), "judge: is empty"),
        ("/spec/name", json!(""), "spec.name: is empty"),
        (
            "/judge",
            json!(long),
            "judge: is longer than 1000 characters",
        ),
        (
            "/judge",
            json!("ü".repeat(1_001)),
            "judge: is longer than 1000 characters",
        ),
        (
            "/spec/name",
            json!(long),
            "spec.name: is longer than 1000 characters",
        ),
        (
            "/judge",
            json!("a\u{1b}"),
            "judge: contains control characters",
        ),
        (
            "/spec/name",
            json!("a\nb"),
            "spec.name: contains control characters",
        ),
        (
            "/plan",
            json!("other"),
            "plan: expected random, swiss, top or probe",
        ),
        ("/round", json!(0), "round: 0 is outside 1..1000000"),
        (
            "/round",
            json!(-1),
            "is not a list call: round: invalid value",
        ),
        ("/created_ms", json!(-1), "created_ms: -1 is outside 0.."),
        ("/created_ms", json!(i64::MAX), "created_ms: "),
        (
            "/answer_form",
            json!("worst"),
            "answer_form: expected order, best-worst or best:K, found \"worst\"",
        ),
        ("/answer_form", json!(long), "answer_form: expected order"),
        ("/uid", json!(long), "is not a UUID"),
        ("/query", json!(long), "import its dataset first"),
        ("/plan", json!(long), "plan: expected random"),
        ("/shown/0", json!(long), "is not in the pool"),
        ("/key", json!(long), "key: expected 64 hexadecimal digits"),
        ("/answer_form", json!("best:3"), "1 to 2"),
        ("/answer_form", json!("best-worst"), "spec: this version"),
        ("/answer_form", json!("best:2"), "spec: this version"),
        ("/shown", json!(["d1"]), "2 to 20 documents"),
        ("/shown/0", json!("d0"), "shown: \"d0\" is shown twice"),
        (
            "/shown/0",
            json!("d9"),
            "document \"d9\" is not in the pool",
        ),
        ("/shown/0", json!("d1"), "document_sha256: document \"d1\""),
        ("/spec/name", json!("two"), "identity: does not match spec"),
        ("/spec/model", json!("n"), "identity: does not match spec"),
        (
            "/spec/provider",
            json!("p"),
            "identity: does not match spec",
        ),
        ("/spec/params", json!("{}"), "spec: this version"),
        (
            "/spec/prompt_hash",
            json!("0123456789abcdef"),
            "spec: this version",
        ),
        ("/metadata", json!(null), "spec: this version"),
        ("/metadata", json!("none"), "spec: this version"),
        (
            "/query_sha256",
            json!(zeros),
            "query \"q\" has another text",
        ),
        (
            "/document_sha256/1",
            json!(zeros),
            "document \"d0\" has another text",
        ),
        ("/document_sha256", json!([]), "expected 3 hashes, found 0"),
        ("/identity", json!(zeros), "identity: does not match spec"),
        ("/key", json!(zeros), "key: does not match this project"),
        (
            "/key",
            json!("é".repeat(32)),
            "expected 64 hexadecimal digits",
        ),
        (
            "/calls/0/uid",
            json!("00"),
            "expected 32 hexadecimal digits",
        ),
        ("/calls/0/cause", json!(null), "calls[0].cause: is null"),
        (
            "/calls/0/cause",
            json!("bad luck"),
            "calls[0].cause: unknown variant `bad luck`",
        ),
        (
            "/calls/0/cause",
            json!(long),
            "calls[0].cause: unknown variant",
        ),
        (
            "/calls/2/tokens_output",
            json!(long),
            "calls[2].tokens_output: invalid type",
        ),
        (
            "/calls/2/cause",
            json!("server"),
            "an answered call has no cause or message",
        ),
        (
            "/calls/2/message",
            json!("no"),
            "an answered call has no cause or message",
        ),
        (
            "/calls/2/answer",
            json!({"numbers": vec![1; 100_001]}),
            "calls[2].answer: expected at most 100000 numbers, found 100001",
        ),
        (
            "/calls/1/answer",
            json!({"unreadable": long}),
            "calls[1].answer: is longer than 4194304 bytes",
        ),
        (
            "/calls/1/message",
            json!(long),
            "calls[1].message: is longer than 4194304 bytes",
        ),
        (
            "/calls/1/model",
            json!(long),
            "calls[1].model: is longer than 4194304 bytes",
        ),
        (
            "/calls/2/answer",
            json!({"margin": 0.5}),
            "calls[2].answer: expected numbers",
        ),
        (
            "/calls/2/answer",
            json!({"text": "x"}),
            "calls[2].answer: expected numbers",
        ),
        (
            "/calls/2/answer",
            json!({"scores": [1.0]}),
            "calls[2].answer: expected numbers",
        ),
        (
            "/calls/2/answer",
            json!({"numbers": [1e30]}),
            "calls[2].answer.numbers[0]: invalid type",
        ),
        (
            "/calls/2/raw",
            json!(long),
            "calls[2].raw: is longer than 4194304 bytes",
        ),
        (
            "/calls/2/cost_usd",
            json!(-0.1),
            "calls[2].cost_usd: -0.1 is outside",
        ),
        ("/calls/2/cost_usd", json!(1e7), "calls[2].cost_usd"),
        (
            "/calls/2/latency_ms",
            json!(null),
            "expected a number, found null",
        ),
        ("/calls/2/latency_ms", json!(-1.0), "calls[2].latency_ms"),
        (
            "/calls/2/latency_ms",
            json!(1e11),
            "calls[2].latency_ms: 100000000000 is outside 0..10000000000",
        ),
        (
            "/calls/2/tokens_output",
            json!(1_000_000_001),
            "calls[2].tokens_output: 1000000001 is outside 0..1000000000",
        ),
        (
            "/calls/2/tokens_input",
            json!(u64::MAX),
            "calls[2].tokens_input",
        ),
        (
            "/calls/2/tokens_output",
            json!(0.5),
            "calls[2].tokens_output",
        ),
        (
            "/calls/2/truncated",
            json!(4),
            "calls[2].truncated: 4 is outside 0..3",
        ),
        (
            "/calls/2/created_ms",
            json!(i64::MAX),
            "calls[2].created_ms",
        ),
    ] {
        refused(&there, with(pointer, value), 3, why);
    }
    for (from, to, why) in [
        ("\"truncated\":2", "\"truncated\":NaN", "NaN"),
        (
            "\"truncated\":2",
            "\"truncated\":1e999",
            "calls[0].truncated: number out of range",
        ),
        ("0.30000000000000004", "1e999", "too large to be a number"),
        ("0.30000000000000004", "NaN", "NaN"),
        (
            "\"round\":1,",
            "\"round\":1,\"round\":1,",
            "duplicate field",
        ),
        ("\"round\":1,", "\"round\":1", "broken JSON"),
        ("}]}", "}]", "ends inside the JSON"),
    ] {
        assert!(first.contains(from), "{from}");
        refused(
            &there,
            format!("{second}{}\n", first.replace(from, to)),
            3,
            why,
        );
    }
    for (parent, place) in [("", ""), ("/spec", "spec: "), ("/calls/2", "calls[2]: ")] {
        let members: Vec<_> = line
            .pointer(parent)
            .unwrap()
            .as_object()
            .unwrap()
            .keys()
            .collect();
        assert!(members.len() >= 5);
        for member in members {
            let mut line = line.clone();
            let object = line.pointer_mut(parent).unwrap().as_object_mut().unwrap();
            object.remove(member);
            let why = format!("is not a list call: {place}missing field `{member}`");
            refused(&there, format!("{second}{line}\n"), 3, &why);
        }
    }
    let mut bytes = text.clone().into_bytes();
    let at = text.find("swiss").unwrap();
    bytes[at] = 0xff;
    refused(&there, &bytes, 1, "UTF-8");
    assert_eq!(rows(&there), Rows::default());
    for empty in ["", "\n\n", "[]"] {
        let error = import(&there, empty).unwrap_err().to_string();
        assert!(
            error.contains("lists.jsonl: contains no list calls"),
            "{error}"
        );
    }
    // Members that later versions may add.
    let more = first.replace("\"round\":1,", "\"round\":1,\"more\":[1],");
    assert_eq!(import(&there, &more).unwrap(), [1, 1, 3, 3]);
}

#[test]
fn a_line_that_contradicts_the_project_or_an_earlier_line_is_refused() {
    let (_here, here) = judged();
    let text = exported(&here);
    let (first, _) = text.split_once('\n').unwrap();
    for (from, to, why) in [
        (
            "\"round\":1,",
            "\"round\":2,",
            "another list call with this uid",
        ),
        (
            "\"plan\":\"swiss\"",
            "\"plan\":\"probe\"",
            "another list call with this uid",
        ),
        (
            "\"created_ms\":1000,",
            "\"created_ms\":1001,",
            "another list call with this uid",
        ),
        (
            "\"tokens_input\":100",
            "\"tokens_input\":99",
            "calls[0].uid: the project or an earlier",
        ),
        (
            "0.30000000000000004",
            "0.3",
            "calls[1].uid: the project or an earlier",
        ),
        (
            "[3,1,2]",
            "[2,1,3]",
            "calls[2].uid: the project or an earlier",
        ),
    ] {
        let changed = first.replace(from, to);
        assert_ne!(changed, first, "{from}");
        refused(&here, &changed, 1, why);
        let (_there, there) = project("text");
        refused(&there, format!("{first}\n\n{changed}\n"), 3, why);
    }
    // The call of another question with the number of a call of the file.
    let (_there, there) = project("text");
    let other = calls([9; 32])[0].clone();
    let add = move |db: &mut Db| db.add_rerank_call(&other);
    there.write_blocking(add).unwrap();
    refused(&there, &text, 1, "calls[0].uid");
}
