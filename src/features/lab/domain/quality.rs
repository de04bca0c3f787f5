//! The quality of scores if the truth is known, and means with intervals.

use crate::domain::metrics::kendall_tau_b;
use crate::domain::numeric::{best_first, correlation};
use statrs::distribution::{ContinuousCDF, StudentsT};

const DEPTH: usize = 10;

/// Grades 3, 2 and 1 go to the documents within these shares of the true ranking.
pub(super) const GRADE_SHARES: [f64; 3] = [0.03, 0.10, 0.25];

/// Scores compared with the truth; each measure is `None` if undefined.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quality {
    /// Kendall's τ-b, −1..=1; requires two different scores and two different true scores.
    pub tau: Option<f64>,
    /// NDCG@10 in 0..=1 with gains 2^grade − 1: grade 3 for the true top 3 % of the documents, 2
    /// for the next 7 % and 1 for the next 15 % (rounded, at least one document each as long as
    /// there are any).
    pub ndcg: Option<f64>,
    /// The share of the true top 10 among the first 10, in 0..=1.
    pub recall: Option<f64>,
    /// Pearson's correlation of scores and true scores, −1..=1.
    pub correlation: Option<f64>,
}

/// The quality of scores for documents with known true scores, both in pool order. Documents with
/// equal scores are ranked in pool order.
pub fn quality(scores: &[f64], truth: &[f64]) -> Quality {
    let (ranking, ideal) = (best_first(scores), best_first(truth));
    Quality {
        tau: kendall_tau_b(scores, truth),
        ndcg: ndcg(&ranking, &ideal),
        recall: recall(&ranking, &ideal),
        correlation: correlation(scores.iter().copied().zip(truth.iter().copied())),
    }
}

fn ndcg(ranking: &[usize], ideal: &[usize]) -> Option<f64> {
    let documents = ideal.len();
    let mut gains = vec![0.0; documents];
    let mut from = 0;
    for (step, share) in GRADE_SHARES.iter().enumerate() {
        let to = ((share * documents as f64).round() as usize)
            .clamp((from + 1).min(documents), documents);
        for document in &ideal[from..to] {
            gains[*document] = (8u32 >> step) as f64 - 1.0;
        }
        from = to;
    }
    let dcg = |order: &[usize]| -> f64 {
        let gained = order.iter().take(DEPTH).enumerate();
        gained
            .map(|(place, document)| {
                gains.get(*document).unwrap_or(&0.0) / (place as f64 + 2.0).log2()
            })
            .sum()
    };
    let best = dcg(ideal);
    (best > 0.0).then(|| dcg(ranking) / best)
}

fn recall(ranking: &[usize], ideal: &[usize]) -> Option<f64> {
    let wanted = &ideal[..DEPTH.min(ideal.len())];
    let found = ranking
        .iter()
        .take(DEPTH)
        .filter(|document| wanted.contains(document));
    let found = found.count();
    (!wanted.is_empty()).then(|| found as f64 / wanted.len() as f64)
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanInterval {
    pub mean: f64,
    /// Half the width of its 95 % interval (Student's t); `None` for a single query.
    pub half_width: Option<f64>,
    /// Number of queries with a value.
    pub count: usize,
}

impl MeanInterval {
    /// The mean of the values; `None` without values.
    pub fn of(values: &[f64]) -> Option<Self> {
        let count = values.len();
        if count == 0 {
            return None;
        }
        let mean = values.iter().sum::<f64>() / count as f64;
        let free = count as f64 - 1.0;
        let half_width = StudentsT::new(0.0, 1.0, free).ok().map(|t| {
            let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / free;
            t.inverse_cdf(0.975) * (variance / count as f64).sqrt()
        });
        Some(Self {
            mean,
            half_width,
            count,
        })
    }
}

/// Mean qualities of many queries, or mean differences, each over the queries for which it is
/// defined.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QualitySummary {
    pub tau: Option<MeanInterval>,
    pub ndcg: Option<MeanInterval>,
    pub recall: Option<MeanInterval>,
    pub correlation: Option<MeanInterval>,
}

pub fn summarize_quality(qualities: &[Quality]) -> QualitySummary {
    summarize(|part| qualities.iter().filter_map(part).collect())
}

/// The means of the differences to a baseline, query by query: `qualities` and `baseline` must be
/// of the same worlds in the same order.
pub fn quality_differences(qualities: &[Quality], baseline: &[Quality]) -> QualitySummary {
    summarize(|part| {
        qualities
            .iter()
            .zip(baseline)
            .filter_map(|(this, that)| Some(part(this)? - part(that)?))
            .collect()
    })
}

fn summarize(values: impl Fn(fn(&Quality) -> Option<f64>) -> Vec<f64>) -> QualitySummary {
    QualitySummary {
        tau: MeanInterval::of(&values(|quality| quality.tau)),
        ndcg: MeanInterval::of(&values(|quality| quality.ndcg)),
        recall: MeanInterval::of(&values(|quality| quality.recall)),
        correlation: MeanInterval::of(&values(|quality| quality.correlation)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_perfect_ranking_has_full_marks_and_its_reverse_none() {
        let truth: Vec<f64> = (0..40).map(f64::from).collect();
        let reverse: Vec<f64> = truth.iter().map(|t| -t).collect();
        let (best, worst) = (quality(&truth, &truth), quality(&reverse, &truth));
        assert_eq!((best.tau, worst.tau), (Some(1.0), Some(-1.0)));
        assert_eq!((best.ndcg, worst.ndcg), (Some(1.0), Some(0.0)));
        assert_eq!((best.recall, worst.recall), (Some(1.0), Some(0.0)));
        let ends = best.correlation.unwrap() - worst.correlation.unwrap();
        assert!((ends - 2.0).abs() < 1e-12);
    }

    #[test]
    fn graded_ndcg_is_the_textbook_sum() {
        // Of 20 documents, one has grade 3, one grade 2 and three grade 1; the best one is ranked
        // second.
        let truth: Vec<f64> = (0..20).map(|at| -f64::from(at)).collect();
        let mut scores = truth.clone();
        scores.swap(0, 1);
        let tail = 1.0 / 4f64.log2() + 1.0 / 5f64.log2() + 1.0 / 6f64.log2();
        let found = 3.0 + 7.0 / 3f64.log2() + tail;
        let ideal = 7.0 + 3.0 / 3f64.log2() + tail;
        let ndcg = quality(&scores, &truth).ndcg.unwrap();
        assert!((ndcg - found / ideal).abs() < 1e-12, "{ndcg}");
    }

    #[test]
    fn what_is_not_defined_is_missing() {
        let nothing = quality(&[], &[]);
        assert_eq!(
            (nothing.tau, nothing.ndcg, nothing.recall),
            (None, None, None)
        );
        let flat = quality(&[0.0, 0.0], &[1.0, 2.0]);
        assert_eq!((flat.tau, flat.correlation), (None, None));
        assert_eq!(MeanInterval::of(&[]), None);
        assert_eq!(MeanInterval::of(&[0.5]).unwrap().half_width, None);
        assert_eq!(summarize_quality(&[flat, flat]).tau, None);
    }

    #[test]
    fn intervals_are_students() {
        // Student's t at 0.975 with 4 degrees of freedom is 2.776445.
        let mean = MeanInterval::of(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        assert_eq!((mean.mean, mean.count), (3.0, 5));
        let half_width = mean.half_width.unwrap();
        assert!((half_width - 2.776_445 * (2.5f64 / 5.0).sqrt()).abs() < 1e-5);
    }

    #[test]
    fn differences_are_paired() {
        let with = |tau| Quality {
            tau,
            ndcg: None,
            recall: None,
            correlation: None,
        };
        let paired = quality_differences(
            &[with(Some(0.5)), with(None), with(Some(0.9))],
            &[with(Some(0.4)), with(Some(0.1)), with(Some(0.8))],
        );
        let tau = paired.tau.unwrap();
        assert!((tau.mean - 0.1).abs() < 1e-12 && tau.count == 2);
        assert!(tau.half_width.unwrap() < 1e-12);
        assert_eq!(paired.ndcg, None);
    }
}
