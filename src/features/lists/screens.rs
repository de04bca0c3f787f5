//! The list calls of the judged sample, at three sizes.

use crate::domain::candidate_question::Answer;
use crate::domain::corpus::DocId;
use crate::features::lists::app::{ListCounting, query_lists, set_counting};
use crate::features::lists::domain::{
    AnswerForm, CountingModel, ListKind, ListModel, ProbeFigures, Qualification,
};
use crate::features::lists::store::{StoredList, StoredQualification};
use crate::features::methods::store::RerankCall;
use crate::store::corpus::{QueryInfo, QueryKey};
use crate::store::{Db, Result};
use crate::suites::screens::bench::Bench;
use crate::tui::screens::Screen;
use crate::tui::theme::{ColorDepth, Theme};

/// A judge, the plan of a list, the form of its answer, its documents, and the answered numbers with
/// the reply.
type ListFixture = (
    &'static str,
    &'static str,
    &'static str,
    &'static [usize],
    Option<(&'static [i64], &'static str)>,
);

const MINI: &str = "mini\u{1b}[31m";

#[rustfmt::skip]
const LISTS: [ListFixture; 7] = [
    ("gpt", "random", "order", &[3, 0, 11, 7, 5], Some((&[2, 1, 4, 5, 3], "{\"ranking\": [2, 1, 4, 5, 3]}"))),
    (MINI, "random", "order", &[1, 2, 4, 8, 9], Some((&[1, 2, 3, 3, 5], "{\"ranking\": [1, 2, 3, 3, 5]}\u{1b}[2J\u{202e}"))),
    ("gpt", "swiss", "order", &[0, 1, 2, 3, 4], Some((&[1, 4, 2, 3, 5], REPLY))),
    (MINI, "swiss", "order", &[6, 5, 4, 12, 10], Some((&[5, 4, 3, 2, 1], "{\"ranking\": [5, 4, 3, 2, 1]}"))),
    ("gpt", "probe", "order", &[4, 3, 2, 1, 0], Some((&[5, 2, 3, 4, 1], "{\"ranking\": [5, 2, 3, 4, 1]}"))),
    ("gpt", "top", "best:2", &[9, 3, 8, 1, 0, 14, 2, 13, 20, 21], Some((&[5, 2], "{\"best\": [5, 2]}"))),
    ("gpt", "top", "order", &[0, 3, 1, 5, 2], None),
];

/// A reply longer than its pane.
const REPLY: &str = "Document 1 reports the trial that the claim is about, with the measured effect.\n\
     Document 4 reviews several such trials.\nDocument 2 measures something else in the same \
     patients.\nDocument 3 is about mice.\nDocument 5 does not mention the treatment.\n\n\
     {\"ranking\": [1, 4, 2, 3, 5]}";

fn identity(judge: &str) -> [u8; 32] {
    [judge.len() as u8; 32]
}

fn add_lists(db: &Db, query: &QueryInfo, place: u8) -> Result<()> {
    let documents = db.document_ids(query.key)?;
    for (at, (judge, plan, form, shown, answer)) in LISTS.into_iter().enumerate() {
        let mut key = [place; 32];
        key[0] = at as u8;
        let shown: Vec<DocId> = shown.iter().map(|at| documents[*at].clone()).collect();
        db.add_list_call(&StoredList {
            uid: format!("{place}-{at}"),
            query: query.id.clone(),
            judge: judge.to_owned(),
            identity: identity(judge),
            form: form.to_owned(),
            shown,
            plan: plan.to_owned(),
            round: at / 2,
            key,
            created_ms: 1,
        })?;
        let Some((numbers, raw)) = answer else {
            continue;
        };
        let mut uid = [place; 16];
        uid[0] = at as u8;
        db.add_rerank_call(&RerankCall {
            uid,
            key,
            service: judge.to_owned(),
            answer: Some(Answer::Numbers(numbers.to_vec())),
            cause: None,
            message: None,
            tokens_input: 2_140,
            tokens_output: 12,
            cost_usd: (judge == "gpt").then_some(0.0043),
            latency_ms: 100.0,
            truncated: 0,
            model: Some(format!("{judge}-2026")),
            created_ms: 2,
            raw: Some(raw.to_owned()),
        })?;
    }
    Ok(())
}

/// The judged sample with list calls about each query; those of one judge count.
fn bench(columns: u16, rows: u16) -> Bench {
    let bench = Bench::judged(columns, rows);
    let added = bench.store.write_blocking(|db| {
        for (query, place) in db.queries()?.iter().zip(1..) {
            add_lists(db, query, place)?;
        }
        for (size, form) in [(5, "order"), (10, "best:2")] {
            db.add_list_qualification(&StoredQualification {
                uid: form.to_owned(),
                judge: "gpt".to_owned(),
                identity: identity("gpt"),
                size,
                form: form.to_owned(),
                result: Qualification::Passed,
                figures: ProbeFigures {
                    calls: 60,
                    malformed: 0,
                    shuffles: None,
                    votes: None,
                    swaps: None,
                    predictions: None,
                    expected_predictions: None,
                },
                author: "ana".to_owned(),
                created_ms: 1,
            })?;
        }
        Ok(())
    });
    added.unwrap();
    let kind = ListKind::new(5, AnswerForm::Order).unwrap();
    let model = ListModel {
        phi: [(kind, 1.0)].into(),
        ..ListModel::default()
    };
    let model = CountingModel::new(1.0 / 3.0, 0.05, &model, 8);
    set_counting(&bench.store, Some(model), "ana").unwrap();
    bench
}

#[test]
fn the_lists_at_every_size() {
    let mut bench = bench(80, 24);
    bench.press("enter '");
    assert_eq!(bench.model.screen(), Screen::LISTS);
    bench.press("g down down space right right right");
    bench.snapshots("lists");
    bench.press("g down tab");
    bench.snapshots("lists-malformed");
    bench.press("esc esc");
    assert_eq!(bench.model.stack, [Screen::QUERIES]);
}

#[test]
fn a_pair_of_a_list_is_overruled_in_its_battle() {
    let mut bench = bench(120, 40);
    bench.press("enter ' g down down space right enter");
    assert_eq!(bench.model.screen(), Screen::BATTLE);
    bench.press("B");
    let words = "list call 3 by gpt";
    assert!(bench.shot().contains(words), "{}", bench.shot());
    bench.press("esc");
    let shot = bench.shot();
    assert!(
        shot.contains("◆ overruled by ana: B is much better"),
        "{shot}"
    );
    assert!(shot.contains("the list: A is better"), "{shot}");
    bench.press("enter '");
    assert_eq!(bench.model.screen(), Screen::LISTS);
    assert!(bench.shot().contains("list 3: counts"), "{}", bench.shot());
}

#[test]
fn without_lists_the_screen_names_the_command() {
    let mut bench = Bench::judged(80, 24);
    bench.press("enter '");
    let shot = bench.shot();
    assert!(
        shot.contains("No list calls about this query yet."),
        "{shot}"
    );
    bench.press("space enter tab right down G");
    assert_eq!(bench.model.stack.last(), Some(&Screen::LISTS));
}

#[test]
fn words_are_found_in_the_texts_of_a_list() {
    let mut bench = bench(80, 24);
    bench.press("enter ' g down down / t h e enter");
    bench.model.typed = None;
    let found = bench.model.search.as_ref().unwrap().found.clone();
    let last = found.last().unwrap().0;
    assert!(last >= 3, "{found:?}");
    bench.press("N");
    let shot = bench.shot();
    assert!(shot.contains("3 to 5 of 5") || last < 4, "{shot}");
    bench.press("esc");
    assert_eq!(bench.model.screen(), Screen::LISTS);
}

#[test]
fn every_list_says_whether_it_counts() {
    let bench = bench(80, 24);
    let counting = |bench: &Bench| -> Vec<ListCounting> {
        let lists = bench.store.read_blocking(|db| query_lists(db, QueryKey(1)));
        let lists = lists.unwrap().into_iter();
        lists.map(|list| list.counting).collect()
    };
    let kind = ListKind::new(5, AnswerForm::Order).unwrap();
    let counts = ListCounting::Counts(kind.weight() / 3.0);
    let known = [
        counts,
        ListCounting::NoAnswer,
        counts,
        ListCounting::Unqualified,
        ListCounting::Probe,
        ListCounting::NoWeight,
        ListCounting::NoAnswer,
    ];
    assert_eq!(counting(&bench), known);
    let add = bench.store.write_blocking(|db| {
        let mut list = db.list_calls(Some(&db.query(QueryKey(1))?.id))?.remove(0);
        list.uid = "1-8".to_owned();
        list.round = 9;
        db.add_list_call(&StoredList {
            judge: "other".to_owned(),
            ..list.clone()
        })?;
        list.uid = "1-9".to_owned();
        list.key = [77; 32];
        list.shown[4] = DocId::new("gone");
        db.add_list_call(&list)?;
        let mut first = [1; 32];
        first[0] = 0;
        let call = db.rerank_calls(&first)?.remove(0);
        db.add_rerank_call(&RerankCall {
            uid: [99; 16],
            key: [77; 32],
            ..call
        })
    });
    add.unwrap();
    let more = [ListCounting::Repeated, ListCounting::UnknownDocument];
    assert_eq!(counting(&bench), [&known[..], &more].concat());
    set_counting(&bench.store, None, "ana").unwrap();
    assert_eq!(counting(&bench)[0], ListCounting::Off);
}

#[test]
fn no_color_and_no_size_breaks_it() {
    for depth in [ColorDepth::None, ColorDepth::Ansi16] {
        let mut bench = bench(80, 24);
        bench.theme = Theme::new(depth, false);
        bench.press("enter '");
        bench.shot();
    }
    for (columns, rows) in [(1, 1), (20, 5), (40, 10), (61, 12)] {
        bench(columns, rows).press("enter ' down tab right space left tab G");
    }
}
