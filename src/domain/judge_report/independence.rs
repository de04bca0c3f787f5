//! The effective number of independent judges, from the correlations of their errors.

use super::people_agreement::ENOUGH_PAIRS;
use super::{HumanVerdict, Rating, reference_verdicts, score};
use crate::domain::agreement::{ClusteredError, Interval};
use crate::domain::battle::Pair;
use crate::domain::number_words::{counted, fixed};
use crate::domain::vote::Outcome;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Largest relative difference that rounding explains.
const ROUNDING: f64 = 1e-9;

/// The errors of judges on a pair for which people chose a document.
#[derive(Clone, Debug, PartialEq)]
pub struct PairErrors {
    pub query: usize,
    /// The error of each judge: the distance of its vote from the verdict, 0 if it chose the same
    /// document, ½ for a tie and 1 for the other document; the mean of its votes if it has several.
    /// `None` without a vote.
    pub errors: Vec<Option<f64>>,
}

/// The number of judges with independent errors that would be as good together as these judges.
///
/// With the mean ρ̄ of the correlations between the errors of every two of k judges, it is
/// k / (1 + (k − 1) ρ̄) (Kish 1965, *Survey Sampling*); a negative ρ̄ counts as 0. Only pairs count on
/// which all of the judges voted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct IndependentVotes {
    /// k.
    pub judges: usize,
    /// In 1..=k.
    pub value: f64,
    /// From the t interval of ρ̄, clustered by query.
    pub interval: Option<Interval>,
    /// ρ̄, in −1..=1.
    pub correlation: f64,
    pub correlation_interval: Option<Interval>,
    pub pairs: usize,
    pub queries: usize,
    /// The share of the judges' votes that choose the same document as people; a tie counts half.
    pub agreement: f64,
}

/// Why the number of independent judges cannot be stated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum IndependenceUnknown {
    /// Number of random pairs on which people chose a document and all judges voted.
    TooFewPairs(usize),
    /// A judge, by index, whose errors are the same on all pairs.
    NoVariation(usize),
    /// The pairs of too few queries, or without variation between queries; with the number of queries.
    NoInterval(usize),
}

impl IndependenceUnknown {
    /// In words; `name` returns the name of a judge.
    pub fn words(self, name: impl Fn(usize) -> String) -> String {
        match self {
            Self::TooFewPairs(pairs) => format!(
                "{pairs} of {ENOUGH_PAIRS} random pairs (controls of a queue) with votes of all judges \
                 and a blind verdict for a document"
            ),
            Self::NoVariation(judge) => {
                format!(
                    "{} makes the same error on all of the random pairs",
                    name(judge)
                )
            }
            Self::NoInterval(queries) => {
                format!(
                    "no interval from the pairs of {}",
                    counted(queries, "query")
                )
            }
        }
    }
}

/// How the number of independent votes changes with one judge more or less.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PanelChange {
    /// Index of the judge.
    pub judge: usize,
    /// The independent votes that the judge adds to the others.
    pub adds: f64,
    /// Its t interval, clustered by query.
    pub interval: Option<Interval>,
    /// The judges before the change, on the same pairs.
    pub before: IndependentVotes,
    /// The judges after the change.
    pub after: IndependentVotes,
}

/// The judges together, and how each of them and each candidate changes the number of independent
/// votes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JudgePanel {
    pub together: IndependentVotes,
    /// What each judge adds to the other judges; empty for fewer than three judges.
    pub without: Vec<PanelChange>,
    /// What each candidate would add.
    pub with: Vec<PanelChange>,
    /// The judge without which the others give the most independent votes for their price, if the
    /// data decides: the interval of the difference to the mean of the other choices, corrected for
    /// the number of judges, excludes 0.
    pub drop: Option<usize>,
    /// The candidate with which the judges give the most independent votes for their price, if the
    /// interval of what it adds is above 0.
    pub add: Option<usize>,
}

/// The errors of `judges` judges on the random pairs for which people chose a document blind.
pub fn pair_errors(
    ratings: &[Rating],
    verdicts: &[HumanVerdict],
    random: &HashSet<(usize, Pair)>,
    judges: usize,
) -> Vec<PairErrors> {
    let blind: Vec<HumanVerdict> = verdicts.iter().copied().filter(|of| of.blind).collect();
    let decided: BTreeMap<(usize, Pair), f64> = reference_verdicts(&blind)
        .into_iter()
        .filter(|(key, of)| of.outcome != Outcome::Tie && random.contains(key))
        .map(|(key, of)| (key, score(of.outcome)))
        .collect();
    // For each pair and judge, the sum of the errors and the number of votes.
    let mut sums: BTreeMap<(usize, Pair), Vec<(f64, f64)>> = BTreeMap::new();
    for rating in ratings.iter().filter(|rating| rating.judge < judges) {
        let Some((key, outcome)) = rating.on_pair() else {
            continue;
        };
        let Some(people) = decided.get(&key) else {
            continue;
        };
        let of_pair = sums.entry(key).or_insert_with(|| vec![(0.0, 0.0); judges]);
        let (sum, votes) = &mut of_pair[rating.judge];
        *sum += (score(outcome) - people).abs();
        *votes += 1.0;
    }
    sums.into_iter()
        .map(|((query, _), of_pair)| PairErrors {
            query,
            errors: of_pair
                .into_iter()
                .map(|(sum, votes)| (votes > 0.0).then(|| sum / votes))
                .collect(),
        })
        .collect()
}

/// An estimate with the influence of each pair, by query.
struct Estimate {
    votes: IndependentVotes,
    /// Influences on the number of independent votes.
    influences: Vec<(usize, f64)>,
}

/// The pairs on which all of these judges voted, with their errors.
fn complete(pairs: &[PairErrors], judges: &[usize]) -> Vec<(usize, Vec<f64>)> {
    pairs
        .iter()
        .filter_map(|pair| {
            let error = |judge: &usize| pair.errors.get(*judge).copied().flatten();
            Some((pair.query, judges.iter().map(error).collect::<Option<_>>()?))
        })
        .collect()
}

/// The effective number of judges with errors on the same pairs, and the influence of each pair:
/// that on a correlation ρ of standardized errors z, z′ is (z z′ − ρ (z² + z′²) / 2) / n.
fn estimate(
    judges: &[usize],
    pairs: &[(usize, Vec<f64>)],
) -> Result<Estimate, IndependenceUnknown> {
    let (k, n) = (judges.len(), pairs.len());
    if n < ENOUGH_PAIRS {
        return Err(IndependenceUnknown::TooFewPairs(n));
    }
    let size = n as f64;
    let mut columns: Vec<Vec<f64>> = Vec::new();
    for (at, judge) in judges.iter().enumerate() {
        let mean = pairs.iter().map(|(_, errors)| errors[at]).sum::<f64>() / size;
        let centered: Vec<f64> = pairs.iter().map(|(_, errors)| errors[at] - mean).collect();
        let variance = centered.iter().map(|of| of * of).sum::<f64>() / size;
        if variance < f64::EPSILON {
            return Err(IndependenceUnknown::NoVariation(*judge));
        }
        let sd = variance.sqrt();
        columns.push(centered.into_iter().map(|of| of / sd).collect());
    }
    // The sum of each judge's correlations with the others.
    let mut sums = vec![0.0; k];
    for (a, one) in columns.iter().enumerate() {
        for (b, other) in columns.iter().enumerate().skip(a + 1) {
            let products = one.iter().zip(other).map(|(x, y)| x * y);
            let correlation = products.sum::<f64>() / size;
            sums[a] += correlation;
            sums[b] += correlation;
        }
    }
    let couples = (k * k.saturating_sub(1)) as f64 / 2.0;
    let correlation = if k > 1 {
        sums.iter().sum::<f64>() / 2.0 / couples
    } else {
        0.0
    };
    let on_correlation = |row: usize| {
        let (mut sum, mut squares, mut expected) = (0.0, 0.0, 0.0);
        for (column, own) in columns.iter().zip(&sums) {
            let z = column[row];
            sum += z;
            squares += z * z;
            expected += own * z * z / 2.0;
        }
        if k > 1 {
            ((sum * sum - squares) / 2.0 - expected) / couples / size
        } else {
            0.0
        }
    };
    let influences: Vec<(usize, f64)> = pairs
        .iter()
        .enumerate()
        .map(|(row, (query, _))| (*query, on_correlation(row)))
        .collect();
    let effective = |correlation: f64| {
        let judges = k as f64;
        judges / (1.0 + (judges - 1.0) * correlation.max(0.0))
    };
    // Identical judges: no influence differs from 0 but by rounding.
    if k > 1 && 1.0 - correlation < ROUNDING {
        let one = Interval {
            low: 1.0,
            high: 1.0,
        };
        return Ok(Estimate {
            votes: IndependentVotes {
                judges: k,
                value: 1.0,
                interval: Some(one),
                correlation: 1.0,
                correlation_interval: Some(one),
                pairs: n,
                queries: count_queries(pairs),
                agreement: agreement(pairs, k),
            },
            influences: pairs.iter().map(|(query, _)| (*query, 0.0)).collect(),
        });
    }
    let value = effective(correlation);
    let slope = if correlation > 0.0 {
        -value * value * (k as f64 - 1.0) / k as f64
    } else {
        0.0
    };
    let correlation_interval = ClusteredError::new(influences.iter().copied())
        .and_then(|error| error.interval(correlation, -1.0, 1.0));
    Ok(Estimate {
        votes: IndependentVotes {
            judges: k,
            value,
            interval: correlation_interval.map(|of| Interval {
                low: effective(of.high),
                high: effective(of.low),
            }),
            correlation,
            correlation_interval,
            pairs: n,
            queries: count_queries(pairs),
            agreement: agreement(pairs, k),
        },
        influences: influences
            .into_iter()
            .map(|(query, influence)| (query, slope * influence))
            .collect(),
    })
}

fn count_queries(pairs: &[(usize, Vec<f64>)]) -> usize {
    let queries: BTreeSet<usize> = pairs.iter().map(|(query, _)| *query).collect();
    queries.len()
}

/// The share of votes without an error, of all votes of `judges` judges.
fn agreement(pairs: &[(usize, Vec<f64>)], judges: usize) -> f64 {
    let errors: f64 = pairs.iter().flat_map(|(_, errors)| errors).sum();
    1.0 - errors / pairs.len() as f64 / judges as f64
}

/// The difference of two estimates from the same pairs, with its interval.
fn difference(more: &Estimate, fewer: &Estimate, most: f64) -> (f64, Option<Interval>) {
    let value = more.votes.value - fewer.votes.value;
    let influences = more
        .influences
        .iter()
        .zip(&fewer.influences)
        .map(|((query, more), (_, fewer))| (*query, more - fewer));
    let error = ClusteredError::new(influences);
    (
        value,
        error.and_then(|error| error.interval(value, -most, most)),
    )
}

/// The number of independent votes of the judges `members`, and how it changes without each of them
/// and with each of the `candidates`. `prices` are US dollars per vote, by judge.
///
/// # Errors
/// There are too few pairs, or their errors do not vary.
pub fn judge_panel(
    pairs: &[PairErrors],
    members: &[usize],
    candidates: &[usize],
    prices: &[Option<f64>],
) -> Result<JudgePanel, IndependenceUnknown> {
    let own = complete(pairs, members);
    let all = estimate(members, &own)?;
    let queries = all.votes.queries;
    if members.len() > 1 && all.votes.interval.is_none() {
        return Err(IndependenceUnknown::NoInterval(queries));
    }
    let most = members.len() as f64;
    let mut without = Vec::new();
    let mut influences = Vec::new();
    if members.len() > 2 {
        for (at, judge) in members.iter().enumerate() {
            let others: Vec<usize> = members.iter().copied().filter(|of| of != judge).collect();
            let rows: Vec<(usize, Vec<f64>)> = own
                .iter()
                .map(|(query, errors)| {
                    let mut errors = errors.clone();
                    errors.remove(at);
                    (*query, errors)
                })
                .collect();
            let fewer = estimate(&others, &rows)?;
            let (adds, interval) = difference(&all, &fewer, most);
            without.push(PanelChange {
                judge: *judge,
                adds,
                interval,
                before: all.votes,
                after: fewer.votes,
            });
            influences.push(fewer.influences);
        }
    }
    let mut with = Vec::new();
    for judge in candidates {
        let wider: Vec<usize> = members.iter().chain([judge]).copied().collect();
        let rows = complete(pairs, &wider);
        let fewer: Vec<(usize, Vec<f64>)> = rows
            .iter()
            .map(|(query, errors)| (*query, errors[..members.len()].to_vec()))
            .collect();
        // A candidate with too few votes on these pairs is not one.
        let (Ok(more), Ok(fewer)) = (estimate(&wider, &rows), estimate(members, &fewer)) else {
            continue;
        };
        let (adds, interval) = difference(&more, &fewer, most + 1.0);
        with.push(PanelChange {
            judge: *judge,
            adds,
            interval,
            before: fewer.votes,
            after: more.votes,
        });
    }
    Ok(JudgePanel {
        together: all.votes,
        drop: judge_to_drop(&without, members, &influences, prices),
        add: judge_to_add(&with, all.votes.value, members, prices),
        without,
        with,
    })
}

/// The price of all judges after each change: that of their votes if the price of each is known and
/// above 0, otherwise the same for all changes.
fn prices_after(changes: &[PanelChange], members: &[usize], prices: &[Option<f64>]) -> Vec<f64> {
    let price = |judge: usize| {
        prices
            .get(judge)
            .copied()
            .flatten()
            .filter(|usd| *usd > 0.0)
    };
    let after = |change: &PanelChange| {
        let others = members.iter().filter(|of| **of != change.judge);
        let added = (!members.contains(&change.judge)).then_some(change.judge);
        others.copied().chain(added).map(price).sum()
    };
    let known: Option<Vec<f64>> = changes.iter().map(after).collect();
    known.unwrap_or_else(|| vec![1.0; changes.len()])
}

/// The judge without which the others give the most independent votes for their price, if the
/// interval of the difference to the mean of the other choices, at 1 − .05 / k because the best of
/// k is chosen, excludes 0.
fn judge_to_drop(
    without: &[PanelChange],
    members: &[usize],
    influences: &[Vec<(usize, f64)>],
    prices: &[Option<f64>],
) -> Option<usize> {
    let after = prices_after(without, members, prices);
    let value = |at: usize| without[at].after.value / after[at];
    let count = without.len();
    let best = (0..count).max_by(|x, y| value(*x).total_cmp(&value(*y)))?;
    let others = || (0..count).filter(|at| *at != best);
    let share = 1.0 / (count as f64 - 1.0);
    let gap = value(best) - others().map(value).sum::<f64>() * share;
    let influence = |at: usize, row: usize| influences[at][row].1 / after[at];
    let influences = influences[best]
        .iter()
        .enumerate()
        .map(|(row, (query, _))| {
            let of_others: f64 = others().map(|at| influence(at, row)).sum();
            (*query, influence(best, row) - of_others * share)
        });
    let level = 1.0 - 0.05 / count as f64;
    let error = ClusteredError::new(influences)?;
    let interval = error.interval_at(level, gap, f64::MIN, f64::MAX)?;
    (interval.low > ROUNDING * value(best)).then(|| without[best].judge)
}

/// The candidate with which the judges give the most independent votes for their price, if it adds
/// any.
///
/// Each candidate was compared on the pairs with its votes, which may be easier than others: what
/// it adds there counts from the number of all judges, `together`.
fn judge_to_add(
    with: &[PanelChange],
    together: f64,
    members: &[usize],
    prices: &[Option<f64>],
) -> Option<usize> {
    let after = prices_after(with, members, prices);
    let value = |change: &PanelChange, price: f64| (together + change.adds) / price;
    let (best, _) = with
        .iter()
        .zip(after)
        .max_by(|(x, of_x), (y, of_y)| value(x, *of_x).total_cmp(&value(y, *of_y)))?;
    (best.interval?.low > ROUNDING).then_some(best.judge)
}

impl IndependentVotes {
    /// `3 judges count as 1.29 independent ones (1.24–1.35)`.
    pub fn words(&self) -> String {
        let interval = self.interval.map_or(String::new(), |interval| {
            format!(" ({}–{})", fixed(interval.low, 2), fixed(interval.high, 2))
        });
        format!(
            "{} count as {} independent {}{interval}",
            counted(self.judges, "judge"),
            fixed(self.value, 2),
            if fixed(self.value, 2) == "1.00" {
                "one"
            } else {
                "ones"
            }
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{rating, verdict};
    use super::*;
    use crate::domain::sampling::SeededRng;
    use proptest::prelude::*;
    use serde::Deserialize;

    const GOLDEN: &str = include_str!("../../../tests/golden/trust2/independent_votes.json");

    #[derive(Deserialize)]
    struct Golden {
        tolerance: f64,
        interval_tolerance: f64,
        cases: Vec<Case>,
    }

    #[derive(Deserialize)]
    struct Case {
        judges: usize,
        pairs: Vec<(usize, Vec<f64>)>,
        expected: Expected,
    }

    #[derive(Deserialize)]
    struct Expected {
        correlation: f64,
        correlation_interval: [f64; 2],
        value: f64,
        interval: [f64; 2],
        agreement: f64,
        without: Vec<Without>,
    }

    #[derive(Deserialize)]
    struct Without {
        adds: f64,
        interval: [f64; 2],
        value: f64,
    }

    fn of_errors(pairs: &[(usize, Vec<f64>)]) -> Vec<PairErrors> {
        pairs
            .iter()
            .map(|(query, errors)| PairErrors {
                query: *query,
                errors: errors.iter().copied().map(Some).collect(),
            })
            .collect()
    }

    #[test]
    fn independent_votes_are_those_of_the_reference() {
        let golden: Golden = serde_json::from_str(GOLDEN).unwrap();
        for case in golden.cases {
            let members: Vec<usize> = (0..case.judges).collect();
            let panel = judge_panel(&of_errors(&case.pairs), &members, &[], &[]).unwrap();
            let (found, expected) = (panel.together, case.expected);
            let near = |found: f64, expected: f64, tolerance: f64| {
                assert!((found - expected).abs() < tolerance, "{found} {expected}");
            };
            let interval = |found: Option<Interval>, expected: [f64; 2]| {
                let found = found.unwrap();
                near(found.low, expected[0], golden.interval_tolerance);
                near(found.high, expected[1], golden.interval_tolerance);
            };
            near(found.correlation, expected.correlation, golden.tolerance);
            near(found.value, expected.value, golden.tolerance);
            near(found.agreement, expected.agreement, golden.tolerance);
            interval(found.correlation_interval, expected.correlation_interval);
            interval(found.interval, expected.interval);
            assert_eq!(panel.without.len(), expected.without.len());
            for (found, expected) in panel.without.iter().zip(expected.without) {
                near(found.adds, expected.adds, golden.tolerance);
                near(found.after.value, expected.value, golden.tolerance);
                interval(found.interval, expected.interval);
            }
        }
    }

    /// Errors on 10 pairs of each of 40 queries: those of the first two judges differ on one pair
    /// in ten, the others are independent.
    fn world(judges: usize) -> Vec<PairErrors> {
        let mut rng = SeededRng::new(11, &["independence"]);
        let mut found = Vec::new();
        for query in 0..40 {
            for _ in 0..10 {
                let mut draw = |share: f64| f64::from(u8::from(rng.unit() < share));
                let mut errors: Vec<f64> = (0..judges).map(|_| draw(0.3)).collect();
                if draw(0.1) == 0.0 {
                    errors[1] = errors[0];
                }
                found.push((query, errors));
            }
        }
        of_errors(&found)
    }

    #[test]
    fn a_twin_is_dropped_and_an_independent_judge_is_added() {
        let pairs = world(4);
        let panel = judge_panel(&pairs, &[0, 1, 2], &[3], &[]).unwrap();
        assert!(
            (1.8..2.3).contains(&panel.together.value),
            "{:?}",
            panel.together
        );
        assert!(matches!(panel.drop, Some(0 | 1)), "{panel:?}");
        assert_eq!(panel.add, Some(3));
        // A cheap twin is kept, and the expensive one dropped.
        for (prices, dropped) in [([1.0, 9.0, 1.0, 1.0], 1), ([9.0, 1.0, 1.0, 1.0], 0)] {
            let prices = prices.map(Some);
            let panel = judge_panel(&pairs, &[0, 1, 2], &[3], &prices).unwrap();
            assert_eq!(panel.drop, Some(dropped));
        }
    }

    #[test]
    fn judges_with_similar_errors_leave_the_choice_open() {
        let pairs: Vec<PairErrors> = world(5)
            .into_iter()
            .map(|of| PairErrors {
                errors: of.errors[2..].to_vec(),
                ..of
            })
            .collect();
        let panel = judge_panel(&pairs, &[0, 1, 2], &[], &[]).unwrap();
        assert!(panel.together.value > 2.5, "{:?}", panel.together);
        assert_eq!(panel.drop, None);
    }

    #[test]
    fn too_little_data_says_nothing() {
        let pairs = world(3);
        let unknown = |pairs: &[PairErrors]| judge_panel(pairs, &[0, 1, 2], &[], &[]).unwrap_err();
        assert_eq!(unknown(&pairs[..19]), IndependenceUnknown::TooFewPairs(19));
        let mut lacking = pairs.clone();
        lacking
            .iter_mut()
            .skip(10)
            .for_each(|of| of.errors[2] = None);
        assert_eq!(unknown(&lacking), IndependenceUnknown::TooFewPairs(10));
        let mut right = pairs.clone();
        right.iter_mut().for_each(|of| of.errors[1] = Some(0.0));
        assert_eq!(unknown(&right), IndependenceUnknown::NoVariation(1));
    }

    #[test]
    fn only_blind_choices_on_random_pairs_count() {
        let ratings = [
            rating(0, 1, 2, 0.4),
            rating(0, 2, 1, 0.0),
            rating(1, 1, 2, -0.4),
            rating(0, 1, 3, 1.0),
            rating(0, 1, 4, 1.0),
            rating(0, 1, 5, 1.0),
        ];
        let verdicts = [
            verdict(2, 1, Some(0.0)),
            verdict(1, 3, Some(1.0)),
            verdict(1, 4, Some(0.5)),
            HumanVerdict {
                blind: false,
                ..verdict(1, 5, Some(1.0))
            },
        ];
        let random = [(1, 2), (1, 4), (1, 5)].map(|(a, b)| (0, Pair::new(a, b).unwrap()));
        let found = pair_errors(&ratings, &verdicts, &random.into_iter().collect(), 3);
        let errors = vec![Some(0.25), Some(1.0), None];
        assert_eq!(found, [PairErrors { query: 0, errors }]);
    }

    proptest! {
        #[test]
        fn copies_of_a_judge_are_one_judge(
            errors in prop::collection::vec((0usize..8, 0u8..3), 20..120), copies in 2usize..6,
        ) {
            let pairs: Vec<(usize, Vec<f64>)> = errors
                .iter()
                .map(|(query, error)| (*query, vec![f64::from(*error) / 2.0; copies]))
                .collect();
            let members: Vec<usize> = (0..copies).collect();
            match judge_panel(&of_errors(&pairs), &members, &[], &[]) {
                Ok(panel) => {
                    prop_assert!((panel.together.value - 1.0).abs() < 1e-9);
                    prop_assert_eq!(panel.drop, None);
                }
                Err(unknown) => {
                    prop_assert!(matches!(unknown, IndependenceUnknown::NoVariation(_)));
                }
            }
        }

        #[test]
        fn the_number_is_between_one_and_all(
            pairs in prop::collection::vec((0usize..9, prop::collection::vec(0u8..3, 4)), 20..80),
        ) {
            let pairs: Vec<(usize, Vec<f64>)> = pairs
                .into_iter()
                .map(|(query, errors)| (query, errors.iter().map(|of| f64::from(*of) / 2.0).collect()))
                .collect();
            let reversed: Vec<(usize, Vec<f64>)> =
                pairs.iter().map(|(query, of)| (*query, of.iter().rev().copied().collect())).collect();
            let found = judge_panel(&of_errors(&pairs), &[0, 1, 2, 3], &[], &[]);
            let other = judge_panel(&of_errors(&reversed), &[0, 1, 2, 3], &[], &[]);
            if let (Ok(found), Ok(other)) = (found, other) {
                let (found, other) = (found.together, other.together);
                prop_assert!((1.0 - 1e-9..=4.0).contains(&found.value));
                let interval = found.interval.unwrap();
                prop_assert!(interval.low <= found.value && found.value <= interval.high);
                prop_assert!((found.value - other.value).abs() < 1e-9);
            }
        }
    }
}
