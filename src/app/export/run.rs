//! Exports the documents of each query, by zELO or in the order of a ranking, as a TREC run.

use crate::app::error::{AppError, invalid};
use crate::app::scored_pools::scored_pools;
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::sanitise;
use crate::formats::trec;
use crate::store::Store;
use crate::store::corpus::QueryKey;
use std::collections::BTreeMap;
use std::io::Write;

/// A ranking of queries, best first.
#[derive(Clone, Debug)]
pub struct FoundRanking {
    /// Its name from here on.
    pub name: String,
    pub orders: BTreeMap<QueryId, Vec<(DocId, f64)>>,
    /// Whether the scores are only positions counted from the end.
    pub places_only: bool,
    /// Notes on it.
    pub notes: Vec<String>,
}

/// Writes a run whose last column is `tag`. Returns the number of documents without a score, which
/// are skipped.
///
/// # Errors
/// No document has a score, or an identifier does not fit in a column.
pub fn write_run(
    store: &Store,
    keys: &[QueryKey],
    tag: &str,
    mut out: &mut dyn Write,
) -> Result<usize, AppError> {
    let (mut written, mut left_out) = (0, 0);
    for pool in scored_pools(store, keys)? {
        let ranking = pool.ranking();
        left_out += pool.documents.len() - ranking.len();
        written += ranking.len();
        trec::write_run(&mut out, &pool.query, &ranking, tag)?;
    }
    match written {
        0 => Err(invalid!(
            "no document has a zELO score; run `overrule annotate` first"
        )),
        _ => Ok(left_out),
    }
}

/// Writes a ranking of the requested queries as a run. The last column is `tag`, or the ranking's
/// name.
///
/// # Errors
/// The ranking has none of the queries, or an identifier does not fit in a column.
pub fn write_ranking(
    ranking: &FoundRanking,
    wants: impl Fn(&QueryId) -> bool,
    tag: Option<&str>,
    mut out: &mut dyn Write,
) -> Result<(), AppError> {
    let tag = tag.unwrap_or(&ranking.name);
    let wanted = ranking.orders.iter().filter(|(query, _)| wants(query));
    let mut written = 0;
    for (query, order) in wanted {
        trec::write_run(&mut out, query, order, tag)?;
        written += order.len();
    }
    match written {
        0 => Err(invalid!(
            "{} does not rank these queries",
            sanitise::line(&ranking.name)
        )),
        _ => Ok(()),
    }
}
