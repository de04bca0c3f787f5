//! Chooses pairs on which a judge is asked again, and finds their texts later.

use crate::app::text_format::{counted, moment_words};
use crate::domain::battle::Pair;
use crate::domain::corpus::QueryId;
use crate::domain::frozen_pair::FrozenPair;
use crate::domain::sampling::SeededRng;
use crate::domain::sanitize;
use crate::domain::vote::Margin;
use crate::judge::{JudgeSpec, PoolText, PresentedPair};
use crate::store::corpus::QueryKey;
use crate::store::frozen_sets::FrozenSet;
use crate::store::voted_pairs::VotedPair;
use crate::store::{Db, Result, StoreError};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// A pair that may be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairCandidate {
    pub query: QueryKey,
    pub pair: Pair,
    /// Whether the document later in the pool is shown first; `None` leaves it to the hash.
    pub later_first: Option<bool>,
    /// Whether it is chosen after the others of its turn.
    pub is_secondary: bool,
}

/// The first vote of this judge on each pair that it voted on, in the project.
pub fn voted_pairs(db: &Db, judge: &JudgeSpec) -> Result<Vec<VotedPair>> {
    let judges = db.all_judges()?.into_iter().rev();
    let known = judges.into_iter().find(|(_, of)| of.is_same_judge(judge));
    known.map_or_else(|| Ok(Vec::new()), |(id, _)| db.voted_pairs_of(id))
}

/// A candidate with its names and its place in the order.
struct NamedCandidate {
    query: QueryKey,
    name: QueryId,
    pair: Pair,
    later_first: bool,
    is_secondary: bool,
    hash: usize,
}

/// The first `wanted` of these pairs. Queries take turns, in an order that depends on `purpose` and
/// on names alone. Pairs with the same key are chosen once.
///
/// `key` is the hash of the question about a pair, and `vote` the answer to keep with it.
pub fn choose_pairs(
    db: &Db,
    purpose: &str,
    candidates: &[PairCandidate],
    wanted: usize,
    key: impl Fn(QueryKey, &PresentedPair) -> [u8; 32],
    vote: impl Fn(&[u8; 32]) -> Result<Option<Margin>>,
) -> Result<Vec<FrozenPair>> {
    let mut pools = PoolTexts::default();
    let mut documents = HashMap::new();
    let (mut chosen, mut keys) = (Vec::new(), HashSet::new());
    for candidate in in_turns(db, purpose, candidates)? {
        if chosen.len() == wanted {
            break;
        }
        let NamedCandidate { query, pair, .. } = candidate;
        let pool = pools.of(db, query)?;
        if pool.documents.len() <= pair.high() {
            continue;
        }
        let names = match documents.get(&query) {
            Some(names) => names,
            None => documents.entry(query).or_insert(db.document_ids(query)?),
        };
        let (low, high) = (pair.low(), pair.high());
        let places = if candidate.later_first {
            [high, low]
        } else {
            [low, high]
        };
        let key = key(query, &presented(&pool, places));
        let [Some(first), Some(second)] = places.map(|at| names.get(at).cloned()) else {
            continue;
        };
        if keys.insert(key) {
            chosen.push(FrozenPair {
                query: candidate.name,
                documents: [first, second],
                key,
                vote: vote(&key)?,
            });
        }
    }
    Ok(chosen)
}

/// The candidates in their order.
fn in_turns(db: &Db, purpose: &str, candidates: &[PairCandidate]) -> Result<Vec<NamedCandidate>> {
    let mut names: HashMap<QueryKey, QueryId> = HashMap::new();
    let mut found = Vec::with_capacity(candidates.len());
    for candidate in candidates {
        let PairCandidate { query, pair, .. } = *candidate;
        let name = match names.get(&query) {
            Some(name) => name.clone(),
            None => names.entry(query).or_insert(db.query(query)?.id).clone(),
        };
        let places = [pair.low(), pair.high()].map(|at| at.to_string());
        let [low, high] = places.each_ref().map(String::as_str);
        let mut rng = SeededRng::new(0, &[purpose, name.as_str(), low, high]);
        let hash = rng.below(usize::MAX);
        found.push(NamedCandidate {
            later_first: candidate.later_first.unwrap_or_else(|| rng.below(2) == 1),
            is_secondary: candidate.is_secondary,
            query,
            name,
            pair,
            hash,
        });
    }
    found.sort_by_key(|of| (of.is_secondary, of.hash));
    let mut turns: HashMap<QueryKey, usize> = HashMap::new();
    let mut in_turns: Vec<(usize, NamedCandidate)> = found
        .into_iter()
        .map(|candidate| {
            let turn = turns.entry(candidate.query).or_default();
            *turn += 1;
            (*turn, candidate)
        })
        .collect();
    in_turns.sort_by_key(|(turn, of)| (*turn, of.is_secondary));
    Ok(in_turns.into_iter().map(|(_, of)| of).collect())
}

/// Sentences about a judge's pairs: which model they are for, when they were chosen, and whether the
/// judge is configured otherwise now. `command` starts anew.
pub fn origin_sentences(
    set: &FrozenSet,
    pairs: usize,
    is_as_configured: Option<bool>,
    command: &str,
) -> Vec<String> {
    let name = sanitize::line(&set.judge);
    let origin = format!(
        "model {}, with {} chosen on {}",
        sanitize::line(&set.model),
        counted(pairs, "pair"),
        moment_words(set.created_ms)
    );
    let differs = (is_as_configured == Some(false)).then(|| {
        format!(
            "this is not {name} as it is configured now, with another model, prompt or other \
             parameters: `overrule {command} {name} --ask` starts anew"
        )
    });
    std::iter::once(origin).chain(differs).collect()
}

/// The texts of pools, each read once.
#[derive(Default)]
pub struct PoolTexts(HashMap<QueryKey, Arc<PoolText>>);

impl PoolTexts {
    fn of(&mut self, db: &Db, query: QueryKey) -> Result<Arc<PoolText>> {
        if let Some(known) = self.0.get(&query) {
            return Ok(Arc::clone(known));
        }
        let pool = Arc::new(db.pool_text(query, None)?);
        self.0.insert(query, Arc::clone(&pool));
        Ok(pool)
    }

    /// A stored pair with its texts as they are now; `None` if the project lacks one of them.
    pub fn question(
        &mut self,
        db: &Db,
        pair: &FrozenPair,
    ) -> Result<Option<(QueryKey, PresentedPair)>> {
        let Some(query) = db.known_query(pair.query.as_str())? else {
            return Ok(None);
        };
        let mut places = [0; 2];
        for (place, document) in places.iter_mut().zip(&pair.documents) {
            match db.find_document(query, document.as_str()) {
                Ok(found) => *place = found,
                Err(StoreError::NotFound(_)) => return Ok(None),
                Err(error) => return Err(error),
            }
        }
        let pool = self.of(db, query)?;
        Ok(Some((query, presented(&pool, places))))
    }
}

fn presented(pool: &Arc<PoolText>, [first, second]: [usize; 2]) -> PresentedPair {
    PresentedPair {
        pool: Arc::clone(pool),
        first,
        second,
    }
}
