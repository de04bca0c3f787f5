//! Krippendorff's α of any number of raters, with labels missing.

use super::{Interval, LEVEL};
use crate::domain::metrics::{Resampling, bootstraps};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

const RESAMPLES: usize = 1000;

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

/// Krippendorff's nominal α = 1 − D_o / D_e of units (rows) by raters (columns), a missing label being `None`
/// (Krippendorff 2011, "Computing Krippendorff's alpha-reliability").
///
/// Any numbers will do for labels; one that is not finite counts as missing. With o_ck the coincidences (every ordered pair
/// of labels c, k within a unit of m labels counts 1 / (m − 1)), n_c their row sums and n their sum,
/// α = 1 − (n − 1) Σ_{c≠k} o_ck / Σ_{c≠k} n_c n_k. `None` where no unit has two labels, and where all labels are the same, so
/// that there is nothing to disagree about. Who gave a label does not matter, so raters may differ from unit to unit. `seed`
/// is the bootstrap's; without one there is no interval, and a thousandth of the work.
pub fn alpha(units: &[Vec<Option<f64>>], seed: Option<u64>) -> Option<Alpha> {
    let coded = CodedUnits::new(units);
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
    let mut raters: BTreeSet<usize> = BTreeSet::new();
    for (unit, rater, label) in rows {
        labels.entry(unit).or_default().insert(rater, label);
        raters.insert(rater);
    }
    labels
        .values()
        .map(|row| {
            let label = |rater: &usize| row.get(rater).copied();
            raters.iter().map(label).collect()
        })
        .collect()
}

/// The percentile bootstrap interval of a statistic of exchangeable units; `None` where more than one resample in twenty is
/// undefined. The interval of few units is too narrow: with 10 of them it covers a mean at about 90 %.
fn bootstrap(
    units: usize,
    seed: u64,
    mut statistic: impl FnMut(&[usize]) -> Option<f64>,
) -> Option<Interval> {
    let how = Resampling {
        draws: RESAMPLES,
        level: LEVEL,
        seed,
    };
    let mut undefined = 0;
    let [interval] = bootstraps(units, &how, |drawn| {
        let value = statistic(drawn).filter(|value| value.is_finite());
        undefined += usize::from(value.is_none());
        [value]
    });
    let (low, high) = interval.filter(|_| undefined <= RESAMPLES / 20)?;
    Some(Interval { low, high })
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
    /// How many distinct labels there are.
    labels: usize,
    units: Vec<AlphaUnit>,
}

impl CodedUnits {
    fn new(units: &[Vec<Option<f64>>]) -> Self {
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
        Self {
            labels: labels.len(),
            units,
        }
    }

    /// α where unit `u` occurs `times[u]` times.
    fn alpha(&self, times: &[usize]) -> Option<f64> {
        let mut counts = vec![0.0; self.labels];
        for (AlphaUnit(labels), times) in self.units.iter().zip(times) {
            for (label, count) in labels {
                counts[*label] += (times * count) as f64;
            }
        }
        let n: f64 = counts.iter().sum();
        let mut observed = 0.0;
        for (unit, times) in self.units.iter().zip(times) {
            let mut within = 0.0;
            for (at, (_, count)) in unit.0.iter().enumerate() {
                for (_, other) in unit.0.iter().skip(at + 1) {
                    within += 2.0 * (count * other) as f64;
                }
            }
            observed += *times as f64 * within / (unit.size() as f64 - 1.0);
        }
        // Σ n_c n_k over different labels, without the double sum.
        let expected = n * n - counts.iter().map(|count| count * count).sum::<f64>();
        let distinct = counts.iter().filter(|count| **count > 0.0).count();
        let alpha = 1.0 - (n - 1.0) * observed / expected;
        (distinct > 1 && alpha.is_finite()).then_some(alpha)
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
    fn the_textbook_example_is_met() {
        let expected = 0.743_421_052_631_579;
        let alpha = alpha(&krippendorff(), Some(1)).unwrap();
        assert!((alpha.value - expected).abs() < 1e-12, "{alpha:?}");
        assert_eq!((alpha.units, alpha.values), (11, 40));
        let interval = alpha.interval.unwrap();
        assert!(interval.low < expected && expected < interval.high);
    }

    #[test]
    fn there_is_no_alpha_without_pairs_or_without_variation() {
        assert_eq!(alpha(&[], Some(1)), None);
        let lonely = [vec![Some(1.0), None], vec![None, Some(2.0)]];
        assert_eq!(alpha(&lonely, Some(1)), None);
        let same = [vec![Some(1.0), Some(1.0)], vec![Some(1.0), Some(1.0)]];
        assert_eq!(alpha(&same, Some(1)), None);
        let bad = [vec![Some(f64::NAN), Some(1.0)]];
        assert_eq!(alpha(&bad, Some(1)), None);
    }

    #[test]
    fn one_unit_has_no_interval() {
        let one = alpha(&[vec![Some(1.0), Some(2.0)]], Some(1)).unwrap();
        assert_eq!((one.value, one.interval), (0.0, None));
    }

    #[test]
    fn a_statistic_that_is_often_undefined_has_no_interval() {
        let half = bootstrap(8, 1, |drawn| (drawn[0] < 4).then_some(1.0));
        assert_eq!(half, None);
    }

    #[test]
    fn rows_become_units_by_raters() {
        let table = units([(7, 2, 1.0), (3, 0, 5.0), (7, 0, 0.0), (7, 2, 2.0)]);
        assert_eq!(table, [vec![Some(5.0), None], vec![Some(0.0), Some(2.0)]]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn alpha_ignores_what_labels_are_called(
            table in prop::collection::vec(prop::collection::vec(prop::option::of(0u8..4), 3), 2..20),
        ) {
            let coded = |code: &dyn Fn(u8) -> f64| -> Option<f64> {
                let row = |row: &Vec<Option<u8>>| row.iter().map(|l| l.map(code)).collect();
                alpha(&table.iter().map(row).collect::<Vec<_>>(), None).map(|alpha| alpha.value)
            };
            let plain = coded(&f64::from);
            let renamed = coded(&|l| [3.0, -8.0, 0.5, 100.0][usize::from(l)]);
            prop_assert_eq!(plain.is_some(), renamed.is_some());
            if let (Some(plain), Some(renamed)) = (plain, renamed) {
                prop_assert!((plain - renamed).abs() < 1e-9 && plain <= 1.0);
            }
        }
    }
}
