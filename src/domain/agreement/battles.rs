//! κ and α of raters who judged pairs of documents. Which document of a pair is called A means nothing, so that every pair
//! is counted in both orientations, each with half the weight; and pairs of one query are alike, so that errors are by query.

use super::{Alpha, ClusteredError, Kappa, LabelUnits, alpha, kappa};
use crate::domain::vote::Outcome;

/// What the raters of one pair said of it, seen from the same document throughout.
#[derive(Clone, Debug, PartialEq)]
pub struct BattleLabels {
    pub query: usize,
    pub labels: Vec<Outcome>,
}

/// The query of a pair, and what the first and the second of two raters said of it.
pub type LabelledPair = (usize, Outcome, Outcome);

fn place(outcome: Outcome) -> usize {
    match outcome {
        Outcome::A => 0,
        Outcome::Tie => 1,
        Outcome::B => 2,
    }
}

/// Cohen's κ of two raters over pairs.
///
/// p_e follows from the margins of both orientations together: with r and c those of the raters, r(A) = r(B). The error is
/// linearised, with the influence [(o − p_o)(1 − p_e) − (1 − p_o)(c(x) + r(y) − 2 p_e)] / (1 − p_e)² of a pair of labels x
/// and y, which agree (o = 1) or do not, summed up by query. `None` as for [`kappa`].
pub fn battle_kappa(pairs: &[LabelledPair]) -> Option<Kappa> {
    let mut both = vec![vec![0; 3]; 3];
    for (_, first, second) in pairs {
        let (x, y) = (place(*first), place(*second));
        both[x][y] += 1;
        both[2 - x][2 - y] += 1;
    }
    let table = kappa(&both)?;
    let n = pairs.len() as f64;
    let row = |at: usize| both[at].iter().sum::<usize>() as f64 / (2.0 * n);
    let column = |at: usize| both.iter().map(|row| row[at]).sum::<usize>() as f64 / (2.0 * n);
    let (observed, expected) = (table.observed, table.expected);
    let pull = |(query, first, second): &LabelledPair| {
        let agree = f64::from(u8::from(first == second));
        let chance = column(place(*first)) + row(place(*second)) - 2.0 * expected;
        let influence = (agree - observed) * (1.0 - expected) - (1.0 - observed) * chance;
        (*query, influence / (1.0 - expected).powi(2) / n)
    };
    let error = ClusteredError::new(pairs.iter().map(pull));
    // Where the two never differ, an error of rounding says nothing.
    let error = error.filter(|_| pairs.iter().any(|(_, first, second)| first != second));
    Some(Kappa {
        se: error.map_or(0.0, |error| error.se),
        interval: error.and_then(|error| error.interval(table.value, -1.0, 1.0)),
        n: pairs.len(),
        ..table
    })
}

/// Krippendorff's nominal α of any number of raters over pairs.
pub fn battle_alpha(pairs: &[BattleLabels]) -> Option<Alpha> {
    let labels = |pair: &BattleLabels| -> Vec<Option<f64>> {
        let places = pair.labels.iter().map(|label| place(*label) as f64);
        places.map(Some).collect()
    };
    alpha(LabelUnits {
        rows: &pairs.iter().map(labels).collect::<Vec<_>>(),
        clusters: &pairs.iter().map(|pair| pair.query).collect::<Vec<_>>(),
        mirror: Some(2.0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::sampling::SeededRng;
    use Outcome::{A, B, Tie};
    use proptest::prelude::*;

    fn turned(outcome: Outcome) -> Outcome {
        match outcome {
            A => B,
            Tie => Tie,
            B => A,
        }
    }

    fn labels(pairs: &[LabelledPair]) -> Vec<BattleLabels> {
        let of = |(query, first, second): &LabelledPair| BattleLabels {
            query: *query,
            labels: vec![*first, *second],
        };
        pairs.iter().map(of).collect()
    }

    #[test]
    fn chance_is_that_of_both_orientations() {
        // Two judges who always name the better document, which is always called A: chance is ½, not 1.
        let mut pairs = vec![(0, A, A); 9];
        pairs.push((0, A, B));
        let kappa = battle_kappa(&pairs).unwrap();
        assert!((kappa.expected - 0.5).abs() < 1e-12 && (kappa.value - 0.8).abs() < 1e-12);
        // Σ (o − .9)² / n² · n / (n − 1) over (1 − p_e)²: .9 · .1 / 9 · 4.
        assert!((kappa.se - 0.2).abs() < 1e-12, "{kappa:?}");
        assert_eq!(kappa.n, 10);
        // n = 20 labels, n_A = n_B = 10, one pair of ten differs: α = 1 − 19 · 2 / 200.
        let alpha = battle_alpha(&labels(&pairs)).unwrap();
        assert!((alpha.value - 0.81).abs() < 1e-12, "{alpha:?}");
        assert_eq!((alpha.units, alpha.values), (10, 20));
        assert_eq!(battle_kappa(&[(0, Tie, Tie)]), None);
        assert_eq!(battle_kappa(&[(0, A, A)]).unwrap().interval, None);
        assert_eq!(battle_kappa(&[]), None);
    }

    #[test]
    fn errors_are_those_of_leaving_queries_out() {
        let mut rng = SeededRng::new(3, &["battles"]);
        let mut pairs = Vec::new();
        for query in 0..60 {
            let good = 0.5 + 0.5 * rng.unit();
            for _ in 0..8 {
                let mut said = || match (rng.unit() < 0.15, rng.unit() < good) {
                    (true, _) => Tie,
                    (_, true) => A,
                    (_, false) => B,
                };
                pairs.push((query, said(), said()));
            }
        }
        let jackknife = |statistic: &dyn Fn(&[LabelledPair]) -> f64| {
            let without = |query: usize| {
                let rest = pairs.iter().filter(|(of, ..)| *of != query);
                statistic(&rest.copied().collect::<Vec<_>>())
            };
            let left: Vec<f64> = (0..60).map(without).collect();
            let mean = left.iter().sum::<f64>() / 60.0;
            let squares: f64 = left.iter().map(|value| (value - mean).powi(2)).sum();
            (59.0 / 60.0 * squares).sqrt()
        };
        let kappa = battle_kappa(&pairs).unwrap();
        let se = jackknife(&|rest| battle_kappa(rest).unwrap().value);
        assert!((kappa.se / se - 1.0).abs() < 0.03, "{} {se}", kappa.se);
        let interval = battle_alpha(&labels(&pairs)).unwrap().interval.unwrap();
        let half = 2.000_995 * jackknife(&|rest| battle_alpha(&labels(rest)).unwrap().value);
        let width = interval.high - interval.low;
        assert!((width / (2.0 * half) - 1.0).abs() < 0.03, "{width} {half}");
    }

    proptest! {
        #[test]
        fn calling_the_documents_the_other_way_round_changes_nothing(
            rows in prop::collection::vec((0usize..4, 0usize..3, 0usize..3, any::<bool>()), 1..40),
        ) {
            let all = [A, Tie, B];
            let pairs = |turn: bool| -> Vec<LabelledPair> {
                let pair = |(query, x, y, swap): &(usize, usize, usize, bool)| match turn && *swap {
                    true => (*query, turned(all[*x]), turned(all[*y])),
                    false => (*query, all[*x], all[*y]),
                };
                rows.iter().map(pair).collect()
            };
            let near = |x: f64, y: f64| (x - y).abs() < 1e-9;
            let (there, back) = (battle_kappa(&pairs(false)), battle_kappa(&pairs(true)));
            prop_assert_eq!(there.is_some(), back.is_some());
            if let (Some(there), Some(back)) = (there, back) {
                prop_assert!(near(there.value, back.value) && near(there.se, back.se));
            }
            let alpha = |turn: bool| battle_alpha(&labels(&pairs(turn)));
            let (there, back) = (alpha(false), alpha(true));
            prop_assert_eq!(there.is_some(), back.is_some());
            if let (Some(there), Some(back)) = (there, back) {
                prop_assert!(near(there.value, back.value));
                let low = |alpha: &Alpha| alpha.interval.map(|interval| interval.low);
                match (low(&there), low(&back)) {
                    (Some(x), Some(y)) => prop_assert!(near(x, y)),
                    (x, y) => prop_assert_eq!(x.is_some(), y.is_some()),
                }
            }
        }
    }
}
