//! A measured value with its interval.

use crate::domain::metrics::{Resampling, equal_shares};
use serde::Serialize;

/// A value with its 95 % interval over queries; `None` if there are too few, or they do not differ.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Measured {
    pub value: f64,
    pub interval: Option<(f64, f64)>,
}

/// The interval of a share: if it is the same in all queries, Wilson's, as if each query were one
/// yes-or-no answer.
pub(super) fn share_interval(
    value: f64,
    queries: usize,
    resampled: Option<(f64, f64)>,
    resampling: &Resampling,
) -> Option<(f64, f64)> {
    match resampled {
        Some((low, high)) => Some((low.max(0.0), high.min(1.0))),
        None => equal_shares(value, queries, resampling.level),
    }
}
