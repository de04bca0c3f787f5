//! Calls and results of reranking methods in the other file.

use crate::registry;
use crate::store::Result;
use crate::store::corpus::QueryKey;
use crate::store::merge::{AddedCount, MatchedQuery, MergePart, Merger};
#[cfg(feature = "remote")]
use crate::store::merge::{AnswerCount, SharedAnswers, Terms};
#[cfg(feature = "remote")]
use rusqlite::params;
use rusqlite::{Rows, params_from_iter, types};
#[cfg(feature = "remote")]
use serde_json::Value;

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
        let mut values: Vec<types::Value> = vec![query.map(|query| query.0).into()];
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

/// The results and calls for a query that machines share, of the methods, judges and rerankers that
/// the terms name.
#[cfg(feature = "remote")]
pub(crate) const SHARED: SharedAnswers = SharedAnswers {
    command: "rerank",
    merge: |merger, query, terms| {
        let mut statement = merger.from.prepare_cached(&format!(
            "SELECT {CALL} FROM rerank_call
             WHERE of_query = ?1
             AND (?2 IS NULL OR service IN (SELECT value FROM json_each(?2))) ORDER BY id"
        ))?;
        let rows = statement.query(params![query.theirs, services(terms)])?;
        copy_calls(merger, rows, Some(query.ours))?;
        let mut statement = merger.from.prepare_cached(&format!(
            "SELECT {RESULT} FROM rerank_result
             WHERE query = ?1 AND method IN (SELECT value FROM json_each(?2)) ORDER BY id"
        ))?;
        let rows = statement.query(params![query.theirs, methods(terms)])?;
        copy_results(merger, rows, query)
    },
    count: |db, query, terms| {
        let counted = db.one(
            "SELECT (SELECT count(*) FROM rerank_call WHERE of_query = ?1
                     AND (?3 IS NULL OR service IN (SELECT value FROM json_each(?3))))
                     + count(ranking),
                 count(*) - count(ranking)
             FROM rerank_result
             WHERE query = ?1 AND method IN (SELECT value FROM json_each(?2))",
            params![query.0, methods(terms), services(terms)],
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

/// The names of the judges and rerankers in the terms of shared work, as a JSON array. Each of the
/// terms is a list of lists that begin with a name. `None` for older terms, which do not name the
/// rerankers: all calls are of the job then.
#[cfg(feature = "remote")]
fn services(terms: &Terms) -> Option<String> {
    let lists = [JUDGES_TERM, RERANKERS_TERM].map(|term| terms.get(term).and_then(Value::as_array));
    let services = lists.into_iter().flatten().flatten();
    let names = services.map(|service| Some(service.as_array()?.first()?.clone()));
    Some(names.collect::<Option<Value>>()?.to_string())
}

/// The terms of shared work with the judges and the rerankers.
#[cfg(feature = "remote")]
pub(crate) const JUDGES_TERM: &str = "judges";
#[cfg(feature = "remote")]
pub(crate) const RERANKERS_TERM: &str = "rerankers";

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
        let mut values: Vec<types::Value> = vec![query.ours.0.into()];
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

#[cfg(test)]
#[cfg(feature = "remote")]
mod tests {
    use super::*;
    use crate::app::merge::{PieceTerms, merge_piece};
    use crate::domain::candidate_question::Answer;
    use crate::features::methods::store::RerankCall;
    use crate::formats::dataset;
    use crate::store::merge::{MergeCounts, Piece, Snapshot};
    use crate::store::{Db, Store};
    use serde_json::json;
    use tempfile::TempDir;

    const LINE: &str = r#"{"query":{"id":"q","query":"trams"},"documents":[{"id":"a","content":"a tram"},{"id":"b","content":"a bus"}]}"#;

    /// A project with a query, and a call of each of these services about it.
    fn project(services: &[&'static str]) -> (TempDir, Store) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("calls.db")).unwrap();
        let services = services.to_vec();
        let add = move |db: &mut Db| {
            for pool in dataset::read_pools(LINE.as_bytes(), "in.jsonl") {
                db.add_pool(&pool.unwrap(), "in")?;
            }
            let query = db.find_query("q")?;
            for (at, service) in (1..).zip(services) {
                let call = RerankCall {
                    uid: [at; 16],
                    key: [at; 32],
                    service: service.to_owned(),
                    answer: Some(Answer::Numbers(vec![1, 2])),
                    cause: None,
                    message: None,
                    tokens_input: 9,
                    tokens_output: 1,
                    cost_usd: Some(0.5),
                    latency_ms: 1.0,
                    truncated: 0,
                    model: None,
                    created_ms: 1,
                    raw: None,
                };
                db.add_rerank_call_for(Some(query), &call)?;
            }
            Ok(())
        };
        store.write_blocking(add).unwrap();
        (folder, store)
    }

    fn terms(judges: &Value, rerankers: &Value) -> Terms {
        let terms = [
            (METHODS_TERM, json!(["prp"])),
            (JUDGES_TERM, judges.clone()),
            (RERANKERS_TERM, rerankers.clone()),
        ];
        let named = terms.into_iter().map(|(term, of)| (term.to_owned(), of));
        named.collect()
    }

    fn piece(store: &Store, terms: Terms) -> Piece {
        let pack = move |db: &mut Db| {
            let query = db.find_query("q")?;
            Piece::of_answers(db, query, &SHARED, &terms)
        };
        store.write_blocking(pack).unwrap().unwrap()
    }

    fn merged(piece: Piece, terms: Terms) -> MergeCounts {
        const OF: &SharedAnswers = &SHARED;
        let (_folder, store) = project(&[]);
        let merge = move |db: &mut Db| {
            let terms = PieceTerms::Answers {
                name: "q",
                of: OF,
                terms: &terms,
            };
            merge_piece(db, &Snapshot::of_piece(&piece.bytes)?, terms)
        };
        store.write_blocking(merge).unwrap()
    }

    #[test]
    fn a_piece_has_the_calls_of_the_judges_and_rerankers_in_the_terms() {
        let judge = |name: &str| json!([name, "compatible", "m", "h", "{}"]);
        let narrow = terms(&json!([judge("gpt")]), &json!([["voyage", "v 1"]]));
        let (_folder, store) = project(&["gpt", "other", "voyage", "prp"]);
        let two = piece(&store, narrow.clone());
        assert_eq!(two.votes, 2);
        assert_eq!(merged(two, narrow.clone()).spent_usd, 1.0);
        // Whoever packed more gets no more of it merged.
        let wide = terms(&json!([judge("gpt"), judge("other")]), &json!([]));
        let more = piece(&store, wide);
        assert_eq!(merged(more, narrow).spent_usd, 0.5);
    }

    #[test]
    fn a_job_whose_terms_do_not_name_the_rerankers_gives_all_calls() {
        let older = terms(&json!([]), &json!(["voyage 4 at https://example.org"]));
        let (_folder, store) = project(&["voyage", "zerank"]);
        let all = piece(&store, older.clone());
        assert_eq!(all.votes, 2);
        assert_eq!(merged(all, older).spent_usd, 1.0);
    }
}
