//! The stored rankings of methods that ask judges or rerankers.

use crate::domain::metrics::JudgedRanking;
use crate::store::{Db, Result};
use std::collections::BTreeMap;

/// The latest ranking of each method that has judges, over all queries.
pub fn judged_rankings(db: &Db) -> Result<Vec<JudgedRanking>> {
    let mut found: BTreeMap<String, JudgedRanking> = BTreeMap::new();
    for row in db.rerank_results()?.into_iter().map(|result| result.row) {
        if row.judges.is_empty() || row.order.is_empty() {
            continue;
        }
        let of_method = found.entry(row.method.clone()).or_insert(JudgedRanking {
            method: row.method,
            judges: Vec::new(),
            orders: BTreeMap::new(),
        });
        for judge in row.judges {
            if !of_method.judges.contains(&judge) {
                of_method.judges.push(judge);
            }
        }
        of_method.orders.insert(row.query, row.order);
    }
    Ok(found.into_values().collect())
}
