//! How often models prefer the same document as a unanimous ensemble.

use super::measured::{Measured, share_interval};
use crate::domain::metrics::{Resampling, bootstraps};
use std::collections::BTreeMap;

/// Scores this close to 0 and 1 count as 0 and 1.
const EXACT: f64 = 1e-9;

/// The unanimous battles of each query on which models are compared.
#[derive(Clone, Debug, Default)]
pub struct PreferenceTallies(BTreeMap<usize, QueryTally>);

/// The unanimous battles of a query.
#[derive(Clone, Debug, Default)]
struct QueryTally {
    battles: usize,
    /// By model: how many of them it gets right.
    hits: Vec<f64>,
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

impl PreferenceTallies {
    /// Adds a battle of a query with the ensemble's score in 0..=1 (1: B is better), and a number
    /// per model: positive if it prefers B, negative for A. A model that prefers neither document
    /// counts half.
    pub fn add(&mut self, query: usize, score: f64, preferences: impl Iterator<Item = f64>) {
        if (EXACT..=1.0 - EXACT).contains(&score) {
            return;
        }
        let tally = self.0.entry(query).or_default();
        tally.battles += 1;
        for (model, preference) in preferences.enumerate() {
            if model == tally.hits.len() {
                tally.hits.push(0.0);
            }
            tally.hits[model] += hit(score, preference);
        }
    }

    /// Adds the battles of other queries.
    pub fn join(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    /// One per model; empty without unanimous battles.
    pub fn accuracies(&self, resampling: &Resampling) -> Vec<ModelAccuracy> {
        accuracies(&self.0, resampling)
    }
}

fn accuracies(
    clusters: &BTreeMap<usize, QueryTally>,
    resampling: &Resampling,
) -> Vec<ModelAccuracy> {
    let models = clusters.values().next().map_or(0, |tally| tally.hits.len());
    // By model, the hits and battles of each query.
    let tallies: Vec<Vec<(f64, f64)>> = (0..models)
        .map(|model| {
            let of = |tally: &QueryTally| (tally.hits[model], tally.battles as f64);
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
            battles: clusters.values().map(|tally| tally.battles).sum(),
        })
    });
    measured.collect::<Option<Vec<_>>>().unwrap_or_default()
}

fn hit(score: f64, preference: f64) -> f64 {
    if preference == 0.0 {
        0.5
    } else {
        f64::from(u8::from((preference > 0.0) == (score > 0.5)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_compared_on_the_same_battles() {
        let row = |score: f64, preferences: [f64; 2], query: usize| (query, score, preferences);
        let accuracies = |rows: &[(usize, f64, [f64; 2])]| {
            let mut tallies = PreferenceTallies::default();
            for (query, score, preferences) in rows {
                tallies.add(*query, *score, preferences.iter().copied());
            }
            tallies.accuracies(&Resampling::default())
        };
        let rows = [
            row(1.0, [0.3, -0.2], 0),
            row(0.0, [-0.1, 0.0], 1),
            row(0.0, [0.4, -2.0], 2),
            row(2.0 / 3.0, [-1.0, -1.0], 2),
        ];
        let found = accuracies(&rows);
        assert!((found[0].accuracy.value - 2.0 / 3.0).abs() < 1e-12);
        assert!((found[1].accuracy.value - 0.5).abs() < 1e-12);
        assert_eq!((found[0].behind_first.value, found[0].battles), (0.0, 3));
        assert!((found[1].behind_first.value - 1.0 / 6.0).abs() < 1e-12);
        assert!(found[1].accuracy.interval.is_some());
        assert_eq!(accuracies(&rows[3..]), []);
        // Two queries, one won and one lost completely: the interval is −100 to 100 points, no
        // wider.
        let rows = [row(1.0, [1.0, -1.0], 0), row(1.0, [-1.0, 1.0], 1)];
        let found = accuracies(&rows);
        assert_eq!(found[1].behind_first.interval, Some((-1.0, 1.0)));
    }
}
