//! The judge report, which is computed from cached data of each query, equals a report computed
//! from all votes at once.

use super::bench::{Bench, bench};
use super::scripted::{Act, trio};
use crate::app::judge_report::rater_data::all_ratings;
use crate::app::judge_report::report::{RaterReport, rater_report};
use crate::domain::judge_report::tests::cards;
use crate::domain::verdict::Decision;
use crate::store::StoreError;
use crate::store::outstanding::CallSelection;
use crate::store::verdicts::NewVerdict;

async fn judged(sizes: &[usize]) -> Bench {
    let bench = bench(sizes);
    let judges = trio(|_, count| match count % 7 {
        3 => Act::Panic,
        _ => Act::Answer,
    });
    bench.finish(judges, CallSelection::Fresh).await;
    bench
}

async fn report(bench: &Bench) -> RaterReport {
    let store = bench.store.clone();
    let made = tokio::task::spawn_blocking(move || rater_report(&store, None));
    made.await.unwrap().unwrap()
}

/// Gives a blind verdict on a pair of every query.
async fn give(bench: &Bench, decision: Decision) {
    let verdicts = bench.keys.iter().map(|key| NewVerdict {
        blind: true,
        ..NewVerdict::open(*key, 1, 0, decision, "ann")
    });
    let verdicts: Vec<NewVerdict> = verdicts.collect();
    let given = bench.store.write(move |db| {
        let mut verdicts = verdicts.iter();
        verdicts.try_for_each(|verdict| db.add_verdict(verdict).map(drop))
    });
    given.await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_report_from_what_is_kept_is_that_of_all_votes_in_one_place() {
    let bench = judged(&[4, 9, 3, 6, 12, 5]).await;
    give(&bench, Decision::B).await;
    let first = report(&bench).await;
    let store = bench.store.clone();
    let whole = tokio::task::spawn_blocking(move || all_ratings(&store, None).unwrap());
    let (judges, ratings) = whole.await.unwrap();
    let whole = cards(&ratings, &first.rater_data.verdicts);
    assert_eq!((judges.len(), first.rater_data.verdicts.len()), (3, 6));
    assert_eq!(first.cards, whole.judges);
    assert_eq!(first.ensemble.as_ref(), Some(&whole.together));
    assert_eq!(first.alpha_judges, whole.alpha);
    let between_judges: Vec<_> = first.pairs.iter().map(|(.., pair)| *pair).collect();
    let between_judges = between_judges.into_iter().filter(|pair| pair.b < 3);
    assert_eq!(between_judges.collect::<Vec<_>>(), whole.pairs);
    // The second report reads what the first one has cached.
    let second = report(&bench).await;
    assert_eq!(format!("{second:?}"), format!("{first:?}"));
    give(&bench, Decision::A).await;
    let after = report(&bench).await;
    let agree = |report: &RaterReport| report.cards[0].people.all.raw.unwrap().part;
    assert_ne!(agree(&after), agree(&first));
    assert_eq!(after.cards[0].votes, first.cards[0].votes);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_report_that_nobody_waits_for_is_not_made() {
    let bench = judged(&[4, 9]).await;
    let store = bench.store.while_wanted(|| false);
    let made = tokio::task::spawn_blocking(move || rater_report(&store, None));
    assert!(matches!(made.await.unwrap(), Err(StoreError::Closed)));
}
