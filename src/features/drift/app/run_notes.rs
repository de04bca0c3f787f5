//! Notes on the run screen: judges that have changed, or may have.

use super::report::{DriftReport, read_report};
use crate::app::error::AppError;
use crate::domain::sanitize;
use crate::features::drift::domain::DriftConclusion;
use crate::store::Store;
use std::collections::BTreeSet;

/// A note about each judge that has changed, or that has answered as another model since its last
/// round.
pub fn run_notes(store: &Store) -> Result<Vec<String>, AppError> {
    let sets = store.read_blocking(|db| db.drift_sets())?;
    let judges: BTreeSet<String> = sets.into_iter().map(|set| set.judge).collect();
    let mut notes = Vec::new();
    for judge in judges {
        notes.extend(note(&read_report(store, &judge, None, None)?));
    }
    Ok(notes)
}

fn note(report: &DriftReport) -> Option<String> {
    let name = sanitize::line(&report.set.judge);
    let served: Vec<&str> = report.due.served.iter().map(String::as_str).collect();
    if report.conclusion == DriftConclusion::JudgeChanged {
        Some(format!(
            "Drift: {name} has changed since its reference answers (`overrule drift {name}`)."
        ))
    } else if served.is_empty() {
        None
    } else {
        Some(format!(
            "Drift: {name} has answered as {} for the first time; check it with `overrule drift \
             {name} --ask`.",
            sanitize::line(&served.join(", "))
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::drift::app::rounds::Due;
    use crate::store::frozen_sets::FrozenSet;

    #[test]
    fn only_a_judge_that_has_or_may_have_changed_is_noted() {
        let mut report = DriftReport {
            set: FrozenSet {
                uid: String::new(),
                judge: "gpt".to_owned(),
                identity: [0; 32],
                model: "mini".to_owned(),
                author: "ana".to_owned(),
                created_ms: 0,
            },
            pairs: 100,
            conclusion: DriftConclusion::Unchanged,
            checks: Vec::new(),
            reference_served: BTreeSet::new(),
            rankings: None,
            due: Due::default(),
            missing: 0,
            is_as_configured: None,
        };
        assert_eq!(note(&report), None);
        report.due.served = BTreeSet::from(["mini-2".to_owned()]);
        report.conclusion = DriftConclusion::NotEnough;
        assert!(note(&report).unwrap().contains("answered as mini-2"));
        report.conclusion = DriftConclusion::JudgeChanged;
        assert!(note(&report).unwrap().contains("gpt has changed"));
    }
}
