//! Which method still has to rank which query.

use super::candidates::{self, Candidates, NamedCandidates};
use super::prepared_method::PreparedMethod;
use super::service::RerankService;
use crate::app::error::{AppError, invalid};
use crate::app::input_files::read_ranking;
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::methods::MethodRow;
use crate::domain::metrics::RankedRun;
use crate::domain::sanitise;
use crate::judge::reranker::Reranker;
use crate::store::corpus::QueryKey;
use crate::store::reranking::StoredResult;
use crate::store::{Db, Store, StoreError};
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

/// A query that a method has not ranked.
#[derive(Clone, Copy, Debug)]
pub(super) struct OutstandingRanking {
    /// The method's place in the plan.
    pub(super) method: usize,
    pub(super) query: QueryKey,
}

/// Everything that a run is about.
#[derive(Debug)]
pub struct RerankPlan {
    pub(super) methods: Vec<PreparedMethod>,
    pub(super) services: Vec<RerankService>,
    pub(super) queries: Vec<(QueryKey, QueryId)>,
    named: Option<HashMap<QueryKey, Vec<DocId>>>,
    pub(super) outstanding: Vec<OutstandingRanking>,
    /// What each ranking depends on.
    identities: HashMap<(usize, QueryKey), [u8; 32]>,
    /// Results that are there, failed ones included that are not tried again.
    pub already: usize,
    /// Whether queries that failed are tried again.
    pub(super) retry: bool,
    /// Whether rankings are made one after the other.
    pub(super) one_at_a_time: bool,
}

/// Which documents of a query are candidates, and in which order.
#[derive(Clone, Copy, Debug)]
pub enum CandidateSource<'a> {
    /// The project's pools, in the order of the first stage.
    Pools,
    /// What a file says.
    File(&'a Path),
    /// These, of the queries that are named.
    Named(&'a HashMap<QueryKey, Vec<DocId>>),
}

/// What a run is to be about.
#[derive(Clone, Copy, Debug)]
pub struct RerankScope<'a> {
    /// Only the queries of a dataset.
    pub dataset: Option<&'a [QueryKey]>,
    /// Only these queries, where some are named.
    pub queries: &'a [String],
    pub candidates: CandidateSource<'a>,
    pub retry_failed: bool,
    /// One ranking after the other: their times are those of the method, and not of waiting for each other.
    pub one_at_a_time: bool,
}

impl RerankPlan {
    /// What the methods have still to do in a project.
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
                let name = sanitise::line(name);
                return Err(invalid!("--query: there is no query {name:?}"));
            }
            let wanted: HashSet<&str> = scope.queries.iter().map(String::as_str).collect();
            queries.retain(|(_, id)| wanted.contains(id.as_str()));
        }
        let named = match scope.candidates {
            CandidateSource::Pools => None,
            CandidateSource::Named(named) => {
                queries.retain(|(key, _)| named.contains_key(key));
                Some(named.clone())
            }
            CandidateSource::File(file) => {
                let given = orders_of(read_ranking(file, notes)?);
                let given: NamedCandidates = given.into_iter().collect();
                let path = file.to_owned();
                let given = store.read_blocking(move |db| {
                    Ok(candidates::check(db, &all, &given, &path).map(|()| given))
                })??;
                queries.retain(|(_, id)| given.contains_key(id));
                if queries.is_empty() {
                    return Err(AppError::file(
                        file,
                        "names candidates of none of the queries that are to be ranked",
                    ));
                }
                let keyed = queries.iter();
                let keyed = keyed.filter_map(|(key, id)| Some((*key, given.get(id)?.clone())));
                Some(keyed.collect::<HashMap<_, _>>())
            }
        };
        if queries.is_empty() {
            return Err(invalid!(
                "the project has no queries to rank; `overrule import FILE` brings some"
            ));
        }
        let mut plan = Self {
            methods,
            services,
            queries,
            named,
            outstanding: Vec::new(),
            identities: HashMap::new(),
            already: 0,
            retry: scope.retry_failed,
            one_at_a_time: scope.one_at_a_time,
        };
        plan.find_outstanding(store)?;
        Ok(plan)
    }

    /// What of a query's pool are its candidates, where a file says so.
    pub(super) fn named(&self, query: QueryKey) -> Option<&[DocId]> {
        self.named.as_ref()?.get(&query).map(Vec::as_slice)
    }

    fn find_outstanding(&mut self, store: &Store) -> Result<(), StoreError> {
        let keys: Vec<QueryKey> = self.queries.iter().map(|(key, _)| *key).collect();
        let (mut outstanding, mut already) = (Vec::new(), 0);
        let mut identities = HashMap::new();
        let this = &*self;
        let work = |db: &Db, key: QueryKey| {
            let candidates = Candidates::read(db, key, this.named(key))?;
            let known = db.rerank_results_of(key)?;
            let states = this.methods.iter().map(|method| {
                let identity = method.identity(&candidates);
                let found = known
                    .iter()
                    .find(|known| known.row.method == method.name && known.identity == identity);
                (identity, found.map(|found| method.has_failed(&found.row)))
            });
            Ok(states.collect::<Vec<_>>())
        };
        store.read_each(&keys, work, |query, states| {
            for (method, (identity, state)) in states.into_iter().enumerate() {
                identities.insert((method, query), identity);
                match state {
                    Some(has_failed) if !(has_failed && this.retry) => already += 1,
                    _ => outstanding.push(OutstandingRanking { method, query }),
                }
            }
            Ok::<_, StoreError>(())
        })?;
        (self.outstanding, self.already) = (outstanding, already);
        self.identities = identities;
        Ok(())
    }

    /// The methods' names, in the order in which they were given.
    pub fn method_names(&self) -> impl Iterator<Item = &str> {
        self.methods.iter().map(|method| method.name.as_str())
    }

    pub fn queries(&self) -> usize {
        self.queries.len()
    }

    /// How many rankings are to be made.
    pub fn rankings(&self) -> usize {
        self.outstanding.len()
    }

    /// The results of the plan's methods on its queries, as they are now in the project.
    pub fn results(&self, store: &Store) -> Result<Vec<MethodRow>, StoreError> {
        let keys: Vec<QueryKey> = self.queries.iter().map(|(key, _)| *key).collect();
        let mut rows = Vec::new();
        store.read_each(
            &keys,
            |db, key| db.rerank_results_of(key),
            |key, results| {
                let current = |result: &StoredResult| {
                    let mut names = self.method_names();
                    let method = names.position(|name| name == result.row.method);
                    let identity = method.and_then(|at| self.identities.get(&(at, key)));
                    identity == Some(&result.identity)
                };
                let found = results.into_iter().filter(current);
                rows.extend(found.map(|result| result.row));
                Ok::<_, StoreError>(())
            },
        )?;
        Ok(rows)
    }

    /// Whether a rerank service is asked that may want money.
    pub fn asks_rerankers(&self) -> bool {
        self.services.iter().any(RerankService::is_paid_reranker)
    }

    /// The rerankers of which nothing says what a call costs at most.
    pub(super) fn unpriced_rerankers(&self) -> impl Iterator<Item = &str> {
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

    /// Whether anything that is still to be done may be sent to a server.
    pub fn asks_servers(&self) -> bool {
        !self.outstanding.is_empty() && self.services.iter().any(RerankService::is_remote)
    }
}

/// The documents of a run, which is already in order.
pub(super) fn orders_of(run: RankedRun) -> super::prepared_method::Orders {
    run.into_iter()
        .map(|(query, documents)| (query, documents.into_iter().map(|(id, _)| id).collect()))
        .collect()
}
