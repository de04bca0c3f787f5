//! Means and shares with their intervals, as JSON.

use crate::domain::metrics::MeanEstimate;
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
