//! Checks whether a judge's grades mean the same in every query.

use crate::domain::common_scale::Drift;
use std::collections::BTreeMap;

/// Minimum number of rulings for the check.
const ENOUGH: usize = 100;

/// A document graded both by a judge and by a person.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GradedTwice {
    pub query: usize,
    /// The judge's grade minus the person's.
    pub difference: f64,
}

/// One-way analysis of variance of the differences by query (Searle et al. 1992, §3.6). `None` for
/// fewer than 100 documents, for a single query, and if no query has two documents.
pub fn drift(graded: &[GradedTwice]) -> Option<Drift> {
    let mut queries: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for one in graded {
        queries.entry(one.query).or_default().push(one.difference);
    }
    let (n, groups) = (graded.len() as f64, queries.len() as f64);
    if graded.len() < ENOUGH || queries.len() < 2 || graded.len() == queries.len() {
        return None;
    }
    let whole = graded.iter().map(|one| one.difference).sum::<f64>() / n;
    let (mut within, mut between, mut squares) = (0.0, 0.0, 0.0);
    for of in queries.values() {
        let size = of.len() as f64;
        let mean = of.iter().sum::<f64>() / size;
        within += of.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
        between += size * (mean - whole).powi(2);
        squares += size * size;
    }
    let within = within / (n - groups);
    let size = (n - squares / n) / (groups - 1.0);
    let between = ((between / (groups - 1.0) - within) / size).max(0.0);
    let ratio = if between > 0.0 {
        (between / within).sqrt()
    } else {
        0.0
    };
    Some(Drift {
        rulings: graded.len(),
        ratio,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::sampling::SeededRng;

    fn graded(sd: f64) -> Vec<GradedTwice> {
        let mut rng = SeededRng::new(2, &["drift"]);
        let mut graded = Vec::new();
        for query in 0..200 {
            let shift = sd * rng.normal();
            graded.extend((0..4).map(|_| GradedTwice {
                query,
                difference: shift + rng.normal(),
            }));
        }
        graded
    }

    #[test]
    fn the_ratio_of_the_deviations_is_found() {
        for (sd, too_much) in [(0.0, false), (0.5, false), (1.5, true)] {
            let found = drift(&graded(sd)).unwrap();
            assert!((found.ratio - sd).abs() < 0.2, "{sd}: {found:?}");
            assert_eq!(found.is_too_much(), too_much);
        }
        assert_eq!(drift(&graded(1.0)[..99]), None);
    }
}
