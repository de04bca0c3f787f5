//! The measures: their names and their formulas on one ranking.

use crate::domain::named::named;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;
use strum::{IntoStaticStr, VariantArray};
use thiserror::Error;

/// A measure of a ranking. All values are in 0..=1; larger is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Measure {
    /// Discounted cumulative gain divided by the best possible one: the gain is the grade, or 0 if
    /// negative, and the discount is log2(rank + 1) (Järvelin & Kekäläinen 2002; trec_eval `ndcg`,
    /// `ndcg_cut`).
    Ndcg,
    /// As `Ndcg`, with the gain 2^grade − 1 (Burges et al. 2005; ranx `ndcg_burges`).
    NdcgExp,
    /// One over the rank of the first relevant document (trec_eval `recip_rank`).
    Mrr,
    /// The sum of the precisions at the ranks of the relevant documents, divided by the number of
    /// relevant documents (trec_eval `map`, `map_cut`).
    Map,
    /// The share of the relevant documents that was retrieved (trec_eval `recall`).
    Recall,
    /// The share of judged irrelevant documents ranked below a relevant one; unjudged documents are
    /// ignored (Buckley & Voorhees 2004; trec_eval `bpref`).
    Bpref,
    /// The precision at the rank that equals the number of relevant documents (trec_eval `Rprec`).
    #[strum(serialize = "rprec")]
    RPrecision,
    /// The share of the first K ranks with a relevant document, even if fewer than K were retrieved
    /// (trec_eval `P`).
    #[strum(serialize = "p")]
    Precision,
    /// Whether a relevant document is among the first K (trec_eval `success`).
    Success,
    /// The share of the first K documents that has a label, which shows how far the other values
    /// can be trusted.
    Judged,
}

/// Whether a measure is computed over a whole ranking, its first K documents, or either.
enum MeasureDepth {
    Whole,
    First,
    Either,
}

named!(Measure, "a measure");

impl Measure {
    fn depth(self) -> MeasureDepth {
        match self {
            Self::Bpref | Self::RPrecision => MeasureDepth::Whole,
            Self::Precision | Self::Success | Self::Judged => MeasureDepth::First,
            _ => MeasureDepth::Either,
        }
    }
}

/// A measure with its cutoff, written as `ndcg`, `ndcg@10`, `p@5`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Metric {
    measure: Measure,
    cutoff: Option<NonZeroUsize>,
}

/// Why a string or a combination is not a metric.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{text:?} is not a metric: expected {}", Metric::expected())]
pub struct MetricError {
    text: String,
}

impl Metric {
    /// The measure over the first `cutoff` documents, or over all of them.
    ///
    /// # Errors
    /// If the cutoff is 0, given for a measure that has none (`bpref`, `rprec`), or missing for one
    /// that needs it (`p`, `success`, `judged`).
    pub fn new(measure: Measure, cutoff: Option<usize>) -> Result<Self, MetricError> {
        let metric = match (measure.depth(), cutoff.map(NonZeroUsize::new)) {
            (MeasureDepth::Whole | MeasureDepth::Either, None) => Some(None),
            (MeasureDepth::First | MeasureDepth::Either, Some(Some(cutoff))) => Some(Some(cutoff)),
            _ => None,
        };
        metric
            .map(|cutoff| Self { measure, cutoff })
            .ok_or_else(|| MetricError {
                text: cutoff.map_or(measure.to_string(), |k| format!("{measure}@{k}")),
            })
    }

    pub fn measure(self) -> Measure {
        self.measure
    }

    /// The number of documents from the top, or `None` for all.
    pub fn cutoff(self) -> Option<usize> {
        self.cutoff.map(NonZeroUsize::get)
    }

    /// All forms of metric names, for help texts: `ndcg[@K], …, p@K, …`.
    pub fn expected() -> String {
        let form = |measure: Measure| match measure.depth() {
            MeasureDepth::Whole => measure.to_string(),
            MeasureDepth::First => format!("{measure}@K"),
            MeasureDepth::Either => format!("{measure}[@K]"),
        };
        Measure::ALL.map(form).join(", ")
    }

    /// The value on one query, or `None` for the judged share of an empty ranking.
    pub(super) fn value(self, query: &GradedRanking) -> Option<f64> {
        let top = match self.cutoff {
            Some(k) => &query.ranked[..query.ranked.len().min(k.get())],
            None => &query.ranked,
        };
        let places = self.cutoff.map_or(top.len(), NonZeroUsize::get);
        let hits = || {
            top.iter()
                .filter(|grade| query.is_relevant(**grade))
                .count()
        };
        let ratio = |part: f64, whole: usize| {
            if whole == 0 { 0.0 } else { part / whole as f64 }
        };
        let first = || top.iter().position(|grade| query.is_relevant(*grade));
        Some(match self.measure {
            Measure::Ndcg => self.ndcg(query, |grade| grade),
            Measure::NdcgExp => {
                // Divide both sums by a power of two, which changes no digit of their ratio, so
                // that no grade overflows.
                let top = query.ideal.first().map_or(0.0, |largest| largest.floor());
                self.ndcg(query, |grade| (grade - top).exp2() - (-top).exp2())
            }
            Measure::Mrr => first().map_or(0.0, |above| 1.0 / (above + 1) as f64),
            Measure::Map => {
                let precisions = top
                    .iter()
                    .enumerate()
                    .filter(|(_, grade)| query.is_relevant(**grade))
                    .enumerate()
                    .map(|(hits, (above, _))| (hits + 1) as f64 / (above + 1) as f64);
                ratio(precisions.sum(), query.relevant)
            }
            Measure::Recall => ratio(hits() as f64, query.relevant),
            Measure::Precision => ratio(hits() as f64, places),
            Measure::Success => f64::from(first().is_some()),
            Measure::Judged if top.is_empty() => return None,
            Measure::Judged => ratio(top.iter().flatten().count() as f64, top.len()),
            Measure::RPrecision => {
                let hits = top
                    .iter()
                    .take(query.relevant)
                    .filter(|grade| query.is_relevant(**grade))
                    .count();
                ratio(hits as f64, query.relevant)
            }
            Measure::Bpref => ratio(query.bpref(), query.relevant),
        })
    }

    fn ndcg(self, query: &GradedRanking, gain: impl Fn(f64) -> f64) -> f64 {
        let places = self.cutoff.map_or(usize::MAX, NonZeroUsize::get);
        let sum = |gains: &[f64]| -> f64 {
            let discounted = |(above, of): (usize, &f64)| {
                if *of > 0.0 {
                    gain(*of) / ((above + 2) as f64).log2()
                } else {
                    0.0
                }
            };
            gains.iter().take(places).enumerate().map(discounted).sum()
        };
        let best = sum(&query.ideal);
        if best == 0.0 {
            0.0
        } else {
            sum(&query.gains) / best
        }
    }
}

/// One query's ranking as a list of grades.
#[derive(Debug)]
pub(super) struct GradedRanking {
    /// The grade at each rank; `None` is unjudged.
    pub(super) ranked: Vec<Option<i32>>,
    /// The gain of the document at each rank; 0 for an unjudged one.
    pub(super) gains: Vec<f64>,
    /// The positive gains of all judged documents, largest first.
    pub(super) ideal: Vec<f64>,
    /// The lowest grade that counts as relevant.
    pub(super) relevant_from: i32,
    /// Relevant documents, retrieved or not.
    pub(super) relevant: usize,
    /// Documents judged irrelevant, retrieved or not; a negative grade does not count as a
    /// judgment.
    pub(super) irrelevant: usize,
}

impl GradedRanking {
    fn is_relevant(&self, grade: Option<i32>) -> bool {
        grade.is_some_and(|grade| grade >= self.relevant_from)
    }

    fn bpref(&self) -> f64 {
        let mut above = 0;
        let mut sum = 0.0;
        for grade in self.ranked.iter().flatten() {
            if self.is_relevant(Some(*grade)) {
                let bound = self.relevant.min(self.irrelevant).max(1) as f64;
                sum += 1.0 - above.min(self.relevant) as f64 / bound;
            } else if *grade >= 0 {
                above += 1;
            }
        }
        sum
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.measure.name())?;
        match self.cutoff {
            Some(cutoff) => write!(f, "@{cutoff}"),
            None => Ok(()),
        }
    }
}

impl FromStr for Metric {
    type Err = MetricError;

    /// Parses the name, ignoring case.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || MetricError {
            text: text.to_owned(),
        };
        let lower = text.trim().to_ascii_lowercase();
        let (name, cutoff) = match lower.split_once('@') {
            Some((name, cutoff)) => (name, Some(cutoff.parse().map_err(|_| error())?)),
            None => (lower.as_str(), None),
        };
        let measure = name.parse().map_err(|_| error())?;
        Self::new(measure, cutoff).map_err(|_| error())
    }
}

impl TryFrom<String> for Metric {
    type Error = MetricError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Metric> for String {
    fn from(metric: Metric) -> Self {
        metric.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for name in [
            "ndcg",
            "ndcg@10",
            "ndcg_exp",
            "ndcg_exp@10",
            "mrr",
            "mrr@10",
            "map",
            "map@100",
            "recall",
            "recall@5",
            "bpref",
            "rprec",
            "p@5",
            "success@1",
            "judged@10",
        ] {
            assert_eq!(name.parse::<Metric>().unwrap().to_string(), name);
        }
        assert_eq!("NDCG@10".parse(), Metric::new(Measure::Ndcg, Some(10)));
    }

    #[test]
    fn what_is_no_metric_is_told_what_is() {
        for text in [
            "",
            "ndcg@",
            "ndcg@0",
            "ndcg@-1",
            "ndcg@ten",
            "p",
            "bpref@10",
            "f1@10",
            "ndcg@10@2",
        ] {
            let error = text.parse::<Metric>().unwrap_err().to_string();
            assert_eq!(
                error,
                format!(
                    "{text:?} is not a metric: expected ndcg[@K], ndcg_exp[@K], mrr[@K], map[@K], \
                     recall[@K], bpref, \
                     rprec, p@K, success@K, judged@K"
                )
            );
        }
    }

    #[test]
    fn a_ranking_has_the_values_of_the_textbook() {
        // An example in the style of Järvelin & Kekäläinen: grades 3 2 3 0 1 2, everything judged
        // is retrieved.
        let query = GradedRanking {
            ranked: vec![Some(3), Some(2), Some(3), None, Some(1), Some(2)],
            gains: vec![3.0, 2.0, 3.0, 0.0, 1.0, 2.0],
            ideal: vec![3.0, 3.0, 2.0, 2.0, 1.0],
            relevant_from: 1,
            relevant: 5,
            irrelevant: 0,
        };
        let of = |name: &str| name.parse::<Metric>().unwrap().value(&query).unwrap();
        let log = f64::log2;
        let dcg = 3.0 + 2.0 / log(3.0) + 3.0 / 2.0 + 1.0 / log(6.0) + 2.0 / log(7.0);
        let best = 3.0 + 3.0 / log(3.0) + 2.0 / 2.0 + 2.0 / log(5.0) + 1.0 / log(6.0);
        assert!((of("ndcg") - dcg / best).abs() < 1e-15);
        let best = 7.0 + 7.0 / log(3.0);
        assert!((of("ndcg_exp@2") - (7.0 + 3.0 / log(3.0)) / best).abs() < 1e-15);
        assert!((of("map") - (1.0 + 1.0 + 1.0 + 4.0 / 5.0 + 5.0 / 6.0) / 5.0).abs() < 1e-15);
        assert_eq!(
            (of("mrr"), of("recall@4"), of("p@4"), of("success@1")),
            (1.0, 0.6, 0.75, 1.0)
        );
        assert_eq!(
            (of("p@10"), of("judged@4"), of("rprec"), of("bpref")),
            (0.5, 0.75, 0.8, 1.0)
        );
    }

    #[test]
    fn gains_beyond_numbers_have_a_ratio_and_nothing_is_worth_nothing() {
        let mut query = GradedRanking {
            ranked: vec![Some(5000)],
            gains: vec![5000.0],
            ideal: vec![5000.0],
            relevant_from: 1,
            relevant: 1,
            irrelevant: 0,
        };
        let of = |name: &str, query: &GradedRanking| name.parse::<Metric>().unwrap().value(query);
        assert_eq!(of("ndcg_exp", &query), Some(1.0));
        assert_eq!(of("ndcg", &query), Some(1.0));
        // Two ranks below the top: 1 / log2(4).
        query.gains = vec![0.0, 0.0, 5000.0];
        query.ranked = vec![None, None, Some(5000)];
        assert_eq!(of("ndcg_exp", &query), Some(0.5));
        assert_eq!(of("ndcg_exp@2", &query), Some(0.0));
        query.ranked.clear();
        query.gains.clear();
        assert_eq!(of("ndcg", &query), Some(0.0));
        assert_eq!(of("p@3", &query), Some(0.0));
        assert_eq!(of("judged@3", &query), None);
    }
}
