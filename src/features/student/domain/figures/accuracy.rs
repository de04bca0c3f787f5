//! How often models prefer the same document as a unanimous ensemble.

use super::measured::{Measured, share_interval};
use crate::domain::metrics::{Resampling, bootstraps};
use std::collections::BTreeMap;

/// Scores this close to 0 and 1 count as 0 and 1.
const EXACT: f64 = 1e-9;

/// A battle with the preferences of several models.
#[derive(Clone, Debug, PartialEq)]
pub struct PreferenceRow {
    /// The ensemble's score in 0..=1 (1: B is better).
    pub score: f64,
    /// Positive if a model prefers B, negative for A; one per model.
    pub preferences: Vec<f64>,
    pub query: usize,
}

/// The accuracy of one model on unanimous battles, and its distance to the first model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModelAccuracy {
    pub accuracy: Measured,
    /// Accuracy of the first model minus that of this one, over queries.
    pub behind_first: Measured,
    /// Number of unanimous battles that both cover.
    pub battles: usize,
}

/// One per model; empty without unanimous battles. A model that prefers neither document counts
/// half.
pub fn accuracies(rows: &[PreferenceRow], resampling: &Resampling) -> Vec<ModelAccuracy> {
    let consensus = rows
        .iter()
        .filter(|row| row.score < EXACT || row.score > 1.0 - EXACT);
    let mut clusters: BTreeMap<usize, Vec<&PreferenceRow>> = BTreeMap::new();
    for row in consensus {
        clusters.entry(row.query).or_default().push(row);
    }
    let models = rows.first().map_or(0, |row| row.preferences.len());
    // By model, the hits and battles of each query.
    let tallies: Vec<Vec<(f64, f64)>> = (0..models)
        .map(|model| {
            let of = |rows: &Vec<&PreferenceRow>| {
                let hits = rows.iter().map(|row| hit(row, model)).sum();
                (hits, rows.len() as f64)
            };
            clusters.values().map(of).collect()
        })
        .collect();
    let share = |tally: &[(f64, f64)], chosen: &[usize]| {
        let (hits, n) = chosen
            .iter()
            .filter_map(|at| tally.get(*at))
            .fold((0.0, 0.0), |(x, y), (hits, n)| (x + hits, y + n));
        (n > 0.0).then(|| hits / n)
    };
    let all: Vec<usize> = (0..clusters.len()).collect();
    let measured = tallies.iter().map(|tally| {
        let first = tallies.first()?;
        let difference = |chosen: &[usize]| Some(share(first, chosen)? - share(tally, chosen)?);
        let [accuracy, behind] = bootstraps(all.len(), resampling, |chosen| {
            [share(tally, chosen), difference(chosen)]
        });
        Some(ModelAccuracy {
            accuracy: Measured {
                value: share(tally, &all)?,
                interval: share_interval(share(tally, &all)?, all.len(), accuracy, resampling),
            },
            behind_first: Measured {
                value: difference(&all)?,
                // With few queries, an interval may exceed the possible range.
                interval: behind.map(|(low, high)| (low.max(-1.0), high.min(1.0))),
            },
            battles: clusters.values().map(Vec::len).sum(),
        })
    });
    measured.collect::<Option<Vec<_>>>().unwrap_or_default()
}

fn hit(row: &PreferenceRow, model: usize) -> f64 {
    let preference = row.preferences.get(model).copied().unwrap_or_default();
    if preference == 0.0 {
        0.5
    } else {
        f64::from(u8::from((preference > 0.0) == (row.score > 0.5)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_compared_on_the_same_battles() {
        let row = |score, preferences: [f64; 2], query| PreferenceRow {
            score,
            preferences: preferences.to_vec(),
            query,
        };
        let rows = [
            row(1.0, [0.3, -0.2], 0),
            row(0.0, [-0.1, 0.0], 1),
            row(0.0, [0.4, -2.0], 2),
            row(2.0 / 3.0, [-1.0, -1.0], 2),
        ];
        let found = accuracies(&rows, &Resampling::default());
        assert!((found[0].accuracy.value - 2.0 / 3.0).abs() < 1e-12);
        assert!((found[1].accuracy.value - 0.5).abs() < 1e-12);
        assert_eq!((found[0].behind_first.value, found[0].battles), (0.0, 3));
        assert!((found[1].behind_first.value - 1.0 / 6.0).abs() < 1e-12);
        assert!(found[1].accuracy.interval.is_some());
        assert_eq!(accuracies(&rows[3..], &Resampling::default()), []);
        // Two queries, one won and one lost completely: the interval is −100 to 100 points, no
        // wider.
        let rows = [row(1.0, [1.0, -1.0], 0), row(1.0, [-1.0, 1.0], 1)];
        let found = accuracies(&rows, &Resampling::default());
        assert_eq!(found[1].behind_first.interval, Some((-1.0, 1.0)));
    }
}
