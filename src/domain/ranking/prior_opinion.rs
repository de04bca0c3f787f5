//! The predictions for one query, from the source that a project has named.

use super::opinion_effect::{CAP, OpinionShare, rounded};
use crate::domain::prediction::QueryPredictions;
use crate::domain::sanitize;
use std::sync::Arc;

/// The predictions for one query, from the source that a project has named.
#[derive(Clone, Debug, PartialEq)]
pub struct PriorOpinion {
    pub name: Arc<str>,
    pub predictions: Arc<QueryPredictions>,
    /// Total weight of its predictions in the fit, in battles per document; 0 means they do not
    /// count.
    pub weight: f64,
}

impl PriorOpinion {
    /// The note printed with scores in which it counts.
    pub fn words(&self, share: OpinionShare) -> String {
        let weight = rounded(share.weight);
        let cap = if share.weight < 0.999 * self.weight {
            format!("; the weight is {}, but {CAP}", self.weight)
        } else {
            String::new()
        };
        format!(
            "scores count student {} too: {weight} battles per document, on {} pairs that nobody \
             has judged; \
             intervals are of the votes alone{cap}",
            sanitize::line(&self.name),
            share.pairs
        )
    }
}
