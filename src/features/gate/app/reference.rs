//! The reference pairs of a project: pairs with a blind verdict or a known answer that no prompt
//! was tuned on.

use super::judge::GateJudge;
use crate::app::error::AppError;
use crate::domain::corpus::DocId;
use crate::domain::sampling::SeededRng;
use crate::features::prompts::app::RegressionSet;
use crate::features::prompts::domain::{DecidedPair, PromptWords, SetPart};
use crate::store::corpus::QueryKey;
use crate::store::{Db, Store, StoreError};
use serde::Serialize;
use std::collections::{BTreeMap, HashSet};

/// A reference pair.
#[derive(Clone, Debug)]
pub(super) struct ReferencePair {
    pub(super) query: QueryKey,
    pub(super) decided: DecidedPair,
    /// The documents, the one earlier in the pool first.
    pub(super) documents: [DocId; 2],
    /// Its place in the order: a hash of the names of its query and its documents.
    hash: usize,
}

/// The pairs that were left out, and those that were not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReferenceCounts {
    /// Number of reference pairs with a blind verdict, and with a known answer.
    pub blind: usize,
    pub gold: usize,
    /// Left out: pairs of the tuning part, in a project in which a prompt was written or tried.
    pub tuned: usize,
    /// Left out: pairs of queries that are in the prompt of a judge.
    pub in_prompt: usize,
    /// Left out: verdicts that were given with the judges' votes visible.
    pub not_blind: usize,
}

impl ReferenceCounts {
    pub fn pairs(self) -> usize {
        self.blind + self.gold
    }
}

/// The reference pairs for these judges, in the order of their hashes.
pub(super) fn reference_pairs(
    store: &Store,
    judges: [GateJudge; 2],
) -> Result<(Vec<ReferencePair>, ReferenceCounts), AppError> {
    let set = RegressionSet::read(store)?;
    Ok(store.read_blocking(move |db| {
        let mut counts = ReferenceCounts {
            not_blind: set.not_blind,
            ..ReferenceCounts::default()
        };
        let prompts = PromptsInUse::read(db, &judges)?;
        let mut queries: BTreeMap<QueryKey, Vec<DecidedPair>> = BTreeMap::new();
        for (query, decided) in set.pairs {
            if prompts.are_tuned && decided.part() == SetPart::Tuning {
                counts.tuned += 1;
            } else {
                queries.entry(query).or_default().push(decided);
            }
        }
        let mut found = Vec::new();
        for (query, pairs) in queries {
            if prompts.hold(db, query, &pairs)? {
                counts.in_prompt += pairs.len();
                continue;
            }
            let documents = db.document_ids(query)?;
            for decided in pairs {
                let [low, high] =
                    [decided.pair.low(), decided.pair.high()].map(|at| documents.get(at).cloned());
                let (Some(low), Some(high)) = (low, high) else {
                    continue;
                };
                *(if decided.is_gold {
                    &mut counts.gold
                } else {
                    &mut counts.blind
                }) += 1;
                let names = [decided.query.as_str(), low.as_str(), high.as_str()];
                let mut hash = SeededRng::new(0, &[&["reference pair"], &names[..]].concat());
                found.push(ReferencePair {
                    query,
                    hash: hash.below(usize::MAX),
                    documents: [low, high],
                    decided,
                });
            }
        }
        found.sort_by_key(|of| of.hash);
        Ok((found, counts))
    })?)
}

/// The prompts of the judges, and whether prompts were tuned in the project.
struct PromptsInUse {
    are_tuned: bool,
    words: Vec<PromptWords>,
    /// The queries that are examples in the prompts.
    examples: HashSet<String>,
}

impl PromptsInUse {
    fn read(db: &Db, judges: &[GateJudge]) -> Result<Self, StoreError> {
        let stored = db.stored_prompts()?;
        let hashes = || judges.iter().map(|of| &of.spec.prompt_hash);
        let mut words = Vec::new();
        for hash in hashes() {
            words.extend(db.known_prompt(hash)?.map(|of| PromptWords::new(&of.text)));
        }
        let of_judges = stored
            .iter()
            .filter(|of| hashes().any(|hash| *hash == of.prompt.hash));
        Ok(Self {
            are_tuned: stored.iter().any(|of| of.author.is_some()),
            words,
            examples: of_judges.flat_map(|of| of.examples.clone()).collect(),
        })
    }

    /// Whether a prompt holds a copy of a text of these pairs of a query, or the query is an example
    /// in it.
    fn hold(&self, db: &Db, query: QueryKey, pairs: &[DecidedPair]) -> Result<bool, StoreError> {
        if pairs
            .iter()
            .any(|of| self.examples.contains(of.query.as_str()))
        {
            return Ok(true);
        }
        if self.words.is_empty() {
            return Ok(false);
        }
        let depth = pairs.iter().map(|of| of.pair.high() + 1).max();
        let texts = db.pool_text(query, depth)?;
        let places = pairs.iter().flat_map(|of| [of.pair.low(), of.pair.high()]);
        let documents = places.filter_map(|at| texts.documents.get(at).map(|text| &**text));
        let mut shown = documents.chain([&*texts.query]);
        Ok(shown.any(|text| self.words.iter().any(|words| words.hold(text))))
    }
}
