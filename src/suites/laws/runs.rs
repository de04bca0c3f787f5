//! Runs that crash, stop, pause, wait for the disk, or have no observers.

use super::bench::{bench, until};
use super::scripted::{Act, ensemble, scripted, trio};
use crate::app::annotate::progress::RunPhase;
use crate::app::annotate::{RunError, RunHandle};
use crate::app::run_lock::LockError;
use crate::client::RunControl;
use crate::domain::judge_set::MAX_JUDGES;
use crate::judge::FailureCause;
use crate::store::outstanding::CallSelection;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::watch;

#[tokio::test]
async fn a_crash_of_one_call_lets_the_others_go_on() {
    let bench = bench(&[8, 5]);
    let outcome = bench
        .finish(
            trio(|_, count| if count == 3 { Act::Panic } else { Act::Answer }),
            CallSelection::Fresh,
        )
        .await;
    assert_eq!(
        (outcome.progress.failures(), outcome.missing.unwrap()),
        (1, 1)
    );
    assert_eq!(outcome.progress.queries_done, 2);
    let failed: Vec<_> = bench
        .details()
        .await
        .into_iter()
        .filter_map(|vote| vote.result.err())
        .collect();
    assert_eq!(
        failed,
        [(FailureCause::Crashed, "scripted panic".to_owned())]
    );
}

#[tokio::test]
async fn cancelling_ends_a_run_though_its_calls_hang() {
    let bench = bench(&[10]);
    let run = bench.start(
        trio(|_, _| Act::Hang),
        CallSelection::Fresh,
        RunControl::default(),
    );
    bench.until_recorded(80).await;
    run.control
        .send_modify(|control| control.stop_within(Duration::from_millis(300)));
    let ended = tokio::time::timeout(Duration::from_secs(30), run.end).await;
    let outcome = ended.expect("the run goes on").unwrap().unwrap();
    assert!(outcome.cancelled);
    assert_eq!(
        (outcome.progress.votes(), outcome.progress.failures()),
        (80, 0),
        "a call cut off is no failure"
    );
    assert_eq!(outcome.missing.unwrap(), 40);
    let goes_on = bench
        .finish(trio(|_, _| Act::Answer), CallSelection::Fresh)
        .await;
    assert_eq!(
        (
            goes_on.progress.already,
            goes_on.progress.votes(),
            goes_on.missing.unwrap()
        ),
        (80, 40, 0)
    );
}

#[tokio::test]
async fn a_cancel_before_the_first_call_makes_none() {
    let bench = bench(&[10]);
    let control = RunControl {
        cancelled: true,
        ..RunControl::default()
    };
    let judge = scripted("ada", |_, _| Act::Answer);
    let calls = Arc::clone(&judge.calls);
    let outcome = bench
        .start(ensemble([judge]), CallSelection::Fresh, control)
        .end
        .await
        .unwrap()
        .unwrap();
    assert!(outcome.cancelled);
    assert_eq!(calls.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_cancel_before_the_first_call_leaves_every_vote_missing() {
    let bench = bench(&[10]);
    let control = RunControl {
        cancelled: true,
        ..RunControl::default()
    };
    let outcome = bench
        .start(trio(|_, _| Act::Answer), CallSelection::Fresh, control)
        .end
        .await
        .unwrap()
        .unwrap();
    assert!(
        outcome.missing.is_none_or(|missing| missing > 0),
        "`overrule annotate` prints: stopped: 0 votes are missing"
    );
}

#[tokio::test]
async fn a_paused_run_makes_no_call() {
    let bench = bench(&[10]);
    let control = RunControl {
        paused: true,
        concurrency: 1,
        ..RunControl::default()
    };
    // The judge itself requests the pause in its tenth call; with one call at a time, there is no
    // eleventh.
    let pauser: Arc<Mutex<Option<watch::Sender<RunControl>>>> = Arc::default();
    let of_judge = Arc::clone(&pauser);
    let judge = scripted("ada", move |_, count| {
        if count == 9 {
            of_judge
                .lock()
                .unwrap()
                .as_ref()
                .unwrap()
                .send_modify(|control| control.paused = true);
        }
        Act::Answer
    });
    let calls = Arc::clone(&judge.calls);
    let mut run = bench.start(ensemble([judge]), CallSelection::Fresh, control);
    *pauser.lock().unwrap() = Some(run.control.clone());
    let progress = until(&mut run.progress, |progress| progress.paused).await;
    assert_eq!(
        (progress.phase, progress.total, progress.done()),
        (RunPhase::Judging, 40, 0)
    );
    assert_eq!(calls.load(Ordering::SeqCst), 0);

    run.control.send_modify(|control| control.paused = false);
    until(&mut run.progress, |progress| {
        progress.paused && progress.done() > 0
    })
    .await;
    bench.until_recorded(10).await;
    assert_eq!(calls.load(Ordering::SeqCst), 10);

    run.control.send_modify(|control| control.paused = false);
    let outcome = run.end.await.unwrap().unwrap();
    assert_eq!(
        (
            outcome.progress.votes(),
            outcome.missing.unwrap(),
            calls.load(Ordering::SeqCst)
        ),
        (40, 0, 40)
    );
}

#[tokio::test]
async fn a_vote_counts_only_when_it_is_durable_and_a_slow_disk_loses_none() {
    let bench = bench(&[6]);
    let (open, gate) = watch::channel(false);
    let judge = scripted("ada", move |_, _| Act::Wait(gate.clone()));
    let calls = Arc::clone(&judge.calls);
    let control = RunControl {
        concurrency: 4,
        ..RunControl::default()
    };
    let run = bench.start(ensemble([judge]), CallSelection::Fresh, control);
    while calls.load(Ordering::SeqCst) < 4 {
        tokio::task::yield_now().await;
    }
    // Another program writes to the file while the four replies arrive.
    let other = rusqlite::Connection::open(bench.store.path()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    open.send(true).unwrap();
    let deadline = Instant::now() + Duration::from_millis(200);
    while Instant::now() < deadline {
        tokio::task::yield_now().await;
        assert_eq!(
            run.progress.borrow().votes(),
            0,
            "a vote was counted that is not on disk"
        );
    }
    // There are free slots, but only a few calls can be recorded, so no more are sent.
    let sent = calls.load(Ordering::SeqCst);
    assert!(sent < 24, "{sent} calls were made without a row");
    other.execute_batch("COMMIT").unwrap();
    let outcome = run.end.await.unwrap().unwrap();
    assert_eq!(
        (outcome.progress.votes(), outcome.missing.unwrap()),
        (24, 0)
    );
    assert_eq!(bench.details().await.len(), 24);
}

#[tokio::test]
async fn progress_tells_of_everything_soon_though_nothing_more_happens() {
    let bench = bench(&[10]);
    let mut run = bench.start(
        trio(|_, _| Act::Hang),
        CallSelection::Fresh,
        RunControl::default(),
    );
    bench.until_recorded(80).await;
    let told = tokio::time::timeout(
        Duration::from_secs(2),
        run.progress.wait_for(|progress| progress.votes() == 80),
    );
    assert!(
        told.await.is_ok(),
        "{} of 80 votes are told of",
        run.progress.borrow().votes()
    );
}

#[tokio::test]
async fn a_run_needs_nobody_who_watches() {
    let bench = bench(&[9, 4]);
    let RunHandle {
        progress,
        control,
        end,
    } = bench.start(
        trio(|_, _| Act::Answer),
        CallSelection::Fresh,
        RunControl::default(),
    );
    drop(progress);
    let outcome = end.await.unwrap().unwrap();
    drop(control);
    let total = 3 * (36 + 12);
    assert_eq!(
        (
            outcome.progress.votes(),
            outcome.progress.total,
            outcome.missing.unwrap()
        ),
        (total, total, 0)
    );
}

#[tokio::test]
async fn who_subscribes_late_sees_the_latest_progress() {
    let bench = bench(&[9]);
    let run = bench.start(
        trio(|_, _| Act::Answer),
        CallSelection::Fresh,
        RunControl::default(),
    );
    let outcome = run.end.await.unwrap().unwrap();
    let late = run.progress.clone();
    assert_eq!(*late.borrow(), outcome.progress);
    assert_eq!(
        (late.borrow().phase, late.borrow().votes()),
        (RunPhase::Done, 108)
    );
}

#[tokio::test]
async fn a_run_without_a_judge_and_a_second_run_are_refused() {
    let bench = bench(&[4]);
    let none = bench
        .start(Vec::new(), CallSelection::Fresh, RunControl::default())
        .end
        .await
        .unwrap();
    assert!(matches!(none, Err(RunError::NoJudge)));
    let mut first = bench.start(
        trio(|_, _| Act::Hang),
        CallSelection::Fresh,
        RunControl::default(),
    );
    until(&mut first.progress, |progress| {
        progress.phase == RunPhase::Judging
    })
    .await;
    let second = bench
        .start(
            trio(|_, _| Act::Answer),
            CallSelection::Fresh,
            RunControl::default(),
        )
        .end
        .await
        .unwrap();
    assert!(
        matches!(second, Err(RunError::Lock(LockError::Busy(_)))),
        "{second:?}"
    );
    first
        .control
        .send_modify(|control| control.stop_within(Duration::from_millis(300)));
    first.end.await.unwrap().unwrap();
    assert_eq!(
        bench
            .finish(trio(|_, _| Act::Answer), CallSelection::Fresh)
            .await
            .missing
            .unwrap(),
        0
    );
}

#[tokio::test]
async fn a_judge_who_sits_twice_is_refused_before_any_call() {
    let bench = bench(&[4]);
    let twice = ensemble([
        scripted("ada", |_, _| Act::Answer),
        scripted("ada", |_, _| Act::Answer),
    ]);
    let end = bench
        .start(twice, CallSelection::Fresh, RunControl::default())
        .end
        .await
        .unwrap();
    assert!(
        matches!(&end, Err(RunError::TwiceNamed(name)) if name == "ada"),
        "{end:?}"
    );
}

#[tokio::test]
async fn the_last_of_70_judges_can_be_dropped_and_restored() {
    let bench = bench(&[3]);
    let judges =
        || ensemble((0..70).map(|number| scripted(&format!("judge-{number}"), |_, _| Act::Answer)));
    let mut control = RunControl::default();
    control.dropped.toggle(69);
    let run = bench.start(judges(), CallSelection::Fresh, control);
    let outcome = run.end.await.unwrap().unwrap();
    let (last, others) = outcome.progress.judges.split_last().unwrap();
    assert!(last.dropped && last.votes == 0 && last.total > 0);
    assert!(
        others
            .iter()
            .all(|judge| !judge.dropped && judge.votes == judge.total)
    );
    assert_eq!(outcome.missing, Some(last.total));
    control.dropped.toggle(69);
    let run = bench.start(judges(), CallSelection::Fresh, control);
    assert_eq!(run.end.await.unwrap().unwrap().missing, Some(0));
}

#[tokio::test]
async fn a_run_with_too_many_judges_is_refused() {
    let many =
        (0..=MAX_JUDGES).map(|number| scripted(&format!("judge-{number}"), |_, _| Act::Answer));
    let run = bench(&[3]).start(ensemble(many), CallSelection::Fresh, RunControl::default());
    let end = run.end.await.unwrap();
    assert!(matches!(end, Err(RunError::TooManyJudges(129))), "{end:?}");
}
