//! Which document is drawn next, and with which probability.

use super::expected::ExpectedMetric;

/// Share of the draws that is uniform over the documents, whatever the probabilities say.
const UNIFORM_SHARE: f64 = 0.1;
/// Smallest p(1 − p) in the size of a document.
const SMALLEST_SPREAD: f64 = 0.05;
/// Smallest p(1 − p) in the expected variance.
pub(super) const SMALLEST_VARIANCE: f64 = 0.01;

/// What is measured: the mean over queries of a metric of one run, or of the first run minus the
/// second.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredFrame {
    pub metric: ExpectedMetric,
    pub queries: Vec<FrameQuery>,
}

/// The pool documents of a query, with their ranks in each run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FrameQuery {
    /// For each run, the rank of each document from 1; `None` if it was not retrieved.
    pub runs: Vec<Vec<Option<usize>>>,
}

impl FrameQuery {
    pub fn documents(&self) -> usize {
        self.runs.first().map_or(0, Vec::len)
    }

    /// The sum over runs of `value`, where the second run counts negatively.
    fn difference(&self, value: impl Fn(&[Option<usize>]) -> f64) -> f64 {
        let values = self.runs.iter().map(|ranks| value(ranks));
        values.zip([1.0, -1.0]).map(|(of, sign)| sign * of).sum()
    }
}

/// A document that can be drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DrawCandidate {
    /// Index of the query in the frame.
    pub query: usize,
    /// Index of the document in the query's pool.
    pub document: usize,
    /// Probability that it is relevant.
    pub relevance: f64,
    /// Expected impact of its ruling on the query's value.
    pub gradient: f64,
    /// Probability of being drawn next.
    pub probability: f64,
}

/// The state of a measurement before a draw.
#[derive(Clone, Debug, PartialEq)]
pub struct DrawDesign {
    /// The expected value of each query.
    pub values: Vec<f64>,
    /// Their mean.
    pub mean: f64,
    /// The documents that can be drawn.
    pub candidates: Vec<DrawCandidate>,
    /// The expected variance of the estimate from the next draw; 0 if no document can change the
    /// value.
    pub variance: f64,
}

impl MeasuredFrame {
    /// Whether a ruling on the document can change the value. For a sum over documents, this is
    /// known in advance: a document within the cutoff of both runs, or of none, never does.
    pub fn matters(&self, query: usize, document: usize) -> bool {
        query < self.queries.len()
            && (!self.metric.is_linear() || self.counted(query, document) != 0.0)
    }

    /// 1 if only the first run has the document within the cutoff, −1 if only the second one, and 0
    /// otherwise; for a single run, whether it has.
    pub(super) fn counted(&self, query: usize, document: usize) -> f64 {
        let is_counted = |ranks: &[Option<usize>]| {
            let rank = ranks.get(document).copied().flatten();
            f64::from(u8::from(
                rank.is_some_and(|rank| rank <= self.metric.cutoff()),
            ))
        };
        let of = self.queries.get(query);
        of.map_or(0.0, |of| of.difference(is_counted))
    }

    /// The probabilities of the next draw: a part proportional to |gradient|·√max(p(1 − p), .05),
    /// which is Neyman's allocation, and a uniform part. `known` holds the rulings, and `relevance`
    /// the probability of each document without one.
    pub fn design(&self, known: &[Vec<Option<bool>>], relevance: &[Vec<f64>]) -> DrawDesign {
        let mut design = DrawDesign {
            values: Vec::with_capacity(self.queries.len()),
            mean: 0.0,
            candidates: Vec::new(),
            variance: 0.0,
        };
        for (query, of) in self.queries.iter().enumerate() {
            let p: Vec<f64> = (0..of.documents())
                .map(|at| match known[query][at] {
                    Some(relevant) => f64::from(u8::from(relevant)),
                    None => relevance[query][at],
                })
                .collect();
            design
                .values
                .push(of.difference(|ranks| self.metric.mean(&p, ranks)));
            let gradients: Vec<Vec<f64>> = of
                .runs
                .iter()
                .map(|ranks| self.metric.gradient(&p, ranks))
                .collect();
            for document in 0..of.documents() {
                if known[query][document].is_none() && self.matters(query, document) {
                    let by_run = gradients.iter().map(|of| of[document]);
                    let gradient = by_run.zip([1.0, -1.0]).map(|(of, sign)| sign * of).sum();
                    design.candidates.push(DrawCandidate {
                        query,
                        document,
                        relevance: p[document],
                        gradient,
                        probability: 0.0,
                    });
                }
            }
        }
        let queries = self.queries.len() as f64;
        design.mean = design.values.iter().sum::<f64>() / queries;
        design.set_probabilities(queries, UNIFORM_SHARE);
        design
    }
}

impl DrawDesign {
    pub(super) fn set_probabilities(&mut self, queries: f64, uniform_share: f64) {
        let spread = |of: &DrawCandidate| of.relevance * (1.0 - of.relevance);
        let size = |of: &DrawCandidate| of.gradient.abs() * spread(of).max(SMALLEST_SPREAD).sqrt();
        let total: f64 = self.candidates.iter().map(size).sum();
        let uniform = 1.0 / self.candidates.len() as f64;
        for of in &mut self.candidates {
            let sized = if total > 0.0 {
                size(of) / total
            } else {
                uniform
            };
            of.probability = (1.0 - uniform_share) * sized + uniform_share * uniform;
        }
        let variance = |of: &DrawCandidate| {
            of.gradient.powi(2) * spread(of).max(SMALLEST_VARIANCE) / of.probability
        };
        self.variance = self.candidates.iter().map(variance).sum::<f64>() / queries.powi(2);
    }

    /// The candidate at this point of the cumulative distribution, `uniform` in (0, 1); `None` if
    /// nothing is left that can change the value.
    pub fn draw(&self, uniform: f64) -> Option<DrawCandidate> {
        if self.variance <= 0.0 {
            return None;
        }
        let mut below = 0.0;
        let drawn = self.candidates.iter().find(|of| {
            below += of.probability;
            uniform < below
        });
        drawn.or(self.candidates.last()).copied()
    }
}
