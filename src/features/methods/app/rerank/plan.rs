//! Determines which method still has to rank which query.

use super::candidates::{self, CandidateLists, CandidateShuffle, Orders};
use super::prepared_method::PreparedMethod;
use super::service::RerankService;
use super::truncated::TruncatedDocuments;
use crate::app::choose_judges::check_budget;
use crate::app::error::{AppError, invalid};
use crate::app::input_files::read_ranking;
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::document_cut::DocumentCut;
use crate::domain::metrics::RankedRun;
use crate::domain::number_words::count;
use crate::domain::sanitize;
use crate::features::methods::domain::MethodRow;
use crate::features::methods::store::StoredResult;
use crate::judge::JudgeEnsemble;
use crate::judge::ensemble::FILE;
use crate::judge::reranker::Reranker;
use crate::store::corpus::QueryKey;
use crate::store::{Db, Store, StoreError};
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

/// A query that a method has not ranked.
#[derive(Clone, Copy, Debug)]
pub(super) struct OutstandingRanking {
    /// Index of the method in the plan.
    pub(super) method: usize,
    pub(super) query: QueryKey,
}

/// The plan of a reranking run.
#[derive(Debug)]
pub struct RerankPlan {
    pub(super) methods: Vec<PreparedMethod>,
    pub(super) services: Vec<RerankService>,
    pub(super) queries: Vec<(QueryKey, QueryId)>,
    pub(super) candidates: Arc<CandidateLists>,
    pub(super) outstanding: Vec<OutstandingRanking>,
    /// Hash of the inputs of each ranking.
    identities: HashMap<(usize, QueryKey), [u8; 32]>,
    /// Number of existing results, including failures that are not retried.
    pub already: usize,
    /// Whether failed queries are retried.
    pub(super) retry: bool,
    /// Whether rankings are made one after the other.
    pub(super) one_at_a_time: bool,
    /// How much of each document is shown to all methods; `None` for all of it.
    pub(super) limit: Option<DocumentCut>,
    /// Whether only this limit counts, and results of earlier versions do not.
    limit_is_given: bool,
}

/// Source of the candidates of a query and of their order.
#[derive(Clone, Copy, Debug)]
pub enum CandidateSource<'a> {
    /// The project's pools, in first-stage order.
    Pools,
    /// A ranking: a file, or a name in the project. Texts that the project lacks are read from the
    /// corpus.
    Ranking {
        name: &'a Path,
        corpus: Option<&'a Path>,
    },
    /// These candidates, for the given queries.
    Named(&'a HashMap<QueryKey, Vec<DocId>>),
}

/// Scope of a run.
#[derive(Clone, Copy, Debug)]
pub struct RerankScope<'a> {
    /// Only the queries of a dataset.
    pub dataset: Option<&'a [QueryKey]>,
    /// Only these queries, unless the list is empty.
    pub queries: &'a [String],
    pub candidates: CandidateSource<'a>,
    pub shuffle: Option<&'a CandidateShuffle>,
    /// Maximum number of queries, the first ones by identifier.
    pub max_queries: Option<usize>,
    pub retry_failed: bool,
    /// Make one ranking after the other, so that the measured latency of a method does not include
    /// waiting for other rankings.
    pub one_at_a_time: bool,
    pub long_documents: LongDocuments,
}

/// How documents are treated that are longer than a limit.
#[derive(Clone, Copy, Debug, Default)]
pub struct LongDocuments {
    /// The limit for all methods, in characters; by default, the lowest limit of the judges and
    /// rerankers that are asked.
    pub chars: Option<usize>,
    /// Whether they fail their query instead of being truncated.
    pub refuse: bool,
}

impl RerankPlan {
    /// Determines the remaining work of the methods in a project.
    pub(super) fn new(
        store: &Store,
        methods: Vec<PreparedMethod>,
        services: Vec<RerankService>,
        scope: &RerankScope<'_>,
        notes: &mut Vec<String>,
    ) -> Result<Self, AppError> {
        let all = store.read_blocking(|db| db.query_names())?;
        let mut queries: Vec<(QueryKey, QueryId)> = all
            .into_iter()
            .map(|(key, name)| (key, QueryId::new(name)))
            .collect();
        let all = queries.clone();
        if let Some(dataset) = scope.dataset {
            let wanted: HashSet<QueryKey> = dataset.iter().copied().collect();
            queries.retain(|(key, _)| wanted.contains(key));
        }
        if !scope.queries.is_empty() {
            let known: HashSet<&str> = all.iter().map(|(_, id)| id.as_str()).collect();
            if let Some(name) = scope
                .queries
                .iter()
                .find(|name| !known.contains(name.as_str()))
            {
                let name = sanitize::line(name);
                return Err(invalid!("--query: no such query: {name:?}"));
            }
            let wanted: HashSet<&str> = scope.queries.iter().map(String::as_str).collect();
            queries.retain(|(_, id)| wanted.contains(id.as_str()));
        }
        let mut lists = match scope.candidates {
            CandidateSource::Pools => CandidateLists::default(),
            CandidateSource::Named(named) => CandidateLists {
                named: Some(named.clone()),
                ..CandidateLists::default()
            },
            CandidateSource::Ranking { name, corpus } => {
                let ranking = ranking_named(store, name, notes)?;
                candidates::named(store, &all, &ranking, name, corpus)?
            }
        };
        if let Some(named) = &lists.named {
            let any = !queries.is_empty();
            queries.retain(|(key, _)| named.contains_key(key));
            if let (CandidateSource::Ranking { name, .. }, true, true) =
                (scope.candidates, any, queries.is_empty())
            {
                return Err(AppError::file(
                    name,
                    "contains no candidates of the queries to rank",
                ));
            }
        }
        lists.shuffle = scope.shuffle.cloned();
        if let Some(most) = scope.max_queries.filter(|most| *most < queries.len()) {
            let mut ids: Vec<QueryId> = queries.iter().map(|(_, id)| id.clone()).collect();
            ids.sort();
            let first: HashSet<&QueryId> = ids.iter().take(most).collect();
            queries.retain(|(_, id)| first.contains(id));
        }
        if queries.is_empty() {
            return Err(invalid!(
                "the project has no queries to rank; import some with `overrule import FILE`"
            ));
        }
        let limit = limit(&services, scope.long_documents.chars, notes);
        lists.limit = limit;
        let mut plan = Self {
            methods,
            services,
            queries,
            candidates: Arc::new(lists),
            outstanding: Vec::new(),
            identities: HashMap::new(),
            already: 0,
            retry: scope.retry_failed,
            one_at_a_time: scope.one_at_a_time,
            limit,
            limit_is_given: scope.long_documents.chars.is_some(),
        };
        plan.find_outstanding(store, notes)?;
        Ok(plan)
    }

    fn find_outstanding(
        &mut self,
        store: &Store,
        notes: &mut Vec<String>,
    ) -> Result<(), StoreError> {
        let keys: Vec<QueryKey> = self.queries.iter().map(|(key, _)| *key).collect();
        let (mut outstanding, mut already) = (Vec::new(), 0);
        let mut identities = HashMap::new();
        let mut long = TruncatedDocuments::default();
        let this = &*self;
        let work = |db: &Db, key: QueryKey| {
            let candidates = this.candidates.read(db, key)?;
            let known = db.rerank_results_of(key)?;
            let states = this.methods.iter().map(|method| {
                let identity = method.identity(&candidates);
                let named = known.iter().filter(|known| known.row.method == method.name);
                let found = named.clone().find(|known| known.identity == identity);
                // A result of an earlier version, which truncated documents differently, is kept
                // unless a limit is asked for.
                let earlier = named
                    .filter(|known| known.row.cut.is_none() && !this.limit_is_given)
                    .find(|known| known.identity == method.identity_of_whole(&candidates));
                let kept = found
                    .or(earlier)
                    .filter(|found| !(this.retry && method.has_failed(&found.row)));
                (kept.map_or(identity, |kept| kept.identity), kept.is_some())
            });
            let states: Vec<_> = states.collect();
            let cut = this.methods.iter().map(|method| method.cut(&candidates));
            let cut = cut.max_by_key(Vec::len).unwrap_or_default();
            Ok((states, candidates.query, cut))
        };
        store.read_each(&keys, work, |query, (states, name, cut)| {
            long.add(&name, &cut);
            for (method, (identity, is_kept)) in states.into_iter().enumerate() {
                identities.insert((method, query), identity);
                if is_kept {
                    already += 1;
                } else {
                    outstanding.push(OutstandingRanking { method, query });
                }
            }
            Ok::<_, StoreError>(())
        })?;
        (self.outstanding, self.already) = (outstanding, already);
        self.identities = identities;
        notes.extend(self.limit.and_then(|limit| long.note(limit)));
        Ok(())
    }

    /// The same plan for some of its queries, with the work that is left.
    #[cfg(feature = "remote")]
    pub fn of_queries(&self, store: &Store, names: &[String]) -> Result<Self, StoreError> {
        let wanted: HashSet<&str> = names.iter().map(String::as_str).collect();
        let queries = self.queries.iter();
        let queries = queries.filter(|(_, id)| wanted.contains(id.as_str()));
        let mut plan = Self {
            methods: self.methods.clone(),
            services: self.services.clone(),
            queries: queries.cloned().collect(),
            candidates: Arc::clone(&self.candidates),
            outstanding: Vec::new(),
            identities: HashMap::new(),
            already: 0,
            ..*self
        };
        plan.find_outstanding(store, &mut Vec::new())?;
        Ok(plan)
    }

    /// The methods' names, in the order in which they were given.
    pub fn method_names(&self) -> impl Iterator<Item = &str> {
        self.methods.iter().map(|method| method.name.as_str())
    }

    pub fn queries(&self) -> usize {
        self.queries.len()
    }

    /// Number of rankings to make.
    pub fn rankings(&self) -> usize {
        self.outstanding.len()
    }

    /// The current results in the project of the plan's methods for its queries.
    pub fn results(&self, store: &Store) -> Result<Vec<MethodRow>, StoreError> {
        let keys: Vec<QueryKey> = self.queries.iter().map(|(key, _)| *key).collect();
        let mut rows = Vec::new();
        store.read_each(
            &keys,
            |db, key| db.rerank_results_of(key),
            |key, results| {
                let current = |result: &StoredResult| {
                    let identity = self
                        .method_names()
                        .position(|name| name == result.row.method)
                        .and_then(|at| self.identities.get(&(at, key)));
                    identity == Some(&result.identity)
                };
                let found = results.into_iter().filter(current);
                rows.extend(found.map(|result| result.row));
                Ok::<_, StoreError>(())
            },
        )?;
        Ok(rows)
    }

    /// Whether a paid reranking service may be called.
    pub fn asks_rerankers(&self) -> bool {
        self.services.iter().any(RerankService::is_paid_reranker)
    }

    /// Rejects an invalid budget, or one that the rerankers and these judges cannot keep.
    ///
    /// # Errors
    /// It is not an amount in dollars, or the worst-case cost of a call is unknown.
    pub fn check_budget(&self, budget: f64, judges: &JudgeEnsemble) -> Result<(), AppError> {
        check_budget(budget, judges)?;
        let unpriced: Vec<_> = self.unpriced_rerankers().map(sanitize::line).collect();
        if unpriced.is_empty() {
            return Ok(());
        }
        Err(invalid!(
            "a budget cannot be enforced: no price is known for the reranker {}; set `price` in \
             {FILE}",
            unpriced.join(", ")
        ))
    }

    /// The rerankers whose worst-case cost per call is unknown.
    fn unpriced_rerankers(&self) -> impl Iterator<Item = &str> {
        let unpriced = |service: &&RerankService| service.is_unpriced_reranker();
        self.services
            .iter()
            .filter(unpriced)
            .map(RerankService::name)
    }

    /// The rerankers that run programs, each of which needs the user's permission.
    pub fn programs(&self) -> impl Iterator<Item = Arc<Reranker>> {
        self.services
            .iter()
            .filter_map(RerankService::reranker)
            .filter(|reranker| reranker.program().is_some())
    }

    /// Whether any of the remaining work may be sent to a server.
    pub fn asks_servers(&self) -> bool {
        !self.outstanding.is_empty() && self.services.iter().any(RerankService::is_remote)
    }
}

/// The lowest limit of the services and of the user: all methods rank the same texts.
fn limit(
    services: &[RerankService],
    given: Option<usize>,
    notes: &mut Vec<String>,
) -> Option<DocumentCut> {
    let given = given.map(|chars| DocumentCut { chars });
    let limits = services
        .iter()
        .filter_map(|service| Some((service.document_cut()?, service.name())));
    let Some((lowest, name)) = limits.min() else {
        return given;
    };
    if given.is_some_and(|given| lowest < given) {
        notes.push(format!(
            "--max-document-chars: {} reads at most {} characters of a document, and so does every \
             method of this run",
            sanitize::line(name),
            count(lowest.chars),
        ));
    }
    Some(lowest.at_most(given))
}

/// The ranking in a file or, if there is no such file, the one with this name in the project.
fn ranking_named(store: &Store, name: &Path, notes: &mut Vec<String>) -> Result<Orders, AppError> {
    if !name.exists() {
        let found = store.read_blocking(|db| db.rankings())?.into_iter();
        let mut found = found.filter(|(known, _)| Path::new(known) == name);
        if let Some((_, run)) = found.next() {
            return Ok(orders_of(run));
        }
    }
    Ok(orders_of(read_ranking(name, notes)?))
}

/// The documents of a run, which is already ordered.
pub(super) fn orders_of(run: RankedRun) -> Orders {
    run.into_iter()
        .map(|(query, documents)| (query, documents.into_iter().map(|(id, _)| id).collect()))
        .collect()
}
