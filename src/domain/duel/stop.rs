//! When a duel may stop: a test that holds however often one looks.

use super::Side;
use serde::Serialize;
use statrs::function::beta::ln_beta;

/// A claim is made from this e-value on: the error is at most 1 / 20 however often one looks (Ville 1939).
pub const STOP_AT: f64 = 20.0;

/// Beyond so many further judgments none are promised.
const MOST_FURTHER: usize = 2_000;

/// What the queries judged so far allow to say. Each query counts once, by its first finished judgment.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct StopState {
    pub wins_a: usize,
    pub wins_b: usize,
    /// Queries on which neither was preferred; they say nothing of which is better.
    pub ties: usize,
    /// The evidence against both being preferred as often as each other; [`STOP_AT`] or more is enough.
    pub e_value: f64,
    /// The better ranking, where the evidence is enough.
    pub better: Option<Side>,
    /// How many further judgments of other queries are expected until it is, at the share of wins so far; `None` where that
    /// is too near one half, or too little is known.
    pub further: Option<usize>,
}

impl StopState {
    pub fn new(wins_a: usize, wins_b: usize, ties: usize) -> Self {
        let better = Self::claim(wins_a, wins_b);
        Self {
            wins_a,
            wins_b,
            ties,
            e_value: log_e_value(wins_a, wins_b).exp(),
            better,
            further: match better {
                Some(_) => None,
                None => further(wins_a, wins_b, ties),
            },
        }
    }

    /// The better ranking after so many wins of each, where the evidence is enough.
    pub fn claim(wins_a: usize, wins_b: usize) -> Option<Side> {
        let enough = log_e_value(wins_a, wins_b) >= STOP_AT.ln();
        enough.then_some(if wins_a > wins_b { Side::A } else { Side::B })
    }
}

/// The logarithm of the e-value of so many wins and losses against a share of one half: the likelihood under a share drawn
/// from Beta(½, ½) over that under ½ (Robbins 1970).
pub(crate) fn log_e_value(wins: usize, losses: usize) -> f64 {
    let (wins, losses) = (wins as f64, losses as f64);
    ln_beta(wins + 0.5, losses + 0.5) - ln_beta(0.5, 0.5) + (wins + losses) * std::f64::consts::LN_2
}

/// The fewest further judgments after which the expected logarithm of the e-value reaches that of [`STOP_AT`], if wins go on
/// coming at the share so far, half a win and half a loss added; ties come at their share too.
fn further(wins: usize, losses: usize, ties: usize) -> Option<usize> {
    let decided = wins + losses;
    if decided == 0 {
        return None;
    }
    let share = (wins as f64 + 0.5) / (decided as f64 + 1.0);
    let enough = |n: usize| expected_log_e_value(wins, losses, share, n) >= STOP_AT.ln();
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
        match enough(middle) {
            true => high = middle,
            false => low = middle,
        }
    }
    let tied = (ties as f64 + 0.5) / ((decided + ties) as f64 + 1.0);
    let further = (high as f64 / (1.0 - tied)).ceil() as usize;
    (further <= MOST_FURTHER).then_some(further)
}

/// The expected logarithm of the e-value after `n` further wins or losses, of which each is a win with chance `share`.
fn expected_log_e_value(wins: usize, losses: usize, share: f64, n: usize) -> f64 {
    // The binomial chances, from one to the next in logarithms.
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
    use proptest::prelude::*;

    #[test]
    fn the_e_value_is_the_mixtures() {
        // One win: ½ over ½. Two wins of two: B(2.5, 0.5) / B(0.5, 0.5) · 4 = 3 / 8 · 4.
        for (wins, losses, e) in [(0, 0, 1.0), (1, 0, 1.0), (2, 0, 1.5), (1, 1, 0.5)] {
            assert!(
                (log_e_value(wins, losses).exp() - e).abs() < 1e-9,
                "{wins} {losses}"
            );
        }
        let first = (0..).find(|wins| StopState::new(0, *wins, 0).better.is_some());
        assert_eq!(first, Some(7));
        assert_eq!(StopState::new(0, 7, 3).better, Some(Side::B));
    }

    /// Under even odds the mean of the e-value stays 1, whatever the number of judgments.
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
    fn further_judgments_are_fewer_the_clearer_it_is() {
        let further = |wins, losses| StopState::new(wins, losses, 0).further;
        assert_eq!(further(0, 0), None);
        assert_eq!(further(50, 50), None);
        assert!(further(6, 0).is_some_and(|n| n <= 3), "{:?}", further(6, 0));
        let (clear, close) = (further(12, 4), further(10, 6));
        assert!(clear < close, "{clear:?} {close:?}");
        let tied = StopState::new(12, 4, 16).further;
        assert!(clear < tied, "{clear:?} {tied:?}");
        assert_eq!(StopState::new(0, 30, 0).further, None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn the_sides_are_alike(wins in 0usize..40, losses in 0usize..40, ties in 0usize..10) {
            let one = StopState::new(wins, losses, ties);
            let other = StopState::new(losses, wins, ties);
            prop_assert_eq!(one.better, other.better.map(Side::other));
            prop_assert!((one.e_value / other.e_value - 1.0).abs() < 1e-9);
            prop_assert_eq!(one.further, other.further);
            prop_assert_eq!(one.better.is_some(), one.e_value >= STOP_AT);
        }
    }
}
