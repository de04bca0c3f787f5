//! Krippendorff's α of any number of raters, with labels missing.

use super::{Interval, bootstrap};
use serde::Serialize;
use std::collections::BTreeMap;

/// How far apart two labels are: δ² of Krippendorff (2011), "Computing Krippendorff's alpha-reliability".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LabelScale {
    /// Labels are equal (0) or not (1).
    Nominal,
    /// Labels are ranks: the square of how many values of the data lie between the two, each of the two counted half.
    Ordinal,
    /// Labels are numbers: the square of their difference.
    Interval,
}

/// Krippendorff's α with its bootstrap interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Alpha {
    /// α up to 1: 1 for full agreement, 0 for labels that might as well have been dealt out at random.
    pub value: f64,
    /// The percentile interval over resampled units; `None` where it was not asked for, for fewer than two units, and
    /// where more than one resample in twenty has a single label only.
    pub interval: Option<Interval>,
    /// Units with two labels or more; the others say nothing of agreement.
    pub units: usize,
    /// Labels in those units.
    pub values: usize,
}

/// Krippendorff's α = 1 − D_o / D_e of units (rows) by raters (columns), a missing label being `None`.
///
/// Labels are coded as numbers: any codes will do for [`LabelScale::Nominal`], any in the right order for
/// [`LabelScale::Ordinal`]. A label that is not finite counts as missing. With o_ck the coincidences (every ordered pair of
/// labels c, k within a unit of m labels counts 1 / (m − 1)), n_c their row sums and n their sum,
/// α = 1 − (n − 1) Σ o_ck δ²_ck / Σ n_c n_k δ²_ck. `None` where no unit has two labels, and where all labels are the
/// same, so that there is nothing to disagree about. Who gave a label does not matter, so raters may differ from unit
/// to unit. `seed` is the bootstrap's; without one there is no interval, and a thousandth of the work.
pub fn alpha(units: &[Vec<Option<f64>>], scale: LabelScale, seed: Option<u64>) -> Option<Alpha> {
    let coded = CodedUnits::new(units, scale);
    let value = coded.alpha(&vec![1; coded.units.len()])?;
    let interval = seed.and_then(|seed| {
        let mut times = vec![0; coded.units.len()];
        bootstrap(coded.units.len(), seed, |drawn| {
            times.fill(0);
            drawn.iter().for_each(|at| times[*at] += 1);
            coded.alpha(&times)
        })
    });
    Some(Alpha {
        value,
        interval,
        units: coded.units.len(),
        values: coded.units.iter().map(AlphaUnit::size).sum(),
    })
}

/// Rows of (unit, rater, label) as the table [`alpha`] takes, units and raters in ascending order. Of several labels of
/// one rater for one unit the last counts.
pub fn units(rows: impl IntoIterator<Item = (usize, usize, f64)>) -> Vec<Vec<Option<f64>>> {
    let mut labels: BTreeMap<usize, BTreeMap<usize, f64>> = BTreeMap::new();
    let mut raters: BTreeMap<usize, ()> = BTreeMap::new();
    for (unit, rater, label) in rows {
        labels.entry(unit).or_default().insert(rater, label);
        raters.insert(rater, ());
    }
    labels
        .values()
        .map(|row| {
            let label = |rater: &usize| row.get(rater).copied();
            raters.keys().map(label).collect()
        })
        .collect()
}

/// A unit's labels: how often each of the data's distinct labels occurs in it.
struct AlphaUnit(Vec<(usize, usize)>);

impl AlphaUnit {
    fn size(&self) -> usize {
        self.0.iter().map(|(_, count)| count).sum()
    }
}

/// The units with two labels or more, labels replaced by their place among the distinct ones.
struct CodedUnits {
    scale: LabelScale,
    /// The distinct labels in ascending order, less their middle, so that large labels lose no digits.
    labels: Vec<f64>,
    units: Vec<AlphaUnit>,
}

impl CodedUnits {
    fn new(units: &[Vec<Option<f64>>], scale: LabelScale) -> Self {
        // Adding zero turns -0.0 into 0.0, which is the same label.
        let rows: Vec<Vec<f64>> = units
            .iter()
            .map(|row| {
                let known = row.iter().flatten().map(|label| label + 0.0);
                known.filter(|label| label.is_finite()).collect()
            })
            .filter(|row: &Vec<f64>| row.len() >= 2)
            .collect();
        let mut labels: Vec<f64> = rows.iter().flatten().copied().collect();
        labels.sort_by(f64::total_cmp);
        labels.dedup();
        let units = rows
            .iter()
            .map(|row| {
                let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
                for label in row {
                    let place = labels.partition_point(|other| other < label);
                    *counts.entry(place).or_default() += 1;
                }
                AlphaUnit(counts.into_iter().collect())
            })
            .collect();
        let middle = labels.get(labels.len() / 2).copied().unwrap_or(0.0);
        labels.iter_mut().for_each(|label| *label -= middle);
        Self {
            scale,
            labels,
            units,
        }
    }

    /// α where unit `u` occurs `times[u]` times.
    fn alpha(&self, times: &[usize]) -> Option<f64> {
        let mut counts = vec![0.0; self.labels.len()];
        for (AlphaUnit(labels), times) in self.units.iter().zip(times) {
            for (label, count) in labels {
                counts[*label] += (times * count) as f64;
            }
        }
        let n: f64 = counts.iter().sum();
        let places = self.places(&counts);
        let mut observed = 0.0;
        for (unit, times) in self.units.iter().zip(times) {
            let mut within = 0.0;
            for (at, (x, count)) in unit.0.iter().enumerate() {
                for (y, other) in unit.0.iter().skip(at + 1) {
                    let gap = match self.scale {
                        LabelScale::Nominal => 1.0,
                        LabelScale::Ordinal | LabelScale::Interval => places[*x] - places[*y],
                    };
                    within += 2.0 * (count * other) as f64 * gap * gap;
                }
            }
            observed += *times as f64 * within / (unit.size() as f64 - 1.0);
        }
        // Σ n_c n_k δ² without the double sum: n² − Σ n_c², or 2 n times the scatter about the mean.
        let expected = match self.scale {
            LabelScale::Nominal => n * n - counts.iter().map(|count| count * count).sum::<f64>(),
            LabelScale::Ordinal | LabelScale::Interval => {
                let weighted = || counts.iter().zip(&places);
                let mean = weighted().map(|(count, x)| count * x).sum::<f64>() / n;
                let scatter = weighted().map(|(count, x)| count * (x - mean).powi(2));
                2.0 * n * scatter.sum::<f64>()
            }
        };
        let distinct = counts.iter().filter(|count| **count > 0.0).count();
        let alpha = 1.0 - (n - 1.0) * observed / expected;
        (distinct > 1 && alpha.is_finite()).then_some(alpha)
    }

    /// Where the labels lie on a line on which δ² is the squared distance: for ranks, the middle of each label's share.
    fn places(&self, counts: &[f64]) -> Vec<f64> {
        if self.scale != LabelScale::Ordinal {
            return self.labels.clone();
        }
        let mut below = 0.0;
        let middle = |count: &f64| {
            let place = below + 0.5 * count;
            below += count;
            place
        };
        counts.iter().map(middle).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Krippendorff 2011: four observers, twelve units, labels missing.
    fn krippendorff() -> Vec<Vec<Option<f64>>> {
        let observers = [
            "123321412...",
            "1233224125.3",
            ".3332342251.",
            "12332441251.",
        ];
        (0..12)
            .map(|unit| {
                let label = |row: &&str| row.chars().nth(unit)?.to_digit(10).map(f64::from);
                observers.iter().map(label).collect()
            })
            .collect()
    }

    #[test]
    fn the_textbook_example_is_met_on_all_scales() {
        for (scale, expected) in [
            (LabelScale::Nominal, 0.743_421_052_631_579),
            (LabelScale::Ordinal, 0.815_387_503_754_881),
            (LabelScale::Interval, 0.849_107_142_857_143),
        ] {
            let alpha = alpha(&krippendorff(), scale, Some(1)).unwrap();
            assert!((alpha.value - expected).abs() < 1e-12, "{alpha:?}");
            assert_eq!((alpha.units, alpha.values), (11, 40));
            let interval = alpha.interval.unwrap();
            assert!(interval.low < expected && expected < interval.high);
        }
    }

    #[test]
    fn there_is_no_alpha_without_pairs_or_without_variation() {
        assert_eq!(alpha(&[], LabelScale::Nominal, Some(1)), None);
        let lonely = [vec![Some(1.0), None], vec![None, Some(2.0)]];
        assert_eq!(alpha(&lonely, LabelScale::Nominal, Some(1)), None);
        let same = [vec![Some(1.0), Some(1.0)], vec![Some(1.0), Some(1.0)]];
        for scale in [
            LabelScale::Nominal,
            LabelScale::Ordinal,
            LabelScale::Interval,
        ] {
            assert_eq!(alpha(&same, scale, Some(1)), None);
        }
        let bad = [vec![Some(f64::NAN), Some(1.0)]];
        assert_eq!(alpha(&bad, LabelScale::Interval, Some(1)), None);
    }

    #[test]
    fn one_unit_has_no_interval() {
        let one = alpha(&[vec![Some(1.0), Some(2.0)]], LabelScale::Nominal, Some(1)).unwrap();
        assert_eq!((one.value, one.interval), (0.0, None));
    }

    #[test]
    fn rows_become_units_by_raters() {
        let table = units([(7, 2, 1.0), (3, 0, 5.0), (7, 0, 0.0), (7, 2, 2.0)]);
        assert_eq!(table, [vec![Some(5.0), None], vec![Some(0.0), Some(2.0)]]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn nominal_alpha_ignores_names_and_ordinal_alpha_distances(
            table in prop::collection::vec(prop::collection::vec(prop::option::of(0u8..4), 3), 2..20),
        ) {
            let coded = |code: &dyn Fn(u8) -> f64| -> Vec<Vec<Option<f64>>> {
                table.iter().map(|row| row.iter().map(|l| l.map(code)).collect()).collect()
            };
            let plain = coded(&f64::from);
            let renamed = coded(&|l| [3.0, -8.0, 0.5, 100.0][usize::from(l)]);
            let stretched = coded(&|l| f64::from(l).exp());
            for (scale, other) in [(LabelScale::Nominal, renamed), (LabelScale::Ordinal, stretched)] {
                let value = |table: &[Vec<Option<f64>>]| alpha(table, scale, None).map(|a| a.value);
                let (one, two) = (value(&plain), value(&other));
                prop_assert_eq!(one.is_some(), two.is_some());
                if let (Some(one), Some(two)) = (one, two) {
                    prop_assert!((one - two).abs() < 1e-9 && one <= 1.0);
                }
            }
        }
    }
}
