//! Counts calls that a run need not make because the judge answers the same question about the same
//! texts elsewhere: for documents that occur twice in a pool, queries that occur twice in a project,
//! or outside runs.

use crate::app::annotate::stored_answer::StoredAnswer;
use crate::client::call_key::call_key;
use crate::domain::corpus::Pool;
use crate::judge::{Judge, JudgeEnsemble, JudgeQuestion, PoolText, PresentedPair};
use crate::registry;
use crate::store::corpus::QueryInfo;
use crate::store::outstanding::PlannedCall;
use crate::store::{Store, StoreError};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Number of leading letters and digits that distinguish a document from most others.
const BEGINNING: usize = 16;

/// Data that is needed of every pool before the first one is estimated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolOutline {
    pub id: String,
    /// Text of the query.
    pub query: String,
    pub documents: usize,
}

impl From<&Pool> for PoolOutline {
    fn from(pool: &Pool) -> Self {
        Self {
            id: pool.query.id.to_string(),
            query: pool.query.text.clone(),
            documents: pool.documents.len(),
        }
    }
}

impl From<&QueryInfo> for PoolOutline {
    fn from(query: &QueryInfo) -> Self {
        Self {
            id: query.id.to_string(),
            query: query.text.clone(),
            documents: query.documents,
        }
    }
}

/// Number of calls that a run need not make.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FreeCalls {
    /// Identical calls of runs or open batches answer them.
    pub(super) identical: usize,
    /// Their replies were bought outside runs.
    pub(super) bought: usize,
}

/// The questions that were already asked, or that the run asks earlier.
pub(super) struct IdenticalCalls {
    /// The query with each query text; `None` if several queries have it.
    queries: HashMap<String, Option<String>>,
    asked: HashSet<[u8; 32]>,
    /// For each judge, whether the project may hold answers to any of its questions: it was asked
    /// about pairs outside runs, or votes of it were set aside because the data changed, which may
    /// have changed back.
    has_answers: Vec<bool>,
    store: Option<Store>,
    /// Whether pending calls of open batches are left to the batch.
    in_batches: bool,
}

impl IdenticalCalls {
    /// Prepares for a run on these pools; `store` is the project, which may contain further queries
    /// and answers.
    pub(super) fn new(
        outlines: &[PoolOutline],
        ensemble: &JudgeEnsemble,
        store: Option<&Store>,
        in_batches: bool,
    ) -> Result<Self, StoreError> {
        let names: Vec<String> = ensemble
            .iter()
            .map(|judge| judge.spec().name.clone())
            .collect();
        let (known, has_answers) = match store {
            Some(store) => store.read_blocking(move |db| {
                let has_answers = names.iter().map(|name| {
                    Ok(registry::has_bought_replies(db, name)? || db.has_votes_set_aside(name)?)
                });
                let has_answers = has_answers.collect::<Result<_, StoreError>>()?;
                Ok((db.queries()?, has_answers))
            })?,
            None => (Vec::new(), vec![false; names.len()]),
        };
        let known = known
            .into_iter()
            .map(|info| (info.id.to_string(), info.text));
        let planned = outlines
            .iter()
            .map(|pool| (pool.id.clone(), pool.query.clone()));
        let mut queries: HashMap<String, Option<String>> = HashMap::new();
        for (id, text) in known.chain(planned) {
            let first = queries.entry(text).or_insert_with(|| Some(id.clone()));
            if first.as_ref() != Some(&id) {
                *first = None;
            }
        }
        Ok(Self {
            queries,
            asked: HashSet::new(),
            has_answers,
            store: store.cloned(),
            in_batches,
        })
    }

    /// Number of a query's calls, by judge, that need not be made.
    pub(super) fn count(
        &mut self,
        text: &Arc<PoolText>,
        ensemble: &JudgeEnsemble,
        calls: &[PlannedCall],
    ) -> Result<Vec<FreeCalls>, StoreError> {
        let mut free = vec![FreeCalls::default(); ensemble.len()];
        // Hashing every prompt of a run would take longer than the rest of its estimate.
        let repeats_query = self.queries.get(&text.query).is_none_or(Option::is_none);
        for (at, judge) in ensemble.iter().enumerate() {
            let mut suspects: Vec<&PlannedCall> =
                calls.iter().filter(|call| call.judge == at).collect();
            if !repeats_query && !self.has_answers[at] && !suspects.is_empty() {
                let twins = twins(judge.as_ref(), text);
                suspects.retain(|call| {
                    twins.contains(&call.pair.low()) || twins.contains(&call.pair.high())
                });
            }
            let keys: Vec<[u8; 32]> = suspects
                .into_iter()
                .filter_map(|call| {
                    let (low, high) = (call.pair.low(), call.pair.high());
                    let (first, second) = if call.later_first {
                        (high, low)
                    } else {
                        (low, high)
                    };
                    key_of(judge.as_ref(), text, first, second)
                })
                .collect();
            let of_plan = keys.len();
            let new = keys
                .into_iter()
                .filter(|key| self.asked.insert(*key))
                .collect::<Vec<_>>();
            let repeated = of_plan - new.len();
            free[at] = self.answered(new)?;
            free[at].identical += repeated;
        }
        Ok(free)
    }

    /// Number of these calls that the project has an answer to, or expects one from a batch.
    fn answered(&self, keys: Vec<[u8; 32]>) -> Result<FreeCalls, StoreError> {
        let Some(store) = self.store.as_ref().filter(|_| !keys.is_empty()) else {
            return Ok(FreeCalls::default());
        };
        let in_batches = self.in_batches;
        store.read_blocking(move |db| {
            let mut free = FreeCalls::default();
            for key in keys {
                match StoredAnswer::find(db, &key)? {
                    Some(StoredAnswer::Vote(_)) => free.identical += 1,
                    Some(StoredAnswer::Bought(_)) => free.bought += 1,
                    None => {
                        free.identical += usize::from(in_batches && db.is_being_made(&key)?);
                    }
                }
            }
            Ok(free)
        })
    }
}

/// The documents of a pool that look to a judge like another document of the pool.
fn twins(judge: &dyn Judge, text: &Arc<PoolText>) -> HashSet<usize> {
    let with_itself = |at| PresentedPair {
        pool: Arc::clone(text),
        first: at,
        second: at,
    };
    let beginning = |at: usize| -> String {
        text.documents[at]
            .chars()
            .filter(|c| c.is_alphanumeric())
            .take(BEGINNING)
            .collect()
    };
    let mut alike: HashMap<String, usize> = HashMap::new();
    for at in 0..text.documents.len() {
        *alike.entry(beginning(at)).or_default() += 1;
    }
    // A truncated document may be cut off before the difference.
    let suspects = (0..text.documents.len()).filter(|at| {
        alike[&beginning(*at)] > 1 || judge.truncated(JudgeQuestion::Pair(&with_itself(*at))) > 0
    });
    let mut seen: HashMap<[u8; 32], Vec<usize>> = HashMap::new();
    for at in suspects {
        if let Some(key) = key_of(judge, text, at, at) {
            seen.entry(key).or_default().push(at);
        }
    }
    seen.into_values()
        .filter(|alike| alike.len() > 1)
        .flatten()
        .collect()
}

fn key_of(
    judge: &dyn Judge,
    text: &Arc<PoolText>,
    first: usize,
    second: usize,
) -> Option<[u8; 32]> {
    let pool = Arc::clone(text);
    let case = PresentedPair {
        pool,
        first,
        second,
    };
    call_key(judge, &judge.prompt(JudgeQuestion::Pair(&case)))
}
