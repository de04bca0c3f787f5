//! Estimates offsets of queries from battles between documents of two queries.

use crate::domain::common_scale::Offset;
use crate::domain::rating::{self, Observation, RatingError, RatingOptions};
use crate::domain::sampling::SeededRng;

/// Precision of the prior on an offset.
const PRECISION: f64 = 0.05;

/// A document of one query and a document of another, each as query and index in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    pub a: (usize, usize),
    pub b: (usize, usize),
}

/// The outcome of a link's battle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkBattle {
    /// Query and zELO of each document.
    pub a: (usize, f64),
    pub b: (usize, f64),
    /// In 0..=1 (1: B is better).
    pub score: f64,
    /// Weight, in battles.
    pub weight: f64,
}

/// Links for one round: random pairs of queries, each with a random document of one query and the
/// document of the other whose linked score is closest. Battles between near equals are the most
/// informative, while those between the best documents are biased: the best of many is partly there
/// by luck. With an odd number of queries, one is skipped.
pub fn near_gap_links(scores: &[Vec<f64>], offsets: &[f64], seed: u64, round: usize) -> Vec<Link> {
    let mut rng = SeededRng::new(seed, &["links", &round.to_string()]);
    let mut order: Vec<usize> = (0..scores.len())
        .filter(|query| !scores[*query].is_empty())
        .collect();
    rng.shuffle(&mut order);
    let offset = |query: usize| offsets.get(query).copied().unwrap_or_default();
    let link = |pair: &[usize]| {
        let [one, other] = pair else {
            return None;
        };
        let place = rng.below(scores[*one].len());
        let wanted = scores[*one][place] + offset(*one) - offset(*other);
        let gap = |at: &usize| (scores[*other][*at] - wanted).abs();
        let nearest = (0..scores[*other].len()).min_by(|x, y| gap(x).total_cmp(&gap(y)))?;
        Some(Link {
            a: (*one, place),
            b: (*other, nearest),
        })
    };
    order.chunks(2).filter_map(link).collect()
}

/// The maximum a posteriori offsets given battles across queries: Bradley–Terry over queries, with
/// the documents' zELO as known differences and a prior of precision .05. They sum to 0. `phi` is
/// the variance of a battle's score relative to one coin flip. A query without a link has offset 0
/// and the error of the prior.
///
/// # Errors
/// If a query index or a score is out of range.
pub fn fit_links(
    queries: usize,
    battles: &[LinkBattle],
    phi: f64,
) -> Result<Vec<Offset>, RatingError> {
    let observations: Vec<Observation> = battles
        .iter()
        .map(|battle| Observation {
            offset: battle.b.1 - battle.a.1,
            ..Observation::new(battle.a.0, battle.b.0, battle.score, battle.weight)
        })
        .collect();
    let options = RatingOptions {
        lambda: PRECISION,
        ..RatingOptions::default()
    };
    let fit = rating::fit(queries, &observations, &options, None)?;
    let covariance = rating::covariance(queries, &observations, &fit, &options, phi);
    let offsets = fit.scores.iter().enumerate();
    Ok(offsets
        .map(|(query, value)| Offset {
            value: *value,
            se: covariance
                .as_ref()
                .map_or(f64::INFINITY, |covariance| covariance.se(query)),
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_of_near_equals_of_two_queries() {
        let scores: Vec<Vec<f64>> = (0..7)
            .map(|query| {
                (0..20)
                    .map(|at| f64::from(at) / 2.0 - 5.0 + f64::from(query))
                    .collect()
            })
            .collect();
        let offsets: Vec<f64> = (0..7).map(|query| -f64::from(query)).collect();
        let links = near_gap_links(&scores, &offsets, 1, 0);
        assert_eq!(links.len(), 3);
        for link in &links {
            assert_ne!(link.a.0, link.b.0);
            let linked = |(query, place): (usize, usize)| scores[query][place] + offsets[query];
            assert!((linked(link.a) - linked(link.b)).abs() < 1e-9);
        }
        assert_ne!(near_gap_links(&scores, &offsets, 1, 1), links);
        assert_eq!(near_gap_links(&scores[..1], &offsets, 1, 0), []);
    }

    #[test]
    fn who_wins_over_queries_has_the_higher_offset() {
        let battle = |score| LinkBattle {
            a: (0, 1.0),
            b: (1, 1.0),
            score,
            weight: 1.0,
        };
        let found = fit_links(3, &[battle(1.0), battle(1.0), battle(0.5)], 1.0 / 3.0).unwrap();
        assert!(found[1].value > 0.5 && (found[0].value + found[1].value).abs() < 1e-9);
        assert_eq!(found[2].value, 0.0);
        assert!(found[2].se > found[1].se);
        assert!(fit_links(1, &[battle(1.0)], 1.0).is_err());
    }
}
