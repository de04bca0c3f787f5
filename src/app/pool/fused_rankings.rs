//! The fused results of BM25 and the nearest vectors, with the ranks in both.

use crate::domain::corpus::{DocId, QueryId};
use crate::domain::metrics::RankedRun;
use crate::domain::retrieval::{FusedItem, StageRank};
use serde_json::{Value, json};
use std::collections::HashMap;

/// The stages, in fusion order.
const STAGES: [&str; 2] = ["bm25", "dense"];
pub(super) const FUSED: &str = "hybrid";

/// Names of the stages and of their fusion.
pub fn stage_names() -> impl Iterator<Item = &'static str> {
    STAGES.into_iter().chain([FUSED])
}

pub(super) struct FusedRankings {
    /// For each query, best first.
    pub(super) rankings: HashMap<QueryId, Vec<FusedItem<DocId>>>,
    /// Description of the fusion, for the pools.
    pub(super) method: Value,
    /// The same with its cost, for the summary.
    pub(super) made: Value,
}

impl FusedRankings {
    fn of(&self, query: &QueryId) -> &[FusedItem<DocId>] {
        self.rankings.get(query).map_or(&[], Vec::as_slice)
    }

    /// The best documents of a query.
    pub(super) fn ranking(&self, query: &QueryId, depth: usize) -> Vec<(DocId, f64)> {
        self.of(query)
            .iter()
            .take(depth)
            .map(|fused| (fused.item.clone(), fused.score))
            .collect()
    }

    /// Rank and score of a document in each stage that found it.
    pub(super) fn places(&self, query: &QueryId, document: &DocId) -> Option<Value> {
        let fused = self
            .of(query)
            .iter()
            .find(|fused| fused.item == *document)?;
        let mut places = json!({FUSED: {"score": fused.score}});
        for (name, place) in STAGES.iter().zip(&fused.stages) {
            if let Some(place) = place {
                places[name] = json!({"rank": place.rank, "score": place.score});
            }
        }
        Some(places)
    }

    /// The stages and their fusion, each as a run.
    pub(super) fn runs(&self) -> Vec<(&'static str, RankedRun)> {
        let stages = STAGES.into_iter().enumerate();
        let mut runs: Vec<(&'static str, RankedRun)> = stages
            .map(|(at, name)| {
                let run = self
                    .rankings
                    .iter()
                    .map(|(query, fused)| (query.clone(), stage(fused, at)));
                (name, run.collect())
            })
            .collect();
        let fused = self
            .rankings
            .keys()
            .map(|query| (query.clone(), self.ranking(query, usize::MAX)));
        runs.push((FUSED, fused.collect()));
        runs
    }
}

/// The results of one stage, best first.
fn stage(fused: &[FusedItem<DocId>], at: usize) -> Vec<(DocId, f64)> {
    let place = |fused: &FusedItem<DocId>| -> Option<StageRank> { *fused.stages.get(at)? };
    let found = fused
        .iter()
        .filter_map(|fused| Some((place(fused)?, &fused.item)));
    let mut found: Vec<(StageRank, &DocId)> = found.collect();
    found.sort_by_key(|(place, _)| place.rank);
    let scored = found.into_iter();
    scored
        .map(|(place, item)| (item.clone(), place.score.unwrap_or(0.0)))
        .collect()
}
