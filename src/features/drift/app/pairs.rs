//! Chooses the pairs on which a judge is followed, and finds their texts.

use crate::domain::battle::Pair;
use crate::domain::corpus::QueryId;
use crate::domain::sampling::SeededRng;
use crate::features::drift::store::StoredPair;
use crate::features::methods::app::rerank::pair_judge::{AskedPair, PairJudge};
use crate::features::prompts::app::RegressionSet;
use crate::judge::{PoolText, PresentedPair};
use crate::store::corpus::QueryKey;
use crate::store::{Db, Result, StoreError};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// A pair that may be chosen.
struct Candidate {
    query: QueryKey,
    name: QueryId,
    pair: Pair,
    /// Whether the document later in the pool is shown first.
    later_first: bool,
    /// Whether no person has decided it.
    is_undecided: bool,
    /// Its place in the order: a hash of its names.
    hash: usize,
}

/// The pairs for a judge: pairs that people decided come first, then pairs with a vote of the judge.
/// Queries take turns, in an order that depends on names alone. Pairs with the same texts are chosen
/// once. Without `with_votes`, the votes of the judge are not compared later.
pub(super) fn choose_pairs(
    db: &Db,
    judge: &PairJudge,
    set: &RegressionSet,
    wanted: usize,
    with_votes: bool,
) -> Result<Vec<StoredPair>> {
    let mut pools = PoolTexts::default();
    let mut documents = HashMap::new();
    let (mut chosen, mut keys) = (Vec::new(), HashSet::new());
    for candidate in candidates(db, judge, set)? {
        if chosen.len() == wanted {
            break;
        }
        let Candidate { query, pair, .. } = candidate;
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
        let key = judge.key(&asked(query, &pool, places));
        let [Some(first), Some(second)] = places.map(|at| names.get(at).cloned()) else {
            continue;
        };
        if keys.insert(key) {
            let vote = if with_votes {
                db.answer_of_call(&key)?.map(|answer| answer.margin)
            } else {
                None
            };
            chosen.push(StoredPair {
                query: candidate.name,
                documents: [first, second],
                key,
                vote,
            });
        }
    }
    Ok(chosen)
}

fn candidates(db: &Db, judge: &PairJudge, set: &RegressionSet) -> Result<Vec<Candidate>> {
    let spec = judge.judge.spec();
    let judges = db.all_judges()?.into_iter().rev();
    let known = judges
        .into_iter()
        .find(|(_, of)| of.is_same_judge(spec))
        .map(|(id, _)| id);
    // By query and pair: whether the later document is shown first, if the judge has voted.
    let mut pairs: BTreeMap<(QueryKey, Pair), Option<bool>> = BTreeMap::new();
    let decided: HashSet<(QueryKey, Pair)> =
        set.pairs.iter().map(|(key, of)| (*key, of.pair)).collect();
    pairs.extend(decided.iter().map(|place| (*place, None)));
    if let Some(judge) = known {
        for query in db.queries_with_votes_of(judge)? {
            for vote in db.pair_votes_of(query, judge)? {
                let order = pairs.entry((query, vote.pair)).or_default();
                order.get_or_insert(vote.later_first);
            }
        }
    }
    let mut names: HashMap<QueryKey, QueryId> = HashMap::new();
    let mut found = Vec::with_capacity(pairs.len());
    for ((query, pair), order) in pairs {
        let name = match names.get(&query) {
            Some(name) => name.clone(),
            None => names.entry(query).or_insert(db.query(query)?.id).clone(),
        };
        let places = [pair.low(), pair.high()].map(|at| at.to_string());
        let [low, high] = places.each_ref().map(String::as_str);
        let mut rng = SeededRng::new(0, &["drift pair", name.as_str(), low, high]);
        let hash = rng.below(usize::MAX);
        found.push(Candidate {
            later_first: order.unwrap_or_else(|| rng.below(2) == 1),
            is_undecided: !decided.contains(&(query, pair)),
            query,
            name,
            pair,
            hash,
        });
    }
    found.sort_by_key(|of| (of.is_undecided, of.hash));
    let mut turns: HashMap<QueryKey, usize> = HashMap::new();
    let mut in_turns: Vec<(usize, Candidate)> = found
        .into_iter()
        .map(|candidate| {
            let turn = turns.entry(candidate.query).or_default();
            *turn += 1;
            (*turn, candidate)
        })
        .collect();
    in_turns.sort_by_key(|(turn, of)| (*turn, of.is_undecided));
    Ok(in_turns.into_iter().map(|(_, of)| of).collect())
}

/// The texts of pools, each read once.
#[derive(Default)]
pub(super) struct PoolTexts(HashMap<QueryKey, Arc<PoolText>>);

impl PoolTexts {
    fn of(&mut self, db: &Db, query: QueryKey) -> Result<Arc<PoolText>> {
        if let Some(known) = self.0.get(&query) {
            return Ok(Arc::clone(known));
        }
        let pool = Arc::new(db.pool_text(query, None)?);
        self.0.insert(query, Arc::clone(&pool));
        Ok(pool)
    }

    /// The question about a stored pair, if its texts are as they were.
    pub(super) fn unchanged(
        &mut self,
        db: &Db,
        judge: &PairJudge,
        pair: &StoredPair,
    ) -> Result<Option<AskedPair>> {
        let asked = self.question(db, pair)?;
        Ok(asked.filter(|asked| judge.key(asked) == pair.key))
    }

    /// The question about a stored pair; `None` if the project lacks one of its texts.
    pub(super) fn question(&mut self, db: &Db, pair: &StoredPair) -> Result<Option<AskedPair>> {
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
        Ok(Some(asked(query, &pool, places)))
    }
}

fn asked(query: QueryKey, pool: &Arc<PoolText>, [first, second]: [usize; 2]) -> AskedPair {
    AskedPair {
        query,
        case: PresentedPair {
            pool: Arc::clone(pool),
            first,
            second,
        },
    }
}
