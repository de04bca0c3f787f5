//! Computes Krippendorff's α for any number of raters, with missing labels.

use super::{ClusteredError, Interval};
use serde::Serialize;
use std::collections::BTreeMap;

/// Krippendorff's α with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Alpha {
    /// α, at most 1: 1 is full agreement, 0 is expected of randomly shuffled labels.
    pub value: f64,
    /// α ± t · se, clamped to −1..=1; `None` for fewer than two units and if `se` is 0, as it is
    /// for full agreement.
    pub interval: Option<Interval>,
    /// Units with at least two labels; other units carry no information about agreement.
    pub units: usize,
    /// Labels in those units.
    pub values: usize,
}

/// The input of α: units (rows) by raters (columns), with `None` for a missing label.
#[derive(Clone, Copy, Debug, Default)]
pub struct LabelUnits<'a> {
    pub rows: &'a [Vec<Option<f64>>],
    /// The cluster of each unit; empty if every unit is its own cluster.
    pub clusters: &'a [usize],
}

/// Krippendorff's nominal α = 1 − D_o / D_e (Krippendorff 2011, "Computing Krippendorff's
/// alpha-reliability").
///
/// Labels may be any numbers; one that is not finite counts as missing. With o_ck the coincidences
/// (every ordered pair of labels c, k within a unit of m labels counts 1 / (m − 1)), n_c their row
/// sums and n their sum, α = 1 − (n − 1) Σ_{c≠k} o_ck / Σ_{c≠k} n_c n_k. `None` if no unit has two
/// labels, or if all labels are the same, which leaves nothing to disagree about. It does not
/// matter who gave a label, so raters may differ between units.
///
/// The error is linearized: the derivative of α with respect to each unit's weight, summed by
/// cluster.
pub fn alpha(units: LabelUnits<'_>) -> Option<Alpha> {
    CodedUnits::new(&units).alpha()
}

impl CodedUnits {
    pub(super) fn alpha(&self) -> Option<Alpha> {
        let sums = self.sums();
        let value = sums.alpha()?;
        let error = ClusteredError::counted(
            self.units
                .iter()
                .map(|unit| (unit.cluster, sums.influence(unit), unit.times)),
        );
        let total = |of: fn(&AlphaUnit) -> usize| -> usize {
            self.units.iter().map(|unit| unit.times * of(unit)).sum()
        };
        Some(Alpha {
            value,
            interval: error.and_then(|error| error.interval(value, -1.0, 1.0)),
            units: total(|_| 1),
            values: total(|unit| unit.size),
        })
    }
}

/// A unit with at least two raters.
pub(super) struct AlphaUnit {
    pub(super) cluster: usize,
    /// Number of identical units.
    pub(super) times: usize,
    /// Number of raters.
    pub(super) size: usize,
    /// How often each distinct label occurs in it. With two orientations, both are included at half
    /// weight.
    pub(super) counts: Vec<(usize, f64)>,
    /// Σ_{c≠k} o_ck of the unit; the same for both orientations.
    pub(super) disagreement: f64,
}

/// The units with at least two raters, labels replaced by their index among the distinct ones.
pub(super) struct CodedUnits {
    /// Number of distinct labels.
    pub(super) labels: usize,
    pub(super) units: Vec<AlphaUnit>,
}

/// The sums that determine α.
struct AlphaSums {
    /// n_c by label.
    counts: Vec<f64>,
    /// n.
    all: f64,
    /// Σ_{c≠k} o_ck.
    observed: f64,
    /// Σ_{c≠k} n_c n_k.
    expected: f64,
}

impl CodedUnits {
    fn new(given: &LabelUnits<'_>) -> Self {
        // Adding zero turns -0.0 into 0.0, which is the same label.
        let rows: Vec<(usize, Vec<f64>)> = given
            .rows
            .iter()
            .enumerate()
            .map(|(at, row)| {
                let known = row.iter().flatten().map(|label| label + 0.0);
                let known = known.filter(|label| label.is_finite()).collect();
                let cluster = given.clusters.get(at).copied().unwrap_or(at);
                (cluster, known)
            })
            .filter(|(_, row): &(usize, Vec<f64>)| row.len() >= 2)
            .collect();
        let mut labels: Vec<f64> = rows.iter().flat_map(|(_, row)| row).copied().collect();
        labels.sort_by(f64::total_cmp);
        labels.dedup();
        let place = |label: f64| labels.partition_point(|other| *other < label);
        let units = rows
            .iter()
            .map(|(cluster, row)| {
                let mut counts: BTreeMap<usize, f64> = BTreeMap::new();
                for label in row {
                    *counts.entry(place(*label)).or_default() += 1.0;
                }
                let size = row.len();
                let same: f64 = counts.values().map(|count| count * count).sum();
                AlphaUnit {
                    cluster: *cluster,
                    times: 1,
                    size,
                    counts: counts.into_iter().collect(),
                    disagreement: ((size * size) as f64 - same) / (size as f64 - 1.0),
                }
            })
            .collect();
        Self {
            labels: labels.len(),
            units,
        }
    }

    fn sums(&self) -> AlphaSums {
        let mut counts = vec![0.0; self.labels];
        for unit in &self.units {
            for (label, count) in &unit.counts {
                counts[*label] += count * unit.times as f64;
            }
        }
        let all: f64 = counts.iter().sum();
        AlphaSums {
            all,
            observed: (self.units.iter())
                .map(|unit| unit.disagreement * unit.times as f64)
                .sum(),
            // Σ n_c n_k over different labels, without the double sum.
            expected: all * all - counts.iter().map(|count| count * count).sum::<f64>(),
            counts,
        }
    }
}

impl AlphaSums {
    fn alpha(&self) -> Option<f64> {
        let distinct = self.counts.iter().filter(|count| **count > 0.0).count();
        let alpha = 1.0 - (self.all - 1.0) * self.observed / self.expected;
        (distinct > 1 && alpha.is_finite()).then_some(alpha)
    }

    /// The derivative of α with respect to the unit's weight.
    fn influence(&self, unit: &AlphaUnit) -> f64 {
        let size = unit.size as f64;
        let shared = unit.counts.iter();
        let shared: f64 = shared
            .map(|(label, count)| self.counts[*label] * count)
            .sum();
        let expected = 2.0 * (self.all * size - shared);
        let within = size * self.observed + (self.all - 1.0) * unit.disagreement;
        ((self.all - 1.0) * self.observed * expected / self.expected - within) / self.expected
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn plain(rows: &[Vec<Option<f64>>]) -> Option<Alpha> {
        alpha(LabelUnits {
            rows,
            ..LabelUnits::default()
        })
    }

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
        let alpha = plain(&krippendorff()).unwrap();
        assert!((alpha.value - expected).abs() < 1e-12, "{alpha:?}");
        assert_eq!((alpha.units, alpha.values), (11, 40));
        let interval = alpha.interval.unwrap();
        assert!(interval.low < expected && expected < interval.high);
    }

    #[test]
    fn there_is_no_alpha_without_pairs_or_without_variation() {
        assert_eq!(plain(&[]), None);
        let lonely = [vec![Some(1.0), None], vec![None, Some(2.0)]];
        assert_eq!(plain(&lonely), None);
        let same = [vec![Some(1.0), Some(1.0)], vec![Some(1.0), Some(1.0)]];
        assert_eq!(plain(&same), None);
        let bad = [vec![Some(f64::NAN), Some(1.0)]];
        assert_eq!(plain(&bad), None);
    }

    #[test]
    fn one_unit_has_no_interval() {
        let one = plain(&[vec![Some(1.0), Some(2.0)]]).unwrap();
        assert_eq!((one.value, one.interval), (0.0, None));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn alpha_ignores_what_labels_are_called(
            table in prop::collection::vec(prop::collection::vec(prop::option::of(0u8..4), 3), 2..20),
        ) {
            let coded = |code: &dyn Fn(u8) -> f64| -> Option<f64> {
                let row = |row: &Vec<Option<u8>>| row.iter().map(|l| l.map(code)).collect();
                plain(&table.iter().map(row).collect::<Vec<_>>()).map(|alpha| alpha.value)
            };
            let straight = coded(&f64::from);
            let renamed = coded(&|l| [3.0, -8.0, 0.5, 100.0][usize::from(l)]);
            prop_assert_eq!(straight.is_some(), renamed.is_some());
            if let (Some(straight), Some(renamed)) = (straight, renamed) {
                prop_assert!((straight - renamed).abs() < 1e-9 && straight <= 1.0);
            }
        }
    }
}
