//! The verdicts on single documents, and the sentences that prove them.

use crate::domain::adjudication::{
    EvidenceLabel, PickCounts, PoolAnswer, pick_outcomes, picks_of_verdicts,
};
use serde_json::{Value, json};

/// The verdicts with their sentences, or `None` where none were asked for.
pub(super) fn verdicts_json(answer: &PoolAnswer) -> Option<Value> {
    let verdicts = answer.told().map(|(document, given)| {
        json!({"document": document, "verdict": given.verdict, "sentence": given.sentence})
    });
    (!answer.verdicts.is_empty()).then(|| verdicts.collect())
}

/// The boxes of the documents with each verdict; nothing where no verdicts were asked for.
pub(super) fn by_verdict<'a>(
    answers: impl Iterator<Item = &'a PoolAnswer>,
) -> Vec<(EvidenceLabel, PickCounts)> {
    let mut sums = EvidenceLabel::ALL.map(|stance| (stance, PickCounts::default()));
    for given in answers {
        let boxes = pick_outcomes(&given.pool, &picks_of_verdicts(&given.verdicts));
        for verdict in &given.verdicts {
            let sum = sums
                .iter_mut()
                .find(|(stance, _)| *stance == verdict.verdict);
            let outcome = verdict.slot.checked_sub(1).and_then(|at| boxes.get(at));
            if let (Some((_, sum)), Some(outcome)) = (sum, outcome) {
                *sum += *outcome;
            }
        }
    }
    let any = sums.iter().any(|(_, boxes)| boxes.total() > 0);
    sums.into_iter().filter(|_| any).collect()
}
