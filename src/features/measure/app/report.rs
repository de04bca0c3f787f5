//! The result of a measurement, in words and as JSON.

use super::draw::NextDocument;
use super::read::Measurement;
use crate::domain::metrics::{Measure, Metric};
use crate::domain::number_words::{count, counted, duration, fixed, signed};
use crate::domain::sanitize;
use crate::features::measure::domain::{
    ALPHA, CombinedEstimate, DrawDesign, FEWEST_DRAWS, IntervalKind, MeasuredVerdict,
};
use serde_json::{Value, json};

/// How a result is reported.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReportOptions {
    pub interval: IntervalKind,
    /// The largest difference that counts as equal.
    pub margin: f64,
}

/// A value with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeasuredValue {
    /// Number of rulings on drawn documents.
    pub rulings: usize,
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

impl MeasuredValue {
    fn excludes_zero(&self) -> bool {
        self.low > 0.0 || self.high < 0.0
    }
}

/// What is known from enough rulings.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredResult {
    /// The queries that were measured, where only rulings are missing.
    pub these_queries: MeasuredValue,
    /// Adds the spread between queries; `None` for a single query.
    pub queries_like_these: Option<MeasuredValue>,
    /// After fewer rulings, latest first.
    pub earlier: Vec<MeasuredValue>,
    /// For the difference of two runs.
    pub decision: Option<MeasuredDecision>,
}

/// Which of two runs is better.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeasuredDecision {
    pub verdict: MeasuredVerdict,
    /// The probability that the better run changes when everything is ruled on.
    pub flip_probability: f64,
    /// Expected number of further rulings until there is a verdict, with the confidence sequence;
    /// `None` if ruling on everything that is left takes no more.
    pub rulings_left: Option<usize>,
}

/// The present result of a measurement.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasureReport {
    pub run: String,
    pub baseline: Option<String>,
    pub metric: Metric,
    pub options: ReportOptions,
    pub queries: usize,
    /// Number of documents whose ruling can change the value, and how many are ruled on.
    pub documents: usize,
    pub ruled: usize,
    /// Number of rulings on drawn documents.
    pub drawn: usize,
    /// Why the value has an error that its interval does not contain.
    pub first_order: Option<&'static str>,
    /// Whether the value is an unbiased sum over documents, whatever the relevance model says.
    pub is_linear: bool,
    /// The mean residual of the relevance model on this run: rulings minus expectations; `None`
    /// before [`FEWEST_DRAWS`] rulings on drawn documents, and once the value is exact.
    pub residual: Option<MeasuredValue>,
    /// `None` before [`FEWEST_DRAWS`] rulings on drawn documents, and if the audit of the relevance
    /// model voids it.
    pub result: Option<MeasuredResult>,
    /// Viewing time of the rulings on drawn documents, as far as it was measured, in milliseconds,
    /// and the number of these rulings.
    pub active_ms: i64,
    pub timed: usize,
    pub notes: Vec<String>,
}

impl MeasureReport {
    /// `next` is the state before the next draw.
    pub fn new(measurement: &Measurement, next: &DrawDesign, options: ReportOptions) -> Self {
        let series = &measurement.series;
        let (documents, ruled) = series.documents();
        let drawn = series.ruled_draws().len();
        let is_difference = measurement.baseline.is_some();
        let first_order = match (measurement.is_linear, is_difference) {
            (true, _) => None,
            (false, false) => Some("the value of a single run depends on the relevance model"),
            (false, true) if measurement.metric.measure() != Measure::Ndcg => {
                Some("the coverage of the intervals was only tested for p and ndcg")
            }
            (false, true) if !measurement.on_one_scale => {
                Some("no anchors or links put the queries on one scale (`overrule scale run`)")
            }
            (false, true) => None,
        };
        let estimate = series
            .estimate(next)
            .filter(|of| of.is_exact() || of.draws >= FEWEST_DRAWS);
        let value = |of: &CombinedEstimate, half: f64| MeasuredValue {
            rulings: of.draws,
            value: of.value,
            low: of.value - half,
            high: of.value + half,
        };
        let of_kind = |of: &CombinedEstimate| value(of, of.half_width(options.interval, ALPHA));
        let is_open = estimate.is_some_and(|of| !of.is_exact());
        let residual = series.residual().filter(|_| is_open);
        let residual = residual.map(|of| of_kind(&of));
        let is_void = !measurement.is_linear && residual.is_some_and(|of| of.excludes_zero());
        let estimate = estimate.filter(|_| !is_void);
        let result = estimate.map(|of| {
            let between = of.half_width_like_these(options.interval, ALPHA, next.spread());
            let rulings_left = || match options.interval {
                IntervalKind::Sequence => {
                    of.rulings_to_decide(1.0 / next.variance, documents - ruled, options.margin)
                }
                IntervalKind::Student => None,
            };
            MeasuredResult {
                these_queries: of_kind(&of),
                queries_like_these: between.map(|half| value(&of, half)),
                earlier: series
                    .history(&earlier_counts(of.draws))
                    .iter()
                    .map(of_kind)
                    .collect(),
                decision: is_difference.then(|| MeasuredDecision {
                    verdict: of.verdict(options.interval, options.margin),
                    flip_probability: of.flip_probability(),
                    rulings_left: rulings_left(),
                }),
            }
        });
        Self {
            run: measurement.run.clone(),
            baseline: measurement.baseline.clone(),
            metric: measurement.metric,
            options,
            queries: series.queries(),
            documents,
            ruled,
            drawn,
            first_order,
            is_linear: measurement.is_linear,
            residual,
            result,
            active_ms: measurement.active_ms.iter().sum(),
            timed: measurement.active_ms.len(),
            notes: measurement.notes.clone(),
        }
    }

    /// Number of documents whose ruling can change the value and that nobody has ruled on.
    pub fn left(&self) -> usize {
        self.documents - self.ruled
    }

    /// The residual of the relevance model if it voids the result: it is significant, and the value
    /// depends on the model.
    pub fn void(&self) -> Option<&MeasuredValue> {
        let residual = self.residual.as_ref().filter(|of| of.excludes_zero());
        residual.filter(|_| !self.is_linear)
    }

    /// What limits the result, one sentence each.
    pub fn caveats(&self) -> Vec<String> {
        let residual = self.residual.as_ref().filter(|_| !self.is_linear);
        match (self.first_order, residual) {
            _ if self.void().is_some() => vec![
                "The relevance model was learned on other pools, and does not hold for this run. P@K \
                 does not depend on it; nor does any metric once all documents that count are ruled \
                 on."
                    .to_owned(),
            ],
            (None, None) => Vec::new(),
            (why, residual) => {
                let why = why.map(|why| {
                    format!("First order: the interval can be too narrow, because {why}.")
                });
                let audit = residual.map(|of| {
                    format!(
                        "Audit of the relevance model on {}: rulings differ from it by {} on average \
                         ({}), so no deviation is shown.",
                        counted(of.rulings, "draw"),
                        signed(of.value, 3),
                        range(of, signed)
                    )
                });
                why.into_iter().chain(audit).collect()
            }
        }
    }

    /// The result in one sentence.
    pub fn sentence(&self) -> String {
        let metric = metric_words(self.metric);
        let run = sanitize::line(&self.run);
        if let Some(of) = self.void() {
            return format!(
                "Void: on {}, rulings differ from the relevance model by {} on average ({}), and \
                 {metric} depends on it.",
                counted(of.rulings, "drawn document"),
                signed(of.value, 3),
                range(of, signed)
            );
        }
        let Some(result) = &self.result else {
            return format!(
                "Not yet: {} of {FEWEST_DRAWS} rulings on drawn documents.",
                self.drawn
            );
        };
        let of = &result.these_queries;
        let (Some(baseline), Some(decision)) = (&self.baseline, &result.decision) else {
            return format!(
                "{metric} of {run} is {} ({}) on these queries.",
                fixed(of.value, 3),
                range(of, fixed)
            );
        };
        let baseline = sanitize::line(baseline);
        let by = fixed(of.value.abs(), 3);
        let range = range(of, signed);
        let is_exact = of.low == of.high;
        let certainty = if is_exact {
            ": everything that counts is ruled on".to_owned()
        } else {
            format!(" ({range}), error ≤ {:.0} %", ALPHA * 100.0)
        };
        match decision.verdict {
            MeasuredVerdict::Better => {
                format!("{run} is better than {baseline} by {by} in {metric}{certainty}.")
            }
            MeasuredVerdict::Worse => {
                format!("{run} is worse than {baseline} by {by} in {metric}{certainty}.")
            }
            MeasuredVerdict::Equal if is_exact => {
                format!("{run} and {baseline} are equal in {metric}{certainty}.")
            }
            MeasuredVerdict::Equal => format!(
                "{run} and {baseline} are equal in {metric} within {}: two one-sided tests, error \
                 ≤ {:.0} %.",
                fixed(self.options.margin, 3),
                ALPHA * 100.0
            ),
            MeasuredVerdict::Undecided => {
                let side = if of.value >= 0.0 { "ahead" } else { "behind" };
                format!(
                    "Not decided: {run} is {side} by {by} in {metric}, and the interval contains \
                     0 ({range}).{}",
                    self.outlook(decision)
                )
            }
        }
    }

    /// How many more rulings a verdict is expected to take.
    fn outlook(&self, decision: &MeasuredDecision) -> String {
        if self.options.interval == IntervalKind::Student {
            return String::new();
        }
        let (words, rulings) = match decision.rulings_left {
            Some(1) => ("About 1 more ruling".to_owned(), 1),
            Some(rulings) => (format!("About {} more rulings", count(rulings)), rulings),
            None => {
                let left = self.left();
                let documents = counted(left, "document");
                (
                    format!("It takes a ruling on each of the {documents} left"),
                    left,
                )
            }
        };
        let time = self.seconds_per_ruling().map_or(String::new(), |seconds| {
            format!(" ({})", duration(seconds * rulings as f64))
        });
        format!(" {words}{time}.")
    }

    /// Mean viewing time of a ruling.
    fn seconds_per_ruling(&self) -> Option<f64> {
        (self.timed > 0).then(|| self.active_ms as f64 / 1000.0 / self.timed as f64)
    }

    pub fn json(&self, next: Option<&NextDocument>) -> Value {
        let value = |of: &MeasuredValue| json!({"rulings": of.rulings, "value": of.value, "low": of.low, "high": of.high});
        let result = self.result.as_ref();
        let decision = result.and_then(|of| of.decision);
        let interval = match self.options.interval {
            IntervalKind::Sequence => "sequence",
            IntervalKind::Student => "t",
        };
        json!({
            "run": self.run,
            "baseline": self.baseline,
            "metric": self.metric,
            "interval": interval,
            "level": 1.0 - ALPHA,
            "margin": self.options.margin,
            "queries": self.queries,
            "documents": self.documents,
            "ruled": self.ruled,
            "drawn": self.drawn,
            "not_yet": result.is_none() && self.void().is_none(),
            "void": self.void().is_some(),
            "model_residual": self.residual.as_ref().map(value),
            "needed": FEWEST_DRAWS,
            "first_order": self.first_order,
            "these_queries": result.map(|of| value(&of.these_queries)),
            "queries_like_these":
                result.and_then(|of| of.queries_like_these.as_ref()).map(value),
            "earlier": result.map(|of| of.earlier.iter().map(value).collect::<Vec<_>>()),
            "verdict": decision.map(|of| of.verdict),
            "flip_probability": decision.map(|of| of.flip_probability),
            "rulings_left": decision.and_then(|of| of.rulings_left),
            "active_ms": self.active_ms,
            "timed_rulings": self.timed,
            "next": next.map(|of| json!({
                "item": of.item,
                "query": of.query,
                "query_text": of.query_text,
                "document": of.document,
                "title": of.title,
                "text": &*of.text,
                "number": of.number,
            })),
            "sentence": self.sentence(),
            "warnings": self.notes,
        })
    }
}

/// `P@10`, `NDCG@10`.
pub fn metric_words(metric: Metric) -> String {
    metric.to_string().to_uppercase()
}

fn range(of: &MeasuredValue, number: fn(f64, usize) -> String) -> String {
    format!("{} to {}", number(of.low, 3), number(of.high, 3))
}

/// Half, a quarter, … of the rulings, as long as there are enough.
fn earlier_counts(draws: usize) -> Vec<usize> {
    std::iter::successors(Some(draws / 2), |count| Some(count / 2))
        .take_while(|count| *count >= FEWEST_DRAWS)
        .collect()
}
