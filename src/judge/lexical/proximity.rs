//! Coverage, proximity and order: how many of the query's terms a document contains, how close
//! together, and in which order. All terms have the same weight, repetition and length do not
//! count, and late occurrences count slightly less.

use super::assessment::Assessment;
use super::reading::{DocumentReading, PoolReading, QueryHit};
use super::wording;
use std::collections::VecDeque;
use std::ops::Range;

/// The window, in words, within which terms count as close together.
pub(super) const WINDOW: u32 = 24;

/// Maximum distance, in words, between the occurrences of two adjacent query terms.
pub(super) const REACH: u32 = 4;

/// The shares of coverage, proximity and order in the score; they sum to 1.
pub(super) const SHARES: [f64; 3] = [0.6, 0.25, 0.15];

/// Maximum penalty for a term that first occurs late in the document.
pub(super) const LATENESS: f64 = 0.15;

/// Number of words after which half of that penalty applies.
const EARLY: f64 = 100.0;

/// Penalty for each other word between close terms.
const LOOSENESS: f64 = 0.05;

/// Every document's score in 0..=100.
pub(super) fn assess(reading: &PoolReading) -> Vec<Assessment> {
    reading
        .documents
        .iter()
        .map(|document| assess_one(reading, document))
        .collect()
}

/// The window with the terms closest together.
#[derive(Default)]
struct ClosestTerms {
    value: f64,
    distinct: u32,
    span: u32,
    range: Range<usize>,
}

fn assess_one(reading: &PoolReading, document: &DocumentReading) -> Assessment {
    let terms = reading.terms.len() as u32;
    let mut matched = 0u64;
    let mut covered = 0.0;
    let mut in_order = 0u64;
    let mut closest = ClosestTerms::default();
    let mut window = VecDeque::<(&QueryHit, usize)>::new();
    let mut counts = vec![0u32; reading.terms.len()];
    let mut distinct = 0;
    for hit in &document.hits {
        let Some(term) = reading.term(hit) else {
            continue;
        };
        if matched >> term & 1 == 0 {
            matched |= 1 << term;
            let late = f64::from(hit.at) / (f64::from(hit.at) + EARLY);
            covered += 1.0 - LATENESS * late;
        }
        for (before, earlier) in window.iter().rev() {
            if hit.at - before.at > REACH {
                break;
            }
            if earlier + 1 == term {
                in_order |= 1 << earlier;
            }
        }
        window.push_back((hit, term));
        counts[term] += 1;
        distinct += u32::from(counts[term] == 1);
        while let Some((first, earlier)) = window.front().copied() {
            if counts[earlier] == 1 && hit.at - first.at < WINDOW {
                let span = hit.at - first.at + 1;
                let looseness = 1.0 + LOOSENESS * f64::from(span.saturating_sub(distinct));
                let value = share(distinct.saturating_sub(1), terms - 1) / looseness;
                if closest.distinct == 0 || value > closest.value {
                    let range = first.range().start..hit.range().end;
                    closest = ClosestTerms {
                        value,
                        distinct,
                        span,
                        range,
                    };
                }
                break;
            }
            window.pop_front();
            counts[earlier] -= 1;
            distinct -= u32::from(counts[earlier] == 0);
        }
    }
    let covered = covered / f64::from(terms.max(1));
    let ordered = share(in_order.count_ones(), terms.saturating_sub(1));
    let parts = if terms == 1 {
        [covered; 3]
    } else {
        [covered, closest.value, ordered]
    };
    let score = 100.0
        * SHARES
            .iter()
            .zip(parts)
            .map(|(share, part)| share * part)
            .sum::<f64>();
    if !reading.has_notes {
        return Assessment::of_score(score, matched);
    }
    let mut note = wording::coverage("covers", &reading.terms, matched);
    if closest.distinct > 1 {
        note += &format!(
            ", {} of them within {} words",
            closest.distinct, closest.span
        );
        note += &format!(
            " and {} of {} neighboring pairs in order",
            in_order.count_ones(),
            terms - 1
        );
    }
    let quote = wording::quote_around(document, closest.range);
    Assessment::new(document, score, matched, quote, note)
}

/// `part` divided by `whole`; 0 if `whole` is 0.
fn share(part: u32, whole: u32) -> f64 {
    if whole == 0 {
        0.0
    } else {
        f64::from(part) / f64::from(whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::lexical::reading;

    fn scores(query: &str, texts: &[&str]) -> Vec<f64> {
        reading::tests::scores(assess, query, texts)
    }

    #[test]
    fn coverage_beats_closeness_and_closeness_beats_order() {
        let far = format!("red {} green blue", "x ".repeat(30));
        let scores = scores(
            "red green blue",
            &[
                "red green blue",
                "blue green red",
                &far,
                "green blue",
                "red red",
                "x",
            ],
        );
        assert!(
            scores.windows(2).all(|pair| pair[0] > pair[1]),
            "{scores:?}"
        );
        assert!(scores[0] > 99.0 && scores[0] <= 100.0 && scores[5] == 0.0);
    }

    #[test]
    fn repetition_changes_nothing_and_lateness_a_little() {
        let late = format!("{} red", "x ".repeat(99));
        let scores = scores("red", &["red", "red red red", &late]);
        assert_eq!(scores[0], 100.0);
        assert_eq!(scores[1], scores[0]);
        assert!(scores[2] < scores[0] && scores[2] > 85.0, "{scores:?}");
    }
}
