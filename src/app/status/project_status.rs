//! The status of a project over all its queries.

use super::{Spending, summaries};
use crate::app::judge_report::report::telling_margins;
use crate::domain::answering_models::AnsweringModel;
use crate::domain::ranking::{NamedOpinion, OpinionEffect, RankingSettings};
use crate::domain::verdict::FinalRule;
use crate::domain::vote::VoteRule;
use crate::registry;
use crate::store::corpus::QueryInfo;
use crate::store::labels::AdjudicationCounts;
use crate::store::summary_cache::QuerySummary;
use crate::store::{Result, Store};
use serde_json::Value;

/// A part of a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartOf {
    pub part: usize,
    pub whole: usize,
}

/// What a feature adds to the status of a project.
#[derive(Clone, Debug, PartialEq)]
pub struct FeatureStatus {
    /// Name of the value in JSON.
    pub key: &'static str,
    pub json: Value,
    /// Lines of text; none if the feature is not used.
    pub lines: Vec<String>,
}

/// The status of a project.
#[derive(Debug)]
pub struct ProjectStatus {
    pub queries: Vec<(QueryInfo, QuerySummary)>,
    pub documents: usize,
    /// Battles with a vote, of all planned ones.
    pub fought: PartOf,
    pub votes: usize,
    pub votes_missing: usize,
    pub failures: usize,
    /// Unanimous battles, of those with at least two votes.
    pub unanimous: PartOf,
    /// Cyclic triads, of all decided ones.
    pub cyclic: PartOf,
    /// Queries whose top is settled at 95 %, of those for which it can be determined.
    pub settled: PartOf,
    /// Number of effective verdicts.
    pub verdicts: usize,
    /// Number of pairs on which people disagree.
    pub conflicts: usize,
    pub spending: Spending,
    /// Number of pending calls in batches, and their maximum cost.
    pub batched: (usize, f64),
    /// The judges whose votes count, with the number of queries.
    pub judges: Vec<(Vec<String>, usize)>,
    /// The models named in each judge's votes, by judge.
    pub models: Vec<(String, Vec<AnsweringModel>)>,
    /// Whether votes of offline judges count anywhere.
    pub offline: bool,
    pub adjudication: AdjudicationCounts,
    pub features: Vec<FeatureStatus>,
    /// The project's student, and its weight in the fits.
    pub student: Option<(NamedOpinion, OpinionEffect)>,
    pub settings: RankingSettings,
    pub rule: FinalRule,
    /// Judges whose margins were informative beyond their direction in the latest judge report, if
    /// the vote rule uses only the direction.
    pub telling_margins: Vec<String>,
    /// Cost per battle so far, if known.
    pub usd_per_battle: Option<f64>,
}

impl ProjectStatus {
    /// Reads the status; stale summaries are recomputed.
    pub fn read(store: &Store) -> Result<Self> {
        let queries = summaries(store)?;
        let spending = Spending::read(store)?;
        store.read_blocking(move |db| {
            let sum = |of: fn(&QuerySummary) -> usize| {
                queries.iter().map(|(_, query)| of(query)).sum::<usize>()
            };
            let of = |part, whole| PartOf {
                part: sum(part),
                whole: sum(whole),
            };
            Ok(Self {
                documents: sum(|query| query.documents),
                fought: of(|query| query.fought, |query| query.battles),
                votes: sum(|query| query.votes),
                votes_missing: sum(|query| query.missing),
                failures: sum(|query| query.failures),
                unanimous: of(|query| query.unanimous, |query| query.judged),
                cyclic: of(|query| query.cyclic, |query| query.triads),
                settled: of(
                    |query| usize::from(query.stop),
                    |query| usize::from(query.settled.is_some()),
                ),
                verdicts: sum(|query| query.verdicts),
                conflicts: db.conflicts(None)?.len(),
                spending,
                batched: db.committed()?,
                judges: db.judges_in_force()?,
                models: db.answering_models_by_name()?,
                offline: queries.iter().any(|(_, query)| query.offline),
                adjudication: db.adjudication_counts()?,
                features: registry::STATUSES
                    .iter()
                    .map(|status| status(db))
                    .collect::<Result<_>>()?,
                student: registry::opinion_with_effect(db)?,
                telling_margins: match db.settings()?.vote_rule {
                    VoteRule::Margin | VoteRule::Calibrated => Vec::new(),
                    _ => telling_margins(db)?,
                },
                settings: db.settings_in_force()?,
                rule: db.final_rule()?,
                usd_per_battle: db.usd_per_battle()?,
                queries,
            })
        })
    }
}
