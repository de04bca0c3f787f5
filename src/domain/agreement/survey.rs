//! Estimates shares from a sample whose items were drawn with unequal, known probabilities, such as
//! a queue that puts the doubtful items first and mixes in random ones.

use super::clusters::{ClusteredError, clusters_matter};
use super::{Interval, Share};
use serde::Serialize;

/// Agresti & Coull's (1998) pseudo-answers of each kind, which keep the estimated error above 0
/// when all answers agree.
const PSEUDO: f64 = 2.0;

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SampledItem {
    /// The item's value: 1 or 0, or a fraction.
    pub value: f64,
    /// The item's inclusion probability, in (0, 1]; `None` if unknown.
    pub inclusion: Option<f64>,
    /// The item's query: items of one query are similar.
    pub cluster: usize,
}

/// A share corrected for how its items were drawn.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WeightedShare {
    /// Hájek's estimate Σ y/π / Σ 1/π, in 0..=1.
    pub value: f64,
    /// Wilson's interval for `effective` answers.
    pub interval: Interval,
    /// Number of items.
    pub n: usize,
    /// The size of a simple random sample with the same information.
    pub effective: f64,
}

/// A share with and without the correction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct SurveyShare {
    /// Over all items, each counted once. Biased if the sampling favored some kinds of items.
    pub raw: Option<Share>,
    /// Over the items with a known probability, each weighted by 1/π.
    pub corrected: Option<WeightedShare>,
    /// Items excluded from `corrected`: their probability is missing or not in (0, 1].
    pub without_probability: usize,
}

/// The share of a sample drawn with known probabilities, raw and corrected. Items whose value is
/// not in 0..=1 are skipped.
///
/// The estimator is Hájek's (1971); its error is linearized for Poisson sampling (Särndal, Swensson
/// & Wretman 1992, ch. 5), V = Σ w² (y − p)² / (Σ w)² with w = 1/π. This is the error relative to
/// the rate of the process that produced the items (a judge, say), so it stays above 0 even if
/// every item was seen. Systematic sampling from a random order has about the same error. V is
/// computed with two pseudo-answers of each kind, with the mean weight Σ w² / Σ w, and converted to
/// the effective number of answers p(1 − p)/V for Wilson's interval. With yes-or-no answers and
/// equal probabilities this is exactly the raw interval. If the random part of the sample is only a
/// handful of items, coverage is 92 to 99 % instead of 95 %. If items share queries, V is scaled up
/// by how much more the queries' totals vary than independent items would, and the t quantile is
/// used.
pub fn survey_share(items: &[SampledItem]) -> SurveyShare {
    let items: Vec<SampledItem> = items
        .iter()
        .copied()
        .filter(|item| (0.0..=1.0).contains(&item.value))
        .collect();
    let drawn: Vec<DrawnItem> = items
        .iter()
        .filter_map(|item| {
            let pi = item.inclusion?;
            (pi > 0.0 && pi <= 1.0 && pi.recip().is_finite()).then_some(DrawnItem {
                value: item.value,
                pi,
                cluster: item.cluster,
            })
        })
        .collect();
    SurveyShare {
        raw: Share::clustered(items.iter().map(|item| (item.cluster, item.value))),
        corrected: weighted(&drawn),
        without_probability: items.len() - drawn.len(),
    }
}

/// An item with a known probability.
struct DrawnItem {
    value: f64,
    pi: f64,
    cluster: usize,
}

fn weighted(drawn: &[DrawnItem]) -> Option<WeightedShare> {
    // Weights relative to the largest, so that no square overflows.
    let least = drawn.iter().map(|item| item.pi).reduce(f64::min)?;
    let (mut total, mut part, mut heavy) = (0.0, 0.0, 0.0);
    for DrawnItem { value, pi, .. } in drawn {
        let weight = least / pi;
        total += weight;
        part += weight * value;
        heavy += weight * weight;
    }
    let value = (part / total).clamp(0.0, 1.0);
    let pseudo = heavy / total;
    let whole = total + 2.0 * PSEUDO * pseudo;
    let centre = (part + PSEUDO * pseudo) / whole;
    let mut spread = pseudo * pseudo * PSEUDO * (centre.powi(2) + (1.0 - centre).powi(2));
    for DrawnItem { value, pi, .. } in drawn {
        spread += (least / pi * (value - centre)).powi(2);
    }
    let mut factor = 1.0;
    if clusters_matter(drawn.iter().map(|item| item.cluster)) {
        let pull = |item: &DrawnItem| (item.cluster, least / item.pi * (item.value - value));
        let error = ClusteredError::new(drawn.iter().map(pull))?;
        let alone: f64 = drawn.iter().map(|item| pull(item).1.powi(2)).sum();
        spread += (error.se.powi(2) - alone).max(0.0);
        factor = error.normal_factor();
    }
    let answers = centre * (1.0 - centre) * whole * whole / spread - 2.0 * PSEUDO;
    let effective = (answers * factor).max(1.0);
    Some(WeightedShare {
        value,
        interval: Interval::wilson(value, effective),
        n: drawn.len(),
        effective,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::sampling::SeededRng;
    use proptest::prelude::*;

    const ITEMS: usize = 2000;

    fn items(rows: &[(f64, f64)]) -> Vec<SampledItem> {
        let item = |(value, inclusion): &(f64, f64)| SampledItem {
            value: *value,
            inclusion: Some(*inclusion),
            cluster: 0,
        };
        rows.iter().map(item).collect()
    }

    #[test]
    fn equal_probabilities_change_nothing() {
        let rows: Vec<(f64, f64)> = (0..40).map(|i| (f64::from(i % 3 / 2), 0.1)).collect();
        let share = survey_share(&items(&rows));
        let (raw, corrected) = (share.raw.unwrap(), share.corrected.unwrap());
        assert!((corrected.value - raw.value).abs() < 1e-12);
        assert!((corrected.effective - 40.0).abs() < 1e-9, "{corrected:?}");
        assert!((corrected.interval.low - raw.interval.low).abs() < 1e-12);
        assert!((corrected.interval.high - raw.interval.high).abs() < 1e-12);
    }

    #[test]
    fn an_item_drawn_with_one_in_ten_stands_for_ten() {
        let share = survey_share(&items(&[(1.0, 0.1), (0.0, 1.0)]));
        assert!((share.corrected.unwrap().value - 10.0 / 11.0).abs() < 1e-12);
        assert_eq!(share.raw.unwrap().value, 0.5);
    }

    #[test]
    fn items_without_a_probability_are_counted_and_not_used() {
        let mut rows = items(&[
            (1.0, 0.5),
            (1.0, 0.0),
            (0.0, f64::NAN),
            (0.0, 1.5),
            (2.0, 0.5),
        ]);
        rows.push(SampledItem {
            value: 0.0,
            inclusion: None,
            cluster: 0,
        });
        let share = survey_share(&rows);
        assert_eq!((share.without_probability, share.raw.unwrap().n), (4, 5));
        let corrected = share.corrected.unwrap();
        assert_eq!((corrected.n, corrected.value), (1, 1.0));
        assert!(corrected.effective >= 1.0 && corrected.interval.low < 0.3);
        assert_eq!(survey_share(&[]), SurveyShare::default());
    }

    #[test]
    fn a_census_leaves_the_judge_to_chance() {
        let rows: Vec<(f64, f64)> = (0..20).map(|i| (f64::from(i % 2), 1.0)).collect();
        let like = survey_share(&items(&rows)).corrected.unwrap();
        assert!((like.effective - 20.0).abs() < 1e-9);
    }

    /// Battles in a queue that takes the doubtful ones first: `random` of the 200 it expects to
    /// take are spread evenly, the others are taken by priority. The judge's accuracy depends on
    /// the priority.
    struct SurveyQueue {
        chances: Vec<f64>,
        rates: Vec<f64>,
    }

    impl SurveyQueue {
        fn new(random: f64, easy: f64, hard: f64, rng: &mut SeededRng) -> Self {
            let priority: Vec<f64> = (0..ITEMS).map(|_| rng.unit().powi(3)).collect();
            let total: f64 = priority.iter().sum();
            let chance = |x: &f64| 200.0 * (random / ITEMS as f64 + (1.0 - random) * x / total);
            Self {
                chances: priority.iter().map(chance).collect(),
                rates: priority.iter().map(|x| easy + (hard - easy) * x).collect(),
            }
        }

        /// A Poisson sample. Each item is hit if the points of a unit Poisson process fall into its
        /// interval of length −ln(1 − π), so that misses cost no random draws.
        fn draw(&self, rng: &mut SeededRng) -> Vec<usize> {
            let (mut drawn, mut left) = (Vec::new(), -rng.unit().ln());
            for (at, chance) in self.chances.iter().enumerate() {
                let stretch = -(-chance).ln_1p();
                if left < stretch {
                    drawn.push(at);
                    left = -rng.unit().ln();
                } else {
                    left -= stretch;
                }
            }
            drawn
        }
    }

    /// Coverage of the underlying rate by the corrected intervals and by the raw ones.
    fn coverage(reps: usize, random: f64, easy: f64, hard: f64) -> [f64; 2] {
        let mut rng = SeededRng::new(11, &["coverage"]);
        let queue = SurveyQueue::new(random, easy, hard, &mut rng);
        let rate = queue.rates.iter().sum::<f64>() / ITEMS as f64;
        let mut covered = [0; 2];
        for _ in 0..reps {
            let drawn = queue.draw(&mut rng);
            let mut row = |at: usize| {
                let right = rng.unit() < queue.rates[at];
                (f64::from(u8::from(right)), queue.chances[at])
            };
            let rows: Vec<(f64, f64)> = drawn.into_iter().map(&mut row).collect();
            let share = survey_share(&items(&rows));
            let intervals = [
                share.corrected.unwrap().interval,
                share.raw.unwrap().interval,
            ];
            for (count, interval) in covered.iter_mut().zip(intervals) {
                *count += usize::from(interval.low <= rate && rate <= interval.high);
            }
        }
        covered.map(|count| count as f64 / reps as f64)
    }

    #[test]
    fn intervals_cover_at_their_rate_when_the_doubtful_come_first() {
        for (random, easy, hard) in [(0.15, 0.95, 0.55), (0.3, 0.9, 0.4), (0.5, 0.97, 0.7)] {
            let [judge, raw] = coverage(400, random, easy, hard);
            assert!((0.92..=0.98).contains(&judge), "{random} {judge}");
            assert!(raw < 0.7, "{random} {raw}");
        }
    }

    proptest! {
        #[test]
        fn the_estimate_lies_in_its_interval(
            rows in prop::collection::vec((0.0f64..=1.0, 1e-6f64..=1.0), 1..40),
        ) {
            let share = survey_share(&items(&rows)).corrected.unwrap();
            prop_assert!((0.0..=1.0).contains(&share.value) && share.effective >= 1.0);
            prop_assert!(share.interval.low <= share.value + 1e-12);
            prop_assert!(share.value <= share.interval.high + 1e-12);
        }
    }
}
