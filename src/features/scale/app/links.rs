//! Links: documents of two different queries with similar estimated scores, which judges compare.

use super::anchors::all_queries;
use crate::app::choose_judges::JudgeConfiguration;
use crate::app::error::{AppError, invalid};
use crate::app::scored_pools::{ScoreSource, ScoredPool, fitted_pools};
use crate::client::{RunControl, now_ms};
use crate::domain::common_scale::Offset;
use crate::domain::corpus::{JsonObject, QueryId};
use crate::domain::sampling::SeededRng;
use crate::features::methods::app::rerank::estimate::CallVolume;
use crate::features::methods::app::rerank::links::{LinkJudges, LinkTexts};
use crate::features::methods::app::rerank::run::RerankEvent;
use crate::features::scale::domain::{LinkBattle, fit_links, near_gap_links};
use crate::judge::PoolText;
use crate::store::corpus::QueryKey;
use crate::store::links::{LinkedDocument, StoredLink};
use crate::store::{Db, Store, StoreError};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use tokio::sync::{mpsc, watch};
use uuid::Uuid;

/// Number of links whose prompts are measured for an estimate.
const SAMPLE: usize = 24;

/// A run in which judges answer links until each query is part of the requested number.
#[derive(Debug)]
pub struct LinkRun {
    pub judges: LinkJudges,
    rounds: usize,
    seed: u64,
    keys: Vec<QueryKey>,
    pools: Vec<ScoredPool>,
    /// Whether to ask questions again whose answers could not be parsed.
    retry: bool,
}

/// Calls and cost of a link run.
#[derive(Clone, Copy, Debug)]
pub struct LinkEstimate {
    /// Number of queries with a score.
    pub queries: usize,
    /// Number of existing links, answered or not.
    pub there: usize,
    /// Number of answers to them.
    pub answered: usize,
    /// Number of links still to be planned.
    pub planned: usize,
    pub expected: CallVolume,
    pub most: CallVolume,
}

/// Prepares a link run.
///
/// # Errors
/// Fewer than two queries have a score, or a judge cannot be asked about two queries.
pub fn prepare_link_run(
    store: &Store,
    configuration: &JudgeConfiguration<'_>,
    judges: &[String],
    rounds: usize,
    seed: u64,
    retry: bool,
) -> Result<LinkRun, AppError> {
    let keys = all_queries(store)?;
    let (pools, _) = fitted_pools(store, &keys, ScoreSource::Project)?;
    let run = LinkRun {
        judges: LinkJudges::choose(configuration, judges)?,
        rounds,
        seed,
        keys,
        pools,
        retry,
    };
    match run.scored() {
        0 | 1 => Err(invalid!(
            "links compare documents of two queries, and {} a zELO score; `overrule annotate` has \
             the pools judged",
            match run.scored() {
                0 => "none has",
                _ => "only one has",
            }
        )),
        _ => Ok(run),
    }
}

impl LinkRun {
    /// Number of queries with a score.
    pub fn scored(&self) -> usize {
        self.pools
            .iter()
            .filter(|pool| !pool.ranking().is_empty())
            .count()
    }

    /// The remaining questions and their cost, measured on links as they would be planned now.
    pub fn estimate(&self, store: &Store) -> Result<LinkEstimate, AppError> {
        let links = store.read_blocking(|db| db.links())?;
        let mut planned = 0;
        let mut sample = Vec::new();
        for round in 0..self.rounds {
            let new = self.plan_round(&links, round);
            planned += new.len();
            if sample.is_empty() {
                sample = new;
            }
        }
        let step = sample.len().div_ceil(SAMPLE).max(1);
        let sample: Vec<StoredLink> = sample.into_iter().step_by(step).collect();
        let texts = self.texts(store, &links)?;
        let (mut expected, mut most) = self.judges.estimate(&texts);
        let measured = self.texts(store, &sample)?;
        let (one, dearest) = self.judges.estimate(&measured);
        let factor = planned as f64 / measured.len().max(1) as f64;
        for (sum, new) in [(&mut expected, one), (&mut most, dearest)] {
            sum.calls += (new.calls * factor).round();
            sum.tokens_input += (new.tokens_input * factor).round();
            sum.tokens_output += (new.tokens_output * factor).round();
            sum.usd = sum.usd.zip(new.usd).map(|(sum, usd)| sum + usd * factor);
        }
        Ok(LinkEstimate {
            queries: self.scored(),
            there: links.len(),
            answered: links.iter().map(|link| link.answers.len()).sum(),
            planned,
            expected,
            most,
        })
    }

    /// Plans and asks round by round, as the pairs of a round depend on earlier answers. Ends after
    /// the first round in which a question stays unasked, and returns the number of such questions.
    pub async fn run(
        &self,
        store: &Store,
        control: watch::Receiver<RunControl>,
        events: mpsc::UnboundedSender<RerankEvent>,
    ) -> Result<usize, AppError> {
        for round in 0..self.rounds {
            let links = store.read(|db| db.links()).await?;
            let new = self.plan_round(&links, round);
            // Store the links before asking, so that a paid answer has a link to belong to.
            store
                .write(move |db| new.iter().try_for_each(|link| db.add_link(link)))
                .await?;
            let mut links = store.read(|db| db.links()).await?;
            links.retain(|link| link.round == round);
            let (pools, keys) = (self.pools.clone(), self.keys.clone());
            let texts = store
                .read(move |db| link_texts(db, &pools, &keys, &links))
                .await?;
            let open = self
                .judges
                .ask(store, &texts, self.retry, control.clone(), &events)
                .await?;
            if open > 0 {
                return Ok(open);
            }
        }
        Ok(0)
    }

    fn texts(&self, store: &Store, links: &[StoredLink]) -> Result<Vec<LinkTexts>, AppError> {
        let (pools, keys, links) = (self.pools.clone(), self.keys.clone(), links.to_vec());
        Ok(store.read_blocking(move |db| link_texts(db, &pools, &keys, &links))?)
    }

    /// Plans the links of a round for the queries that have none in it, until each has one. With an
    /// odd number of queries, one is part of two links.
    fn plan_round(&self, links: &[StoredLink], round: usize) -> Vec<StoredLink> {
        let mut known = links.to_vec();
        loop {
            let new = self.plan_free(&known, round);
            if new.is_empty() {
                return known.split_off(links.len());
            }
            known.extend(new);
        }
    }

    /// Pairs the queries that have no link in a round. With an odd number, one of them is paired
    /// with a query that already has a link, or waits if there is none.
    fn plan_free(&self, links: &[StoredLink], round: usize) -> Vec<StoredLink> {
        let earlier = links.iter().filter(|link| link.round < round);
        let (earlier, _) = of_one_setting(earlier.cloned().collect());
        let offsets = match fit(&self.pools, &earlier.iter().collect::<Vec<_>>()) {
            Some(fit) => fit.iter().map(|of| of.map_or(0.0, |of| of.value)).collect(),
            None => vec![0.0; self.pools.len()],
        };
        let of_round = links.iter().filter(|link| link.round == round);
        let covered: HashSet<&QueryId> = of_round
            .flat_map(|link| [&link.a.query, &link.b.query])
            .collect();
        let rankings: Vec<_> = self.pools.iter().map(ScoredPool::ranking).collect();
        let takes_part = |at: usize| !rankings[at].is_empty();
        let mut free: BTreeSet<usize> = (0..self.pools.len())
            .filter(|at| takes_part(*at) && !covered.contains(&self.pools[*at].query))
            .collect();
        if free.is_empty() {
            return Vec::new();
        }
        if free.len() % 2 == 1 {
            let others: Vec<usize> = (0..self.pools.len())
                .filter(|at| takes_part(*at) && !free.contains(at))
                .collect();
            let mut rng = SeededRng::new(self.seed, &["odd link", &round.to_string()]);
            if !others.is_empty() {
                free.insert(others[rng.below(others.len())]);
            }
        }
        let scores: Vec<Vec<f64>> = rankings
            .iter()
            .enumerate()
            .map(|(at, ranking)| {
                if free.contains(&at) {
                    ranking.iter().map(|(_, score)| *score).collect()
                } else {
                    Vec::new()
                }
            })
            .collect();
        let document = |(query, place): (usize, usize)| LinkedDocument {
            query: self.pools[query].query.clone(),
            document: rankings[query][place].0.clone(),
        };
        let made = near_gap_links(&scores, &offsets, self.seed, round);
        made.into_iter()
            .map(|link| StoredLink {
                uid: Uuid::now_v7().into_bytes(),
                round,
                a: document(link.a),
                b: document(link.b),
                created_ms: now_ms(),
                answers: Vec::new(),
            })
            .collect()
    }
}

/// A document of a link with its query.
struct LinkedText {
    /// Of the query, and of the document.
    text: (String, Arc<str>),
    metadata: JsonObject,
}

/// The texts of links, skipping those with documents that are not in the project.
fn link_texts(
    db: &Db,
    pools: &[ScoredPool],
    keys: &[QueryKey],
    links: &[StoredLink],
) -> Result<Vec<LinkTexts>, StoreError> {
    let places: HashMap<&QueryId, usize> = pools.iter().map(|pool| &pool.query).zip(0..).collect();
    let text = |of: &LinkedDocument| -> Result<Option<LinkedText>, StoreError> {
        let Some((key, pool)) = places
            .get(&of.query)
            .and_then(|at| Some((*keys.get(*at)?, pools.get(*at)?)))
        else {
            return Ok(None);
        };
        let Some(at) = pool.documents.iter().position(|(id, _)| *id == of.document) else {
            return Ok(None);
        };
        Ok(Some(LinkedText {
            text: (db.query(key)?.text, db.document_text(key, at)?),
            metadata: db.document_metadata(key, at)?,
        }))
    };
    let mut texts = Vec::new();
    for link in links {
        if let (Some(a), Some(b)) = (text(&link.a)?, text(&link.b)?) {
            texts.push(LinkTexts {
                uid: link.uid,
                texts: Arc::new(
                    PoolText::of_two(a.text, b.text).with_metadata(vec![a.metadata, b.metadata]),
                ),
                answered: link.answers.iter().map(|answer| answer.identity).collect(),
            });
        }
    }
    Ok(texts)
}

/// The links with the answers that each judge gave under one model, prompt and parameters: the most
/// frequent, or the latest of these. Answers under other settings stay in the project and are
/// counted by judge.
pub(super) fn of_one_setting(
    mut links: Vec<StoredLink>,
) -> (Vec<StoredLink>, BTreeMap<String, usize>) {
    let mut settings: BTreeMap<String, BTreeMap<[u8; 32], (usize, i64)>> = BTreeMap::new();
    for answer in links.iter().flat_map(|link| &link.answers) {
        let of_judge = settings.entry(answer.judge.clone()).or_default();
        let (count, latest) = of_judge
            .entry(answer.identity)
            .or_insert((0, answer.created_ms));
        *count += 1;
        *latest = answer.created_ms.max(*latest);
    }
    let in_force: BTreeSet<[u8; 32]> = settings
        .values()
        .filter_map(|of| of.iter().max_by_key(|(_, of)| **of).map(|(at, _)| *at))
        .collect();
    let mut others: BTreeMap<String, usize> = BTreeMap::new();
    for link in &mut links {
        link.answers.retain(|answer| {
            let counts = in_force.contains(&answer.identity);
            if !counts {
                *others.entry(answer.judge.clone()).or_default() += 1;
            }
            counts
        });
    }
    (links, others)
}

/// The most probable offsets given the answered links, by pool, for the largest connected set of
/// queries only. `None` without an answer.
pub(super) fn fit(pools: &[ScoredPool], links: &[&StoredLink]) -> Option<Vec<Option<Offset>>> {
    let places: HashMap<&QueryId, usize> = pools.iter().map(|pool| &pool.query).zip(0..).collect();
    let scored = |of: &LinkedDocument| {
        let at = *places.get(&of.query)?;
        let (_, score) = pools
            .get(at)?
            .documents
            .iter()
            .find(|(id, _)| *id == of.document)?;
        Some((at, (*score)?))
    };
    let mut battles = Vec::new();
    let mut answers = 0;
    for link in links.iter().filter(|link| !link.answers.is_empty()) {
        let (Some(a), Some(b)) = (scored(&link.a), scored(&link.b)) else {
            continue;
        };
        let second = link.answers.iter().filter(|answer| answer.second).count();
        answers += link.answers.len();
        battles.push(LinkBattle {
            a,
            b,
            score: second as f64 / link.answers.len() as f64,
            weight: 1.0,
        });
    }
    if battles.is_empty() {
        return None;
    }
    let phi = battles.len() as f64 / answers as f64;
    let offsets = fit_links(pools.len(), &battles, phi).ok()?;
    let edges: Vec<(usize, usize)> = battles.iter().map(|of| (of.a.0, of.b.0)).collect();
    let connected = largest_component(pools.len(), &edges);
    Some(
        offsets
            .into_iter()
            .zip(connected)
            .map(|(of, on)| on.then_some(of))
            .collect(),
    )
}

/// Which nodes are in the largest connected component; the first one on ties.
fn largest_component(nodes: usize, edges: &[(usize, usize)]) -> Vec<bool> {
    let mut root: Vec<usize> = (0..nodes).collect();
    fn find(root: &mut [usize], mut at: usize) -> usize {
        while root[at] != at {
            root[at] = root[root[at]];
            at = root[at];
        }
        at
    }
    for (a, b) in edges {
        let (a, b) = (find(&mut root, *a), find(&mut root, *b));
        root[a.max(b)] = a.min(b);
    }
    let roots: Vec<usize> = (0..nodes).map(|at| find(&mut root, at)).collect();
    let mut sizes = vec![0usize; nodes];
    roots.iter().for_each(|at| sizes[*at] += 1);
    let largest = (0..nodes).rev().max_by_key(|at| sizes[*at]);
    roots.iter().map(|at| Some(*at) == largest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_connected_set_is_found() {
        let edges = [(0, 1), (2, 3), (3, 4), (6, 2)];
        let found = largest_component(8, &edges);
        let expected = [false, false, true, true, true, false, true, false];
        assert_eq!(found, expected);
        assert_eq!(largest_component(2, &[]), [true, false]);
        assert_eq!(largest_component(0, &[]), Vec::<bool>::new());
    }
}
