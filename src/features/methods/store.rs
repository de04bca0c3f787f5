//! Reranking: the answers that methods received, and the orders they produced.

use crate::domain::candidate_question::Answer;
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::hex::short_hex;
use crate::domain::retrieval::SlotSource;
use crate::domain::vote::Margin;
use crate::features::methods::domain::{MethodRow, RankingFailure};
use crate::judge::FailureCause;
use crate::store::corpus::QueryKey;
use crate::store::days::{AskedDay, ScaleDay};
use crate::store::identical_calls::BoughtReply;
use crate::store::{Db, Result, StoreError};
use rusqlite::{Row, params};
use serde::Serialize;
use std::collections::HashMap;

/// A finished call of a reranking method.
#[derive(Clone, Debug, PartialEq)]
pub struct RerankCall {
    /// Globally unique.
    pub uid: [u8; 16],
    /// Hash of the service and of everything it was sent.
    pub key: [u8; 32],
    /// Name of the judge or reranker.
    pub service: String,
    /// The parsed answer; `None` for a failed call.
    pub answer: Option<Answer>,
    pub cause: Option<FailureCause>,
    /// The error message of a failed call.
    pub message: Option<String>,
    pub tokens_input: u64,
    pub tokens_output: u64,
    /// US dollars; `None` if the price is unknown.
    pub cost_usd: Option<f64>,
    /// 0 for an answer in a batch, which nobody waited for.
    pub latency_ms: f64,
    /// Number of documents truncated to the service's limit.
    pub truncated: u64,
    pub model: Option<String>,
    pub created_ms: i64,
    pub raw: Option<String>,
}

/// The readable answer to a question about a pair, and who gave it.
#[derive(Clone, Debug, PartialEq)]
pub struct ServedAnswer {
    /// Negative if the document shown first is better.
    pub margin: Margin,
    /// The model that the answer names, with its fingerprint if it names one.
    pub model: Option<String>,
}

/// A stored answer with the cost of obtaining it.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownAnswer {
    pub answer: Answer,
    pub tokens_input: u64,
    pub tokens_output: u64,
    pub cost_usd: Option<f64>,
    pub latency_ms: f64,
}

/// A method's latest result for a query, and the input it was computed from.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredResult {
    /// Hash of method, judges and candidates.
    pub identity: [u8; 32],
    pub row: MethodRow,
}

/// The usage of a method's ranking of one query.
#[derive(Clone, Debug, PartialEq)]
pub struct RankingUsage {
    pub query: QueryKey,
    /// Hash of method, judges and candidates.
    pub identity: [u8; 32],
    /// Calls with an answer.
    pub answered: u64,
    /// Tokens of all calls.
    pub tokens_in: u64,
    pub tokens_out: u64,
    /// US dollars; `None` if any price is unknown.
    pub cost_usd: Option<f64>,
}

/// Number of a project's anchors that a judge has graded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AnchorCount {
    pub judge: String,
    pub queries: usize,
    /// Number of documents with a grade.
    pub grades: usize,
}

/// Name prefix of results that grade the anchors of a scale. Names of methods contain no spaces, so
/// no method has this prefix.
const ANCHORS: &str = "anchors of a scale/";

const CALL: &str =
    "uid, key, service, answer, cause, message, tokens_input, tokens_output, cost_usd,
     latency_ms, truncated, model, created_ms, raw";

/// The name under which the grades of a judge's anchors are stored. A different model, prompt or
/// parameters change the identity and therefore the name.
pub fn anchors_method(judge: &str, identity: &[u8; 32]) -> String {
    format!("{ANCHORS}{}/{judge}", short_hex(identity))
}

impl Db {
    /// Stores a finished call that was made for this query.
    pub fn add_rerank_call_for(&self, query: Option<QueryKey>, call: &RerankCall) -> Result<()> {
        self.add_rerank_call(call)?;
        if let Some(query) = query {
            self.change(
                "UPDATE rerank_call SET of_query = ?2 WHERE uid = ?1",
                params![&call.uid[..], query.0],
            )?;
        }
        Ok(())
    }

    /// Stores a finished call.
    pub fn add_rerank_call(&self, call: &RerankCall) -> Result<()> {
        let answer = call
            .answer
            .as_ref()
            .map(serde_json::to_string)
            .transpose()?;
        let readable =
            matches!(&call.answer, Some(answer) if !matches!(answer, Answer::Unreadable(_)));
        self.change(
            "INSERT INTO rerank_call (uid, key, service, answer, readable, cause, tokens_input,
             tokens_output, cost_usd,
                 latency_ms, truncated, model, created_ms, message, raw)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15) ON CONFLICT
             DO NOTHING",
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

    /// The finished calls with this question, failed ones included, in order of time.
    pub fn rerank_calls(&self, key: &[u8; 32]) -> Result<Vec<RerankCall>> {
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT {CALL} FROM rerank_call WHERE key = ?1 ORDER BY created_ms, uid"
        ))?;
        let mut rows = statement.query([&key[..]])?;
        let mut calls = Vec::new();
        while let Some(row) = rows.next()? {
            calls.push(read_call(row)?);
        }
        Ok(calls)
    }

    /// The finished call with this ID.
    pub fn rerank_call(&self, uid: &[u8; 16]) -> Result<Option<RerankCall>> {
        let mut statement = self
            .connection
            .prepare_cached(&format!("SELECT {CALL} FROM rerank_call WHERE uid = ?1"))?;
        let mut rows = statement.query([&uid[..]])?;
        rows.next()?.map(read_call).transpose()
    }

    /// Whether a call with this question has ended, with or without an answer.
    pub fn has_rerank_call(&self, key: &[u8; 32]) -> Result<bool> {
        self.value(
            "SELECT EXISTS (SELECT 1 FROM rerank_call WHERE key = ?1)",
            [&key[..]],
        )
    }

    /// The latest answer to a question; readable answers take precedence over unreadable ones. With
    /// `readable`, only readable ones are considered.
    pub fn rerank_answer(&self, key: &[u8; 32], readable: bool) -> Result<Option<KnownAnswer>> {
        let found = self.maybe(
            "SELECT answer, tokens_input, tokens_output, cost_usd, latency_ms
             FROM rerank_call
             WHERE key = ?1 AND (answer IS NULL) = 0 AND readable >= ?2 ORDER BY readable DESC,
             id DESC LIMIT 1",
            params![&key[..], readable],
            |row| {
                Ok((
                    row.get::<_, String>(0)?,
                    row.get(1)?,
                    row.get(2)?,
                    row.get(3)?,
                    row.get(4)?,
                ))
            },
        )?;
        let known = found.map(
            |(text, tokens_input, tokens_output, cost_usd, latency_ms)| {
                let answer = serde_json::from_str(&text).map_err(|error| {
                    StoreError::Corrupt(format!("an answer cannot be read: {error}"))
                })?;
                Ok(KnownAnswer {
                    answer,
                    tokens_input,
                    tokens_output,
                    cost_usd,
                    latency_ms,
                })
            },
        );
        known.transpose()
    }

    /// The latest readable reply to a question about a pair.
    pub fn pair_reply(&self, key: &[u8; 32]) -> Result<Option<BoughtReply>> {
        self.maybe(
            "SELECT answer ->> '$.margin', raw, model, truncated > 0 FROM rerank_call
             WHERE key = ?1 AND (answer IS NULL) = 0 AND readable AND json_type(answer, '$.margin')
             IS NOT NULL ORDER BY id DESC LIMIT 1",
            [&key[..]],
            |row| {
                Ok(BoughtReply {
                    margin: row.get(0)?,
                    raw: row.get(1)?,
                    model: row.get(2)?,
                    truncated: row.get(3)?,
                })
            },
        )
    }

    /// The first readable answer to a question about a pair by time, so that merged copies agree.
    pub fn served_answer(&self, key: &[u8; 32]) -> Result<Option<ServedAnswer>> {
        self.maybe(
            "SELECT answer ->> '$.margin', model FROM rerank_call
             WHERE key = ?1 AND (answer IS NULL) = 0 AND readable AND json_type(answer, '$.margin')
             IS NOT NULL ORDER BY created_ms, uid LIMIT 1",
            [&key[..]],
            |row| {
                Ok(ServedAnswer {
                    margin: row.get(0)?,
                    model: row.get(1)?,
                })
            },
        )
    }

    /// Whether there is a readable reply of this judge to a question about a pair.
    pub fn has_pair_replies(&self, judge: &str) -> Result<bool> {
        self.value(
            "SELECT EXISTS (SELECT 1 FROM rerank_call WHERE service = ?1 AND readable
             AND json_type(answer, '$.margin') IS NOT NULL)",
            [judge],
        )
    }

    /// Stores a method's result for a query.
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
        let cut = row.cut.as_ref().map(serde_json::to_string).transpose()?;
        let failure = row.failure.as_ref();
        self.change(
            "INSERT INTO rerank_result (uid, query, method, judges, identity, ranking, scores,
             calls, failed_calls, shared_calls, tokens_in, tokens_out, cost_usd, wall_ms,
             service_ms, repairs, truncated, document_chars, cut, failure, failure_type, created_ms)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17,
             ?18, ?19, ?20, ?21, ?22)
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
                row.shared_calls,
                row.tokens_in,
                row.tokens_out,
                row.cost_usd,
                row.wall_ms,
                row.service_ms,
                row.repairs,
                row.truncated,
                row.document_chars,
                cut,
                failure.map(|failure| &failure.message),
                failure.map(|failure| failure.kind.name()),
                row.created_ms,
            ],
        )?;
        Ok(())
    }

    /// The latest result of each method for each query, by query and method.
    pub fn rerank_results(&self) -> Result<Vec<StoredResult>> {
        self.latest_results(None, Some(false))
    }

    /// The latest anchor grades of each judge for each query, by query and judge. A failure does
    /// not remove earlier grades.
    pub fn anchor_results(&self) -> Result<Vec<StoredResult>> {
        self.latest_results(None, Some(true))
    }

    /// Number of anchors graded by each judge, by name, with one row per model, prompt and
    /// parameters.
    pub fn anchor_counts(&self) -> Result<Vec<AnchorCount>> {
        self.all(
            "SELECT latest.judges ->> '$[0]', count(DISTINCT latest.query), count(score.value)
             FROM rerank_result AS latest, json_each(latest.scores) AS score
             WHERE substr(method, 1, length(?1)) = ?1 AND NOT EXISTS (
                 SELECT 1 FROM rerank_result AS later
                 WHERE later.query = latest.query AND later.method = latest.method
                 AND later.ranking IS NOT NULL
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

    /// The judges' anchor grades for one query or all, by judge and day, including grades that
    /// later ones have replaced.
    pub fn anchor_days(&self, query: Option<QueryKey>) -> Result<Vec<ScaleDay>> {
        self.all(
            "SELECT judges ->> '$[0]', date(created_ms / 1000, 'unixepoch') AS day,
             count(score.value),
                 count(DISTINCT query), max(created_ms), min(lower(hex(uid)))
             FROM rerank_result, json_each(scores) AS score
             WHERE substr(method, 1, length(?1)) = ?1 AND (?2 IS NULL OR query = ?2)
             GROUP BY 1, day HAVING count(score.value) > 0 ORDER BY 1, day",
            params![ANCHORS, query.map(|query| query.0)],
            ScaleDay::read,
        )
    }

    /// The calls of methods for one query or all, by method and day, without those that grade
    /// anchors.
    pub fn rerank_days(&self, query: Option<QueryKey>) -> Result<Vec<AskedDay>> {
        self.all(
            "SELECT method, date(created_ms / 1000, 'unixepoch') AS day, sum(calls),
             sum(failed_calls), count(DISTINCT query),
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

    /// The latest results of each method for one query.
    pub fn rerank_results_of(&self, query: QueryKey) -> Result<Vec<StoredResult>> {
        self.latest_results(Some(query), None)
    }

    /// The usage of a method's latest rankings whose tokens the service counted.
    pub fn ranking_usage(&self, method: &str) -> Result<Vec<RankingUsage>> {
        const LATEST: usize = 200;
        self.all(
            "SELECT query, identity, calls - failed_calls, tokens_in, tokens_out, cost_usd
             FROM rerank_result
             WHERE method = ?1 AND calls > failed_calls AND tokens_in > 0 ORDER BY id DESC LIMIT ?2",
            params![method, LATEST],
            |row| {
                Ok(RankingUsage {
                    query: QueryKey(row.get(0)?),
                    identity: row.get(1)?,
                    answered: row.get(2)?,
                    tokens_in: row.get(3)?,
                    tokens_out: row.get(4)?,
                    cost_usd: row.get(5)?,
                })
            },
        )
    }

    /// Whether a method of this name has a result.
    pub fn has_rerank_result(&self, method: &str) -> Result<bool> {
        self.value(
            "SELECT EXISTS (SELECT 1 FROM rerank_result WHERE method = ?1)",
            [method],
        )
    }

    /// The documents of each query's pool that are labeled relevant there, with their first-stage
    /// rank if the first stage found them.
    pub fn labeled_documents(&self) -> Result<HashMap<QueryId, HashMap<DocId, Option<usize>>>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT query.name, document.name, json_extract(metadata, '$.first_stage_rank')
             FROM query CROSS JOIN document ON document.query = query.id
             WHERE instr(metadata, 'label-') > 0
                 AND json_extract(metadata, '$.source') IN (?1, ?2)",
        )?;
        let sources = [SlotSource::LabelMissed, SlotSource::LabelFound];
        let mut rows = statement.query(sources.map(SlotSource::name))?;
        let mut found: HashMap<QueryId, HashMap<DocId, Option<usize>>> = HashMap::new();
        while let Some(row) = rows.next()? {
            let of_query = found.entry(QueryId::new(row.get::<_, String>(0)?));
            of_query.or_default().insert(row.get(1)?, row.get(2)?);
        }
        Ok(found)
    }

    /// With `Some(true)`, only results that grade anchors; with `Some(false)`, only other results.
    fn latest_results(
        &self,
        query: Option<QueryKey>,
        anchors: Option<bool>,
    ) -> Result<Vec<StoredResult>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT query.name, method, judges, identity, ranking, rerank_result.scores, calls,
             failed_calls, shared_calls, tokens_in, tokens_out, cost_usd, wall_ms, service_ms,
             repairs, truncated, document_chars, cut, failure, failure_type, created_ms
             FROM rerank_result JOIN query ON query.id = rerank_result.query
             WHERE (?1 IS NULL OR rerank_result.query = ?1) AND (?2 IS NULL OR (substr(method, 1,
             length(?3)) = ?3) = ?2)
                 AND (?2 IS NOT 1 OR ranking IS NOT NULL) AND NOT EXISTS (
                 SELECT 1 FROM rerank_result AS later
                 WHERE later.query = rerank_result.query AND later.method = rerank_result.method
                     AND (?2 IS NOT 1 OR later.ranking IS NOT NULL)
                     AND (later.created_ms, later.id) > (rerank_result.created_ms,
                     rerank_result.id))
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

fn read_call(row: &Row<'_>) -> Result<RerankCall> {
    let answer: Option<String> = row.get(3)?;
    Ok(RerankCall {
        uid: row.get(0)?,
        key: row.get(1)?,
        service: row.get(2)?,
        answer: answer.map(|text| serde_json::from_str(&text)).transpose()?,
        cause: row.get(4)?,
        message: row.get(5)?,
        tokens_input: row.get(6)?,
        tokens_output: row.get(7)?,
        cost_usd: row.get(8)?,
        latency_ms: row.get(9)?,
        truncated: row.get(10)?,
        model: row.get(11)?,
        created_ms: row.get(12)?,
        raw: row.get(13)?,
    })
}

fn stored_result(row: &Row<'_>) -> Result<StoredResult> {
    let ranking: Option<String> = row.get(4)?;
    let order: Vec<String> = ranking.map_or(Ok(Vec::new()), |text| serde_json::from_str(&text))?;
    let scores: Option<String> = row.get(5)?;
    let cut: Option<String> = row.get(17)?;
    let failure: Option<(String, String)> = row
        .get::<_, Option<String>>(18)?
        .zip(row.get::<_, Option<String>>(19)?);
    let failure = failure.map(|(message, kind)| {
        let kind = kind
            .parse()
            .map_err(|error| StoreError::Corrupt(format!("a failure cannot be read: {error}")))?;
        Ok::<_, StoreError>(RankingFailure { kind, message })
    });
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
            shared_calls: row.get(8)?,
            tokens_in: row.get(9)?,
            tokens_out: row.get(10)?,
            cost_usd: row.get(11)?,
            wall_ms: row.get(12)?,
            service_ms: row.get(13)?,
            repairs: row.get(14)?,
            truncated: row.get(15)?,
            document_chars: row.get(16)?,
            cut: cut.map(|text| serde_json::from_str(&text)).transpose()?,
            failure: failure.transpose()?,
            created_ms: row.get(20)?,
        },
    })
}
