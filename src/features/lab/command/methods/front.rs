//! Determines which methods are worth their price, and describes when zELO is not.

use crate::features::lab::app::{MethodOnQuery, MethodResult};
use crate::features::lab::command::sampler::{describe, mean_json};
use crate::features::lab::domain::{MeanInterval, quality_differences, summarize_quality};
use crate::features::methods::domain::reranking::{MethodKind, pareto_front};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// The methods of a table, in the same order.
pub(super) struct Fronts {
    pub(super) methods: Vec<MethodFronts>,
}

pub(super) struct MethodFronts {
    pub(super) calls: Place,
    pub(super) texts: Place,
}

/// The position of a method for one kind of price.
#[derive(Clone)]
pub(super) enum Place {
    Front,
    /// The best method that costs no more.
    Beaten {
        by: usize,
        cost: f64,
        difference: Option<MeanInterval>,
    },
    /// All queries failed.
    Unknown,
}

impl Fronts {
    pub(super) fn of(results: &[MethodResult]) -> Self {
        let calls = places(results, |query| query.calls);
        let texts = places(results, |query| query.shown);
        let methods = calls.into_iter().zip(texts);
        Self {
            methods: methods
                .map(|(calls, texts)| MethodFronts { calls, texts })
                .collect(),
        }
    }

    /// One line for each zELO method: whether it is on the front, or what beats it and by how much.
    pub(super) fn sentences(&self, results: &[MethodResult]) -> String {
        let mut text = String::new();
        for (row, front) in results.iter().zip(&self.methods) {
            if !matches!(row.method.kind, MethodKind::Zelo { .. }) {
                continue;
            }
            for (place, unit) in [(&front.calls, "calls"), (&front.texts, "texts")] {
                let Place::Beaten {
                    by,
                    cost,
                    difference,
                } = place
                else {
                    continue;
                };
                let by = results.get(*by).map(|row| row.method.to_string());
                let higher = difference
                    .filter(|mean| mean.half_width.is_some_and(|half| mean.mean.abs() > half));
                // Writing to a string cannot fail.
                let _ = writeln!(
                    text,
                    "{} is not on the front of {unit}: {} {} for {cost:.1} {unit} (NDCG@10 {}).",
                    row.method,
                    by.unwrap_or_default(),
                    match higher {
                        Some(_) => "is better",
                        None => "is no worse",
                    },
                    describe(*difference, true),
                );
            }
        }
        text
    }
}

impl MethodFronts {
    pub(super) fn words(&self) -> &'static str {
        match (self.calls.is_front(), self.texts.is_front()) {
            (true, true) => "calls, texts",
            (true, false) => "calls",
            (false, true) => "texts",
            (false, false) => "–",
        }
    }
}

impl Place {
    pub(super) fn is_front(&self) -> bool {
        matches!(self, Self::Front)
    }

    pub(super) fn as_json(&self, results: &[MethodResult]) -> Value {
        match self {
            Self::Front | Self::Unknown => Value::Null,
            Self::Beaten {
                by,
                cost,
                difference,
            } => json!({
                "by": results.get(*by).map(|row| row.method.to_string()),
                "cost": cost,
                "ndcg@10": difference.map(mean_json),
            }),
        }
    }
}

fn places(results: &[MethodResult], cost: impl Fn(&MethodOnQuery) -> usize) -> Vec<Place> {
    let point = |row: &MethodResult| {
        let quality = summarize_quality(&row.qualities());
        Some((row.mean(&cost)?, quality.ndcg?.mean))
    };
    let points: Vec<Option<(f64, f64)>> = results.iter().map(point).collect();
    let known: Vec<usize> = (0..points.len())
        .filter(|&at| points[at].is_some())
        .collect();
    let front = pareto_front(&points.iter().copied().flatten().collect::<Vec<_>>());
    let mut places = vec![Place::Unknown; results.len()];
    for (&at, on_front) in known.iter().zip(front) {
        let Some((own_cost, _)) = points[at] else {
            continue;
        };
        if on_front {
            places[at] = Place::Front;
            continue;
        }
        let rivals = known.iter().filter_map(|&rival| {
            let (cost, quality) = points[rival]?;
            (rival != at && cost <= own_cost).then_some((rival, cost, quality))
        });
        let best = rivals
            .max_by(|(_, x_cost, x), (_, y_cost, y)| x.total_cmp(y).then(y_cost.total_cmp(x_cost)));
        if let Some((by, cost, _)) = best {
            let better = quality_differences(&results[by].qualities(), &results[at].qualities());
            places[at] = Place::Beaten {
                by,
                cost,
                difference: better.ndcg,
            };
        }
    }
    places
}
