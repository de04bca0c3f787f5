//! Tests whether a new judge is right about as many reference pairs as an old one, up to a margin.
//!
//! A pair that only one of the judges has answered stays in the test: the decision must hold
//! whatever the missing answer is.

mod early;
mod paired_difference;
#[cfg(test)]
pub(crate) mod power;

pub use early::{EarlyTest, Evidence};
pub use paired_difference::{PairedCounts, better_p};

use crate::domain::agreement::{ClusteredError, Interval};
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};
use std::collections::BTreeSet;

/// The level of the intervals: each of the two one-sided tests is at 5 %.
pub const LEVEL: f64 = 0.9;
/// Minimum number of queries for a decision if queries have several pairs.
pub const FEWEST_QUERIES: usize = 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum GateDecision {
    /// The new judge is not worse by the margin or more.
    Pass,
    /// Neither can be concluded.
    Undecided,
    /// The new judge is worse.
    Worse,
}

impl GateDecision {
    pub fn words(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Undecided => "undecided",
            Self::Worse => "worse",
        }
    }
}

/// Whether the new and the old judge are right about a pair; `None` without an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairedAnswer {
    /// A number of the query: pairs of one query are similar.
    pub query: usize,
    pub new: Option<bool>,
    pub old: Option<bool>,
}

impl PairedAnswer {
    /// The answers if each missing one is the worst possible for the new judge.
    fn least(self) -> [bool; 2] {
        [self.new.unwrap_or(false), self.old.unwrap_or(true)]
    }

    /// The answers if each missing one is the best possible for the new judge.
    fn most(self) -> [bool; 2] {
        [self.new.unwrap_or(true), self.old.unwrap_or(false)]
    }
}

/// 1 if only the new judge is right, −1 if only the old one is.
fn gain([new, old]: [bool; 2]) -> f64 {
    f64::from(u8::from(new)) - f64::from(u8::from(old))
}

/// How a decision was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum GateMethod {
    /// Newcombe's interval of the difference: one pair per query.
    Newcombe,
    /// A t interval of the difference over queries, at least as wide as Newcombe's.
    Clustered,
    /// E-values, which may be looked at after every pair.
    Early,
}

/// The result of a test.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NonInferiority {
    pub decision: GateDecision,
    pub method: GateMethod,
    /// In 0..1: the smallest loss that matters.
    pub margin: f64,
    /// The pairs that both judges have answered.
    pub counts: PairedCounts,
    /// Number of pairs in the test that the new judge has not answered, and the old one.
    pub without_new: usize,
    pub without_old: usize,
    pub queries: usize,
    /// The share of pairs about which the new judge is right minus that of the old one, over the
    /// pairs that both have answered, in −1..=1.
    pub difference: Option<f64>,
    /// The interval of the difference at [`LEVEL`], whatever the missing answers are. A test that
    /// may stop early has none.
    pub interval: Option<Interval>,
    /// The evidence of a test that may stop early.
    pub evidence: Option<Evidence>,
    /// One-sided mid-p value of McNemar's test that the new judge is better; only for one pair per
    /// query.
    pub better_p: Option<f64>,
}

impl NonInferiority {
    /// Number of pairs in the test that one of the judges has not answered.
    pub fn lacking(&self) -> usize {
        self.without_new + self.without_old
    }
}

/// Tests a number of pairs that was fixed beforehand.
///
/// With one pair per query, the interval is Newcombe's (1998, method 10). Otherwise it is a t
/// interval with queries as clusters, and never narrower than Newcombe's; with fewer than
/// [`FEWEST_QUERIES`] queries, there is none.
pub fn test_fixed(answers: &[PairedAnswer], margin: f64) -> NonInferiority {
    let queries: BTreeSet<usize> = answers.iter().map(|of| of.query).collect();
    let is_clustered = queries.len() < answers.len();
    let interval = |side: fn(PairedAnswer) -> [bool; 2]| {
        let sides: Vec<(usize, [bool; 2])> =
            answers.iter().map(|of| (of.query, side(*of))).collect();
        let plain = PairedCounts::of(sides.iter().map(|(_, of)| *of)).interval(LEVEL)?;
        if !is_clustered {
            return Some(plain);
        }
        let (value, half) = clustered(&sides).filter(|_| queries.len() >= FEWEST_QUERIES)?;
        Some(Interval {
            low: plain.low.min((value - half).max(-1.0)),
            high: plain.high.max((value + half).min(1.0)),
        })
    };
    let interval = interval(PairedAnswer::least)
        .zip(interval(PairedAnswer::most))
        .map(|(least, most)| Interval {
            low: least.low,
            high: most.high,
        });
    let decision = match interval {
        Some(of) if of.low > -margin => GateDecision::Pass,
        Some(of) if of.high < 0.0 => GateDecision::Worse,
        _ => GateDecision::Undecided,
    };
    let method = if is_clustered {
        GateMethod::Clustered
    } else {
        GateMethod::Newcombe
    };
    NonInferiority {
        interval,
        ..described(answers, margin, decision, method)
    }
}

/// Tests pairs one after the other, and stops as soon as there is a decision. At most one pair per
/// query, in an order that does not depend on the answers. The result covers the pairs up to the
/// decision.
///
/// Trailing pairs that only one judge has answered are not tested.
pub fn test_early(answers: &[PairedAnswer], margin: f64) -> NonInferiority {
    let is_answered = |of: &PairedAnswer| of.new.is_some() && of.old.is_some();
    let end = answers.iter().rposition(is_answered).map_or(0, |at| at + 1);
    let mut test = EarlyTest::new(margin);
    let mut tested = 0;
    for of in &answers[..end] {
        test.add(gain(of.least()), gain(of.most()));
        tested += 1;
        if test.decision() != GateDecision::Undecided {
            break;
        }
    }
    let tested = &answers[..tested];
    NonInferiority {
        evidence: Some(test.evidence()),
        ..described(tested, margin, test.decision(), GateMethod::Early)
    }
}

fn described(
    answers: &[PairedAnswer],
    margin: f64,
    decision: GateDecision,
    method: GateMethod,
) -> NonInferiority {
    let both = answers.iter().filter_map(|of| Some([of.new?, of.old?]));
    let counts = PairedCounts::of(both);
    let queries: BTreeSet<usize> = answers.iter().map(|of| of.query).collect();
    let test_of_better = method == GateMethod::Newcombe && counts.pairs() > 0;
    NonInferiority {
        decision,
        method,
        margin,
        counts,
        without_new: answers.iter().filter(|of| of.new.is_none()).count(),
        without_old: answers.iter().filter(|of| of.old.is_none()).count(),
        queries: queries.len(),
        difference: counts.difference(),
        interval: None,
        evidence: None,
        better_p: test_of_better.then(|| better_p(counts.only_new, counts.only_old)),
    }
}

/// The mean gain and the half width of its t interval with queries as clusters.
fn clustered(sides: &[(usize, [bool; 2])]) -> Option<(f64, f64)> {
    let n = sides.len() as f64;
    let value = sides.iter().map(|(_, of)| gain(*of)).sum::<f64>() / n;
    let influences = sides
        .iter()
        .map(|(query, of)| (*query, (gain(*of) - value) / n));
    let error = ClusteredError::new(influences)?;
    let student = StudentsT::new(0.0, 1.0, error.degrees as f64).ok()?;
    Some((value, student.inverse_cdf(0.5 + LEVEL / 2.0) * error.se))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::sampling::SeededRng;
    use proptest::prelude::*;

    fn pair(query: usize, new: bool, old: bool) -> PairedAnswer {
        PairedAnswer {
            query,
            new: Some(new),
            old: Some(old),
        }
    }

    /// Pairs of different queries: both right, only the new judge, only the old one, neither.
    fn pairs(counts: [usize; 4]) -> Vec<PairedAnswer> {
        [(true, true), (true, false), (false, true), (false, false)]
            .into_iter()
            .zip(counts)
            .flat_map(|(answers, count)| std::iter::repeat_n(answers, count))
            .enumerate()
            .map(|(query, (new, old))| pair(query, new, old))
            .collect()
    }

    #[test]
    fn a_judge_passes_is_worse_or_stays_undecided() {
        for (counts, decision) in [
            ([76, 8, 5, 11], GateDecision::Pass),
            ([76, 4, 9, 11], GateDecision::Undecided),
            ([60, 4, 20, 16], GateDecision::Worse),
            // Significantly worse, but by less than the margin.
            ([950, 5, 30, 15], GateDecision::Pass),
            ([0, 0, 0, 0], GateDecision::Undecided),
        ] {
            let found = test_fixed(&pairs(counts), 0.1);
            assert_eq!(found.decision, decision, "{counts:?} {found:?}");
            assert_eq!(found.method, GateMethod::Newcombe);
        }
    }

    #[test]
    fn a_missing_answer_can_take_a_decision_away_but_never_make_one() {
        let mut answers = pairs([76, 8, 5, 11]);
        assert_eq!(test_fixed(&answers, 0.1).decision, GateDecision::Pass);
        answers.iter_mut().take(10).for_each(|of| of.new = None);
        let found = test_fixed(&answers, 0.1);
        assert_eq!(found.decision, GateDecision::Undecided);
        assert_eq!((found.without_new, found.counts.pairs()), (10, 90));
        let mut answers = pairs([60, 4, 20, 16]);
        answers
            .iter_mut()
            .skip(64)
            .take(15)
            .for_each(|of| of.old = None);
        assert_eq!(test_fixed(&answers, 0.1).decision, GateDecision::Undecided);
    }

    #[test]
    fn pairs_of_few_queries_decide_nothing() {
        let alike = |queries: usize| -> Vec<PairedAnswer> {
            (0..200).map(|at| pair(at % queries, true, true)).collect()
        };
        let found = test_fixed(&alike(FEWEST_QUERIES - 1), 0.1);
        assert_eq!(
            (found.decision, found.interval),
            (GateDecision::Undecided, None)
        );
        let found = test_fixed(&alike(FEWEST_QUERIES), 0.1);
        assert_eq!(found.decision, GateDecision::Pass);
        assert_eq!(
            (found.method, found.better_p),
            (GateMethod::Clustered, None)
        );
    }

    /// Ten pairs of each of 20 queries, among which the loss varies; it is `loss` on average.
    fn clustered_world(rng: &mut SeededRng, loss: f64) -> Vec<PairedAnswer> {
        let mut answers = Vec::new();
        for query in 0..20 {
            let of_query = loss + 0.3 * (rng.unit() - 0.5);
            answers.extend((0..10).map(|_| {
                let draw = rng.unit();
                let (worse, better) = (0.2 + of_query / 2.0, 0.2 - of_query / 2.0);
                pair(query, draw >= worse, draw < worse || draw >= worse + better)
            }));
        }
        answers
    }

    #[test]
    fn similar_pairs_of_a_query_do_not_make_a_bad_judge_pass() {
        let mut rng = SeededRng::new(7, &["clustered gate"]);
        let (mut passes, mut losses) = (0, 0);
        const WORLDS: usize = 1_000;
        for _ in 0..WORLDS {
            let found = test_fixed(&clustered_world(&mut rng, 0.1), 0.1);
            passes += usize::from(found.decision == GateDecision::Pass);
            let found = test_fixed(&clustered_world(&mut rng, 0.0), 0.1);
            losses += usize::from(found.decision == GateDecision::Worse);
        }
        // 5 % each, within two Monte Carlo errors.
        assert!((20..=64).contains(&passes), "{passes}");
        assert!((20..=64).contains(&losses), "{losses}");
    }

    proptest! {
        #[test]
        fn exchanging_the_judges_mirrors_the_interval(
            answers in prop::collection::vec((0usize..30, any::<Option<bool>>(), any::<Option<bool>>()), 1..80),
        ) {
            let forth: Vec<PairedAnswer> =
                answers.iter().map(|(query, new, old)| PairedAnswer { query: *query, new: *new, old: *old }).collect();
            let back: Vec<PairedAnswer> =
                answers.iter().map(|(query, new, old)| PairedAnswer { query: *query, new: *old, old: *new }).collect();
            let (forth, back) = (test_fixed(&forth, 0.1), test_fixed(&back, 0.1));
            prop_assert_eq!(forth.interval.is_some(), back.interval.is_some());
            if let (Some(forth), Some(back)) = (forth.interval, back.interval) {
                prop_assert!((forth.low + back.high).abs() < 1e-12 && (forth.high + back.low).abs() < 1e-12);
            }
        }

        #[test]
        fn an_early_decision_stays_whatever_comes_after(
            answers in prop::collection::vec((any::<bool>(), any::<bool>()), 1..300),
            more in prop::collection::vec((any::<bool>(), any::<bool>()), 0..50),
        ) {
            let pairs = |of: &[(bool, bool)]| -> Vec<PairedAnswer> {
                of.iter().enumerate().map(|(query, (new, old))| pair(query, *new, *old)).collect()
            };
            let found = test_early(&pairs(&answers), 0.2);
            if found.decision != GateDecision::Undecided {
                let all: Vec<_> = answers.iter().chain(&more).copied().collect();
                prop_assert_eq!(test_early(&pairs(&all), 0.2), found);
            }
        }
    }
}
