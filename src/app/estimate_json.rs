//! Means, shares and differences with their confidence intervals, as JSON.

use crate::domain::metrics::{Comparison, MeanEstimate};
use serde_json::{Value, json};

/// A mean with its interval, or nulls.
pub fn mean_json(estimate: Option<MeanEstimate>) -> Value {
    let interval = estimate.and_then(|estimate| estimate.interval);
    json!({
        "mean": estimate.map(|estimate| estimate.mean),
        "low": interval.map(|(low, _)| low),
        "high": interval.map(|(_, high)| high),
    })
}

/// A share with its interval, or nulls.
pub fn share_json(value: Option<f64>, interval: Option<(f64, f64)>) -> Value {
    json!({
        "value": value,
        "low": interval.map(|(low, _)| low),
        "high": interval.map(|(_, high)| high),
    })
}

/// The difference between two rankings on the same queries.
pub fn difference_json(of: Comparison) -> Value {
    json!({
        "queries": of.n,
        "mean": of.mean_difference,
        "low": of.interval.map(|(low, _)| low),
        "high": of.interval.map(|(_, high)| high),
    })
}
