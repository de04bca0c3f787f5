//! Repeats the rankings of methods with stored answers only, to find out which documents these
//! answers are about. Answers are stored without their documents.

use super::candidates::Candidates;
use super::plan::RerankPlan;
use super::prepared_method::{Asks, PreparedMethod};
use crate::domain::candidate_question::{Answer, Question};
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::document_cut::DocumentCut;
use crate::features::methods::domain::reranking::{AnswerError, Call, MethodKind};
use crate::features::methods::store::StoredResult;
use crate::judge::Judge;
use crate::store::corpus::QueryKey;
use crate::store::{Db, Result, Store, StoreError};
use std::sync::Arc;

/// The ranking of a query by a method, as far as its answers are stored.
#[derive(Clone, Debug)]
pub struct ReplayedRanking {
    /// Name of the method and its judge in results, such as `rankgpt@20/gpt`.
    pub method: String,
    pub judge: String,
    /// The questions with a stored answer, in the order in which they are asked.
    pub lists: Vec<ReplayedList>,
    pub end: ReplayEnd,
}

/// A question about the order of several candidates, with its stored answer.
#[derive(Clone, Debug)]
pub struct ReplayedList {
    /// Hash of the judge and of everything it was sent.
    pub key: [u8; 32],
    /// In the order shown.
    pub shown: Vec<DocId>,
    /// How many of the best ones were asked for; `None` for the whole order.
    pub best: Option<usize>,
    /// As the judge gave it; it may be invalid.
    pub answer: Answer,
}

/// How far the stored answers suffice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplayEnd {
    /// Every question has an answer.
    Complete,
    /// A question has no stored answer.
    Stopped,
    /// The method fails for this query, with the reason.
    Failed(String),
}

impl ReplayedRanking {
    /// Whether no question of it has been asked with the settings of the plan.
    pub fn is_unknown(&self) -> bool {
        self.end == ReplayEnd::Stopped && self.lists.is_empty()
    }
}

impl RerankPlan {
    /// Repeats the rankings of all queries by the methods that ask one judge about several documents
    /// at once and whose answers are lists (`rankgpt` and `tourrank`). Calls nobody.
    ///
    /// A long document is cut as in the latest result of the method for the query, or else as in a
    /// new run.
    pub fn replayed(&self, store: &Store) -> Result<Vec<(QueryId, Vec<ReplayedRanking>)>> {
        let keys: Vec<QueryKey> = self.queries.iter().map(|(key, _)| *key).collect();
        let replay = |db: &Db, key| {
            let candidates = self.candidates.read(db, key)?;
            let known = db.rerank_results_of(key)?;
            let mut rankings = Vec::new();
            for method in &self.methods {
                let Some(judge) = list_judge(method) else {
                    continue;
                };
                let limit = limit_of(&known, &method.name).unwrap_or(self.limit);
                rankings.push(if limit == self.limit {
                    replayed(db, method, judge, &candidates)?
                } else {
                    let candidates = self.candidates.read_limited(db, key, limit)?;
                    replayed(db, method, judge, &candidates)?
                });
            }
            Ok((candidates.query, rankings))
        };
        let mut all = Vec::new();
        store.read_each(&keys, replay, |_, of_query| {
            all.push(of_query);
            Ok::<_, StoreError>(())
        })?;
        Ok(all)
    }
}

/// The judge that a method asks for lists; `None` for other methods.
fn list_judge(method: &PreparedMethod) -> Option<&Arc<dyn Judge>> {
    match (&method.method.kind, &method.asks) {
        (MethodKind::RankGpt { .. } | MethodKind::TourRank { .. }, Asks::Judge { judge, .. }) => {
            Some(judge)
        }
        _ => None,
    }
}

/// How much of a document the latest result of a method was made with; `None` if this is unknown.
fn limit_of(known: &[StoredResult], method: &str) -> Option<Option<DocumentCut>> {
    let result = known.iter().find(|known| known.row.method == method)?;
    // Earlier versions did not store it.
    result.row.cut.as_ref()?;
    Some(result.row.document_chars.map(|chars| DocumentCut { chars }))
}

fn replayed(
    db: &Db,
    method: &PreparedMethod,
    judge: &Arc<dyn Judge>,
    candidates: &Candidates,
) -> Result<ReplayedRanking> {
    let mut ranking = ReplayedRanking {
        method: method.name.clone(),
        judge: judge.spec().name.clone(),
        lists: Vec::new(),
        end: ReplayEnd::Complete,
    };
    if let Some(why) = method.refusal(candidates) {
        ranking.end = ReplayEnd::Failed(why.to_string());
        return Ok(ranking);
    }
    let mut strategy = method.strategy(candidates);
    let mut failed: Option<String> = None;
    loop {
        let calls = strategy.next();
        if calls.is_empty() {
            break;
        }
        for Call { id, question } in calls {
            let parts = match method.parts(candidates, &question) {
                Ok(parts) => parts,
                Err(why) => {
                    failed.get_or_insert(why.to_string());
                    continue;
                }
            };
            // A question to a judge has one part.
            let key = parts.first().map(|(_, _, target)| target.key());
            let known = match key {
                Some(key) => db.rerank_answer(&key, false)?.map(|known| (key, known)),
                None => None,
            };
            let Some((key, known)) = known else {
                // Questions that do not depend on this one may have answers.
                ranking.end = ReplayEnd::Stopped;
                continue;
            };
            let shown = question.shown().into_iter();
            ranking.lists.push(ReplayedList {
                key,
                shown: shown
                    .filter_map(|at| candidates.ids.get(at).cloned())
                    .collect(),
                best: match question {
                    Question::Select { count, .. } => Some(count),
                    _ => None,
                },
                answer: known.answer.clone(),
            });
            if failed.is_none()
                && let Err(why) = strategy.answer(id, known.answer)
            {
                failed = Some(why.to_string());
            }
        }
        // Calls that were asked together with the one that failed were finished and stored.
        if let Some(why) = failed {
            ranking.end = ReplayEnd::Failed(why);
            return Ok(ranking);
        }
    }
    if ranking.end == ReplayEnd::Complete && strategy.outcome().is_none() {
        let why = strategy.refusal().unwrap_or(AnswerError::NoOrder);
        ranking.end = ReplayEnd::Failed(why.to_string());
    }
    Ok(ranking)
}
