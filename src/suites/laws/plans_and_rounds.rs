//! Plans and rounds in one project: each counts the votes bought by the other, and nothing is
//! repeated.

use super::bench::bench;
use super::rounds::{SIZES, Vote, played, votes};
use super::scripted::{Act, trio};
use crate::app::annotate::{ListedBattles, RunRequest, enter_listed};
use crate::client::RunControl;
use crate::domain::battle::Pair;
use crate::domain::judge_set::JudgeSet;
use crate::judge::JudgeEnsemble;
use crate::store::StoreError;
use crate::store::outstanding::CallSelection;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Number of presentations that a judge saw more than once, over all queries.
fn repeated(votes: &[Vec<Vote>]) -> usize {
    let mut seen: BTreeMap<(usize, i64, usize, usize), usize> = BTreeMap::new();
    for (query, votes) in votes.iter().enumerate() {
        for (judge, first, second, _) in votes {
            *seen.entry((query, *judge, *first, *second)).or_default() += 1;
        }
    }
    seen.into_values().filter(|times| *times > 1).count()
}

#[tokio::test]
async fn a_plain_plan_after_rounds_asks_everybody_and_repeats_nothing() {
    let bench = bench(&SIZES);
    played(&bench, "top+escalate:2", trio(|_, _| Act::Answer)).await;
    let before = votes(&bench).await;
    // The first run makes no calls: planning alone changes no score.
    let scores = super::bench::bits(&bench.view().await);
    let run = bench.start(
        trio(|_, _| Act::Answer),
        CallSelection::Fresh,
        RunControl {
            dropped: JudgeSet::first(3),
            ..RunControl::default()
        },
    );
    let missing = run.end.await.unwrap().unwrap().missing.unwrap();
    let planned: usize = bench
        .view()
        .await
        .battles
        .iter()
        .map(|battle| battle.missing)
        .sum();
    assert!(missing > planned && planned > 0);
    assert_eq!(super::bench::bits(&bench.view().await), scores);

    let outcome = bench
        .finish(trio(|_, _| Act::Answer), CallSelection::Fresh)
        .await;
    assert_eq!(
        (outcome.progress.votes(), outcome.missing),
        (missing, Some(0))
    );
    let after = votes(&bench).await;
    assert_eq!(repeated(&after), 0);
    for (before, after) in before.iter().zip(&after) {
        assert!(before.iter().all(|vote| after.contains(vote)));
    }
    let view = bench.view().await;
    assert!(view.battles.iter().all(|battle| battle.missing == 0));
    let whole = view
        .rows()
        .battles
        .iter()
        .filter(|record| record.votes.len() == 3);
    assert!(whole.count() >= 4 * SIZES[0], "four cycles by three judges");
}

#[tokio::test]
async fn rounds_after_a_plain_plan_count_what_is_there_and_repeat_nothing() {
    let bench = bench(&SIZES);
    bench
        .finish(trio(|_, _| Act::Answer), CallSelection::Fresh)
        .await;
    let before = votes(&bench).await;
    let none = played(&bench, "top+escalate:4", trio(|_, _| Act::Answer)).await;
    assert_eq!((none.progress.total, none.missing), (0, Some(0)));

    let more = played(&bench, "top+escalate:5", trio(|_, _| Act::Answer)).await;
    let after = votes(&bench).await;
    // All pairs of the pool of five have met, and the pool of one has none.
    assert_eq!(more.progress.votes(), 3 * 14 + 3 * 11);
    assert_eq!(repeated(&after), 0);
    for (before, after) in before.iter().zip(&after) {
        assert!(before.iter().all(|vote| after.contains(vote)));
    }
}

#[tokio::test]
async fn a_battle_of_one_judge_misses_nothing_and_weighs_a_third() {
    let bench = bench(&[12]);
    played(&bench, "swiss+rotate:2", trio(|_, _| Act::Answer)).await;
    let view = bench.view().await;
    assert_eq!(view.battles.len(), 66, "every pair has met a judge");
    assert!(view.battles.iter().all(|battle| battle.missing == 0));
    for (record, seen) in view.rows().battles.iter().zip(view.observations()) {
        assert_eq!(seen.weight, record.votes.len() as f64 / 3.0);
    }
    let double = view.rows().battles.iter().filter(|r| r.votes.len() > 1);
    assert_eq!(view.consensus.1, double.count());
    assert!((view.phi - 1.0 / 3.0).abs() < 1e-12);
    assert!(view.battles.iter().all(|battle| battle.surprise.is_some()));
}

#[test]
fn named_battles_are_not_entered_for_judges_that_a_query_does_not_have() {
    let bench = bench(&[6, 6]);
    let key = bench.keys[0];
    let id = bench.store.read_blocking(move |db| Ok(db.query(key)?.id));
    let named = |x, y| (id.as_ref().unwrap().clone(), Pair::new(x, y).unwrap());
    let request = |pair| RunRequest {
        listed: Some(Arc::new(ListedBattles::new([pair]))),
        queries: Some(vec![key]),
        ..RunRequest::default()
    };
    let state = || {
        let state = bench.store.read_blocking(move |db| {
            let judges: Vec<_> = db.judges_of(key)?.into_iter().map(|(id, _)| id).collect();
            let rows = db.rows(key)?;
            Ok((judges, rows.battles.len(), rows.depth))
        });
        state.unwrap()
    };
    let three = trio(|_, _| Act::Answer);
    enter_listed(&bench.store, &three, &request(named(4, 1))).unwrap();
    let entered = state();
    // Only the two documents have been entered.
    assert_eq!((entered.0.len(), entered.1, entered.2), (3, 1, Some(0)));
    let one: JudgeEnsemble = three.iter().take(1).cloned().collect();
    let refused = enter_listed(&bench.store, &one, &request(named(2, 3)));
    assert!(
        matches!(refused, Err(StoreError::Conflict(_))),
        "{refused:?}"
    );
    assert_eq!(state(), entered);
    enter_listed(&bench.store, &three, &request(named(2, 3))).unwrap();
    assert_eq!(state().1, 2);
}
