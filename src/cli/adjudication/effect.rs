//! What people ruled, and what that makes of labels and rankings.

use super::super::{CommandFailure, output};
use crate::app::adjudication::data::AdjudicationData;
use crate::domain::adjudication::{DisagreementCause, Finding, LabelCorrection, Remeasured};
use crate::domain::metrics::{Comparison, MeanEstimate};
use crate::domain::sanitise;
use serde_json::{Map, Value, json};

/// Rulings in force, and each ranking before and after.
pub(super) struct RulingEffect {
    corrections: Vec<LabelCorrection>,
    standing: usize,
    conflicts: usize,
    rule: &'static str,
    rankings: Vec<(String, Vec<Remeasured>)>,
}

impl RulingEffect {
    pub(super) fn of(rows: &AdjudicationData) -> Result<Self, CommandFailure> {
        let corrections = rows.corrections(None);
        Ok(Self {
            standing: rows.rulings.len(),
            conflicts: rows.settled().1,
            rule: rows.rule.name(),
            rankings: rows.effect(&corrections)?,
            corrections,
        })
    }

    fn changed(&self) -> usize {
        self.corrections.iter().filter(|one| one.changes()).count()
    }

    fn found(&self, finding: Finding) -> usize {
        let rulings = self.corrections.iter().map(|one| one.ruling.finding);
        rulings.filter(|found| *found == finding).count()
    }

    fn faults(&self, fault: DisagreementCause) -> usize {
        let rulings = self.corrections.iter().map(|one| one.ruling.fault);
        rulings.filter(|found| *found == Some(fault)).count()
    }

    pub(super) fn rulings_json(&self) -> Value {
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

    pub(super) fn rankings_json(&self) -> Vec<Value> {
        let ranking = |(name, rows): &(String, Vec<Remeasured>)| {
            let metrics: Map<String, Value> = rows
                .iter()
                .map(|row| {
                    let value = json!({
                        "before": row.before.map(estimate_json),
                        "after": row.after.map(estimate_json),
                        "difference": row.difference.map(difference_json),
                    });
                    (row.metric.to_string(), value)
                })
                .collect();
            json!({ "ranking": name, "metrics": metrics })
        };
        self.rankings.iter().map(ranking).collect()
    }

    pub(super) fn words(&self) -> String {
        let mut text = format!(
            "{} in force ({}): {} changed; people go different ways on {}\n",
            output::counted(self.corrections.len(), "ruling"),
            self.rule,
            output::counted(self.changed(), "label"),
            output::counted(self.conflicts, "document"),
        );
        for (name, rows) in &self.rankings {
            let cells: Vec<Vec<String>> = rows.iter().map(cells).collect();
            let header = [
                &*sanitise::line(name),
                ">before",
                ">after",
                ">difference",
                "95 % interval",
                ">queries",
            ];
            text.push_str(&output::table(&header, &cells));
        }
        text
    }
}

fn cells(row: &Remeasured) -> Vec<String> {
    let mean = |estimate: Option<MeanEstimate>| {
        estimate.map_or("–".to_owned(), |estimate| format!("{:.4}", estimate.mean))
    };
    let of = row.difference;
    vec![
        row.metric.to_string(),
        mean(row.before),
        mean(row.after),
        of.map_or("–".to_owned(), |of| format!("{:+.4}", of.mean_difference)),
        of.and_then(|of| of.interval)
            .map_or("–".to_owned(), |(low, high)| {
                format!("{low:+.4} to {high:+.4}")
            }),
        of.map_or("–".to_owned(), |of| of.n.to_string()),
    ]
}

fn estimate_json(estimate: MeanEstimate) -> Value {
    json!({
        "mean": estimate.mean,
        "low": estimate.interval.map(|(low, _)| low),
        "high": estimate.interval.map(|(_, high)| high),
    })
}

fn difference_json(of: Comparison) -> Value {
    json!({
        "queries": of.n,
        "mean": of.mean_difference,
        "low": of.interval.map(|(low, _)| low),
        "high": of.interval.map(|(_, high)| high),
        "p_randomisation": of.randomisation_p,
    })
}
