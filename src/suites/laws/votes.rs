//! Failures, retries, order of arrival and verdicts: what may and may not change a score.

use super::bench::{bench, bits};
use super::scripted::{Act, spoiled, trio};
use crate::app::export::write_verdicts;
use crate::client::RunControl;
use crate::domain::ranking::View;
use crate::domain::verdict::Decision;
use crate::formats::table_file::TableFormat;
use crate::judge::{FailureCause, PresentedPair};
use crate::store::outstanding::CallSelection;
use crate::store::verdicts::NewVerdict;
use rstest::rstest;
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[rstest]
#[case::server(|| Act::Fail(FailureCause::Server), FailureCause::Server)]
#[case::refused(|| Act::Fail(FailureCause::Refused), FailureCause::Refused)]
#[case::malformed(|| Act::Babble, FailureCause::Malformed)]
#[case::crashed(|| Act::Panic, FailureCause::Crashed)]
#[tokio::test]
async fn a_failure_changes_no_score(#[case] act: fn() -> Act, #[case] cause: FailureCause) {
    let failing = bench(&[12]);
    let script =
        move |case: &PresentedPair, _: usize| if spoiled(case) { act() } else { Act::Answer };
    let outcome = failing.finish(trio(script), CallSelection::Fresh).await;
    let failures = outcome.progress.failures();
    assert!(failures > 5 && outcome.progress.votes() == outcome.progress.total - failures);
    assert_eq!(
        (outcome.missing.unwrap(), outcome.cancelled),
        (failures, false)
    );
    assert_eq!(outcome.progress.judges[1].failures, failures);
    assert!(
        outcome
            .progress
            .log
            .iter()
            .any(|line| line.text.starts_with("ben: ")),
        "{:?}",
        outcome.progress.log
    );
    let recorded = failing.details().await;
    let causes: Vec<FailureCause> = recorded
        .iter()
        .filter_map(|vote| Some(vote.result.as_ref().err()?.0))
        .collect();
    assert_eq!(causes, vec![cause; failures]);

    // The calls that failed there do not end here: they hang until the run is stopped.
    let without = bench(&[12]);
    let script = |case: &PresentedPair, _: usize| {
        if spoiled(case) {
            Act::Hang
        } else {
            Act::Answer
        }
    };
    let run = without.start(trio(script), CallSelection::Fresh, RunControl::default());
    without.until_recorded(3 * 48 - failures).await;
    run.control
        .send_modify(|control| control.stop_within(Duration::from_millis(300)));
    let outcome = run.end.await.unwrap().unwrap();
    assert_eq!(
        (outcome.progress.failures(), outcome.missing.unwrap()),
        (0, failures)
    );
    let (failing, without) = (failing.view().await, without.view().await);
    assert_eq!(bits(&failing), bits(&without));
    let missing = |view: &View| {
        view.battles
            .iter()
            .map(|battle| battle.missing)
            .collect::<Vec<_>>()
    };
    assert_eq!(missing(&failing), missing(&without));
    assert_eq!(missing(&failing).iter().sum::<usize>(), failures);
}

#[tokio::test]
async fn what_came_back_with_a_failure_is_kept() {
    let bench = bench(&[3]);
    bench
        .finish(
            trio(|_, _| Act::Fail(FailureCause::Filtered)),
            CallSelection::Fresh,
        )
        .await;
    let failures = bench
        .details()
        .await
        .into_iter()
        .filter(|vote| vote.result.is_err());
    for failure in failures {
        assert_eq!(failure.raw.as_deref(), Some("{\"error\":\"scripted\"}"));
    }
}

#[tokio::test]
async fn asking_again_fills_exactly_the_holes() {
    let repaired = bench(&[12]);
    let script = |case: &PresentedPair, _: usize| {
        if spoiled(case) {
            Act::Fail(FailureCause::TimedOut)
        } else {
            Act::Answer
        }
    };
    let first = repaired.finish(trio(script), CallSelection::Fresh).await;
    let failures = first.progress.failures();

    let again = repaired.finish(trio(script), CallSelection::Fresh).await;
    assert_eq!(
        (again.progress.total, again.missing.unwrap()),
        (0, failures),
        "what failed is asked again only on request"
    );
    let again = repaired
        .finish(trio(script), CallSelection::FreshAndFailed)
        .await;
    assert_eq!(
        (again.progress.total, again.missing.unwrap()),
        (failures, failures),
        "it may fail again"
    );

    let asked: Arc<Mutex<Vec<(usize, usize)>>> = Arc::default();
    let seen = Arc::clone(&asked);
    let script = move |case: &PresentedPair, _: usize| {
        seen.lock()
            .unwrap()
            .push((case.first.min(case.second), case.first.max(case.second)));
        assert!(spoiled(case), "a call was repeated that had not failed");
        Act::Answer
    };
    let last = repaired
        .finish(trio(script), CallSelection::FreshAndFailed)
        .await;
    assert_eq!(
        (
            last.progress.total,
            last.progress.votes(),
            last.missing.unwrap()
        ),
        (failures, failures, 0)
    );
    assert_eq!(asked.lock().unwrap().len(), failures);
    let details = repaired.details().await;
    assert!(details.iter().all(|vote| vote.result.is_ok()));
    assert_eq!(
        details.iter().filter(|vote| vote.attempt == 3).count(),
        failures
    );

    let never = bench(&[12]);
    never
        .finish(trio(|_, _| Act::Answer), CallSelection::Fresh)
        .await;
    assert_eq!(bits(&repaired.view().await), bits(&never.view().await));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_seed_data_and_votes_give_the_same_view_whatever_came_first() {
    let mut views = Vec::new();
    for concurrency in [1, 3, 500] {
        let bench = bench(&[15, 2]);
        let control = RunControl {
            concurrency,
            ..RunControl::default()
        };
        let outcome = bench
            .start(trio(|_, _| Act::Answer), CallSelection::Fresh, control)
            .end
            .await
            .unwrap()
            .unwrap();
        assert_eq!(outcome.missing.unwrap(), 0);
        let (view, key) = (bench.view().await, bench.keys[0]);
        let rows = bench.store.read(move |db| db.rows(key)).await.unwrap();
        let battles: Vec<_> = rows
            .battles
            .iter()
            .map(|record| {
                let votes: Vec<_> = record
                    .votes
                    .iter()
                    .map(|vote| (vote.margin.get().to_bits(), vote.swapped))
                    .collect();
                (record.battle.a, record.battle.b, record.battle.game, votes)
            })
            .collect();
        let surprises: Vec<_> = view
            .battles
            .iter()
            .map(|battle| battle.surprise.map(f64::to_bits))
            .collect();
        views.push((
            bits(&view),
            battles,
            surprises,
            view.by_zelo.clone(),
            view.warnings.clone(),
            view.triads,
        ));
    }
    assert!(views.windows(2).all(|pair| pair[0] == pair[1]));
}

#[tokio::test]
async fn overriding_and_undoing_restores_every_score_bit_for_bit() {
    let bench = bench(&[10]);
    bench
        .finish(trio(|_, _| Act::Answer), CallSelection::Fresh)
        .await;
    let (before, key) = (bits(&bench.view().await), bench.keys[0]);
    let mut clock = 0;
    for (a, b) in [(0, 1), (7, 2), (3, 9), (2, 7)] {
        for decision in Decision::ALL {
            clock += 1;
            let verdict = NewVerdict {
                created_ms: clock,
                ..NewVerdict::open(key, a, b, decision, "eve")
            };
            bench
                .store
                .write(move |db| db.add_verdict(&verdict))
                .await
                .unwrap();
            let during = bits(&bench.view().await);
            assert_eq!(
                during == before,
                decision == Decision::CannotTell,
                "{a} {b} {decision}"
            );
        }
    }
    for left in (0..24).rev() {
        let undone = bench
            .store
            .write(|db| db.undo_verdict("eve", 99))
            .await
            .unwrap();
        assert!(undone.is_some());
        assert_eq!(
            bench
                .store
                .read(move |db| Ok(db.verdict_rows(Some(key))?.len()))
                .await
                .unwrap(),
            left
        );
    }
    assert_eq!(bits(&bench.view().await), before);
    assert!(
        bench
            .store
            .write(|db| db.undo_verdict("eve", 99))
            .await
            .unwrap()
            .is_none()
    );
}

#[test]
fn a_clock_that_was_set_back_changes_no_order_of_verdicts() {
    let bench = bench(&[3]);
    let key = bench.keys[0];
    let blind = NewVerdict {
        blind: true,
        created_ms: 1_000,
        ..NewVerdict::open(key, 0, 1, Decision::A, "eve")
    };
    let open = NewVerdict {
        after_reveal: true,
        created_ms: 500,
        ..NewVerdict::open(key, 0, 1, Decision::Tie, "eve")
    };
    let stand = bench.store.write_blocking(move |db| {
        db.add_verdict(&blind)?;
        db.add_verdict(&open)?;
        db.verdicts_in_force(key)
    });
    let stand = stand.unwrap();
    assert_eq!(stand.len(), 1);
    assert_eq!(stand[0].decision, Decision::Tie);
}

/// A verdict before the reveal stays on record; one given after its undo is not blind.
#[test]
fn a_verdict_on_a_pair_that_was_taken_back_is_not_blind() {
    let bench = bench(&[3]);
    let key = bench.keys[0];
    let blind = |decision, created_ms, annotator| NewVerdict {
        blind: true,
        created_ms,
        ..NewVerdict::open(key, 0, 1, decision, annotator)
    };
    let after = NewVerdict {
        after_reveal: true,
        created_ms: 6,
        ..NewVerdict::open(key, 1, 0, Decision::A, "bob")
    };
    let given = [
        blind(Decision::A, 1, "eve"),
        blind(Decision::B, 3, "eve"),
        blind(Decision::A, 4, "eve"),
        blind(Decision::A, 5, "bob"),
        after,
    ];
    let rows = bench.store.write_blocking(move |db| {
        db.add_verdict(&given[0])?;
        db.undo_verdict("eve", 2)?;
        given[1..]
            .iter()
            .try_for_each(|one| db.add_verdict(one).map(drop))?;
        db.verdict_rows(Some(key))
    });
    let rows = rows.unwrap();
    let said: Vec<(&str, bool)> = rows
        .iter()
        .map(|row| (row.verdict.annotator.as_str(), row.blind))
        .collect();
    // Her third verdict repeats a current one.
    assert_eq!(
        said,
        [("eve", false), ("eve", true), ("bob", true), ("bob", false)]
    );
    let mut out = Vec::new();
    write_verdicts(&bench.store, &bench.keys, TableFormat::Jsonl, &mut out).unwrap();
    let bob = String::from_utf8(out).unwrap();
    let bob = bob.lines().find(|line| line.contains("\"bob\"")).unwrap();
    let bob: serde_json::Value = serde_json::from_str(bob).unwrap();
    // He said A of the first document, then of the second: seen from the latter, that is B before
    // the reveal.
    assert_eq!(
        (&bob["verdict"], &bob["blind_verdict"]),
        (&"a".into(), &"b".into())
    );
}
