//! Reads the regression set of a project: blind verdicts, and gold pairs.

use crate::app::judge_report::rater_data::first_verdicts;
use crate::domain::battle::Pair;
use crate::domain::corpus::QueryId;
use crate::domain::verdict::GoldItem;
use crate::domain::vote::Outcome;
use crate::features::prompts::domain::DecidedPair;
use crate::store::corpus::QueryKey;
use crate::store::{Result, Store};
use std::collections::{BTreeMap, HashMap};

/// The regression set of a project, by query and pair.
#[derive(Clone, Debug, Default)]
pub struct RegressionSet {
    pub pairs: Vec<(QueryKey, DecidedPair)>,
    /// Number of verdicts that are left out because they were first given with the judges' votes
    /// visible.
    pub not_blind: usize,
}

impl RegressionSet {
    /// Reads it. If a pair has both a verdict and a known answer, the known answer counts.
    pub fn read(store: &Store) -> Result<Self> {
        let verdicts = first_verdicts(store)?;
        store.read_blocking(move |db| {
            let mut set = Self::default();
            let mut names: HashMap<QueryKey, QueryId> = HashMap::new();
            let mut name = |key: QueryKey| -> Result<QueryId> {
                if let Some(known) = names.get(&key) {
                    return Ok(known.clone());
                }
                let id = db.query(key)?.id;
                names.insert(key, id.clone());
                Ok(id)
            };
            let mut pairs: BTreeMap<(QueryKey, Pair), DecidedPair> = BTreeMap::new();
            for verdict in verdicts {
                let first = &verdict.first;
                if !first.blind {
                    set.not_blind += 1;
                    continue;
                }
                let Some(pair) = Pair::new(first.verdict.a, first.verdict.b) else {
                    continue;
                };
                let Some(people) = first.verdict.seen_from(pair.low()).direction() else {
                    continue;
                };
                let decided = DecidedPair {
                    query: name(first.query)?,
                    pair,
                    people,
                    is_gold: false,
                    inclusion: verdict.inclusion,
                    cause: verdict.cause,
                    note: verdict.note,
                };
                pairs.insert((first.query, pair), decided);
            }
            for (key, item) in db.gold(None)? {
                let Some((pair, people)) = known_answer(&item) else {
                    continue;
                };
                let verdict = pairs.remove(&(key, pair));
                let decided = DecidedPair {
                    query: name(key)?,
                    pair,
                    people,
                    is_gold: true,
                    inclusion: verdict.as_ref().and_then(|of| of.inclusion),
                    cause: verdict.as_ref().and_then(|of| of.cause),
                    note: item.note.or_else(|| verdict.and_then(|of| of.note)),
                };
                pairs.insert((key, pair), decided);
            }
            set.pairs = pairs
                .into_iter()
                .map(|((key, _), decided)| (key, decided))
                .collect();
            Ok(set)
        })
    }
}

/// The pair of a gold item and its answer, where A is the document earlier in the pool. `None` if
/// the answer has no direction.
fn known_answer(item: &GoldItem) -> Option<(Pair, Outcome)> {
    let pair = Pair::new(item.a, item.b)?;
    let decision = if item.a == pair.low() {
        item.decision
    } else {
        item.decision.flipped()
    };
    Some((pair, decision.direction()?))
}
