//! Measures whether the position of a document affects the choice.

use super::DuelForm;
use super::inference::sign_test;
use super::judgments::Judgment;
use crate::domain::agreement::Share;
use serde::Serialize;
use statrs::distribution::{ChiSquared, ContinuousCDF};
use std::collections::BTreeMap;

/// How often the document in one position was chosen; in the form of lists, how often that list was
/// preferred.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PlaceShare {
    /// From 1: row by row, or from the top; in the form of lists, 1 is left and 2 is right.
    pub place: usize,
    pub shown: usize,
    pub chosen: usize,
    pub share: f64,
    pub interval: (f64, f64),
}

/// Minimum number of positions in all judgments together for Cochran's test (Cochran 1950).
const ENOUGH_PLACES: usize = 24;

/// The share chosen in each position, with intervals over queries, and the p-value for all
/// positions being chosen equally often.
pub(super) fn places(
    form: DuelForm,
    judgments: &[&Judgment<'_>],
) -> (Vec<PlaceShare>, Option<f64>) {
    let mut choices: BTreeMap<usize, Vec<(usize, bool)>> = BTreeMap::new();
    for one in judgments {
        if form == DuelForm::Lists {
            for list in 0..2 {
                let preferred = one.preferred_list() == Some(list);
                choices
                    .entry(list)
                    .or_default()
                    .push((one.query, preferred));
            }
        }
        for (at, (_, chosen)) in one.shown().enumerate() {
            choices.entry(at).or_default().push((one.query, chosen));
        }
    }
    let share = |(at, choices): (usize, Vec<(usize, bool)>)| {
        let values = choices
            .iter()
            .map(|(query, chosen)| (*query, f64::from(u8::from(*chosen))));
        let share = Share::clustered(values)?;
        Some(PlaceShare {
            place: at + 1,
            shown: share.n,
            chosen: choices.iter().filter(|(_, chosen)| *chosen).count(),
            share: share.value,
            interval: (share.interval.low, share.interval.high),
        })
    };
    let p = match form {
        DuelForm::Grid => evenness(judgments),
        DuelForm::Lists => {
            let lists = judgments.iter().filter_map(|one| one.preferred_list());
            let count = |list| lists.clone().filter(|one| *one == list).count();
            sign_test(count(0), count(1))
        }
        DuelForm::Interleaved => None,
    };
    (choices.into_iter().filter_map(share).collect(), p)
}

/// Cochran's Q over the judgments with the most frequent number of positions: if position has no
/// effect, a participant's choices are equally likely anywhere. The p-value is from χ² with one
/// degree of freedom fewer than there are positions; `None` if that approximation is too rough.
fn evenness(judgments: &[&Judgment<'_>]) -> Option<f64> {
    let mut by_size: BTreeMap<usize, Vec<Vec<bool>>> = BTreeMap::new();
    for one in judgments {
        let chosen: Vec<bool> = one.shown().map(|(_, chosen)| chosen).collect();
        by_size.entry(chosen.len()).or_default().push(chosen);
    }
    let (size, rows) = by_size
        .into_iter()
        .max_by_key(|(size, rows)| (rows.len(), *size))?;
    if size < 2 || size * rows.len() < ENOUGH_PLACES {
        return None;
    }
    cochran(size, &rows)
}

fn cochran(size: usize, rows: &[Vec<bool>]) -> Option<f64> {
    let k = size as f64;
    let (mut of_place, mut spread) = (vec![0.0; size], 0.0);
    for row in rows {
        let chosen = row.iter().filter(|chosen| **chosen).count() as f64;
        spread += chosen * (k - chosen);
        for (sum, chosen) in of_place.iter_mut().zip(row) {
            *sum += f64::from(u8::from(*chosen));
        }
    }
    let mean = of_place.iter().sum::<f64>() / k;
    let squares: f64 = of_place.iter().map(|sum| (sum - mean).powi(2)).sum();
    let q = k * (k - 1.0) * squares / spread;
    let chi_squared = ChiSquared::new(k - 1.0).ok()?;
    (spread > 0.0).then(|| chi_squared.sf(q))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cochrans_q_is_the_textbooks() {
        // Q = (k − 1) (k Σ C² − T²) / (k T − Σ R²) by hand: C = 4, 2, 1; R = 1, 1, 2, 2, 1; T = 7.
        let rows = [
            vec![true, false, false],
            vec![true, false, false],
            vec![true, true, false],
            vec![true, false, true],
            vec![false, true, false],
        ];
        let q: f64 = 2.0 * (3.0 * 21.0 - 49.0) / (21.0 - 11.0);
        // With two degrees of freedom the tail is exp(−q / 2).
        let p = cochran(3, &rows).unwrap();
        assert!((p - (-q / 2.0).exp()).abs() < 1e-9, "{p}");
        assert_eq!(cochran(3, &[vec![true; 3], vec![false; 3]]), None);
    }
}
