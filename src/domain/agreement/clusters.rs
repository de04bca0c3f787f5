//! Standard errors of estimates whose items come in clusters.
//!
//! Battles of one query are similar, and the queries are the sampling units: an interval that
//! treats every battle as independent is too narrow.

use super::{Interval, LEVEL};
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};
use std::collections::{BTreeMap, BTreeSet};

/// A standard error with its degrees of freedom.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClusteredError {
    pub se: f64,
    pub degrees: usize,
}

impl ClusteredError {
    /// The error of an estimate whose deviation is approximately the sum of its items' influences,
    /// each with its cluster. The cluster totals are taken as independent (Liang & Zeger 1986, with
    /// the factor G / (G − 1)); with a single cluster, its items are. `None` for fewer than two of
    /// either.
    pub fn new(influences: impl IntoIterator<Item = (usize, f64)>) -> Option<Self> {
        let once = influences.into_iter();
        Self::counted(once.map(|(cluster, influence)| (cluster, influence, 1)))
    }

    /// [`ClusteredError::new`] for repeated items: each comes with its number of copies.
    pub fn counted(influences: impl IntoIterator<Item = (usize, f64, usize)>) -> Option<Self> {
        Self::weighted(
            influences
                .into_iter()
                .map(|(cluster, influence, times)| (cluster, influence, times as f64)),
        )
    }

    /// As [`ClusteredError::counted`], but for items that can count in part; all parts of one item
    /// belong to one cluster.
    pub fn weighted(influences: impl IntoIterator<Item = (usize, f64, f64)>) -> Option<Self> {
        let influences: Vec<(usize, f64, f64)> = influences.into_iter().collect();
        let mut totals: BTreeMap<usize, f64> = BTreeMap::new();
        for (cluster, influence, weight) in influences.iter().filter(|(.., weight)| *weight > 0.0) {
            *totals.entry(*cluster).or_default() += influence * weight;
        }
        match totals.len() {
            1 => Self::of_totals(influences.iter().map(|(_, influence, n)| (*influence, *n))),
            _ => Self::of_totals(totals.into_values().map(|total| (total, 1.0))),
        }
    }

    fn of_totals(totals: impl Iterator<Item = (f64, f64)>) -> Option<Self> {
        let totals: Vec<(f64, f64)> = totals.collect();
        let n = totals.iter().map(|(_, weight)| weight).sum::<f64>().round();
        let degrees = (n as usize).checked_sub(1).filter(|degrees| *degrees > 0)?;
        let sum = |of: &dyn Fn(f64) -> f64| -> f64 {
            totals
                .iter()
                .map(|(total, weight)| of(*total) * weight)
                .sum()
        };
        let mean = sum(&|total| total) / n;
        let squares = sum(&|total| (total - mean).powi(2));
        Some(Self {
            se: (squares * n / degrees as f64).sqrt(),
            degrees,
        })
    }

    /// `value` ± t · se, clamped to `least`..=`most`; `None` unless the error is a number above 0.
    pub fn interval(self, value: f64, least: f64, most: f64) -> Option<Interval> {
        self.interval_at(LEVEL, value, least, most)
    }

    /// [`ClusteredError::interval`] at another level in 0..1.
    pub fn interval_at(self, level: f64, value: f64, least: f64, most: f64) -> Option<Interval> {
        let half = quantile(level, self.degrees)? * self.se;
        (self.se > 0.0 && half.is_finite() && value.is_finite()).then(|| Interval {
            low: (value - half).max(least),
            high: (value + half).min(most),
        })
    }

    /// The factor for an effective number of answers that makes an interval with the normal
    /// quantile as wide as one with the t quantile.
    pub(super) fn normal_factor(self) -> f64 {
        let normal = Normal::standard().inverse_cdf(0.5 + LEVEL / 2.0);
        quantile(LEVEL, self.degrees).map_or(1.0, |t| (normal / t).powi(2))
    }
}

/// Whether there are several clusters, at least one of them with several items. Otherwise
/// clustering adds nothing to the items.
pub(super) fn clusters_matter(clusters: impl IntoIterator<Item = usize>) -> bool {
    let (mut seen, mut items) = (BTreeSet::new(), 0);
    for cluster in clusters {
        seen.insert(cluster);
        items += 1;
    }
    seen.len() > 1 && seen.len() < items
}

fn quantile(level: f64, degrees: usize) -> Option<f64> {
    let student = StudentsT::new(0.0, 1.0, degrees as f64).ok()?;
    Some(student.inverse_cdf(0.5 + level / 2.0))
}

#[cfg(test)]
mod tests {
    use super::super::{SampledItem, Share, survey_share};
    use super::*;
    use crate::domain::sampling::SeededRng;

    #[test]
    fn totals_of_clusters_are_what_varies() {
        // Totals 3, −1 and −2 around 0: 3 / 2 · (9 + 1 + 4) = 21.
        let error =
            ClusteredError::new([(7, 1.0), (7, 2.0), (3, -1.0), (5, -4.0), (5, 2.0)]).unwrap();
        assert!((error.se - 21.0f64.sqrt()).abs() < 1e-12 && error.degrees == 2);
        let interval = error.interval(0.0, -1e9, 1e9).unwrap();
        assert!((interval.high - 4.302_652_73 * error.se).abs() < 1e-6);
        // One cluster: its items vary.
        let error = ClusteredError::new([(7, 1.0), (7, -1.0)]).unwrap();
        assert!((error.se - 2.0).abs() < 1e-12 && error.degrees == 1);
        assert_eq!(ClusteredError::new([(7, 1.0)]), None);
        assert_eq!(ClusteredError::new([]), None);
    }

    #[test]
    fn shares_of_battles_are_covered_where_queries_differ() {
        // 20 queries with 30 battles each; the judge's accuracy varies from .5 to 1 between
        // queries.
        let mut rng = SeededRng::new(5, &["clusters"]);
        let (mut clustered, mut plain, mut weighted) = (0, 0, 0);
        const REPS: usize = 500;
        for _ in 0..REPS {
            let mut items = Vec::new();
            for query in 0..20 {
                let rate = 0.5 + 0.5 * rng.unit();
                items.extend((0..30).map(|_| (query, f64::from(u8::from(rng.unit() < rate)))));
            }
            let holds =
                |interval: Interval| usize::from(interval.low <= 0.75 && 0.75 <= interval.high);
            clustered += holds(Share::clustered(items.iter().copied()).unwrap().interval);
            plain += holds(
                Share::clustered(items.iter().map(|(_, y)| (0, *y)))
                    .unwrap()
                    .interval,
            );
            let drawn: Vec<SampledItem> = items
                .iter()
                .map(|(cluster, value)| SampledItem {
                    value: *value,
                    inclusion: Some(0.1),
                    cluster: *cluster,
                })
                .collect();
            weighted += holds(survey_share(&drawn).corrected.unwrap().interval);
        }
        let share = |count: usize| count as f64 / REPS as f64;
        assert!(
            (0.93..=0.98).contains(&share(clustered)),
            "{}",
            share(clustered)
        );
        assert!(
            (0.93..=0.98).contains(&share(weighted)),
            "{}",
            share(weighted)
        );
        assert!(share(plain) < 0.85, "{}", share(plain));
    }

    #[test]
    fn one_query_or_one_battle_a_query_is_as_without_clusters() {
        let values = [1.0, 0.0, 1.0, 1.0];
        let plain = Share::of_clusters([(3.0, 4)]);
        assert_eq!(Share::clustered(values.map(|y| (3, y))), plain);
        assert_eq!(Share::clustered(values.into_iter().enumerate()), plain);
    }
}
