//! What the student that a project has named says of one query.

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
    /// What is said beside scores in which it counts on so many pairs.
    pub fn words(&self, pairs: usize) -> String {
        format!(
            "scores count student {} too: {} battles per document, on {pairs} pairs that nobody has judged; intervals are of the votes alone",
            sanitise::line(&self.name),
            self.weight
        )
    }
}
