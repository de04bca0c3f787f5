//! Picks the documents of a pool that a lexical measure considers relevant.

use crate::domain::adjudication::{EvidenceLabel, PickRequest, SlotVerdict};
use crate::judge::lexical::LexicalMethod;
use crate::judge::presented::PresentedPool;

/// If any number may be picked: documents that score at least this share of the pool's best.
const SHARE: f64 = 0.5;

/// The picked slots, from 1, best first. Ties are ordered by text, so that the order shown does not
/// matter.
pub(super) fn slots(method: LexicalMethod, lineup: &PresentedPool) -> Vec<usize> {
    let pool = &lineup.pool;
    let analysis = pool.analysis();
    let mut ranked: Vec<(usize, f64, &str)> = pool
        .documents
        .iter()
        .enumerate()
        .map(|(at, text)| (at, analysis.score(method, at), &**text))
        .collect();
    ranked.sort_by(|x, y| y.1.total_cmp(&x.1).then_with(|| x.2.cmp(y.2)));
    let best = ranked.first().map_or(0.0, |(_, score, _)| *score);
    let picked = match lineup.ask {
        PickRequest::Exactly(wanted) => wanted,
        PickRequest::AnyNumber | PickRequest::PerDocument => ranked
            .iter()
            .take_while(|(_, score, _)| *score > 0.0 && *score >= SHARE * best)
            .count(),
    };
    ranked.iter().take(picked).map(|(at, ..)| at + 1).collect()
}

/// A verdict on each document: those that would be picked are supporting, proved by the passage
/// with the heaviest of the query's terms. A lexical measure cannot detect that a document refutes.
pub(super) fn verdicts(method: LexicalMethod, lineup: &PresentedPool) -> Vec<SlotVerdict> {
    let picked = slots(method, lineup);
    let analysis = lineup.pool.analysis();
    let quote = |slot: usize, text: &str| {
        let passage = analysis
            .passage(method, slot - 1)
            .filter(|_| picked.contains(&slot))?;
        text.get(passage).map(str::to_owned)
    };
    let documents = (1..).zip(&lineup.pool.documents);
    documents
        .map(|(slot, text)| {
            let sentence = quote(slot, text);
            let verdict = match sentence {
                Some(_) => EvidenceLabel::Supports,
                None => EvidenceLabel::NotEnough,
            };
            SlotVerdict {
                slot,
                verdict,
                sentence,
                unproven: None,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::PoolText;
    use std::sync::Arc;

    const TEXTS: [&str; 4] = [
        "Bread rises in a warm kitchen.",
        "Aspirin lowers fever in adults.",
        "Fever is common.",
        "Ovens are hot.",
    ];

    fn picked(method: LexicalMethod, texts: &[&str], ask: PickRequest) -> Vec<usize> {
        let documents = texts.iter().map(|text| (*text).into()).collect();
        let pool = Arc::new(PoolText::new("does aspirin lower fever", documents));
        slots(method, &PresentedPool { pool, ask })
    }

    #[test]
    fn the_best_are_picked_wherever_they_stand() {
        for method in LexicalMethod::ALL {
            assert_eq!(
                picked(method, &TEXTS, PickRequest::Exactly(1)),
                [2],
                "{method:?}"
            );
            let mut texts = TEXTS;
            texts.reverse();
            assert_eq!(
                picked(method, &texts, PickRequest::Exactly(1)),
                [3],
                "{method:?}"
            );
            // Even documents without a word of the query are picked by their content, not by their
            // position.
            let all = picked(method, &TEXTS, PickRequest::Exactly(4));
            let mirrored: Vec<usize> = all.iter().map(|slot| 5 - slot).collect();
            assert_eq!(
                picked(method, &texts, PickRequest::Exactly(4)),
                mirrored,
                "{method:?}"
            );
        }
    }

    #[test]
    fn a_verdict_quotes_the_sentence_with_the_terms() {
        let texts = [
            "Ovens are hot. So is bread.",
            "It is old. Aspirin lowers fever. It is sour.",
        ];
        let documents = texts.iter().map(|text| (*text).into()).collect();
        let lineup = PresentedPool {
            pool: Arc::new(PoolText::new("does aspirin lower fever", documents)),
            ask: PickRequest::PerDocument,
        };
        for method in LexicalMethod::ALL {
            let found = verdicts(method, &lineup);
            assert_eq!(
                found[1].sentence.as_deref(),
                Some("Aspirin lowers fever."),
                "{method:?}"
            );
            let stances = found.iter().map(|given| given.verdict);
            assert!(
                stances.eq([EvidenceLabel::NotEnough, EvidenceLabel::Supports]),
                "{method:?}"
            );
        }
    }

    #[test]
    fn none_is_an_answer_where_any_number_is() {
        assert_eq!(
            picked(LexicalMethod::Bm25, &TEXTS, PickRequest::AnyNumber),
            [2]
        );
        assert!(
            picked(
                LexicalMethod::Bm25,
                &["Bread.", "Ovens."],
                PickRequest::AnyNumber
            )
            .is_empty()
        );
    }
}
