//! Calls and results of reranking methods in the other file.

use crate::registry;
use crate::store::Result;
use crate::store::corpus::QueryKey;
use crate::store::merge::{AddedCount, MatchedQuery, MergePart, Merger};
#[cfg(feature = "remote")]
use crate::store::merge::{AnswerCount, SharedAnswers, Terms};
#[cfg(feature = "remote")]
use rusqlite::params;
use rusqlite::types::Value;
use rusqlite::{Rows, params_from_iter};

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
    copy_calls(merger, statement.query([])?, None)
}

/// Copies calls that were made for this query of ours, if for one.
fn copy_calls(merger: &mut Merger<'_>, mut rows: Rows<'_>, query: Option<QueryKey>) -> Result<()> {
    let sql = format!(
        "INSERT INTO rerank_call (of_query, {CALL})
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)
         ON CONFLICT DO NOTHING"
    );
    let mut is_new = false;
    while let Some(row) = rows.next()? {
        let mut values: Vec<Value> = vec![query.map(|query| query.0).into()];
        for at in 0..columns(CALL) {
            values.push(row.get(at)?);
        }
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
    copy_results(merger, statement.query([query.theirs])?, query)
}

/// The results and calls for a query that machines share, of the methods that the terms name.
#[cfg(feature = "remote")]
pub(crate) const SHARED: SharedAnswers = SharedAnswers {
    command: "rerank",
    merge: |merger, query, terms| {
        let mut statement = merger.from.prepare_cached(&format!(
            "SELECT {CALL} FROM rerank_call WHERE of_query = ?1 ORDER BY id"
        ))?;
        copy_calls(merger, statement.query([query.theirs])?, Some(query.ours))?;
        let mut statement = merger.from.prepare_cached(&format!(
            "SELECT {RESULT} FROM rerank_result
             WHERE query = ?1 AND method IN (SELECT value FROM json_each(?2)) ORDER BY id"
        ))?;
        let rows = statement.query(params![query.theirs, methods(terms)])?;
        copy_results(merger, rows, query)
    },
    count: |db, query, terms| {
        let counted = db.one(
            "SELECT (SELECT count(*) FROM rerank_call WHERE of_query = ?1) + count(ranking),
                 count(*) - count(ranking)
             FROM rerank_result
             WHERE query = ?1 AND method IN (SELECT value FROM json_each(?2))",
            params![query.0, methods(terms)],
            |row| {
                Ok(AnswerCount {
                    answers: row.get(0)?,
                    failures: row.get(1)?,
                })
            },
        )?;
        Ok(counted)
    },
};

/// The names of the methods in the terms of shared work, as a JSON array.
#[cfg(feature = "remote")]
fn methods(terms: &Terms) -> String {
    let names = terms.get(METHODS_TERM);
    names.map_or_else(|| "[]".to_owned(), ToString::to_string)
}

/// The term of shared work with the names of the methods.
#[cfg(feature = "remote")]
pub(crate) const METHODS_TERM: &str = "list of methods";

fn copy_results(merger: &mut Merger<'_>, mut rows: Rows<'_>, query: &MatchedQuery) -> Result<()> {
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
