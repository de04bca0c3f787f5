//! A query's plan: its battles, and a presentation for each judge and battle.

use super::Request;
use crate::domain::sampling::{self, Planned};

/// What a request means for one query.
pub(super) struct QueryPlan {
    /// The battles, in order.
    pub(super) planned: Vec<Planned>,
    /// For each judge, whether it is shown B first, in the order of `planned`.
    pub(super) swapped: Vec<Vec<bool>>,
    /// Documents entered, from the top.
    pub(super) depth: usize,
}

pub(super) fn plan_query(
    request: &Request,
    name: &str,
    documents: usize,
    judges: &[String],
) -> QueryPlan {
    let depth = request
        .depth
        .map_or(documents, |limit| limit.min(documents));
    let planned = sampling::plan(request.seed, name, depth, request.cycles);
    let swapped = judges
        .iter()
        .map(|judge| sampling::presentations(request.seed, name, judge, &planned))
        .collect();
    QueryPlan {
        planned,
        swapped,
        depth,
    }
}
