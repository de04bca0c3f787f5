//! Reranking: the answers that methods were given, and the orders that they made of them.

use super::corpus::QueryKey;
use super::{Db, Result, StoreError};
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::methods::MethodRow;
use crate::domain::reranking::Answer;
use crate::domain::retrieval::SlotSource;
use crate::judge::FailureCause;
use rusqlite::{Row, params};
use serde::Serialize;

/// A call for a reranking method that has ended.
#[derive(Clone, Debug, PartialEq)]
pub struct RerankCall {
    /// Globally unique.
    pub uid: [u8; 16],
    /// The hash of the service and of everything it was sent.
    pub key: [u8; 32],
    /// The judge's or reranker's name.
    pub service: String,
    /// What was read; `None` for a failed call.
    pub answer: Option<Answer>,
    pub cause: Option<FailureCause>,
    /// What happened, for a failed call.
    pub message: Option<String>,
    pub tokens_input: u64,
    pub tokens_output: u64,
    /// US dollars; `None` where the price is unknown.
    pub cost_usd: Option<f64>,
    pub latency_ms: f64,
    /// Documents that were cut to the service's limit.
    pub truncated: u64,
    pub model: Option<String>,
    pub created_ms: i64,
    pub raw: Option<String>,
}

/// An answer that is there, with what it took to get it.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownAnswer {
    pub answer: Answer,
    pub tokens_input: u64,
    pub tokens_output: u64,
    pub cost_usd: Option<f64>,
    pub latency_ms: f64,
    pub truncated: u64,
}

/// A method's latest result on a query, and what it was made from.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredResult {
    /// The hash of method, judges and candidates.
    pub identity: [u8; 32],
    pub row: MethodRow,
}

/// What a judge answered on one day (UTC) for the common scale.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScaleDay {
    pub judge: String,
    /// Documents graded, or links answered.
    pub answers: usize,
    /// Queries that these are of.
    pub queries: usize,
    /// When the last of them came, in milliseconds since the Unix epoch.
    pub last_ms: i64,
    /// Of the first of them by its identifier: no other day has it.
    pub uid: String,
}

impl ScaleDay {
    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            judge: row.get(0)?,
            answers: row.get(2)?,
            queries: row.get(3)?,
            last_ms: row.get(4)?,
            uid: row.get(5)?,
        })
    }
}

/// What judges were asked on one day (UTC): a judge about pools, or those of a method.
#[derive(Clone, Debug, PartialEq)]
pub struct AskedDay {
    /// The judge, or the method with its judges.
    pub name: String,
    pub calls: usize,
    /// Calls that ended without an answer.
    pub failed: usize,
    /// Queries that were asked about.
    pub queries: usize,
    /// US dollars of all calls; `None` where the price of one is not known.
    pub cost_usd: Option<f64>,
    /// Seconds of all calls together; `None` where that of one is not known.
    pub seconds: Option<f64>,
    /// When the last of them ended, in milliseconds since the Unix epoch.
    pub last_ms: i64,
    /// No other day has it.
    pub uid: String,
}

impl AskedDay {
    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            name: row.get(0)?,
            calls: row.get(2)?,
            failed: row.get(3)?,
            queries: row.get(4)?,
            cost_usd: row.get(5)?,
            seconds: row.get(6)?,
            last_ms: row.get(7)?,
            uid: row.get(8)?,
        })
    }
}

/// What a judge has graded of a project's anchors.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AnchorCount {
    pub judge: String,
    pub queries: usize,
    /// Documents with a grade.
    pub grades: usize,
}

/// What the names of results begin with that grade the anchors of a scale. No method is called so: names of methods have no
/// spaces.
const ANCHORS: &str = "anchors of a scale/";

/// The name under which grades of a judge's anchors are kept: with another model, prompt or parameters, which make another
/// identity, it is another one.
pub fn anchors_method(judge: &str, identity: &[u8; 32]) -> String {
    let number = identity.iter().take(8);
    let number = number.fold(0u64, |sum, byte| sum << 8 | u64::from(*byte));
    format!("{ANCHORS}{number:016x}/{judge}")
}

impl Db {
    /// Stores a call that has ended.
    pub fn add_rerank_call(&self, call: &RerankCall) -> Result<()> {
        let answer = call
            .answer
            .as_ref()
            .map(serde_json::to_string)
            .transpose()?;
        let readable =
            matches!(&call.answer, Some(answer) if !matches!(answer, Answer::Unreadable(_)));
        self.change(
            "INSERT INTO rerank_call (uid, key, service, answer, readable, cause, tokens_input, tokens_output, cost_usd,
                 latency_ms, truncated, model, created_ms, message, raw)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15) ON CONFLICT DO NOTHING",
            params![
                &call.uid[..],
                &call.key[..],
                call.service,
                answer,
                readable,
                call.cause,
                call.tokens_input,
                call.tokens_output,
                call.cost_usd,
                call.latency_ms,
                call.truncated,
                call.model,
                call.created_ms,
                call.message,
                call.raw,
            ],
        )?;
        Ok(())
    }

    /// The latest answer to a question, one that could be read before one that could not. With `readable` only the former.
    pub fn rerank_answer(&self, key: &[u8; 32], readable: bool) -> Result<Option<KnownAnswer>> {
        let found = self.maybe(
            "SELECT answer, tokens_input, tokens_output, cost_usd, latency_ms, truncated FROM rerank_call
             WHERE key = ?1 AND (answer IS NULL) = 0 AND readable >= ?2 ORDER BY readable DESC, id DESC LIMIT 1",
            params![&key[..], readable],
            |row| {
                Ok((
                    row.get::<_, String>(0)?,
                    row.get(1)?,
                    row.get(2)?,
                    row.get(3)?,
                    row.get(4)?,
                    row.get(5)?,
                ))
            },
        )?;
        let known = found.map(
            |(text, tokens_input, tokens_output, cost_usd, latency_ms, truncated)| {
                let answer = serde_json::from_str(&text).map_err(|error| {
                    StoreError::Corrupt(format!("an answer cannot be read: {error}"))
                })?;
                Ok(KnownAnswer {
                    answer,
                    tokens_input,
                    tokens_output,
                    cost_usd,
                    latency_ms,
                    truncated,
                })
            },
        );
        known.transpose()
    }

    /// Stores what a method made of a query.
    pub fn add_rerank_result(
        &self,
        uid: &[u8; 16],
        query: QueryKey,
        result: &StoredResult,
    ) -> Result<()> {
        let row = &result.row;
        let order: Vec<&str> = row.order.iter().map(DocId::as_str).collect();
        let ranking = match row.failure {
            None => Some(serde_json::to_string(&order)?),
            Some(_) => None,
        };
        let scores = row.scores.as_ref().map(serde_json::to_string).transpose()?;
        self.change(
            "INSERT INTO rerank_result (uid, query, method, judges, identity, ranking, scores, calls, failed_calls, tokens_in,
                 tokens_out, cost_usd, wall_ms, service_ms, repairs, truncated, failure, created_ms)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)
             ON CONFLICT DO NOTHING",
            params![
                &uid[..],
                query.0,
                row.method,
                serde_json::to_string(&row.judges)?,
                &result.identity[..],
                ranking,
                scores,
                row.calls,
                row.failed_calls,
                row.tokens_in,
                row.tokens_out,
                row.cost_usd,
                row.wall_ms,
                row.service_ms,
                row.repairs,
                row.truncated,
                row.failure,
                row.created_ms,
            ],
        )?;
        Ok(())
    }

    /// The latest result of each method on each query, by query and method.
    pub fn rerank_results(&self) -> Result<Vec<StoredResult>> {
        self.latest_results(None, Some(false))
    }

    /// The latest grades of each judge's anchors of each query, by query and judge. A failure takes nothing back.
    pub fn anchor_results(&self) -> Result<Vec<StoredResult>> {
        self.latest_results(None, Some(true))
    }

    /// How much each judge has graded, by its name; a row for each model, prompt and parameters that it had.
    pub fn anchor_counts(&self) -> Result<Vec<AnchorCount>> {
        self.all(
            "SELECT latest.judges ->> '$[0]', count(DISTINCT latest.query), count(score.value)
             FROM rerank_result AS latest, json_each(latest.scores) AS score
             WHERE substr(method, 1, length(?1)) = ?1 AND NOT EXISTS (
                 SELECT 1 FROM rerank_result AS later
                 WHERE later.query = latest.query AND later.method = latest.method AND later.ranking IS NOT NULL
                     AND (later.created_ms, later.id) > (latest.created_ms, latest.id))
             GROUP BY method ORDER BY 1, method",
            [ANCHORS],
            |row| {
                Ok(AnchorCount {
                    judge: row.get(0)?,
                    queries: row.get(1)?,
                    grades: row.get(2)?,
                })
            },
        )
    }

    /// The grades that judges gave anchors, of one query or of all, by judge and day; also those that later ones of the same
    /// documents have replaced.
    pub fn anchor_days(&self, query: Option<QueryKey>) -> Result<Vec<ScaleDay>> {
        self.all(
            "SELECT judges ->> '$[0]', date(created_ms / 1000, 'unixepoch') AS day, count(score.value),
                 count(DISTINCT query), max(created_ms), min(lower(hex(uid)))
             FROM rerank_result, json_each(scores) AS score
             WHERE substr(method, 1, length(?1)) = ?1 AND (?2 IS NULL OR query = ?2)
             GROUP BY 1, day HAVING count(score.value) > 0 ORDER BY 1, day",
            params![ANCHORS, query.map(|query| query.0)],
            ScaleDay::read,
        )
    }

    /// What methods asked, of one query or of all, by method and day; not what graded the anchors of a scale.
    pub fn rerank_days(&self, query: Option<QueryKey>) -> Result<Vec<AskedDay>> {
        self.all(
            "SELECT method, date(created_ms / 1000, 'unixepoch') AS day, sum(calls), sum(failed_calls), count(DISTINCT query),
                 CASE WHEN count(cost_usd) = count(*) THEN sum(cost_usd) END,
                 CASE WHEN count(wall_ms) = count(*) THEN sum(wall_ms) / 1000.0 END,
                 max(created_ms), min(lower(hex(uid)))
             FROM rerank_result
             WHERE substr(method, 1, length(?1)) <> ?1 AND (?2 IS NULL OR query = ?2)
             GROUP BY method, day ORDER BY method, day",
            params![ANCHORS, query.map(|query| query.0)],
            AskedDay::read,
        )
    }

    /// All of these of one query.
    pub fn rerank_results_of(&self, query: QueryKey) -> Result<Vec<StoredResult>> {
        self.latest_results(Some(query), None)
    }

    /// How many documents of each query are in its pool for their label only: the first stage had not found them.
    pub fn missed_by_first_stage(&self) -> Result<Vec<(QueryId, usize)>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT query.name, count(*) FROM document JOIN query ON query.id = document.query
             WHERE instr(metadata, ?1) > 0 AND json_extract(metadata, '$.source') = ?1 GROUP BY query.id",
        )?;
        let mut rows = statement.query([SlotSource::LabelMissed.name()])?;
        let mut counts = Vec::new();
        while let Some(row) = rows.next()? {
            counts.push((QueryId::new(row.get::<_, String>(0)?), row.get(1)?));
        }
        Ok(counts)
    }

    /// With `anchors` only what graded the anchors of a scale, or only what did not.
    fn latest_results(
        &self,
        query: Option<QueryKey>,
        anchors: Option<bool>,
    ) -> Result<Vec<StoredResult>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT query.name, method, judges, identity, ranking, rerank_result.scores, calls, failed_calls, tokens_in,
                 tokens_out, cost_usd, wall_ms, service_ms, repairs, truncated, failure, created_ms
             FROM rerank_result JOIN query ON query.id = rerank_result.query
             WHERE (?1 IS NULL OR rerank_result.query = ?1) AND (?2 IS NULL OR (substr(method, 1, length(?3)) = ?3) = ?2)
                 AND (?2 IS NOT 1 OR ranking IS NOT NULL) AND NOT EXISTS (
                 SELECT 1 FROM rerank_result AS later
                 WHERE later.query = rerank_result.query AND later.method = rerank_result.method
                     AND (?2 IS NOT 1 OR later.ranking IS NOT NULL)
                     AND (later.created_ms, later.id) > (rerank_result.created_ms, rerank_result.id))
             ORDER BY rerank_result.query, method",
        )?;
        let mut rows = statement.query(params![query.map(|query| query.0), anchors, ANCHORS])?;
        let mut results = Vec::new();
        while let Some(row) = rows.next()? {
            results.push(stored_result(row)?);
        }
        Ok(results)
    }
}

fn stored_result(row: &Row<'_>) -> Result<StoredResult> {
    let ranking: Option<String> = row.get(4)?;
    let order: Vec<String> = ranking.map_or(Ok(Vec::new()), |text| serde_json::from_str(&text))?;
    let scores: Option<String> = row.get(5)?;
    Ok(StoredResult {
        identity: row.get(3)?,
        row: MethodRow {
            query: QueryId::new(row.get::<_, String>(0)?),
            method: row.get(1)?,
            judges: serde_json::from_str(&row.get::<_, String>(2)?)?,
            order: order.into_iter().map(DocId::new).collect(),
            scores: scores.map(|text| serde_json::from_str(&text)).transpose()?,
            calls: row.get(6)?,
            failed_calls: row.get(7)?,
            tokens_in: row.get(8)?,
            tokens_out: row.get(9)?,
            cost_usd: row.get(10)?,
            wall_ms: row.get(11)?,
            service_ms: row.get(12)?,
            repairs: row.get(13)?,
            truncated: row.get(14)?,
            failure: row.get(15)?,
            created_ms: row.get(16)?,
        },
    })
}
