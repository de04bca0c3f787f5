//! Verdicts on single documents, and the sentences that support them.

use crate::domain::adjudication::{EvidenceLabel, PickCounts, PoolAnswer, PooledCounts};
use serde_json::{Value, json};

/// The verdicts with their sentences, or `None` if none were requested.
pub(super) fn verdicts_json(answer: &PoolAnswer) -> Option<Value> {
    let verdicts = answer.told().map(|(document, given)| {
        let mut verdict =
            json!({"document": document, "verdict": given.verdict, "sentence": given.sentence});
        if let (Value::Object(verdict), Some(unproven)) = (&mut verdict, given.unproven) {
            verdict.insert("unproven".to_owned(), json!(unproven));
        }
        verdict
    });
    (!answer.verdicts.is_empty()).then(|| verdicts.collect())
}

/// Pick counts of the documents with each verdict; empty if no verdicts were requested.
pub(super) fn by_verdict<'a>(
    answers: impl Iterator<Item = &'a PoolAnswer>,
) -> Vec<(EvidenceLabel, PooledCounts)> {
    let mut sums = EvidenceLabel::ALL.map(|stance| (stance, PooledCounts::default()));
    for given in answers {
        let boxes = given.outcomes().unwrap_or_default();
        for (stance, sum) in &mut sums {
            let outcomes = given
                .verdicts
                .iter()
                .filter(|v| v.verdict == *stance)
                .filter_map(|verdict| boxes.get(verdict.slot.checked_sub(1)?));
            *sum += outcomes.copied().collect::<PickCounts>();
        }
    }
    let any = sums
        .iter()
        .any(|(_, sum)| sum.boxes.total() + sum.boxes.unproven > 0);
    sums.into_iter().filter(|_| any).collect()
}
