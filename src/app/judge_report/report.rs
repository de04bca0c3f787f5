//! What a screen and a command show of the judges: each one's statistics, and who agrees with whom.

use super::rater_data::{PersonVerdict, RaterData, rater_data};
use super::reasoning_audit::{ReasoningAudit, audit_reasoning};
use crate::domain::agreement;
use crate::domain::judge_report::{
    JudgeModel, JudgePair, JudgeReport, Rating, ensemble_report, judge_alpha, judge_pairs,
    judge_reports,
};
use crate::domain::vote::{Margin, Outcome};
use crate::store::corpus::QueryKey;
use crate::store::judge_calls::JudgeCalls;
use crate::store::{Db, Result};

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
        let people = people_ratings(&rater_data);
        let alpha_people = judge_alpha(&people);
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
        Self {
            alpha_judges: judge_alpha(&rater_data.ratings),
            alpha_people,
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

/// People's verdicts as ratings, so that they can be held against judges.
fn people_ratings(rater_data: &RaterData) -> Vec<Rating> {
    let judges = rater_data.judges.len();
    let rating = |verdict: &PersonVerdict| {
        let margin = match verdict.outcome? {
            Outcome::A => -1.0,
            Outcome::Tie => 0.0,
            Outcome::B => 1.0,
        };
        Some(Rating {
            query: verdict.query,
            // Agreement goes by the pair.
            battle: 0,
            a: verdict.pair.low(),
            b: verdict.pair.high(),
            judge: judges + verdict.person,
            margin: Margin::new(margin)?,
            swapped: false,
            length_a: 0,
            length_b: 0,
            gap: None,
        })
    };
    rater_data
        .person_verdicts
        .iter()
        .filter_map(rating)
        .collect()
}
