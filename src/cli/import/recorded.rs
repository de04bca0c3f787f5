//! zBench's `ai_scores.json`: votes taken over as they were recorded, with no call made.

use super::super::Failure;
use super::{BATCH, Report};
use crate::domain::corpus::{Document, JsonObject, Pool, Query};
use crate::engine::now_ms;
use crate::formats::ai_scores::{self, Ensemble, RecordedVote, ScoredPair};
use crate::judge::{Cause, JudgeSpec, Usage};
use crate::store::corpus::QueryKey;
use crate::store::runs::{CallRecord, CallResult};
use crate::store::{Db, Store, StoreError};
use std::collections::HashMap;
use std::io::BufRead;

/// The pool of a query as far as its scored pairs tell: documents in order of their first battle.
#[derive(Default)]
struct Gathered {
    pool: Option<Pool>,
    place: HashMap<String, usize>,
}

impl Gathered {
    fn add(&mut self, pair: &ScoredPair) {
        let pool = self.pool.get_or_insert_with(|| Pool {
            query: Query {
                id: pair.query_id.clone(),
                text: pair.query.clone(),
                extra: JsonObject::default(),
            },
            documents: Vec::new(),
            extra: JsonObject::default(),
        });
        for scored in [&pair.a, &pair.b] {
            let next = pool.documents.len();
            if *self
                .place
                .entry(scored.id.as_str().to_owned())
                .or_insert(next)
                == next
            {
                pool.documents.push(Document {
                    id: scored.id.clone(),
                    title: None,
                    content: scored.content.clone(),
                    metadata: scored.metadata.clone(),
                    extra: JsonObject::default(),
                    input_score: None,
                });
            }
        }
    }
}

/// Two passes: the first learns the pools, the second takes the votes over, so that memory holds texts and no votes.
pub(super) fn import_ai_scores<R: BufRead>(
    store: &Store,
    open: impl Fn() -> Result<R, Failure>,
    name: &str,
    label: &str,
) -> Result<Report, Failure> {
    let mut gathered: HashMap<String, Gathered> = HashMap::new();
    let mut order: Vec<String> = Vec::new();
    let mut report = Report::default();
    let mut judges: Vec<String> = Vec::new();
    for pair in ai_scores::read_scored_pairs(open()?, name, Ensemble::Any) {
        let Ok(pair) = pair else {
            report.skipped += 1;
            continue;
        };
        let id = pair.query_id.as_str().to_owned();
        if !gathered.contains_key(&id) {
            order.push(id.clone());
        }
        for (judge, _) in &pair.votes {
            if !judges.contains(judge) {
                judges.push(judge.clone());
            }
        }
        gathered.entry(id).or_default().add(&pair);
    }
    let mut keys: HashMap<String, QueryKey> = HashMap::new();
    for id in &order {
        let Some(pool) = gathered
            .get_mut(id)
            .and_then(|gathered| gathered.pool.take())
        else {
            continue;
        };
        let (label, judges) = (label.to_owned(), judges.clone());
        let (key, added) = store.write_blocking(move |db| {
            // A dataset imported before knows the hybrid order and the documents that never fought.
            let (key, added) = match db.find_query(pool.query.id.as_str()) {
                Ok(key) => {
                    same_documents(db, key, &pool)?;
                    (key, false)
                }
                Err(StoreError::NotFound(_)) => (db.add_pool(&pool, &label)?.key(), true),
                Err(error) => return Err(error),
            };
            let judges = judges
                .iter()
                .map(|name| db.judge(&recorded(name)))
                .collect::<Result<Vec<_>, _>>()?;
            let ensemble = db.ensemble(&judges)?;
            db.set_ensemble(key, ensemble, None)?;
            Ok((key, added))
        })?;
        if added {
            report.added += 1;
        } else {
            report.unchanged += 1;
        }
        report.keys.push(key);
        keys.insert(id.clone(), key);
    }
    drop(gathered);

    let mut games: HashMap<(i64, usize, usize), u32> = HashMap::new();
    let mut batch: Vec<(QueryKey, ScoredPair)> = Vec::new();
    for pair in ai_scores::read_scored_pairs(open()?, name, Ensemble::Any).filter_map(Result::ok) {
        if let Some(key) = keys.get(pair.query_id.as_str()) {
            batch.push((*key, pair));
        }
        if batch.len() >= 4 * BATCH {
            games = take_votes(store, std::mem::take(&mut batch), games, &mut report)?;
        }
    }
    take_votes(store, batch, games, &mut report)?;
    for key in report.keys.clone() {
        store.write_blocking(move |db| db.cache_summary(key))?;
    }
    Ok(report)
}

fn same_documents(db: &mut Db, key: QueryKey, pool: &Pool) -> Result<(), StoreError> {
    for document in &pool.documents {
        let position = db.find_document(key, document.id.as_str())?;
        if *db.document_text(key, position)? != *document.content {
            return Err(StoreError::Conflict(format!(
                "query {:?}: the project has another text for document {:?}",
                pool.query.id.as_str(),
                document.id.as_str()
            )));
        }
    }
    Ok(())
}

type Games = HashMap<(i64, usize, usize), u32>;

fn take_votes(
    store: &Store,
    batch: Vec<(QueryKey, ScoredPair)>,
    mut games: Games,
    report: &mut Report,
) -> Result<Games, Failure> {
    let (games, battles, votes, failures) = store.write_blocking(move |db| {
        let (mut battles, mut votes, mut failures) = (0, 0, 0);
        for (key, pair) in &batch {
            let a = db.find_document(*key, pair.a.id.as_str())?;
            let b = db.find_document(*key, pair.b.id.as_str())?;
            let game = games.entry((key.0, a.min(b), a.max(b))).or_default();
            let battle = db.add_fought_battle(*key, a, b, *game)?;
            *game += 1;
            let Some(battle) = battle else {
                continue;
            };
            battles += 1;
            for (name, vote) in &pair.votes {
                let judge = db.judge(&recorded(name))?;
                let (swapped, result) = match vote {
                    RecordedVote::Vote {
                        margin,
                        swapped,
                        thought,
                    } => {
                        votes += 1;
                        let result = CallResult::Vote {
                            margin: *margin,
                            reasoning: thought.clone(),
                            model: None,
                            stop_reason: None,
                            request_id: None,
                        };
                        (*swapped, result)
                    }
                    RecordedVote::Failure => {
                        failures += 1;
                        let message =
                            "recorded by zBench as score 0 with an empty thought".to_owned();
                        (
                            false,
                            CallResult::Failure {
                                cause: Cause::Malformed,
                                message,
                            },
                        )
                    }
                };
                db.record(&CallRecord {
                    battle,
                    judge,
                    swapped,
                    attempt: 1,
                    usage: Usage::default(),
                    cost_usd: None,
                    latency_ms: None,
                    run: None,
                    created_ms: now_ms(),
                    raw: None,
                    result,
                })?;
            }
        }
        Ok((games, battles, votes, failures))
    })?;
    report.battles += battles;
    report.votes += votes;
    report.failures += failures;
    Ok(games)
}

/// A judge of whom only the name and the votes are known.
fn recorded(name: &str) -> JudgeSpec {
    JudgeSpec {
        name: name.to_owned(),
        provider: "recorded".to_owned(),
        model: "not recorded".to_owned(),
        prompt_hash: String::new(),
        params: "{}".to_owned(),
    }
}
