//! Decides when a duel may stop, with a test that stays valid however often one looks.

use super::Side;
use super::judgments::side_of;
use serde::Serialize;
use statrs::function::beta::ln_beta;
use std::collections::HashMap;

/// The e-value required to claim a winner: the error is at most 1 / 20 however often one looks
/// (Ville 1939).
pub const STOP_AT: f64 = 20.0;

/// The part of the error allotted to first judgments; the means of k judgments share the rest, 1 /
/// (k (k − 1)) of it each.
const FIRST: f64 = 0.8;

/// The stakes of [`Stakes`]: lowest, highest and number, in geometric progression.
const STAKES: (f64, f64, u32) = (0.25, 8.0, 32);

/// Estimates of further judgments beyond this number are not reported.
const MOST_FURTHER: usize = 2_000;

/// The conclusion from the queries judged so far.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct StopState {
    /// Queries on which A was preferred in the first finished judgment.
    pub wins_a: usize,
    pub wins_b: usize,
    /// Queries on which neither was preferred in the first judgment.
    pub ties: usize,
    /// The evidence that one ranking is better; [`STOP_AT`] is sufficient.
    pub e_value: f64,
    /// How many judgments of a query that evidence combines: 1 for first judgments, 2 for the means
    /// of the first two, and so on.
    pub people: usize,
    /// The better ranking, if the evidence is sufficient.
    pub better: Option<Side>,
    /// Expected number of further judgments of other queries until it is, at the share of wins so
    /// far; `None` if that share is too close to one half or too little is known.
    pub further: Option<usize>,
}

/// Accumulates the evidence of a duel, one judgment at a time.
///
/// If neither ranking is better, A and B are interchangeable: the preferences of all people on a
/// query, taken together, are as likely as the same with the opposite sign, and queries are
/// independent. However much people agree on a query, its sign is then a coin toss, on which one
/// bet can be made. For each k there is one bettor, who bets on each query once: when it gets its
/// k-th judgment, on the mean of these k. The probability that a bettor ever wins [`STOP_AT`] / w
/// times the stake is at most w / [`STOP_AT`] (Ville 1939), and the weights w sum to 1. The order
/// in which judgments and participants arrive does not matter, as long as it does not depend on the
/// preferences.
///
/// Further judgments of a query could be requested because of the first one: if second opinions are
/// sought only on the queries that B has won, the means lean toward A. They therefore count only
/// once their participant has judged every query of the duel.
#[derive(Clone, Debug)]
pub(super) struct StopRule {
    /// Number of queries in the duel.
    all: usize,
    /// By participant: number of queries judged, and the judgments that do not count yet.
    participants: HashMap<usize, (usize, Vec<(usize, f64)>)>,
    /// Sum and number of the preferences on each query.
    queries: HashMap<usize, (f64, usize)>,
    /// First judgments: won by A, tied, won by B.
    firsts: [usize; 3],
    /// The bets on means of two judgments of a query, of three, and so on.
    means: Vec<Stakes>,
}

impl StopRule {
    /// The rule for a duel with this number of queries.
    pub(super) fn new(queries: usize) -> Self {
        Self {
            all: queries,
            participants: HashMap::new(),
            queries: HashMap::new(),
            firsts: [0; 3],
            means: Vec::new(),
        }
    }

    /// Adds a participant's judgment of a query: from −1 (B) to 1 (A).
    pub(super) fn add(&mut self, participant: usize, query: usize, preference: f64) {
        let is_first = !self.queries.contains_key(&query);
        let (judged, held) = self.participants.entry(participant).or_default();
        *judged += 1;
        if !is_first {
            held.push((query, preference));
        }
        let released = if *judged >= self.all {
            std::mem::take(held)
        } else {
            Vec::new()
        };
        let first = is_first.then_some((query, preference));
        for (query, preference) in first.into_iter().chain(released) {
            self.count(query, preference);
        }
    }

    fn count(&mut self, query: usize, preference: f64) {
        let (sum, count) = self.queries.entry(query).or_default();
        *sum += preference;
        *count += 1;
        let mean = *sum / *count as f64;
        match count.checked_sub(2) {
            None => {
                let at = match side_of(mean) {
                    Some(Side::A) => 0,
                    None => 1,
                    Some(Side::B) => 2,
                };
                self.firsts[at] += 1;
            }
            Some(at) => {
                if self.means.len() <= at {
                    self.means.push(Stakes::default());
                }
                if let Some(stakes) = self.means.get_mut(at) {
                    stakes.bet(mean);
                }
            }
        }
    }

    /// Queries on which A and B were preferred in the first judgment.
    pub(super) fn first_wins(&self) -> (usize, usize) {
        let [wins_a, _, wins_b] = self.firsts;
        (wins_a, wins_b)
    }

    /// The better ranking, if the evidence is sufficient.
    pub(super) fn claim(&self) -> Option<Side> {
        let strongest = self.strongest();
        strongest.better.filter(|_| strongest.log >= STOP_AT.ln())
    }

    pub(super) fn state(&self) -> StopState {
        let ([wins_a, ties, wins_b], strongest) = (self.firsts, self.strongest());
        let better = self.claim();
        StopState {
            wins_a,
            wins_b,
            ties,
            e_value: strongest.log.exp(),
            people: strongest.people,
            better,
            further: match better {
                Some(_) => None,
                None => further(wins_a, wins_b, ties),
            },
        }
    }

    fn strongest(&self) -> Evidence {
        let (wins_a, wins_b) = self.first_wins();
        let first = Evidence {
            log: FIRST.ln() + log_e_value(wins_a, wins_b),
            people: 1,
            better: match wins_a.cmp(&wins_b) {
                std::cmp::Ordering::Equal => None,
                more => Some(if more.is_gt() { Side::A } else { Side::B }),
            },
        };
        let means = (2..).zip(&self.means).map(|(people, stakes)| {
            let [a, b] = stakes.log_worths();
            Evidence {
                log: ((1.0 - FIRST) / (people * (people - 1)) as f64).ln() + log_mean(&[a, b]),
                people,
                better: Some(if a > b { Side::A } else { Side::B }),
            }
        });
        means.fold(
            first,
            |best, one| if one.log > best.log { one } else { best },
        )
    }
}

/// The evidence of one bettor.
struct Evidence {
    /// The logarithm of the winnings, times the bettor's part of the error.
    log: f64,
    people: usize,
    better: Option<Side>,
}

/// A stake of 1, divided evenly over bets of many sizes on A and on B.
///
/// A bet of size θ on A multiplies its holdings by exp(θ x) / cosh(θ x) at a preference x, which
/// averages 1 over x and −x.
#[derive(Clone, Debug)]
struct Stakes {
    /// The logarithm of the holdings of each size, on A and on B.
    logs: Vec<[f64; 2]>,
}

impl Default for Stakes {
    fn default() -> Self {
        let logs = vec![[0.0; 2]; STAKES.2 as usize];
        Self { logs }
    }
}

impl Stakes {
    fn bet(&mut self, preference: f64) {
        let (low, high, count) = STAKES;
        for (at, logs) in self.logs.iter_mut().enumerate() {
            let size = low * (high / low).powf(at as f64 / f64::from(count - 1));
            let x = size * preference;
            // ln cosh x, computed without overflow for large x.
            let even = x.abs() + (-2.0 * x.abs()).exp().ln_1p() - std::f64::consts::LN_2;
            for (log, x) in logs.iter_mut().zip([x, -x]) {
                *log += x - even;
            }
        }
    }

    /// The logarithms of the holdings on A and on B, averaged over the sizes.
    fn log_worths(&self) -> [f64; 2] {
        [0, 1].map(|side: usize| {
            let logs: Vec<f64> = self.logs.iter().map(|logs| logs[side]).collect();
            log_mean(&logs)
        })
    }
}

/// The logarithm of the mean of numbers given by their logarithms.
fn log_mean(logs: &[f64]) -> f64 {
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = logs.iter().map(|log| (log - most).exp()).sum();
    most + (sum / logs.len() as f64).ln()
}

/// The logarithm of the e-value of these wins and losses against a share of one half: the
/// likelihood under a share drawn from Beta(½, ½) over that under ½ (Robbins 1970).
fn log_e_value(wins: usize, losses: usize) -> f64 {
    let (wins, losses) = (wins as f64, losses as f64);
    ln_beta(wins + 0.5, losses + 0.5) - ln_beta(0.5, 0.5) + (wins + losses) * std::f64::consts::LN_2
}

/// The smallest number of further first judgments after which the expected logarithm of their
/// e-value is sufficient, if wins continue at the share so far (with half a win and half a loss
/// added) and ties at theirs.
fn further(wins: usize, losses: usize, ties: usize) -> Option<usize> {
    let decided = wins + losses;
    if decided == 0 {
        return None;
    }
    let share = (wins as f64 + 0.5) / (decided as f64 + 1.0);
    let enough = |n: usize| expected_log_e_value(wins, losses, share, n) >= (STOP_AT / FIRST).ln();
    let (mut low, mut high) = (0, 1);
    while !enough(high) {
        low = high;
        high *= 2;
        if low >= MOST_FURTHER {
            return None;
        }
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if enough(middle) {
            high = middle
        } else {
            low = middle
        }
    }
    let tied = (ties as f64 + 0.5) / ((decided + ties) as f64 + 1.0);
    let further = (high as f64 / (1.0 - tied)).ceil() as usize;
    (further <= MOST_FURTHER).then_some(further)
}

/// The expected logarithm of the e-value after `n` further wins or losses, each a win with
/// probability `share`.
fn expected_log_e_value(wins: usize, losses: usize, share: f64, n: usize) -> f64 {
    // Binomial probabilities, computed recursively in logarithms.
    let mut log_chance = n as f64 * (1.0 - share).ln();
    let odds = (share / (1.0 - share)).ln();
    let mut expected = 0.0;
    for won in 0..=n {
        expected += log_chance.exp() * log_e_value(wins + won, losses + n - won);
        log_chance += ((n - won) as f64 / (won + 1) as f64).ln() + odds;
    }
    expected
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::sampling::SeededRng;
    use proptest::prelude::*;

    /// Queries won by A, won by B and tied, each judged once.
    fn once(wins_a: usize, wins_b: usize, ties: usize) -> StopState {
        let mut rule = StopRule::new(usize::MAX);
        let counts = [(wins_a, 0.4), (wins_b, -1.0), (ties, 0.0)].into_iter();
        let preferences =
            counts.flat_map(|(count, preference)| std::iter::repeat_n(preference, count));
        for (query, preference) in preferences.enumerate() {
            rule.add(0, query, preference);
        }
        rule.state()
    }

    #[test]
    fn the_e_value_is_the_mixtures() {
        // One win: ½ over ½. Two wins of two: B(2.5, 0.5) / B(0.5, 0.5) · 4 = 3 / 8 · 4.
        for (wins, losses, e) in [(0, 0, 1.0), (1, 0, 1.0), (2, 0, 1.5), (1, 1, 0.5)] {
            assert!(
                (log_e_value(wins, losses).exp() - e).abs() < 1e-9,
                "{wins} {losses}"
            );
            assert!((once(wins, losses, 3).e_value - FIRST * e).abs() < 1e-9);
        }
        let first = (0..).find(|wins| once(0, *wins, 0).better.is_some());
        assert_eq!(first, Some(7));
        assert_eq!(once(0, 7, 3).better, Some(Side::B));
    }

    #[test]
    fn the_parts_of_the_error_are_the_whole() {
        let rest: f64 = (2..10_000)
            .map(|k| (1.0 - FIRST) / (k * (k - 1)) as f64)
            .sum();
        assert!((FIRST + rest - 1.0).abs() < 1e-4, "{rest}");
    }

    /// If neither ranking is better, the mean e-value stays 1, whatever the number of judgments.
    #[test]
    fn the_e_value_is_fair() {
        for n in [1, 5, 40] {
            let mean = (0..=n).fold(0.0, |sum, wins: usize| {
                let ways = (0..wins).fold(1.0, |ways, k| ways * (n - k) as f64 / (k + 1) as f64);
                sum + ways * 0.5f64.powi(n as i32) * log_e_value(wins, n - wins).exp()
            });
            assert!((mean - 1.0).abs() < 1e-9, "{n}: {mean}");
        }
    }

    #[test]
    fn stakes_are_fair_whatever_the_sizes_of_the_preferences() {
        let sizes: [f64; 6] = [1.0, 0.25, 0.6, 0.0, 1.0 / 3.0, 0.9];
        let patterns = 1 << sizes.len();
        let worth = |pattern: usize| {
            let mut stakes = Stakes::default();
            for (at, size) in sizes.iter().enumerate() {
                stakes.bet(if pattern >> at & 1 == 0 { *size } else { -size });
            }
            stakes.log_worths().map(f64::exp).iter().sum::<f64>() / 2.0
        };
        let mean = (0..patterns).map(worth).sum::<f64>() / f64::from(patterns as u32);
        assert!((mean - 1.0).abs() < 1e-9, "{mean}");
        // exp(θ) / cosh(θ) of a certain preference at the largest size is close to 2.
        let mut stakes = Stakes::default();
        stakes.bet(1.0);
        assert!((stakes.logs[31][0].exp() - 2.0).abs() < 1e-6);
        assert!((stakes.logs[0][0] - (0.25 - 0.25f64.cosh().ln())).abs() < 1e-12);
    }

    #[test]
    fn more_people_on_the_same_queries_are_more_evidence() {
        let judged = |people: &[f64]| {
            let mut rule = StopRule::new(12);
            for (participant, preference) in people.iter().enumerate() {
                (0..12).for_each(|query| {
                    rule.add(
                        participant,
                        query,
                        if query < 3 {
                            0.0 - preference
                        } else {
                            *preference
                        },
                    )
                });
            }
            rule.state()
        };
        let one = judged(&[0.5]);
        assert_eq!((one.better, one.people), (None, 1));
        // Nine of twelve first judgments are not sufficient, and two that cancel out change
        // nothing.
        let even = judged(&[0.5, -0.5]);
        assert_eq!((even.better, even.e_value), (None, one.e_value));
        let mut rule = StopRule::new(30);
        for query in 0..30 {
            rule.add(0, query, if query % 5 < 2 { -0.1 } else { 0.1 });
        }
        assert_eq!(rule.claim(), None);
        // A participant who is undecided at first no longer is after others have been asked.
        for query in 0..29 {
            rule.add(1, query, 0.9);
        }
        assert_eq!(rule.claim(), None, "the second schedule is not done");
        rule.add(1, 29, 0.9);
        let state = rule.state();
        assert_eq!((state.better, state.people), (Some(Side::A), 2));
    }

    /// Neither ranking is better, and a second opinion is requested whenever the first was for B.
    #[test]
    fn second_opinions_that_are_sought_where_b_won_claim_nothing() {
        let claims = |whole_schedules_only: bool| {
            (0..200)
                .filter(|duel: &u64| {
                    let mut rng = SeededRng::new(*duel, &["second opinions"]);
                    let mut toss = || if rng.unit() < 0.5 { -1.0 } else { 1.0 };
                    let mut rule = StopRule::new(if whole_schedules_only { 60 } else { 1 });
                    (0..60).any(|query| {
                        let first = toss();
                        rule.add(0, query, first);
                        if first < 0.0 {
                            rule.add(1, query, toss());
                        }
                        rule.claim().is_some()
                    })
                })
                .count()
        };
        assert!(claims(false) > 60, "{}", claims(false));
        assert!(claims(true) <= 16, "{}", claims(true));
    }

    #[test]
    fn further_judgments_are_fewer_the_clearer_it_is() {
        let further = |wins, losses| once(wins, losses, 0).further;
        assert_eq!(further(0, 0), None);
        assert_eq!(further(50, 50), None);
        assert!(further(6, 0).is_some_and(|n| n <= 3), "{:?}", further(6, 0));
        let (clear, close) = (further(12, 4), further(10, 6));
        assert!(clear < close, "{clear:?} {close:?}");
        let tied = once(12, 4, 16).further;
        assert!(clear < tied, "{clear:?} {tied:?}");
        assert_eq!(once(0, 30, 0).further, None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn the_sides_are_alike(
            judged in prop::collection::vec((0usize..5, 0usize..12, -4i8..=4), 0..60),
        ) {
            let state = |sign: f64| {
                let mut rule = StopRule::new(12);
                for (participant, query, quarters) in &judged {
                    rule.add(*participant, *query, sign * f64::from(*quarters) / 4.0);
                }
                rule.state()
            };
            let (one, other) = (state(1.0), state(-1.0));
            prop_assert_eq!(one.better, other.better.map(Side::other));
            prop_assert!((one.e_value / other.e_value - 1.0).abs() < 1e-9);
            prop_assert_eq!(one.further, other.further);
            prop_assert_eq!(one.better.is_some(), one.e_value >= STOP_AT);
        }
    }
}
