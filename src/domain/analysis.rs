//! Finds cycles among the decided pairs, and computes Wilson intervals of shares.

use statrs::distribution::{ContinuousCDF, Normal};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Bound::{Excluded, Unbounded};

/// The Wilson score interval (Wilson 1927) of a share of `part` in `whole` at a level such as 0.95,
/// or `None` if `whole` is 0.
pub fn wilson(part: usize, whole: usize, level: f64) -> Option<(f64, f64)> {
    (whole > 0).then(|| wilson_share(part as f64 / whole as f64, whole as f64, level))
}

/// The Wilson score interval of a `share` in 0..=1 based on `n` > 0 independent yes-or-no answers.
/// `n` need not be an integer, for example the effective size of a weighted sample. An infinite `n`
/// gives the share itself.
pub fn wilson_share(share: f64, n: f64, level: f64) -> (f64, f64) {
    let z = Normal::standard().inverse_cdf(0.5 + level / 2.0);
    let centre = (share + z * z / (2.0 * n)) / (1.0 + z * z / n);
    let half = z / (1.0 + z * z / n) * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
    ((centre - half).max(0.0), (centre + half).min(1.0))
}

/// The numbers of cyclic triads and of all triads of documents whose three pairs are decided, given
/// `(winner, loser)` pairs.
///
/// A triad is cyclic if its three directions form a cycle (Kendall & Babington Smith 1940).
pub fn triads(decided: impl IntoIterator<Item = (usize, usize)>) -> (usize, usize) {
    let (mut cyclic, mut all) = (0, 0);
    each_triad(decided, |_, is_cyclic| {
        all += 1;
        cyclic += usize::from(is_cyclic);
    });
    (cyclic, all)
}

/// Visits every triad of documents whose three pairs are decided, documents ascending, with whether
/// it is cyclic. If two pairs contradict each other, the first one is used.
pub fn each_triad(
    decided: impl IntoIterator<Item = (usize, usize)>,
    mut visit: impl FnMut([usize; 3], bool),
) {
    let mut beats: HashSet<(usize, usize)> = HashSet::new();
    let mut neighbors: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for (winner, loser) in decided {
        if winner != loser && !beats.contains(&(loser, winner)) && beats.insert((winner, loser)) {
            let (low, high) = (winner.min(loser), winner.max(loser));
            neighbors.entry(low).or_default().insert(high);
        }
    }
    let met = |x: usize, y: usize| beats.contains(&(x, y)) || beats.contains(&(y, x));
    for (&x, above) in &neighbors {
        for &y in above {
            for &z in above
                .range((Excluded(y), Unbounded))
                .filter(|z| met(y, **z))
            {
                let wins = [(x, y), (y, z), (z, x)]
                    .iter()
                    .filter(|edge| beats.contains(*edge))
                    .count();
                visit([x, y, z], wins == 0 || wins == 3);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_has_the_interval_of_the_textbook() {
        // Newcombe 1998, table I: 81 of 263.
        let (low, high) = wilson(81, 263, 0.95).unwrap();
        assert!(
            (low - 0.2553).abs() < 5e-5 && (high - 0.3662).abs() < 5e-5,
            "{low} {high}"
        );
        assert_eq!(wilson(0, 0, 0.95), None);
        assert!(wilson(0, 10, 0.95).unwrap().0 < 1e-12);
    }

    #[test]
    fn a_triangle_is_cyclic_only_when_everyone_wins_once() {
        assert_eq!(triads([(0, 1), (1, 2), (2, 0)]), (1, 1));
        assert_eq!(triads([(1, 0), (2, 1), (0, 2)]), (1, 1));
        assert_eq!(triads([(0, 1), (1, 2), (0, 2)]), (0, 1));
        assert_eq!(triads([(0, 1), (1, 2)]), (0, 0));
        assert_eq!(triads([]), (0, 0));
    }

    #[test]
    fn cyclic_triads_of_a_tournament_follow_from_its_win_counts() {
        // Kendall's identity: d = K(K−1)(2K−1)/12 − Σ wins² / 2.
        let k = 9;
        let beats: Vec<(usize, usize)> = (0..k)
            .flat_map(|x| {
                (x + 1..k).map(move |y| {
                    if (x * 7 + y * 3) % 5 < 2 {
                        (x, y)
                    } else {
                        (y, x)
                    }
                })
            })
            .collect();
        let mut wins = vec![0usize; k];
        for (winner, _) in &beats {
            wins[*winner] += 1;
        }
        let squares: usize = wins.iter().map(|w| w * w).sum();
        let (cyclic, all) = triads(beats);
        assert_eq!(all, k * (k - 1) * (k - 2) / 6);
        assert_eq!(2 * cyclic, k * (k - 1) * (2 * k - 1) / 6 - squares);
    }
}
