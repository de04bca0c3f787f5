//! What people ruled on the controls, and which decisions are accepted.

use super::frame::changed_queries;
use crate::app::error::AppError;
use crate::app::text_format::{counted, first_names, moment_words};
use crate::domain::corpus::QueryId;
use crate::domain::number_words::{count, fixed, probability};
use crate::domain::vote::Outcome;
use crate::features::accept::domain::{
    LearnedThreshold, RuledControl, fewest_controls, learn_threshold,
};
use crate::features::accept::store::{
    StoredAcceptance, StoredControl, StoredDecision, StoredFrameQuery,
};
use crate::store::verdicts::StoredVerdict;
use crate::store::{self, Db, Store};
use serde::Serialize;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

/// Documents of a battle, by query and identifiers in alphabetical order.
pub(super) type BattleName = (String, [String; 2]);

pub(super) fn battle_name(query: &QueryId, decision: &StoredDecision) -> BattleName {
    named(
        query.as_str(),
        decision.better.as_str(),
        decision.other.as_str(),
    )
}

fn named(query: &str, one: &str, other: &str) -> BattleName {
    let mut names = [one.to_owned(), other.to_owned()];
    names.sort();
    (query.to_owned(), names)
}

/// What is known about a control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ControlState {
    /// No verdict counts.
    Open { was_withdrawn: bool },
    /// The first blind verdict; `None` for a tie and for *cannot tell*.
    Ruled { is_wrong: Option<bool> },
    /// Verdicts were given only with the judges' votes visible.
    NotBlind,
}

/// The verdicts on the battles of the project, by battle.
pub(super) struct KnownVerdicts {
    standing: HashMap<BattleName, Vec<(StoredVerdict, Option<String>)>>,
    ever: HashSet<BattleName>,
}

impl KnownVerdicts {
    /// Reads the verdicts on all queries.
    pub(super) fn read(db: &Db) -> store::Result<Self> {
        let mut found = Self {
            standing: HashMap::new(),
            ever: HashSet::new(),
        };
        let mut queries = HashMap::new();
        let mut name =
            |row: &StoredVerdict| -> store::Result<Option<(BattleName, Option<String>)>> {
                let (query, ids) = match queries.entry(row.query) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(place) => {
                        place.insert((db.query(row.query)?.id, db.document_ids(row.query)?))
                    }
                };
                let (Some(a), Some(b)) = (ids.get(row.verdict.a), ids.get(row.verdict.b)) else {
                    return Ok(None);
                };
                let better = match row.verdict.decision.direction() {
                    Some(Outcome::A) => Some(a.to_string()),
                    Some(Outcome::B) => Some(b.to_string()),
                    Some(Outcome::Tie) | None => None,
                };
                Ok(Some((
                    named(query.as_str(), a.as_str(), b.as_str()),
                    better,
                )))
            };
        for (row, stands) in db.verdicts_with_standing()? {
            let Some((battle, better)) = name(&row)? else {
                continue;
            };
            if stands {
                let standing = found.standing.entry(battle.clone()).or_default();
                standing.push((row, better));
            }
            found.ever.insert(battle);
        }
        Ok(found)
    }

    /// Whether someone's verdict on a battle counts.
    pub(super) fn is_judged(&self, battle: &BattleName) -> bool {
        self.standing.contains_key(battle)
    }

    /// The state of a control. Its first blind verdict counts, so that nobody can change it after
    /// seeing the votes or the result.
    pub(super) fn state(&self, control: &StoredControl) -> ControlState {
        let battle = battle_name(&control.query, &control.decision);
        let Some(given) = self.standing.get(&battle) else {
            return ControlState::Open {
                was_withdrawn: self.ever.contains(&battle),
            };
        };
        match given.iter().find(|(row, _)| row.blind) {
            None => ControlState::NotBlind,
            Some((_, better)) => {
                let decision = &control.decision;
                // Nothing is decided at a score of 0, so it cannot be right.
                let agrees = |better: &String| {
                    decision.score > 0.0 && better.as_str() == decision.better.as_str()
                };
                ControlState::Ruled {
                    is_wrong: better.as_ref().map(|better| !agrees(better)),
                }
            }
        }
    }

    /// The threshold, once all controls are ruled on. A control that was not ruled on blind counts
    /// as an error, because the judges' votes may have changed the verdict.
    pub(super) fn threshold(
        &self,
        acceptance: &StoredAcceptance,
        controls: &[StoredControl],
    ) -> Option<Option<LearnedThreshold>> {
        let mut ruled = Vec::with_capacity(controls.len());
        for control in controls {
            let is_wrong = match self.state(control) {
                ControlState::Open { .. } => return None,
                ControlState::NotBlind => true,
                ControlState::Ruled {
                    is_wrong: Some(is_wrong),
                } => is_wrong,
                ControlState::Ruled { is_wrong: None } => continue,
            };
            let score = control.decision.score;
            ruled.push(RuledControl { score, is_wrong });
        }
        let learned = learn_threshold(&ruled, acceptance.alpha, acceptance.delta);
        Some(learned.filter(|of| of.score > 0.0))
    }
}

/// The result of an acceptance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AcceptState {
    /// Some controls have no verdict.
    Incomplete,
    /// The votes have changed since the controls were drawn.
    Stale,
    /// No threshold reaches α.
    Nothing,
    Accepted,
}

/// What people ruled on the controls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ControlCounts {
    pub drawn: usize,
    /// With a verdict that counts.
    pub ruled: usize,
    /// With the opposite direction of the decision, ruled blind.
    pub wrong: usize,
    /// Left out, because people see a tie or cannot tell.
    pub without_direction: usize,
    /// Counted as errors, because the judges' votes were visible.
    pub not_blind: usize,
    /// Open, because the verdict was undone.
    pub withdrawn: usize,
}

/// An acceptance in its present state.
#[derive(Clone, Debug)]
pub struct AcceptReport {
    pub acceptance: StoredAcceptance,
    pub state: AcceptState,
    pub controls: ControlCounts,
    pub threshold: Option<LearnedThreshold>,
    /// Decisions that are accepted, among the battles that are not controls.
    pub accepted: usize,
    /// Battles that are neither controls nor accepted.
    pub rest: usize,
    /// Of these, those without a verdict.
    pub left: usize,
    /// The fewest controls that can reach α.
    pub fewest: usize,
    /// Queries whose votes have changed since the controls were drawn.
    pub changed: Vec<QueryId>,
    /// Other battles of the frame that were judged while controls were open.
    pub early: usize,
    /// Number of acceptances that were started in this project.
    pub started: usize,
}

/// Reads the latest acceptance; `None` if none was started.
pub fn read_report(store: &Store) -> Result<Option<AcceptReport>, AppError> {
    Ok(store.read_blocking(|db| AcceptReport::read(db))?)
}

impl AcceptReport {
    fn read(db: &Db) -> store::Result<Option<Self>> {
        let all = db.acceptances()?;
        let started = all.len();
        let Some(acceptance) = all.into_iter().next() else {
            return Ok(None);
        };
        let frame = db.acceptance_frame(&acceptance.uid)?;
        let controls = db.acceptance_controls(&acceptance.uid)?;
        let verdicts = KnownVerdicts::read(db)?;
        let counts = ControlCounts::of(&controls, &verdicts);
        let learned = verdicts.threshold(&acceptance, &controls);
        let changed = changed_queries(db, &frame)?;
        let state = match learned {
            _ if !changed.is_empty() => AcceptState::Stale,
            None => AcceptState::Incomplete,
            Some(None) => AcceptState::Nothing,
            Some(Some(_)) => AcceptState::Accepted,
        };
        let threshold = learned.flatten().filter(|_| state == AcceptState::Accepted);
        let drawn: HashSet<BattleName> = controls
            .iter()
            .map(|of| battle_name(&of.query, &of.decision))
            .collect();
        let last_ruled = verdicts.last_ruled(&drawn);
        let (mut accepted, mut rest, mut left, mut early) = (0, 0, 0, 0);
        for (battle, decision) in named_decisions(&frame) {
            if drawn.contains(&battle) {
                continue;
            }
            let given = verdicts.standing.get(&battle);
            let first = given.and_then(|given| Some(given.first()?.0.order_ms));
            let before = |first: i64| learned.is_none() || last_ruled.is_some_and(|of| first < of);
            early += usize::from(first.is_some_and(before));
            if threshold.is_some_and(|of| decision.score >= of.score) {
                accepted += 1;
            } else {
                rest += 1;
                left += usize::from(given.is_none());
            }
        }
        Ok(Some(Self {
            state,
            controls: counts,
            threshold,
            accepted,
            rest,
            left,
            fewest: fewest_controls(acceptance.alpha, acceptance.delta),
            changed,
            early,
            started,
            acceptance,
        }))
    }

    /// Battles of the frame that are not controls.
    pub fn others(&self) -> usize {
        self.accepted + self.rest
    }

    /// The share of them that is accepted; `None` without a threshold.
    pub fn share(&self) -> Option<f64> {
        self.threshold?;
        Some(self.accepted as f64 / self.others().max(1) as f64)
    }

    /// The result in one sentence.
    pub fn sentence(&self) -> String {
        let controls = self.controls;
        match (self.state, self.threshold) {
            (AcceptState::Accepted, Some(threshold)) => format!(
                "{} of {} ({}) need no person: at most {} of their decisions contradict a person \
                 ({} sure, |z| at least {}, {} of {} random controls at or above it wrong); {} left \
                 for you.",
                count(self.accepted),
                counted(self.others(), "battle"),
                probability(self.share().unwrap_or(0.0)),
                percent(self.acceptance.alpha),
                percent(1.0 - self.acceptance.delta),
                fixed(threshold.score, 2),
                threshold.errors,
                threshold.controls,
                count(self.left),
            ),
            (AcceptState::Stale, _) => format!(
                "Stale: the votes of {} have changed since the controls were drawn ({}); `overrule \
                 accept --new` starts again with the battles that have no verdict.",
                counted(self.changed.len(), "query"),
                first_names(&self.changed.iter().map(QueryId::as_str).collect::<Vec<_>>()),
            ),
            (AcceptState::Incomplete, _) => format!(
                "Not yet: {} of {} ruled on. At most {} of the accepted decisions will contradict a \
                 person ({} sure).",
                controls.ruled,
                counted(controls.drawn, "control"),
                percent(self.acceptance.alpha),
                percent(1.0 - self.acceptance.delta),
            ),
            (AcceptState::Nothing | AcceptState::Accepted, _) => format!(
                "Nothing can be accepted: no threshold keeps the errors at {} or below ({} sure); \
                 {} of {} wrong.",
                percent(self.acceptance.alpha),
                percent(1.0 - self.acceptance.delta),
                controls.wrong + controls.not_blind,
                counted(controls.ruled - controls.without_direction, "control"),
            ),
        }
    }

    /// The conditions of the result, and what to do next.
    pub fn remarks(&self) -> Vec<String> {
        let ControlCounts {
            without_direction,
            not_blind,
            withdrawn,
            ..
        } = self.controls;
        let mut remarks = vec![format!(
            "Covers the {} of this project that had no verdict on {}, with the votes of that time; \
             not other judges, prompts or pools.",
            counted(self.acceptance.battles, "battle"),
            moment_words(self.acceptance.created_ms),
        )];
        match self.state {
            AcceptState::Incomplete => remarks.push(
                "Rule on the controls in the workbench (`w`, then `o` until the order is accept), or \
                 with `overrule queue --policy accept` and `overrule override --item`."
                    .to_owned(),
            ),
            AcceptState::Nothing => remarks.push(format!(
                "At least {} without an error are needed above a threshold. `overrule accept --new` \
                 starts again with another --alpha and new controls.",
                counted(self.fewest, "control")
            )),
            AcceptState::Accepted if self.left > 0 => remarks.push(
                "`overrule queue --policy accept` lists the battles that are left, the least \
                 certain first."
                    .to_owned(),
            ),
            AcceptState::Accepted | AcceptState::Stale => {}
        }
        let mut note = |number: usize, words: &str| {
            if number > 0 {
                remarks.push(format!("{} {words}", counted(number, "control")));
            }
        };
        note(
            without_direction,
            "left out: people see a tie or cannot tell.",
        );
        note(
            not_blind,
            "ruled on with the judges' votes visible: counted as wrong, since the votes may have \
             changed the verdict.",
        );
        note(
            withdrawn,
            "open again, because the verdict was undone; another person has to rule on it, or it \
             counts as not blind.",
        );
        if self.early > 0 {
            remarks.push(format!(
                "{} of the frame judged before all controls were ruled on: rule on the controls \
                 first.",
                counted(self.early, "other battle")
            ));
        }
        if self.started > 1 {
            remarks.push(format!(
                "{} started in this project; each has its own controls. The guarantee is that of a \
                 single one.",
                counted(self.started, "acceptance")
            ));
        }
        remarks
    }
}

impl ControlCounts {
    fn of(controls: &[StoredControl], verdicts: &KnownVerdicts) -> Self {
        let mut counts = Self {
            drawn: controls.len(),
            ..Self::default()
        };
        for control in controls {
            match verdicts.state(control) {
                ControlState::Open { was_withdrawn } => {
                    counts.withdrawn += usize::from(was_withdrawn);
                    continue;
                }
                ControlState::NotBlind => counts.not_blind += 1,
                ControlState::Ruled { is_wrong: None } => counts.without_direction += 1,
                ControlState::Ruled {
                    is_wrong: Some(is_wrong),
                } => counts.wrong += usize::from(is_wrong),
            }
            counts.ruled += 1;
        }
        counts
    }
}

impl KnownVerdicts {
    /// When the last of these battles got its first verdict.
    fn last_ruled(&self, battles: &HashSet<BattleName>) -> Option<i64> {
        let given = battles
            .iter()
            .filter_map(|battle| self.standing.get(battle));
        given
            .filter_map(|given| Some(given.first()?.0.order_ms))
            .max()
    }
}

/// The decisions of a frame with the names of their battles.
pub(super) fn named_decisions(
    frame: &[StoredFrameQuery],
) -> impl Iterator<Item = (BattleName, &StoredDecision)> {
    frame.iter().flat_map(|query| {
        let decisions = query.decisions.iter();
        decisions.map(|decision| (battle_name(&query.query, decision), decision))
    })
}

/// A given share such as α in percent, with all its decimals.
pub(super) fn percent(share: f64) -> String {
    let digits = fixed(100.0 * share, 6);
    format!("{} %", digits.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::percent;

    #[test]
    fn a_given_share_is_not_rounded() {
        let shares = [0.1, 0.125, 0.005, 0.3, 1.0 - 0.1].map(percent);
        assert_eq!(shares, ["10 %", "12.5 %", "0.5 %", "30 %", "90 %"]);
    }
}
