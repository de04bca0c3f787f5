//! What a screen and a command show of the judges: each one's statistics, and who agrees with whom.

use super::rater_data::{RaterData, rater_data};
use super::reasoning_audit::{ReasoningAudit, audit_reasoning};
use crate::domain::agreement;
use crate::domain::judge_report::{
    JudgeModel, JudgePair, JudgeReport, Rating, ensemble_report, judge_alpha, judge_pairs,
    judge_reports,
};
use crate::domain::vote::{Margin, Outcome as Side};
use crate::store::corpus::QueryKey;
use crate::store::judge_calls::JudgeCalls;
use crate::store::{Db, Result};
use std::collections::BTreeMap;

/// The seed of the resampling behind α's intervals.
const SEED: u64 = 0xa1fa;

/// Cards of all judges, and who agrees with whom.
#[derive(Clone, Debug)]
pub struct RaterReport {
    pub rater_data: RaterData,
    /// A card a judge with votes.
    pub cards: Vec<JudgeReport>,
    /// The card of all judges together, where there are several.
    pub ensemble: Option<JudgeReport>,
    /// What each judge's calls took and cost, in the order of the witnesses' judges.
    pub calls: Vec<JudgeCalls>,
    /// What looking into each judge's reasoning found.
    pub audits: Vec<ReasoningAudit>,
    /// Everybody's agreement with everybody, people included, by name.
    pub pairs: Vec<(String, String, JudgePair)>,
    /// Krippendorff's α over the judges.
    pub alpha_judges: Option<agreement::Alpha>,
    /// Krippendorff's α over the people.
    pub alpha_people: Option<agreement::Alpha>,
    /// Whether some judges were asked only where that told more.
    pub selective: bool,
    /// Documents and judges fitted together, where that was asked for.
    pub joint: Option<JudgeModel>,
}

/// The judges' cards over one query or the project, without the joint fit.
pub fn rater_report(db: &Db, scope: Option<QueryKey>) -> Result<RaterReport> {
    let rater_data = rater_data(db, scope)?;
    let ids = || rater_data.judges.iter().map(|(id, _)| *id);
    let calls = ids().map(|id| db.calls_of(id)).collect::<Result<_>>()?;
    let audits = ids()
        .map(|id| audit_reasoning(db, id))
        .collect::<Result<_>>()?;
    let mut report = RaterReport::new(rater_data, calls, audits);
    report.selective = db.has_escalated()?;
    Ok(report)
}

impl RaterReport {
    /// Computes every card.
    fn new(rater_data: RaterData, calls: Vec<JudgeCalls>, audits: Vec<ReasoningAudit>) -> Self {
        let cards = judge_reports(&rater_data.ratings, &rater_data.verdicts);
        let ensemble = (rater_data.judges.len() > 1 && !rater_data.ratings.is_empty())
            .then(|| ensemble_report(&rater_data.ratings, &rater_data.verdicts));
        let people = people_ballots(&rater_data);
        let mut all = rater_data.ratings.clone();
        all.extend(people);
        let name = |at: usize| {
            let judges = rater_data.judges.len();
            match at.checked_sub(judges) {
                None => rater_data.judges[at].1.name.clone(),
                Some(person) => rater_data.people.get(person).cloned().unwrap_or_default(),
            }
        };
        let pairs = judge_pairs(&all)
            .into_iter()
            .filter(|pair| pair.n > 0)
            .map(|pair| (name(pair.a), name(pair.b), pair))
            .collect();
        let mut units: BTreeMap<(usize, usize, usize), usize> = BTreeMap::new();
        // In the orientation of the first battle on the pair, as the judges' votes are.
        let mut turned: BTreeMap<(usize, usize, usize), bool> = BTreeMap::new();
        for ballot in &rater_data.ratings {
            let key = (ballot.query, ballot.a.min(ballot.b), ballot.a.max(ballot.b));
            turned.entry(key).or_insert(ballot.a > ballot.b);
        }
        let mut labels = Vec::new();
        for person_verdicts in &rater_data.person_verdicts {
            if let Some(outcome) = person_verdicts.outcome {
                let next = units.len();
                let key = (
                    person_verdicts.query,
                    person_verdicts.pair.low(),
                    person_verdicts.pair.high(),
                );
                let unit = *units.entry(key).or_insert(next);
                let turn = turned.get(&key).copied().unwrap_or(false);
                let label = number(outcome);
                labels.push((
                    unit,
                    person_verdicts.person,
                    if turn { 0.0 - label } else { label },
                ));
            }
        }
        Self {
            alpha_judges: judge_alpha(&rater_data.ratings, Some(SEED)),
            alpha_people: agreement::alpha(&agreement::units(labels), Some(SEED)),
            cards,
            ensemble,
            calls,
            audits,
            pairs,
            joint: None,
            selective: false,
            rater_data,
        }
    }
}

/// People's verdicts as ballots on every battle of their pairs, so that they can be held against judges.
fn people_ballots(rater_data: &RaterData) -> Vec<Rating> {
    // By query, earlier and later document: the battles, each with its own A and B.
    type Fought = Vec<(usize, usize, usize)>;
    let mut battles: BTreeMap<(usize, usize, usize), Fought> = BTreeMap::new();
    for ballot in &rater_data.ratings {
        let key = (ballot.query, ballot.a.min(ballot.b), ballot.a.max(ballot.b));
        let known = battles.entry(key).or_default();
        let battle = (ballot.battle, ballot.a, ballot.b);
        if !known.contains(&battle) {
            known.push(battle);
        }
    }
    let judges = rater_data.judges.len();
    // Pairs that no judge voted on are numbered past every battle.
    let mut free = rater_data
        .ratings
        .iter()
        .map(|ballot| ballot.battle + 1)
        .max()
        .unwrap_or(0);
    let mut found = Vec::new();
    for person_verdicts in &rater_data.person_verdicts {
        let (low, high) = (person_verdicts.pair.low(), person_verdicts.pair.high());
        let Some(margin) = person_verdicts
            .outcome
            .and_then(|outcome| Margin::new(number(outcome)))
        else {
            continue;
        };
        let on = battles
            .entry((person_verdicts.query, low, high))
            .or_insert_with(|| {
                free += 1;
                vec![(free, low, high)]
            });
        for (battle, a, b) in on.iter().copied() {
            found.push(Rating {
                query: person_verdicts.query,
                battle,
                a,
                b,
                judge: judges + person_verdicts.person,
                margin: if a == low { margin } else { margin.flipped() },
                swapped: false,
                length_a: 0,
                length_b: 0,
                gap: None,
            });
        }
    }
    found
}

/// A as −1, a tie as 0, B as 1.
fn number(outcome: Side) -> f64 {
    match outcome {
        Side::A => -1.0,
        Side::Tie => 0.0,
        Side::B => 1.0,
    }
}
