//! Budgets and identical calls: nothing waits for money that will not be released, and nothing is
//! bought without a price or twice.

use super::bench::{Bench, bench};
use super::scripted::{Act, ensemble, scripted};
use crate::app::annotate::{RunHandle, RunOutcome};
use crate::client::RunControl;
use crate::domain::corpus::{DocId, Document};
use crate::domain::vote::Margin;
use crate::judge::Usage;
use crate::store::Store;
use crate::store::outstanding::CallSelection;
use crate::store::votes::{CallOutcome, CallRecord};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// The outcome of a run that must not hang.
async fn ended(run: RunHandle) -> RunOutcome {
    let end = tokio::time::timeout(Duration::from_secs(30), run.end).await;
    end.expect("the run never ended").unwrap().unwrap()
}

fn count(store: &Store, sql: &str) -> i64 {
    let db = rusqlite::Connection::open(store.path()).unwrap();
    db.query_row(sql, [], |row| row.get(0)).unwrap()
}

async fn until_counted(bench: &Bench, sql: &str, wanted: i64) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while count(&bench.store, sql) != wanted {
        assert!(Instant::now() < deadline, "it never came so far: {sql}");
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn money_set_aside_for_a_judge_that_is_dropped_is_free_for_the_others() {
    let bench = bench(&[6]);
    let (open, gate) = watch::channel(false);
    let judges = ["ada", "ben"].map(|name| {
        let gate = gate.clone();
        scripted(name, move |_, _| Act::Wait(gate.clone()))
    });
    let asked = judges.each_ref().map(|judge| Arc::clone(&judge.calls));
    let judges = ensemble(judges);
    // Each judge has one call in flight and a next one; a call costs a tenth of a cent.
    let control = RunControl {
        concurrency: 1,
        budget_usd: Some(0.004_5),
        ..RunControl::default()
    };
    let run = bench.start(judges, CallSelection::Fresh, control);
    until_counted(&bench, "SELECT count(*) FROM call", 4).await;
    let deadline = Instant::now() + Duration::from_secs(30);
    while asked.iter().any(|calls| calls.load(Ordering::SeqCst) == 0) {
        assert!(Instant::now() < deadline, "nobody was asked");
        tokio::task::yield_now().await;
    }
    run.control.send_modify(|control| control.dropped.toggle(1));
    // Ben's pending call is still answered; ada gets the rest of the money.
    until_counted(&bench, "SELECT count(*) FROM call", 3).await;
    open.send_replace(true);
    let outcome = ended(run).await;
    assert!(outcome.budget_reached);
    let votes: Vec<usize> = outcome
        .progress
        .judges
        .iter()
        .map(|one| one.votes)
        .collect();
    assert_eq!(votes, [3, 1]);
}

#[tokio::test]
async fn a_budget_and_a_judge_without_a_price_make_no_call() {
    let bench = bench(&[4]);
    let mut free = scripted("ben", |_, _| Act::Answer);
    free.price = None;
    let calls = Arc::clone(&free.calls);
    let judges = ensemble([scripted("ada", |_, _| Act::Answer), free]);
    let control = RunControl {
        budget_usd: Some(1.0),
        ..RunControl::default()
    };
    let outcome = ended(bench.start(judges, CallSelection::Fresh, control)).await;
    assert_eq!(calls.load(Ordering::SeqCst), 0);
    let [ada, ben] = &outcome.progress.judges[..] else {
        panic!("two judges")
    };
    assert_eq!((ada.votes, ben.votes), (ada.total, 0));
    assert!(
        ben.stopped
            .as_ref()
            .is_some_and(|why| why.contains("budget"))
    );
}

/// A vote from elsewhere arrives while the judge is asked the same question and others wait for an
/// answer that will not count.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_does_not_count_is_not_waited_for_by_identical_calls() {
    let bench = bench(&[]);
    let mut pool = crate::suites::fixtures::pool(1, 7);
    let same = pool.documents[0].content.clone();
    for (at, document) in pool.documents.iter_mut().enumerate().take(6) {
        *document = Document {
            id: DocId::new(format!("same {at}")),
            content: same.clone(),
            ..document.clone()
        };
    }
    let query = bench
        .store
        .write(move |db| Ok(db.add_pool(&pool, "test")?.key()))
        .await
        .unwrap();
    let (open, gate) = watch::channel(false);
    let first: Arc<Mutex<Option<(usize, usize)>>> = Arc::default();
    let seen = Arc::clone(&first);
    let judges = ensemble([scripted("ada", move |case, _| {
        // The one document that differs; all other pairs are identical.
        if case.first == 6 {
            seen.lock()
                .unwrap()
                .get_or_insert((case.first, case.second));
        }
        Act::Wait(gate.clone())
    })]);
    let run = bench.start(judges, CallSelection::Fresh, RunControl::default());
    let deadline = Instant::now() + Duration::from_secs(30);
    let (a, b) = loop {
        assert!(Instant::now() < deadline, "nobody was asked");
        if let Some(pair) = *first.lock().unwrap() {
            break pair;
        }
        tokio::task::yield_now().await;
    };
    let elsewhere = move |db: &mut crate::store::Db| {
        let judge = db.judges_of(query)?[0].0;
        let (battle, _) = db.battle_at(query, a, b, 0)?.unwrap();
        db.record(&CallRecord {
            battle,
            judge,
            swapped: false,
            attempt: 1,
            usage: Usage::default(),
            cost_usd: None,
            latency_ms: None,
            truncated: false,
            call_key: None,
            run: None,
            created_ms: 1,
            raw: None,
            result: CallOutcome::Vote {
                margin: Margin::new(0.5).unwrap(),
                reasoning: String::new(),
                model: None,
                stop_reason: None,
                request_id: None,
            },
        })
    };
    bench.store.write(elsewhere).await.unwrap();
    open.send_replace(true);
    let outcome = ended(run).await;
    assert_eq!(outcome.missing, Some(0));
    let keyed = "SELECT count(*) - count(call_key) FROM vote";
    assert_eq!(count(&bench.store, keyed), 1);
}
