//! A measurement: the drawn documents, the rulings on them, and what they show.

use super::design::{DrawDesign, MeasuredFrame};
use super::estimate::{CombinedEstimate, DrawEstimate, QuerySpread};
use super::expected::discount;
use super::relevance::{DrawnRuling, RelevanceFeatures, RelevanceModel};
use std::collections::HashSet;

/// Least variance of a ruling in the mean residual, so that no single surprise decides it.
const LEAST_VARIANCE: f64 = 0.05;

/// A document that was drawn, with everything that its estimate needs: later fits do not change it.
#[derive(Clone, Debug, PartialEq)]
pub struct Draw {
    /// For whom it was drawn, and the number of this person's draw, from 0.
    pub annotator: String,
    pub step: usize,
    /// Indexes of the query in the frame and of the document in its pool.
    pub query: usize,
    pub document: usize,
    /// The probability with which it was drawn.
    pub probability: f64,
    /// The probability that it is relevant, as known then.
    pub relevance: f64,
    pub gradient: f64,
    /// The expected variance of the estimate.
    pub variance: f64,
    /// The expected mean over queries.
    pub mean: f64,
}

/// Everything known about a measurement.
#[derive(Clone, Debug)]
pub struct MeasuredSeries {
    frame: MeasuredFrame,
    features: Vec<Vec<RelevanceFeatures>>,
    /// What people have ruled, however they came to the document.
    known: Vec<Vec<Option<bool>>>,
    draws: Vec<Draw>,
}

impl MeasuredSeries {
    /// `scores` holds the zELO and the query's offset of each document, `known` the effective
    /// rulings, `draws` the draws, earliest first.
    pub fn new(
        frame: MeasuredFrame,
        scores: &[Vec<(f64, f64)>],
        known: Vec<Vec<Option<bool>>>,
        draws: Vec<Draw>,
    ) -> Self {
        let features = features(&frame, scores);
        Self {
            frame,
            features,
            known,
            draws,
        }
    }

    pub fn queries(&self) -> usize {
        self.frame.queries.len()
    }

    /// The number of documents whose ruling can change the value, and how many of them are ruled
    /// on.
    pub fn documents(&self) -> (usize, usize) {
        let all: Vec<usize> = (0..self.queries()).collect();
        self.documents_of(&all)
    }

    /// The same, for some of the queries.
    pub(super) fn documents_of(&self, queries: &[usize]) -> (usize, usize) {
        let (mut mattering, mut ruled) = (0, 0);
        for query in queries {
            for (document, known) in self.known[*query].iter().enumerate() {
                if self.frame.matters(*query, document) {
                    mattering += 1;
                    ruled += usize::from(known.is_some());
                }
            }
        }
        (mattering, ruled)
    }

    /// The smallest and the largest mean value of some of the queries that the rulings leave
    /// possible, for a metric that is a sum over documents.
    pub(super) fn limits(&self, queries: &[usize]) -> (f64, f64) {
        let (mut least, mut greatest) = (0.0, 0.0);
        for query in queries {
            for (document, known) in self.known[*query].iter().enumerate() {
                let gain = self.frame.counted(*query, document);
                let (low, high) = match known {
                    Some(relevant) => [gain * f64::from(u8::from(*relevant)); 2].into(),
                    None => (gain.min(0.0), gain.max(0.0)),
                };
                least += low;
                greatest += high;
            }
        }
        // Equal fractions of whole numbers are equal numbers.
        let all = (self.frame.metric.cutoff() * queries.len()) as f64;
        (least / all, greatest / all)
    }

    /// The impact of a ruling on the value of its query, for a metric that is a sum over documents.
    pub(super) fn gradient(&self, query: usize, document: usize) -> f64 {
        self.frame.counted(query, document) / self.frame.metric.cutoff() as f64
    }

    /// The draws, earliest first.
    pub fn draws(&self) -> &[Draw] {
        &self.draws
    }

    fn ruling(&self, draw: &Draw) -> Option<bool> {
        *self.known.get(draw.query)?.get(draw.document)?
    }

    /// The draw that waits for a ruling by this person.
    pub fn open_draw(&self, annotator: &str) -> Option<&Draw> {
        let own = |draw: &&Draw| draw.annotator == annotator;
        let mut own = self.draws.iter().filter(own);
        own.find(|draw| self.ruling(draw).is_none())
    }

    /// The number of the person's next draw.
    pub fn next_step(&self, annotator: &str) -> usize {
        let own = self.draws.iter().filter(|draw| draw.annotator == annotator);
        own.map(|draw| draw.step + 1).max().unwrap_or(0)
    }

    /// The draws that count, earliest first, each with its ruling: those of each person up to the
    /// first without one. Otherwise an undone ruling would select what counts.
    pub fn ruled_draws(&self) -> Vec<(&Draw, bool)> {
        let mut open = HashSet::new();
        let mut counted = Vec::new();
        for draw in &self.draws {
            match self.ruling(draw) {
                Some(relevant) if !open.contains(&draw.annotator) => counted.push((draw, relevant)),
                _ => drop(open.insert(&draw.annotator)),
            }
        }
        counted
    }

    /// The state before the next draw.
    pub fn design(&self) -> DrawDesign {
        let rulings: Vec<DrawnRuling> = self
            .ruled_draws()
            .into_iter()
            .map(|(draw, relevant)| DrawnRuling {
                features: self.features[draw.query][draw.document],
                probability: draw.probability,
                relevant,
            })
            .collect();
        let model = RelevanceModel::after(&rulings);
        let relevance: Vec<Vec<f64>> = self
            .features
            .iter()
            .map(|of| of.iter().map(|of| model.probability(of)).collect())
            .collect();
        self.frame.design(&self.known, &relevance)
    }

    /// The estimate of each draw that counts, earliest first.
    fn estimates(&self) -> Vec<DrawEstimate> {
        let queries = self.frame.queries.len() as f64;
        let estimate = |(draw, relevant): (&Draw, bool)| {
            let residual = f64::from(u8::from(relevant)) - draw.relevance;
            DrawEstimate {
                value: draw.mean + draw.gradient * residual / (draw.probability * queries),
                variance: draw.variance,
            }
        };
        self.ruled_draws().into_iter().map(estimate).collect()
    }

    /// The mean residual of the relevance model: the ruling (0 or 1) minus the probability that was
    /// known before it, over the draws that count, weighted by 1 / p (1 − p). If the model holds for
    /// these documents, the expected residual of each draw is 0 given the earlier ones, however it
    /// was drawn, so that both intervals hold for it; `None` if nothing was drawn.
    pub fn residual(&self) -> Option<CombinedEstimate> {
        let residual = |(draw, relevant): (&Draw, bool)| DrawEstimate {
            value: f64::from(u8::from(relevant)) - draw.relevance,
            variance: (draw.relevance * (1.0 - draw.relevance)).max(LEAST_VARIANCE),
        };
        let residuals: Vec<DrawEstimate> = self.ruled_draws().into_iter().map(residual).collect();
        CombinedEstimate::of(&residuals)
    }

    /// The estimate after the first rulings on drawn documents, for each of these counts.
    pub fn history(&self, counts: &[usize]) -> Vec<CombinedEstimate> {
        let estimates = self.estimates();
        let first = |count: &usize| CombinedEstimate::of(estimates.get(..*count)?);
        counts.iter().filter_map(first).collect()
    }

    /// The estimate after all rulings, given the state before the next draw: the exact value if no
    /// document is left that can change it; `None` if nothing was drawn.
    pub fn estimate(&self, next: &DrawDesign) -> Option<CombinedEstimate> {
        let estimates = self.estimates();
        if next.variance <= 0.0 {
            return Some(CombinedEstimate::exact(next.mean, estimates.len()));
        }
        CombinedEstimate::of(&estimates)
    }
}

impl DrawDesign {
    /// The spread between queries of the expected values.
    pub fn spread(&self) -> QuerySpread {
        QuerySpread::of(&self.values)
    }
}

fn features(frame: &MeasuredFrame, scores: &[Vec<(f64, f64)>]) -> Vec<Vec<RelevanceFeatures>> {
    let discounts: Vec<Vec<f64>> = frame
        .queries
        .iter()
        .map(|of| {
            let mean = |document: usize| {
                let of_run = |ranks: &Vec<Option<usize>>| ranks[document].map_or(0.0, discount);
                of.runs.iter().map(of_run).sum::<f64>() / of.runs.len() as f64
            };
            (0..of.documents()).map(mean).collect()
        })
        .collect();
    let all = || discounts.iter().flatten().copied();
    let count = all().count().max(1) as f64;
    let mean = all().sum::<f64>() / count;
    let sd = (all().map(|of| (of - mean).powi(2)).sum::<f64>() / count).sqrt();
    let standardized = |of: f64| {
        if sd > 0.0 {
            (of - mean) / sd / 2.0
        } else {
            0.0
        }
    };
    scores
        .iter()
        .zip(&discounts)
        .map(|(scores, discounts)| {
            let of = |((zelo, offset), discount): (&(f64, f64), &f64)| RelevanceFeatures {
                zelo: *zelo,
                offset: *offset,
                discount: standardized(*discount),
            };
            scores.iter().zip(discounts).map(of).collect()
        })
        .collect()
}
