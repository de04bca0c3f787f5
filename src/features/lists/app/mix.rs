//! Pairs that the judges of lists are also asked about, in battles: for comparing lists with pairs.

use super::ask::ListRun;
use crate::app::annotate::estimate::CostEstimate;
use crate::app::annotate::{ListedBattles, RunRequest, check_judges};
use crate::app::choose_judges::JudgeConfiguration;
use crate::app::error::{AppError, invalid};
use crate::app::text_format::counted;
use crate::domain::battle::Pair;
use crate::domain::corpus::QueryId;
use crate::domain::sampling::SeededRng;
use crate::judge::{JudgeEnsemble, JudgeSpec};
use crate::store::corpus::QueryKey;
use crate::store::outstanding::CallSelection;
use crate::store::{Db, Result, Store};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Pairs of documents that lists have shown, for battles of the lists' judges.
#[derive(Clone, Debug)]
pub struct PairMix {
    run: ListRun,
    judges: JudgeEnsemble,
    /// The number of pairs of each query.
    wanted: Vec<(QueryKey, QueryId, usize)>,
}

/// The price of the votes that are missing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairPrice {
    pub calls: usize,
    /// US dollars; `None` if a price is unknown.
    pub usd: Option<f64>,
    /// If the pairs that are not known yet are those of the longest documents, and every call costs
    /// as much as it can.
    pub most_usd: Option<f64>,
}

/// The pairs that stand for those that are not known yet, because lists have not been asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stand {
    None,
    Any,
    Longest,
}

impl PairMix {
    /// The pairs on which a run spends a share of its calls, divided among its queries; `None` if it
    /// asks only about lists. Changes nothing.
    ///
    /// # Errors
    /// There is no pair, a judge cannot be asked about pairs, or a query has votes of other judges.
    pub fn new(
        store: &Store,
        configuration: &JudgeConfiguration<'_>,
        run: &ListRun,
    ) -> std::result::Result<Option<Self>, AppError> {
        let Some(share) = run.mix() else {
            return Ok(None);
        };
        let names: Vec<String> = run
            .judges()
            .iter()
            .map(|judge| judge.spec().name.clone())
            .collect();
        let queries = run.queries().to_vec();
        let pairs = share.pairs(run.calls(), names.len());
        if pairs == 0 || run.calls().any(|calls| share.lists(calls) == 0) {
            return Err(invalid!(
                "--mix: a pair takes {}, since {} asked about it in both orders; ask more calls or \
                 change --mix so that there is at least one list per query and one pair",
                counted(2 * names.len(), "call"),
                match names.len() {
                    1 => "the judge is".to_owned(),
                    judges => format!("{judges} judges are"),
                }
            ));
        }
        let judges = configuration.choose(&names)?.ensemble;
        check_votes(
            store,
            &judges,
            queries.iter().map(|(key, _)| *key).collect(),
        )?;
        let mut queries: Vec<_> = queries.into_iter().zip(run.calls()).collect();
        queries.sort_by_cached_key(|((_, name), _)| place(&[name.as_str()]));
        let calls: Vec<usize> = queries.iter().map(|(_, calls)| *calls).collect();
        let queries = queries.into_iter().zip(share.divided(pairs, &calls));
        let wanted = queries.map(|(((key, name), _), pairs)| (key, name, pairs));
        Ok(Some(Self {
            run: run.clone(),
            judges,
            wanted: wanted.collect(),
        }))
    }

    pub fn judges(&self) -> &JudgeEnsemble {
        &self.judges
    }

    /// # Errors
    /// One of these queries, as far as the project has them, has votes of other judges.
    pub fn check_votes(
        &self,
        store: &Store,
        queries: Vec<String>,
    ) -> std::result::Result<(), AppError> {
        let known = store.read_blocking(move |db| db.known_queries(&queries))?;
        check_votes(store, &self.judges, known)
    }

    /// The price of the missing votes. Pairs that are not known yet are taken to be any of their
    /// query.
    pub fn price(
        &self,
        store: &Store,
        usual: &RunRequest,
    ) -> std::result::Result<PairPrice, AppError> {
        let estimate = |stand| {
            let request = self.request_with(store, usual, stand)?;
            CostEstimate::of_project(store, &self.judges, &request)
        };
        let any = estimate(Stand::Any)?;
        Ok(PairPrice {
            calls: any.calls(),
            usd: any.cost_usd(),
            most_usd: estimate(Stand::Longest)?.worst_usd(),
        })
    }

    /// The run that asks about the pairs of the lists that are answered, if there are any; `usual` is
    /// how the project is usually run.
    pub fn request(
        &self,
        store: &Store,
        usual: &RunRequest,
    ) -> std::result::Result<Option<RunRequest>, AppError> {
        let request = self.request_with(store, usual, Stand::None)?;
        let has_pairs = request.queries.iter().any(|queries| !queries.is_empty());
        Ok(has_pairs.then_some(request))
    }

    fn request_with(&self, store: &Store, usual: &RunRequest, stand: Stand) -> Result<RunRequest> {
        let mix = self.clone();
        let (keys, pairs) = store.read_blocking(move |db| {
            let (mut keys, mut pairs) = (Vec::new(), Vec::new());
            for (key, name, count) in &mix.wanted {
                let chosen = mix.chosen(db, (*key, name), *count, stand)?;
                if !chosen.is_empty() {
                    keys.push(*key);
                }
                pairs.extend(chosen.into_iter().map(|pair| (name.clone(), pair)));
            }
            Ok((keys, pairs))
        })?;
        Ok(RunRequest {
            queries: Some(keys),
            listed: Some(Arc::new(ListedBattles::in_both_orders(pairs))),
            selection: CallSelection::FreshAndFailed,
            probe: 0,
            at_most: None,
            ..usual.clone()
        })
    }

    /// The pairs of a query: those with the most battles first, so that a later run asks about the
    /// same ones, and then in a fixed random order.
    fn chosen(
        &self,
        db: &Db,
        (key, name): (QueryKey, &QueryId),
        count: usize,
        stand: Stand,
    ) -> Result<Vec<Pair>> {
        let query = self.run.read(db, key, name)?;
        let mut shown: BTreeSet<Pair> = BTreeSet::new();
        for order in query.lists.iter().filter_map(|of| of.order()) {
            let Some(places) = query.places(order) else {
                continue;
            };
            for (at, one) in places.iter().enumerate() {
                let others = places[..at].iter();
                shown.extend(others.filter_map(|other| Pair::new(*one, *other)));
            }
        }
        let mut battles: BTreeMap<Pair, usize> = BTreeMap::new();
        for record in db.rows(key)?.battles {
            if let Some(pair) = Pair::new(record.battle.a, record.battle.b) {
                *battles.entry(pair).or_default() += 1;
            }
        }
        let document = |at: usize| query.documents.get(at).map_or("", |name| name.as_str());
        let random =
            |pair: &Pair| place(&[name.as_str(), document(pair.low()), document(pair.high())]);
        let fought = |pair: &Pair| battles.get(pair).copied().unwrap_or(0).min(2);
        let mut chosen: Vec<Pair> = shown.iter().copied().collect();
        chosen.sort_by_cached_key(|pair| (Reverse(fought(pair)), random(pair)));
        chosen.truncate(count);
        if stand == Stand::Longest {
            // Lists that are asked first may show pairs that come before these, of any length.
            chosen.retain(|pair| fought(pair) > 0);
        }
        if chosen.len() < count && stand != Stand::None {
            let length = |at: usize| query.pool.documents.get(at).map_or(0, |text| text.len());
            let documents = query.documents.len();
            let pairs = (0..documents).flat_map(|one| (0..one).map(move |other| (one, other)));
            let pairs = pairs.filter_map(|(one, other)| Pair::new(one, other));
            let mut others: Vec<Pair> = pairs.filter(|pair| !chosen.contains(pair)).collect();
            others.sort_by_cached_key(|pair| {
                let length = match stand {
                    Stand::Longest => length(pair.low()) + length(pair.high()),
                    Stand::None | Stand::Any => 0,
                };
                (fought(pair), Reverse(length), random(pair))
            });
            others.truncate(count - chosen.len());
            chosen.extend(others);
        }
        Ok(chosen)
    }
}

/// # Errors
/// A query has votes of other judges.
fn check_votes(
    store: &Store,
    judges: &JudgeEnsemble,
    queries: Vec<QueryKey>,
) -> std::result::Result<(), AppError> {
    let specs: Vec<JudgeSpec> = judges.iter().map(|judge| judge.spec().clone()).collect();
    Ok(store.read_blocking(move |db| {
        let asked = db.known_judges(&specs)?;
        let mut queries = queries.iter();
        queries.try_for_each(|key| check_judges(db, *key, &asked))
    })?)
}

/// A fixed random place in an order, which depends on these names only.
fn place(names: &[&str]) -> usize {
    let purpose = [&["pairs of lists"], names].concat();
    SeededRng::new(0, &purpose).below(1 << 31)
}
