//! What the student that a project has named says of one query.

use super::student_effect::{CAP, StudentShare, rounded};
use crate::domain::sanitise;
use crate::domain::student::QueryPredictions;
use std::sync::Arc;

/// The student that a project has named, on one query.
#[derive(Clone, Debug, PartialEq)]
pub struct StudentOpinion {
    pub name: Arc<str>,
    pub predictions: Arc<QueryPredictions>,
    /// What all its predictions together count for in the fit, in battles per document, from 0; 0 counts for nothing.
    pub weight: f64,
}

impl StudentOpinion {
    /// What is printed with scores in which it counts.
    pub fn words(&self, share: StudentShare) -> String {
        let weight = rounded(share.weight);
        let cap = if share.weight < 0.999 * self.weight {
            format!("; the weight is {}, but {CAP}", self.weight)
        } else {
            String::new()
        };
        format!(
            "scores count student {} too: {weight} battles per document, on {} pairs that nobody has judged; \
             intervals are of the votes alone{cap}",
            sanitise::line(&self.name),
            share.pairs
        )
    }
}
