//! Computes Cohen's κ of two raters over nominal categories.

use super::Interval;
use serde::Serialize;

/// Cohen's κ with its large-sample error.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Kappa {
    /// κ in −1..=1: 1 is full agreement, 0 is the agreement expected by chance from the two raters'
    /// frequencies.
    pub value: f64,
    /// The share of items on which the two agree, p_o.
    pub observed: f64,
    /// The share on which they would agree by chance, p_e.
    pub expected: f64,
    /// The asymptotic standard error, which does not assume κ = 0.
    pub se: f64,
    /// κ ± z · se, clamped to −1..=1; `None` if `se` is 0, as it is for full agreement.
    pub interval: Option<Interval>,
    /// Number of items that both raters labeled.
    pub n: usize,
}

/// Cohen's κ (1960) of a square table of counts: rows are the first rater's categories and columns
/// the second's, in the same order. An item to which a rater gave several labels is spread over
/// several cells.
///
/// `None` without items, if both raters used one and the same label throughout (so that chance
/// agreement is 1), and for a table that is not square. The error is that of Fleiss, Cohen &
/// Everitt (1969), eq. 13: with p_ij the table's shares and p_i., p_.j its margins, n (1 − p_e)²
/// se² is
///
/// Σ_i p_ii [1 − (p_i. + p_.i)(1 − κ)]² + (1 − κ)² Σ_{i≠j} p_ij (p_.i + p_j.)² − [κ − p_e (1 −
/// κ)]².
pub fn kappa(table: &[Vec<f64>]) -> Option<Kappa> {
    if table.iter().any(|row| row.len() != table.len()) {
        return None;
    }
    let size = table.len();
    let n: f64 = table.iter().flatten().sum();
    if n <= 0.0 {
        return None;
    }
    let p = |row: usize, column: usize| table[row][column] / n;
    let rows: Vec<f64> = table
        .iter()
        .map(|row| row.iter().sum::<f64>() / n)
        .collect();
    let columns: Vec<f64> = (0..size)
        .map(|column| table.iter().map(|row| row[column]).sum::<f64>() / n)
        .collect();
    let observed: f64 = (0..size).map(|i| p(i, i)).sum();
    let expected: f64 = rows.iter().zip(&columns).map(|(r, c)| r * c).sum();
    if expected >= 1.0 - 1e-12 {
        return None;
    }
    let value = (observed - expected) / (1.0 - expected);
    let chance = 1.0 - value;
    let mut spread = -(value - expected * chance).powi(2);
    for i in 0..size {
        for j in 0..size {
            spread += p(i, j)
                * if i == j {
                    (1.0 - (rows[i] + columns[i]) * chance).powi(2)
                } else {
                    (chance * (columns[i] + rows[j])).powi(2)
                };
        }
    }
    let full = (0..size).all(|i| (0..size).all(|j| i == j || table[i][j] == 0.0));
    let se = if full {
        0.0
    } else {
        spread.max(0.0).sqrt() / ((1.0 - expected) * n.sqrt())
    };
    Some(Kappa {
        value,
        observed,
        expected,
        se,
        interval: Interval::normal(value, se, -1.0, 1.0),
        n: n.round() as usize,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn near(left: f64, right: f64, tolerance: f64) -> bool {
        (left - right).abs() <= tolerance
    }

    #[test]
    fn textbook_tables_give_textbook_figures() {
        // Cohen's two psychiatrists: κ .429 with a variance of .002885.
        let cohen = kappa(&[
            vec![106.0, 10.0, 4.0],
            vec![22.0, 28.0, 10.0],
            vec![2.0, 12.0, 6.0],
        ])
        .unwrap();
        assert!(near(cohen.value, 3.0 / 7.0, 1e-12) && near(cohen.observed, 0.7, 1e-12));
        assert!(near(cohen.expected, 0.475, 1e-12) && near(cohen.se.powi(2), 0.002_885, 5e-7));
        // Fleiss, Statistical Methods for Rates and Proportions: κ .68, error .087, .51 to .85.
        let fleiss = kappa(&[
            vec![75.0, 1.0, 4.0],
            vec![5.0, 4.0, 1.0],
            vec![0.0, 0.0, 10.0],
        ])
        .unwrap();
        let interval = fleiss.interval.unwrap();
        assert!(near(fleiss.value, 0.676_470_588_235_294, 1e-12));
        assert!(near(fleiss.se, 0.087_702_953_6, 1e-9));
        assert!(near(interval.low, 0.505, 5e-4) && near(interval.high, 0.848, 5e-4));
    }

    #[test]
    fn there_is_no_kappa_without_data_or_without_a_choice() {
        assert_eq!(kappa(&[vec![0.0, 0.0], vec![0.0, 0.0]]), None);
        assert_eq!(kappa(&[vec![2.0]]), None);
        assert_eq!(kappa(&[vec![1.0, 2.0], vec![3.0]]), None);
        assert_eq!(kappa(&[]), None);
    }

    #[test]
    fn full_agreement_has_no_interval() {
        let kappa = kappa(&[vec![1.0, 0.0], vec![0.0, 2.0]]).unwrap();
        assert_eq!((kappa.value, kappa.se, kappa.interval), (1.0, 0.0, None));
    }

    proptest! {
        #[test]
        fn exchanging_raters_or_renaming_labels_changes_nothing(
            counts in prop::array::uniform3(prop::array::uniform3(0usize..9)),
        ) {
            let table = |count: fn(&[[usize; 3]; 3], usize, usize) -> usize| -> Vec<Vec<f64>> {
                (0..3).map(|i| (0..3).map(|j| count(&counts, i, j) as f64).collect()).collect()
            };
            let there = kappa(&table(|counts, i, j| counts[i][j]));
            let back = kappa(&table(|counts, i, j| counts[2 - j][2 - i]));
            prop_assert_eq!(there.is_some(), back.is_some());
            if let (Some(there), Some(back)) = (there, back) {
                prop_assert!(near(there.value, back.value, 1e-12) && near(there.se, back.se, 1e-9));
                prop_assert!((-1.0..=1.0).contains(&there.value));
            }
        }
    }
}
