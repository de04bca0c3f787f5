//! Which documents are anchors, and a run that has one judge grade them.

use super::method;
use crate::app::choose_judges::JudgeConfiguration;
use crate::app::error::{AppError, invalid};
use crate::app::rerank::{Anchors, MethodChoice, PreparedRun, RerankScope, prepare};
use crate::app::scored_pools::{all_keys, scored_pools};
use crate::app::wording::counted;
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::one_scale::anchor_ranks;
use crate::domain::reranking::MethodOptions;
use crate::store::Store;
use crate::store::reranking::ResultTable;
use std::collections::{HashMap, HashSet};

/// Which anchors are wanted.
#[derive(Clone, Copy, Debug)]
pub struct AnchorRequest<'a> {
    /// The judge by its name.
    pub judge: &'a str,
    /// Anchors a query, from 2.
    pub count: usize,
    /// Only these queries, where some are named.
    pub queries: &'a [String],
    pub retry_failed: bool,
}

/// Puts a run together that grades what is not graded yet. A query keeps the anchors that it has, where they are enough: more
/// votes move scores, and must not buy other anchors.
pub fn prepare_anchors(
    store: &Store,
    configuration: &JudgeConfiguration<'_>,
    request: &AnchorRequest<'_>,
) -> Result<PreparedRun, AppError> {
    let keys = all_keys(store)?;
    let pools = scored_pools(store, &keys)?;
    let name = format!("{}/{}", method(), request.judge);
    let stored = store.read_blocking(|db| db.rerank_results(ResultTable::Anchors))?;
    let mut known: HashMap<QueryId, Vec<DocId>> = stored
        .into_iter()
        .map(|result| result.row)
        .filter(|row| row.method == name && row.failure.is_none())
        .map(|row| (row.query, row.order))
        .collect();
    let mut anchors = Anchors::new();
    for (key, pool) in keys.iter().zip(&pools) {
        let ranking = pool.ranking();
        if ranking.is_empty() {
            continue;
        }
        let wanted = request.count.min(ranking.len());
        let kept = known.remove(&pool.query).filter(|kept| {
            let here = kept.iter().filter(|id| pool.holds(id));
            kept.len() >= wanted && here.count() == kept.len()
        });
        let chosen: HashSet<DocId> = match kept {
            Some(kept) => kept.into_iter().collect(),
            None => anchor_ranks(ranking.len(), wanted)
                .into_iter()
                .filter_map(|rank| Some(ranking.get(rank)?.0.clone()))
                .collect(),
        };
        // In the order of the pool: the same anchors are the same question whatever their scores are.
        let documents = pool.documents.iter().map(|(id, _)| id);
        let documents = documents.filter(|id| chosen.contains(id)).cloned();
        anchors.insert(*key, documents.collect());
    }
    if anchors.is_empty() {
        return Err(invalid!(
            "no document has a zELO score, and anchors are chosen by it; `overrule annotate` has the pools judged"
        ));
    }
    let judges = [request.judge.to_owned()];
    let methods = [method()];
    let choice = MethodChoice {
        methods: &methods,
        judges: &judges,
        options: MethodOptions::default(),
        seed: 0,
    };
    let scope = RerankScope {
        queries: request.queries,
        dataset: None,
        candidates: None,
        anchors: Some(&anchors),
        retry_failed: request.retry_failed,
        one_at_a_time: false,
    };
    let mut run = prepare(store, configuration, &choice, &scope)?;
    let bare = pools.len() - anchors.len();
    if bare > 0 {
        run.notes.push(format!(
            "{} without a score of any document: not asked about",
            counted(bare, "query")
        ));
    }
    if let Some(note) = vendor_note(store, &run)? {
        run.notes.push(note);
    }
    Ok(run)
}

/// What is to be said of a judge that shares its errors with those of the battles, or cannot compare queries.
fn vendor_note(store: &Store, run: &PreparedRun) -> Result<Option<String>, AppError> {
    let Some(asked) = run.ensemble.first() else {
        return Ok(None);
    };
    if run.offline {
        let words = "an offline judge grades a document against the best of those it is shown and finds a good one for every query: \
                     its anchors put all queries on one level, whatever they are; a language model is wanted for this";
        return Ok(Some(words.to_owned()));
    }
    let keys = all_keys(store)?;
    let provider = asked.spec().provider.clone();
    let same = store.read_blocking(move |db| {
        for key in keys {
            let judges = db.judges_of(key)?;
            if let Some((_, judge)) = judges.into_iter().find(|(_, one)| one.provider == provider) {
                return Ok(Some(judge.name));
            }
        }
        Ok(None)
    })?;
    Ok(same.map(|same| {
        format!(
            "{} has the provider of {same}, which fought the battles: a judge of another vendor shares fewer of its errors",
            asked.spec().name
        )
    }))
}
