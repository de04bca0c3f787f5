//! The screens of reranking methods: the table, the plot, the queries that differ, and two rankings
//! side by side.

use crate::app::choose_judges::JudgeConfiguration;
use crate::app::question_set::{
    AddedQuestions as _, QuestionSession, QuestionSet, QuestionSetOutcome, QuestionSetProgress,
};
use crate::client::RunControl;
use crate::config::Config;
use crate::domain::corpus::DocId;
use crate::domain::ranking::RankingSettings;
use crate::features::methods::app::OFFERED;
use crate::features::methods::domain::{FailureKind, MethodRow, RankingFailure};
use crate::features::methods::store::StoredResult;
use crate::suites::screens::bench::Bench;
use crate::suites::screens::{SIZES, name, snapshot};
use crate::tui::message::Msg;
use crate::tui::screens::Screen;
use crate::tui::theme::{ColorDepth, Theme};
use std::collections::BTreeSet;
use tokio::sync::watch;

/// The judged sample with three methods: one that reverses every order at some cost, one that moves
/// the last document to the front, and one that failed on a query.
pub(crate) fn bench(columns: u16, rows: u16) -> Bench {
    timed(columns, rows, 100)
}

/// [`bench`] with calls that take `ms` milliseconds.
fn timed(columns: u16, rows: u16, ms: u64) -> Bench {
    let bench = Bench::judged(columns, rows);
    let work = move |db: &mut crate::store::Db| {
        for (at, query) in db.queries()?.into_iter().enumerate() {
            let ids = db
                .documents(query.key)?
                .into_iter()
                .map(|document| document.id);
            let ids: Vec<DocId> = ids.collect();
            let mut turned = ids.clone();
            turned.reverse();
            let mut lifted = ids.clone();
            lifted.rotate_right(1);
            let methods = [
                ("prp@20:p10/gpt", turned, 190, Some(0.02), None),
                ("rankgpt@20/gpt", lifted, 1, Some(0.001), None),
                (
                    "tourrank@20:r2/mini",
                    ids,
                    6,
                    Some(0.004),
                    (at == 0).then_some("no answer"),
                ),
            ];
            for (place, (method, order, calls, cost_usd, failure)) in
                methods.into_iter().enumerate()
            {
                let row = MethodRow {
                    query: query.id.clone(),
                    method: method.to_owned(),
                    judges: vec!["gpt".to_owned()],
                    order: if failure.is_some() { Vec::new() } else { order },
                    scores: None,
                    calls,
                    failed_calls: 0,
                    shared_calls: Some(0),
                    tokens_in: 1000,
                    tokens_out: 20,
                    cost_usd,
                    wall_ms: Some(ms * calls),
                    service_ms: 100 * calls,
                    repairs: 0,
                    truncated: 0,
                    document_chars: None,
                    cut: Some(Vec::new()),
                    failure: failure.map(|why: &str| RankingFailure {
                        kind: FailureKind::LlmOutputInvalid,
                        message: why.to_owned(),
                    }),
                    created_ms: 0,
                };
                let mut uid = [0; 16];
                (uid[0], uid[1]) = (at as u8, place as u8);
                let identity = [0; 32];
                db.add_rerank_result(&uid, query.key, &StoredResult { identity, row })?;
            }
        }
        Ok(())
    };
    bench.store.write_blocking(work).unwrap();
    bench
}

#[test]
fn the_time_of_a_query_is_never_cut() {
    for columns in [110, 120, 150, 200] {
        let mut bench = timed(columns, 30, 61_000);
        bench.press("R");
        let shot = bench.shot();
        assert!(
            shot.contains("3 h 13 min") && shot.contains("1 min 01 s"),
            "{shot}"
        );
        assert!(shot.contains("rankgpt@2"), "{shot}");
    }
}

#[test]
fn methods_stand_next_to_each_other() {
    for size in SIZES {
        let mut bench = bench(size.0, size.1);
        bench.press("R down");
        snapshot(name("methods", size), bench.shot());
        bench.press("tab down");
        snapshot(name("methods-queries", size), bench.shot());
        bench.press("enter");
        assert_eq!(bench.model.screen(), Screen::RANKINGS);
        snapshot(name("rankings", size), bench.shot());
        bench.press("enter");
        assert_eq!(bench.model.screen(), Screen::BATTLE);
        bench.press("esc esc");
        assert_eq!(bench.model.screen(), Screen::METHODS);
    }
}

#[test]
fn truth_baseline_and_depth_are_chosen_by_a_key() {
    let mut bench = bench(120, 40);
    bench.press("R down");
    let before = bench.shot();
    assert!(before.contains("against qrels") && before.contains("ndcg@10"));
    assert!(before.contains("baseline hybrid order"), "{before}");
    bench.press("v");
    let judges = bench.shot();
    assert!(
        judges.contains("against these judges, not against people"),
        "{judges}"
    );
    bench.press("0 z");
    let after = bench.shot();
    assert!(after.contains("baseline prp@20:p10/gpt"), "{after}");
    assert!(
        after.contains("ndcg@20") && !after.contains("ndcg@10"),
        "{after}"
    );
    // There are no rulings, so the truth after the judges is the labels again.
    bench.press("z");
    let whole = bench.shot();
    assert!(whole.contains("ndcg@100"), "{whole}");
    // After a cutoff that covers every ranking comes the smallest.
    bench.press("v z z z z");
    let back = bench.shot();
    assert!(back.contains("against qrels") && back.contains("ndcg@10"));
    assert!(back.contains("baseline prp@20:p10/gpt"), "{back}");
}

#[test]
fn the_baseline_the_scale_and_the_notes_are_told() {
    let mut wide = bench(200, 60);
    wide.press("R");
    let shot = wide.shot();
    assert!(shot.contains("the baseline of the other methods"), "{shot}");
    let mut narrow = bench(80, 24);
    narrow.press("R enter");
    let said = narrow.model.toast.as_ref().map(|toast| toast.text.as_str());
    assert_eq!(
        said,
        Some("this is the baseline: choose a method to compare with it")
    );
    let shot = narrow.shot();
    for words in [
        " * no other method is better and cheaper",
        "US dollars per query (square roots)",
        "0.00500",
    ] {
        assert!(shot.contains(words), "{words}: {shot}");
    }
    narrow.press("z z");
    let shot = narrow.shot();
    assert!(shot.contains("note: the longest ranking has"), "{shot}");
}

#[test]
fn the_first_line_answers_and_color_marks_only_significant_differences() {
    let mut bench = bench(120, 40);
    bench.press("R");
    let shot = bench.shot();
    assert!(
        shot.contains("No method is better than the hybrid order; 2 of 3 are worse."),
        "{shot}"
    );
    let report = bench.model.methods().found().unwrap();
    for method in &report.methods {
        let p = method.first_test().and_then(|test| test.randomization_holm);
        let significant = method.first_test().and_then(|test| test.significant());
        assert_eq!(significant.is_some(), p.is_some_and(|p| p < 0.05));
    }
}

/// The numbers after `top ` and in `ndcg@`.
fn tops(shot: &str) -> BTreeSet<usize> {
    let screen = shot.split("styles:").next().unwrap_or_default();
    ["top ", "ndcg@"]
        .into_iter()
        .flat_map(|lead| screen.split(lead).skip(1))
        .filter_map(|rest| {
            let digits = rest.split(|c: char| !c.is_ascii_digit()).next();
            digits.and_then(|digits| digits.parse().ok())
        })
        .collect()
}

#[test]
fn all_screens_have_the_same_top() {
    let mut bench = bench(200, 60);
    let settings = RankingSettings {
        top: 7,
        ..RankingSettings::default()
    };
    let set = bench
        .store
        .write_blocking(move |db| db.set_settings(&settings));
    set.unwrap();
    bench.press("J esc");
    let mut seen = BTreeSet::new();
    for keys in ["enter", "esc w", "esc J", "esc R"] {
        bench.press(keys);
        let found = tops(&bench.shot());
        assert!(
            found.iter().all(|top| *top == 7),
            "{keys}: {}",
            bench.shot()
        );
        seen.extend(found);
    }
    assert_eq!(seen.len(), 1);
}

#[test]
fn an_order_that_asks_nobody_has_no_time() {
    let mut bench = bench(200, 60);
    bench.press("R");
    let shot = bench.shot();
    let row = shot.lines().find(|line| line.contains("* hybrid order"));
    assert!(!row.unwrap().contains("0.00 s"), "{shot}");
}

#[test]
fn failed_queries_are_listed_first_and_opened() {
    let mut bench = bench(120, 40);
    bench.press("R down down down tab");
    let shot = bench.shot();
    assert!(
        shot.contains("failed") && shot.contains("no answer"),
        "{shot}"
    );
    bench.press("enter");
    assert_eq!(bench.model.screen(), Screen::RANKINGS);
    let shot = bench.shot();
    assert!(shot.contains("failed: no answer"), "{shot}");
    assert!(shot.contains("rank"), "{shot}");
}

#[test]
fn methods_without_color_are_told_by_signs() {
    let mut bench = bench(120, 40);
    bench.theme = Theme::new(ColorDepth::None, false);
    bench.press("R down tab");
    snapshot("methods-depth-none", bench.shot());
}

#[test]
fn no_size_is_too_small_for_methods() {
    for size in [(1, 1), (10, 3), (24, 8), (40, 12), (99, 18), (300, 90)] {
        let mut bench = bench(size.0, size.1);
        bench.press("R down tab down tab up enter down enter");
        bench.shot();
    }
}

#[test]
fn a_method_is_priced_run_and_kept_by_what_the_screen_offers() {
    let mut bench = Bench::judged(120, 40);
    bench.model.options.judges = vec!["bm25".to_owned(), "ngram".to_owned()];
    bench.press("R +");
    let shot = bench.shot();
    assert!(
        shot.contains("rankgpt@20") && shot.contains("bm25 orders windows"),
        "{shot}"
    );
    let config = Config::default();
    let configuration = JudgeConfiguration {
        project: bench.store.path(),
        config: &config,
        insecure_http: false,
        consent: &config.permissions,
    };
    let bm25 = ["bm25".to_owned()];
    let [rankgpt, ..] = &OFFERED;
    let prepared = rankgpt
        .prepare(&bench.store, &configuration, &bm25, 1)
        .unwrap();
    let price = prepared.price();
    assert_eq!((price.paid, price.about.as_str()), (false, "8 queries"));
    assert!(price.calls >= 8, "{price:?}");
    let (_steer, control) = watch::channel(RunControl::default());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let session = QuestionSession::locking(&bench.store, control, Box::new(|_| {}));
    let outcome = runtime.block_on(prepared.run(session));
    let progress = outcome.unwrap().progress;
    assert_eq!((progress.done, progress.all, progress.failed), (8, 8, 0));
    let again = rankgpt
        .prepare(&bench.store, &configuration, &bm25, 1)
        .unwrap()
        .price();
    assert_eq!(
        (again.calls, again.already.as_deref()),
        (0, Some("8 rankings"))
    );
    // The comparison is measured again when the judges have answered.
    bench.press("esc");
    let set = QuestionSet::Added(rankgpt, bm25.to_vec());
    bench.model.questions.going = Some((set, QuestionSetProgress::default()));
    bench.tell(Msg::QuestionsEnded(Ok(QuestionSetOutcome::of(8))));
    let shot = bench.shot();
    assert!(shot.contains("rankgpt@20"), "{shot}");
}

#[test]
fn without_a_method_the_screen_says_how_to_run_one() {
    let mut bench = Bench::judged(80, 24);
    bench.press("R");
    let shot = bench.shot();
    assert!(shot.contains("no method has been run"), "{shot}");
    assert!(shot.contains("Press + to run a method."), "{shot}");
    bench.press("enter tab down esc");
    assert_eq!(bench.model.screen(), Screen::QUERIES);
}
