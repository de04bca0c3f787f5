//! Computes how rankings would change without a judge.

use crate::domain::metrics::kendall_tau_b;
use crate::domain::priority::top_of;
use crate::domain::ranking::{JudgeWeights, RankingSettings, Standing, View};
use crate::domain::vote::JudgeId;
use crate::store::{Db, Result};
use std::collections::{HashMap, HashSet};

/// Comparison of two sets of rankings: with and without a judge's votes, or with and without
/// separate weights for judges.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RankingShift {
    pub queries: usize,
    /// Number of ranks that count as the top; fewer in small pools.
    pub top: usize,
    /// Number of queries whose top has different members.
    pub top_changed: usize,
    /// Number of documents that leave the top, over all queries.
    pub leaving: usize,
    /// Mean Kendall τ-b between the two rankings; `None` if there are no queries.
    pub tau: Option<f64>,
}

impl RankingShift {
    fn add(&mut self, one: &View, other: &View, sum: &mut f64) {
        let scores = |view: &View| -> Vec<f64> {
            let zelo = |standing: &Option<Standing>| standing.map_or(f64::NEG_INFINITY, |s| s.zelo);
            view.standings.iter().map(zelo).collect()
        };
        let top = top_of(one);
        self.top = self.top.max(top);
        let members =
            |view: &View| -> HashSet<usize> { view.by_zelo.iter().take(top).copied().collect() };
        let leaving = members(one).difference(&members(other)).count();
        if let Some(tau) = kendall_tau_b(&scores(one), &scores(other)) {
            self.queries += 1;
            *sum += tau;
            self.top_changed += usize::from(leaving > 0);
            self.leaving += leaving;
        }
    }
}

/// Compares the rankings with fitted judge responses to those with equal judges.
pub fn ranking_with_responses(
    db: &Db,
    responses: &HashMap<JudgeId, (f64, f64)>,
) -> Result<RankingShift> {
    let mut found = RankingShift::default();
    let mut sum = 0.0;
    for (key, _) in db.query_names()? {
        let now = db.view(key)?;
        let settings = |judge_weights| RankingSettings {
            judge_weights,
            ..now.settings
        };
        let mut rows = now.rows().clone();
        let equal = View::quick(rows.clone(), settings(JudgeWeights::Equal));
        let of = |judge: &JudgeId| responses.get(judge).copied().unwrap_or((1.0, 0.0));
        rows.responses = rows.judges.iter().map(of).collect();
        let joint = View::quick(rows, settings(JudgeWeights::Joint));
        found.add(&equal, &joint, &mut sum);
    }
    found.tau = (found.queries > 0).then(|| sum / found.queries as f64);
    Ok(found)
}

/// Fits every query without a judge's votes.
pub fn ranking_without_judge(db: &Db, judge: JudgeId) -> Result<RankingShift> {
    let mut found = RankingShift::default();
    let mut sum = 0.0;
    for (key, _) in db.query_names()? {
        let judges = db.judges_of(key)?;
        if judges.len() < 2 || judges.iter().all(|(id, _)| *id != judge) {
            continue;
        }
        let with = db.view(key)?;
        let mut rows = with.rows().clone();
        if let Some(judge_index) = rows.judges.iter().position(|id| *id == judge) {
            rows.judges.remove(judge_index);
            if judge_index < rows.responses.len() {
                rows.responses.remove(judge_index);
            }
        }
        for record in &mut rows.battles {
            record.votes.retain(|vote| vote.judge != judge);
            record.failed.retain(|id| *id != judge);
        }
        let without = View::quick(rows, with.settings);
        found.add(&with, &without, &mut sum);
    }
    found.tau = (found.queries > 0).then(|| sum / found.queries as f64);
    Ok(found)
}
