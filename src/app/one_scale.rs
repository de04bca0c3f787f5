//! One scale over queries: which documents to grade, and what their grades make of a project's zELO.

mod report;
mod simulate;

pub use report::{ScaleReport, link_scale};
pub use simulate::{SimulatedDesign, simulate_designs};

use super::error::{AppError, invalid};
use crate::app::truth::scored_pools;
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::one_scale::anchor_places;
use crate::store::Store;
use crate::store::corpus::QueryKey;

/// A document to be graded.
#[derive(Clone, Debug, PartialEq)]
pub struct AnchorDocument {
    pub query: QueryId,
    pub document: DocId,
    /// By zELO, from 1.
    pub rank: usize,
}

/// The queries of a project.
fn all_queries(store: &Store) -> Result<Vec<QueryKey>, AppError> {
    let queries = store.read_blocking(|db| db.queries())?;
    Ok(queries.into_iter().map(|query| query.key).collect())
}

/// So many documents of each query, spread over its ranking by zELO.
pub fn anchors(store: &Store, count: usize) -> Result<Vec<AnchorDocument>, AppError> {
    let pools = scored_pools(store, &all_queries(store)?)?;
    let mut found = Vec::new();
    for pool in pools {
        let ranking = pool.ranking();
        for place in anchor_places(ranking.len(), count) {
            found.extend(ranking.get(place).map(|(document, _)| AnchorDocument {
                query: pool.query.clone(),
                document: document.clone(),
                rank: place + 1,
            }));
        }
    }
    match found.is_empty() {
        true => Err(invalid!(
            "no document has a zELO score; `overrule annotate` has the pools judged"
        )),
        false => Ok(found),
    }
}
