//! People's rulings and their effect on labels and rankings.

use crate::app::adjudication::data::AdjudicationData;
use crate::app::error::AppError;
use crate::app::estimate_json::{difference_json, mean_json};
use crate::domain::adjudication::{DisagreementCause, Finding, LabelCorrection, Remeasured};
use serde_json::{Map, Value, json};

/// The effective rulings, and each ranking before and after.
#[derive(Debug)]
pub struct RulingEffect {
    /// Corrections of labels by the effective rulings.
    pub corrections: Vec<LabelCorrection>,
    standing: usize,
    /// Number of documents on which people disagree.
    pub conflicts: usize,
    /// The rule that decides whose ruling counts.
    pub rule: &'static str,
    /// Each ranking by its name.
    pub rankings: Vec<(String, Vec<Remeasured>)>,
}

impl RulingEffect {
    /// The effect of a project's rulings.
    pub fn of(data: &AdjudicationData) -> Result<Self, AppError> {
        let corrections = data.corrections(None);
        Ok(Self {
            standing: data.rulings.len(),
            conflicts: data.settled().1,
            rule: data.rule.name(),
            rankings: data.effect(&corrections)?,
            corrections,
        })
    }

    /// Number of labels that change.
    pub fn changed(&self) -> usize {
        self.corrections.iter().filter(|one| one.changes()).count()
    }

    fn found(&self, finding: Finding) -> usize {
        self.corrections
            .iter()
            .map(|one| one.ruling.finding)
            .filter(|found| *found == finding)
            .count()
    }

    fn faults(&self, fault: DisagreementCause) -> usize {
        self.corrections
            .iter()
            .map(|one| one.ruling.fault)
            .filter(|found| *found == Some(fault))
            .count()
    }

    /// Number of rulings of each kind.
    pub fn rulings_json(&self) -> Value {
        let findings: Map<String, Value> = Finding::ALL
            .into_iter()
            .map(|finding| (finding.name().to_owned(), json!(self.found(finding))))
            .collect();
        let causes: Map<String, Value> = DisagreementCause::ALL
            .into_iter()
            .map(|fault| (fault.name().to_owned(), json!(self.faults(fault))))
            .collect();
        json!({
            "standing": self.standing,
            "in_force": self.corrections.len(),
            "final": self.rule,
            "conflicts": self.conflicts,
            "findings": findings,
            "causes": causes,
            "labels_changed": self.changed(),
        })
    }

    /// Each ranking before and after.
    pub fn rankings_json(&self) -> Vec<Value> {
        let ranking = |(name, rows): &(String, Vec<Remeasured>)| {
            let metrics: Map<String, Value> = rows
                .iter()
                .map(|row| {
                    let value = json!({
                        "before": row.before.map(|_| mean_json(row.before)),
                        "after": row.after.map(|_| mean_json(row.after)),
                        "difference": row.difference.map(difference_json),
                    });
                    (row.metric.to_string(), value)
                })
                .collect();
            json!({ "ranking": name, "metrics": metrics })
        };
        self.rankings.iter().map(ranking).collect()
    }
}
