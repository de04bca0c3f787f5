//! Calls and results of reranking methods in the other file.

use crate::registry;
use crate::store::Result;
use crate::store::merge::{AddedCount, MatchedQuery, MergePart, Merger};
use rusqlite::params_from_iter;
use rusqlite::types::Value;

const CALL: &str = "uid, key, service, answer, readable, cause, tokens_input, tokens_output,
                    cost_usd, latency_ms, truncated, model, created_ms, message, raw";
const RESULT: &str = "uid, method, judges, identity, ranking, scores, calls, failed_calls,
                      shared_calls, tokens_in, tokens_out, cost_usd, wall_ms, service_ms, repairs,
                      truncated, document_chars, cut, failure, failure_type, created_ms";

const CALLS: AddedCount = AddedCount::detail("rerank_calls", "reranking call");
const RESULTS: AddedCount = AddedCount::new("rerank_results", "method ranking");

/// What is merged that belongs to no query.
pub(crate) const PART: MergePart = MergePart {
    name: "reranking calls",
    tables: &["rerank_call"],
    is_about_queries: false,
    merge: calls,
};

pub(crate) const COUNTS: &[AddedCount] = &[CALLS, RESULTS];

/// Copies calls of reranking methods, so that their answers need not be bought again.
fn calls(merger: &mut Merger<'_>) -> Result<()> {
    let mut statement = merger
        .from
        .prepare(&format!("SELECT {CALL} FROM rerank_call ORDER BY id"))?;
    let mut rows = statement.query([])?;
    let sql = format!(
        "INSERT INTO rerank_call ({CALL})
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15) ON CONFLICT
         DO NOTHING"
    );
    let mut is_new = false;
    while let Some(row) = rows.next()? {
        let values: Vec<Value> = (0..columns(CALL))
            .map(|at| row.get(at))
            .collect::<rusqlite::Result<_>>()?;
        if merger.db.change(&sql, params_from_iter(values))? > 0 {
            merger.merged.count(&CALLS, 1);
            merger.merged.spent_usd += row.get::<_, Option<f64>>("cost_usd")?.unwrap_or(0.0);
            is_new = true;
        }
    }
    if is_new {
        registry::answers_changed(merger.db, None)?;
    }
    Ok(())
}

/// Copies the results of methods for a query. The latest by creation time counts.
pub(crate) fn results(merger: &mut Merger<'_>, query: &mut MatchedQuery) -> Result<()> {
    let mut statement = merger.from.prepare_cached(&format!(
        "SELECT {RESULT} FROM rerank_result WHERE query = ?1 ORDER BY id"
    ))?;
    let mut rows = statement.query([query.theirs])?;
    let sql = format!(
        "INSERT INTO rerank_result (query, {RESULT})
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17,
         ?18, ?19, ?20, ?21, ?22) ON CONFLICT DO NOTHING"
    );
    while let Some(row) = rows.next()? {
        let mut values: Vec<Value> = vec![query.ours.0.into()];
        for at in 0..columns(RESULT) {
            values.push(row.get(at)?);
        }
        let new = merger.db.change(&sql, params_from_iter(values))?;
        merger.merged.count(&RESULTS, new);
    }
    Ok(())
}

fn columns(names: &str) -> usize {
    names.split(',').count()
}
