//! Statistics on picks, labels and rulings for a one-page overview.

use super::data::{AdjudicationItem, AdjudicationList, adjudication_data};
use crate::domain::adjudication::{
    DisagreementRule, JudgeAnswers, PickMode, PickSummary, PoolAnswer, Remeasured,
    summarize_answers,
};
use crate::judge::OFFLINE;
use crate::store::{Db, Result, StoreError};
use std::collections::{BTreeMap, HashSet};

/// The grade from which the overview counts a document as labeled relevant.
pub(super) const RELEVANT: i32 = 1;

/// Statistics on picks, labels and rulings.
#[derive(Clone, Debug, Default)]
pub struct AdjudicationOverview {
    /// Number of pools with picks or labels.
    pub pools: usize,
    /// Number of labels in the project.
    pub labels: usize,
    /// One row per judge and order of the pools.
    pub judges: Vec<PickRow>,
    /// Whether all judges are offline.
    pub offline: bool,
    /// Items to rule on.
    pub disagreements: Vec<AdjudicationItem>,
    /// Number of documents that the annotator has ruled on.
    pub ruled: usize,
    /// Number of effective rulings.
    pub in_force: usize,
    /// Number of labels changed by the effective rulings.
    pub changed: usize,
    /// Number of documents on which people disagree.
    pub conflicts: usize,
    /// Each ranking before and after.
    pub effect: Vec<(String, Vec<Remeasured>)>,
    /// A warning to the reader.
    pub warning: Option<&'static str>,
}

/// One judge's picks in one order of the pools.
#[derive(Clone, Debug)]
pub struct PickRow {
    /// The judge's name, with details that distinguish it from others of the same name.
    pub name: String,
    /// Summary of its picks.
    pub summary: PickSummary,
    /// Number of failed calls.
    pub failed: usize,
}

/// Computes the statistics on picks, labels and rulings.
pub fn overview(
    db: &Db,
    rule: &DisagreementRule,
    list: AdjudicationList,
    annotator: &str,
) -> Result<AdjudicationOverview> {
    let rows = adjudication_data(db, RELEVANT)?;
    let unmeasured = |error: crate::domain::metrics::EvaluationError| {
        StoreError::Corrupt(format!("a ranking cannot be measured: {error}"))
    };
    let corrections = rows.corrections(None);
    let ruled: HashSet<_> = rows
        .rulings
        .iter()
        .filter(|row| row.ruling.annotator == annotator)
        .map(|row| (&row.ruling.query, &row.ruling.document))
        .collect();
    let judges = rows.groups.iter().flat_map(|group| {
        let several = group.orders.len() > 1;
        group
            .orders
            .iter()
            .map(move |(order, given)| row(group, several.then_some(*order), given))
    });
    Ok(AdjudicationOverview {
        pools: rows.pool_set.pools.len(),
        labels: rows.labels.values().map(|grades| grades.len()).sum(),
        judges: judges.collect(),
        offline: rows.groups.iter().all(|group| group.provider == OFFLINE),
        disagreements: rows.items(list, rule, annotator).map_err(unmeasured)?,
        ruled: ruled.len(),
        in_force: corrections.len(),
        changed: corrections.iter().filter(|one| one.changes()).count(),
        conflicts: rows.settled().1,
        effect: rows.effect(&corrections).map_err(unmeasured)?,
        warning: rows.pool_set.labels_stand_first().then_some(
            "the labeled documents come first in every pool: naming the first slots is always \
             right",
        ),
    })
}

fn row(group: &JudgeAnswers, order: Option<usize>, given: &BTreeMap<usize, PoolAnswer>) -> PickRow {
    let (summary, failed) = summarize_answers(given);
    PickRow {
        name: judge_name(group, order),
        summary,
        failed,
    }
}

/// A judge's name, with its question type and its order if there are several.
pub(super) fn judge_name(group: &JudgeAnswers, order: Option<usize>) -> String {
    let way = match group.way {
        PickMode::Exactly => "",
        PickMode::AnyNumber => " · open",
        PickMode::PerDocument => " · per document",
    };
    let order = order.map_or(String::new(), |order| format!(" · order {order}"));
    format!("{}{way}{order}", group.judge)
}
