//! Summarizes picks against labels over pools: chance agreement, intervals, positions and sources.

use super::pick_outcome::{PickCounts, PickOutcome, PooledCounts, share};
use super::pick_reply::InvalidPick;
use crate::domain::metrics::{Resampling, bootstraps, equal_shares};
use crate::domain::retrieval::{JudgingPool, SlotSource};
use std::collections::BTreeMap;

/// Agreement expected if the same number of documents were picked at random in every pool
/// (hypergeometric).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ChanceAgreement {
    /// Expected number of documents that are both labeled relevant and picked.
    pub agreed: f64,
    pub sd: f64,
    pub agreement: Option<f64>,
    pub precision: Option<f64>,
    pub recall: Option<f64>,
    /// Expected [`PickCounts::kappa`]. It is above 0 if a judge picks more from pools with more
    /// labeled documents, as it does if it knows their number.
    pub kappa: Option<f64>,
}

impl ChanceAgreement {
    fn of(pools: &[PickCounts], overall: &PickCounts) -> Self {
        let (mut agreed, mut variance) = (0.0, 0.0);
        for pool in pools.iter().filter(|pool| pool.total() > 0) {
            let (all, picked) = (pool.total() as f64, pool.picked() as f64);
            let rate = pool.labelled() as f64 / all;
            agreed += picked * rate;
            variance += picked * rate * (1.0 - rate) * (all - picked) / (all - 1.0).max(1.0);
        }
        let over = |whole: usize, part: f64| (whole > 0).then(|| part / whole as f64);
        let (total, labelled, picked) = (overall.total(), overall.labelled(), overall.picked());
        let apart = labelled as f64 + picked as f64 - 2.0 * agreed;
        let agreement = over(total, total as f64 - apart);
        Self {
            agreed,
            sd: variance.sqrt(),
            agreement,
            precision: over(picked, agreed),
            recall: over(labelled, agreed),
            kappa: agreement.and_then(|agreement| overall.kappa_of(agreement)),
        }
    }
}

/// Intervals of the [`PickCounts`] measures, over queries; `None` if undefined.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PickIntervals {
    pub agreement: Option<(f64, f64)>,
    pub precision: Option<(f64, f64)>,
    pub recall: Option<(f64, f64)>,
    pub kappa: Option<(f64, f64)>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct PickSummary {
    /// Valid answers; all fields below are over their pools.
    pub valid: usize,
    /// Invalid answers by [`InvalidPick::cause`].
    pub invalid: BTreeMap<&'static str, usize>,
    /// Counts over all documents of all pools.
    pub boxes: PickCounts,
    /// Intervals of the shares and κ in `boxes`, over queries.
    pub intervals: PickIntervals,
    pub chance: ChanceAgreement,
    /// Counts at each position of the pools. Unequal pick rates *of equally labeled documents* show
    /// a position bias; unequal rates of all documents may only show where the labeled ones are
    /// placed.
    pub by_slot: Vec<PooledCounts>,
    /// Counts of the documents from each source.
    pub by_source: BTreeMap<SlotSource, PooledCounts>,
}

impl PickSummary {
    pub fn invalid_rate(&self) -> Option<f64> {
        let invalid: usize = self.invalid.values().sum();
        share(invalid, invalid + self.valid)
    }
}

/// Summarizes answers: each is a pool with the outcome in each of its slots, or why it is invalid.
pub(crate) fn summarize_picks<'a>(
    answers: impl IntoIterator<Item = (&'a JudgingPool, Result<Vec<PickOutcome>, InvalidPick>)>,
    how: &Resampling,
) -> PickSummary {
    let mut summary = PickSummary::default();
    let mut pools: Vec<PickCounts> = Vec::new();
    for (pool, answer) in answers {
        let outcomes = match answer {
            Ok(outcomes) => outcomes,
            Err(invalid) => {
                *summary.invalid.entry(invalid.cause()).or_default() += 1;
                continue;
            }
        };
        if summary.by_slot.len() < outcomes.len() {
            summary
                .by_slot
                .resize(outcomes.len(), PooledCounts::default());
        }
        let mut by_source: BTreeMap<SlotSource, PickCounts> = BTreeMap::new();
        for ((slot, outcome), sum) in pool.slots.iter().zip(&outcomes).zip(&mut summary.by_slot) {
            *sum += PickCounts::from_iter([*outcome]);
            *by_source.entry(slot.source()).or_default() += *outcome;
        }
        for (source, boxes) in by_source {
            *summary.by_source.entry(source).or_default() += boxes;
        }
        let boxes: PickCounts = outcomes.into_iter().collect();
        summary.boxes += boxes;
        pools.push(boxes);
    }
    summary.valid = pools.len();
    summary.chance = ChanceAgreement::of(&pools, &summary.boxes);
    // Sort, so that the order of the queries does not affect the resampling.
    pools.sort_unstable();
    let [agreement, precision, recall, kappa] = bootstraps(pools.len(), how, |chosen| {
        let mut sum = PickCounts::default();
        chosen
            .iter()
            .filter_map(|at| pools.get(*at))
            .for_each(|pool| sum += *pool);
        [sum.agreement(), sum.precision(), sum.recall(), sum.kappa()]
    });
    // With few pools, the ends of an interval may lie outside the valid range.
    let cut = |interval: Option<(f64, f64)>, least: f64| {
        interval.map(|(low, high)| (low.max(least), high.min(1.0)))
    };
    // If every pool has the same share, they say nothing about how much others might differ.
    let share_interval = |interval, share: fn(&PickCounts) -> Option<f64>| {
        let with = pools.iter().filter(|pool| share(pool).is_some()).count();
        cut(interval, 0.0).or_else(|| equal_shares(share(&summary.boxes)?, with, how.level))
    };
    summary.intervals = PickIntervals {
        agreement: share_interval(agreement, PickCounts::agreement),
        precision: share_interval(precision, PickCounts::precision),
        recall: share_interval(recall, PickCounts::recall),
        kappa: cut(kappa, -1.0),
    };
    summary
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::adjudication::pick_outcome::pick_outcomes;
    use crate::domain::corpus::{DocId, QueryId};
    use crate::domain::retrieval::{PoolLayout, build_pool};
    use proptest::prelude::*;

    fn pool(query: usize, positives: &[&str], layout: PoolLayout) -> JudgingPool {
        let ids = |names: &[&str]| {
            names
                .iter()
                .map(|name| DocId::new(*name))
                .collect::<Vec<_>>()
        };
        let ranking = ids(&["b", "x", "y", "z", "v", "w"]);
        build_pool(
            &QueryId::new(query.to_string()),
            &ids(positives),
            &ranking,
            4,
            layout,
        )
    }

    const QUICK: Resampling = Resampling {
        draws: 200,
        level: 0.95,
        seed: 1,
    };

    #[test]
    fn every_document_falls_into_one_box() {
        // Slots: a (missed), b (found), x, y.
        let pool = pool(1, &["a", "b"], PoolLayout::Original);
        use PickOutcome::{Agreed, LabelOnly, Neither, PickOnly};
        assert_eq!(
            pick_outcomes(&pool, &[1, 3], &[]),
            [LabelOnly, Agreed, Neither, PickOnly]
        );
        let spoiled = pick_outcomes(&pool, &[1], &[0, 3]);
        use PickOutcome::Unproven;
        assert_eq!(spoiled, [Unproven, Agreed, Neither, Unproven]);
        let counts: PickCounts = spoiled.into_iter().collect();
        assert_eq!((counts.total(), counts.unproven), (2, 2));
        assert_eq!(
            (counts.recall(), counts.agreement()),
            (Some(1.0), Some(1.0))
        );
        let summary = summarize_picks(
            [
                (&pool, Ok(pick_outcomes(&pool, &[1, 3], &[]))),
                (&pool, Err(InvalidPick::NotJson)),
                (&pool, Err(InvalidPick::Duplicate { slot: 1 })),
                (&pool, Err(InvalidPick::Duplicate { slot: 2 })),
            ],
            &QUICK,
        );
        let boxes = PickCounts {
            agreed: 1,
            label_only: 1,
            pick_only: 1,
            neither: 1,
            unproven: 0,
        };
        assert_eq!((summary.valid, summary.boxes), (1, boxes));
        assert_eq!(
            summary.invalid,
            BTreeMap::from([("duplicate", 2), ("not-json", 1)])
        );
        assert_eq!(summary.invalid_rate(), Some(0.75));
        assert_eq!(
            (boxes.agreement(), boxes.precision(), boxes.recall()),
            (Some(0.5), Some(0.5), Some(0.5))
        );
        assert_eq!((boxes.kappa(), summary.intervals.kappa), (Some(0.0), None));
        assert_eq!(summary.chance.agreement, Some(0.5));
        assert_eq!(
            summary.by_slot[1].boxes,
            PickCounts {
                agreed: 1,
                ..PickCounts::default()
            }
        );
        assert_eq!(
            summary.by_source[&SlotSource::LabelMissed].boxes,
            PickCounts {
                label_only: 1,
                ..PickCounts::default()
            }
        );
        assert_eq!(
            summary.by_source[&SlotSource::Fill].boxes,
            PickCounts {
                pick_only: 1,
                neither: 1,
                ..PickCounts::default()
            }
        );
        let fill = &summary.by_source[&SlotSource::Fill];
        let others = fill.picked_of_others().map(|share| share.value);
        assert_eq!((fill.picked_of_labelled(), others), (None, Some(0.5)));
    }

    #[test]
    fn four_pools_alike_leave_room_for_a_fifth() {
        // Slots: a (missed), b (found), x, y; every pool has an agreement of ½, all picks labeled.
        let pools: Vec<JudgingPool> = (0..4)
            .map(|query| pool(query, &["a", "b"], PoolLayout::Original))
            .collect();
        let answers = pools
            .iter()
            .map(|pool| (pool, Ok(pick_outcomes(pool, &[1], &[]))));
        let PickIntervals {
            agreement,
            precision,
            recall,
            kappa,
        } = summarize_picks(answers, &QUICK).intervals;
        for (interval, share) in [(agreement, 0.75), (precision, 1.0), (recall, 0.5)] {
            let (low, high) = interval.unwrap();
            assert!(low < share - 0.2 && high >= share, "{low} {share} {high}");
        }
        assert_eq!(kappa, None);
    }

    #[test]
    fn nothing_is_claimed_without_answers() {
        let summary = summarize_picks([], &QUICK);
        assert_eq!(summary, PickSummary::default());
        assert_eq!(
            (
                summary.invalid_rate(),
                summary.boxes.recall(),
                summary.chance.recall
            ),
            (None, None, None)
        );
    }

    proptest! {
        #[test]
        fn boxes_add_up_the_same_way_everywhere(seed: u64, picked in prop::collection::vec(0usize..6, 1..8)) {
            let pools: Vec<JudgingPool> =
                (0..picked.len()).map(|n| pool(n, &["a", "b"][..1 + n % 2], PoolLayout::Shuffled { seed })).collect();
            let picks: Vec<[usize; 1]> = picked.iter().map(|pick| [*pick]).collect();
            let answers = pools.iter().zip(&picks).map(|(pool, picks)| (pool, Ok(pick_outcomes(pool, picks, &[]))));
            let summary = summarize_picks(answers, &QUICK);
            for parts in [summary.by_slot, summary.by_source.into_values().collect()] {
                let mut sum = PickCounts::default();
                parts.into_iter().for_each(|part: PooledCounts| sum += part.boxes);
                prop_assert_eq!(sum, summary.boxes);
            }
            prop_assert_eq!(summary.boxes.total(), 4 * pools.len());
        }
    }
}
