//! BM25 over stems, with the pool as its collection (Robertson & Zaragoza 2009, "The Probabilistic
//! Relevance Framework: BM25 and Beyond").

use super::assessment::Assessment;
use super::margin::idf;
use super::reading::{DocumentReading, PoolReading};
use super::wording;

/// How quickly further occurrences of a term stop counting.
pub(super) const K1: f64 = 1.2;

/// How strongly a document is penalized for its length.
pub(super) const B: f64 = 0.75;

/// Every document's BM25 score, a sum over the distinct query terms; 0 if none occurs.
pub(super) fn assess(reading: &PoolReading) -> Vec<Assessment> {
    let counts: Vec<Vec<u32>> = reading
        .documents
        .iter()
        .map(|document| count(reading, document))
        .collect();
    let holding: Vec<usize> = (0..reading.terms.len())
        .map(|term| counts.iter().filter(|count| count[term] > 0).count())
        .collect();
    let weights: Vec<f64> = holding
        .iter()
        .map(|holding| idf(counts.len(), *holding))
        .collect();
    let mean = reading.mean_words();
    let assess = |(document, counts): (&DocumentReading, &Vec<u32>)| {
        let norm = K1 * (1.0 - B + B * f64::from(document.words) / mean);
        let gain = |term: usize| {
            let tf = f64::from(counts[term]);
            weights[term] * tf * (K1 + 1.0) / (tf + norm)
        };
        let found = (0..reading.terms.len()).filter(|term| counts[*term] > 0);
        let matched = found.clone().fold(0, |set, term| set | 1u64 << term);
        let score = found.clone().map(gain).sum();
        if !reading.has_notes {
            return Assessment::of_score(score, matched);
        }
        let mut lead = (0.0, 0);
        for term in found {
            if gain(term) > lead.0 {
                lead = (gain(term), term);
            }
        }
        let best = best_passage(reading, document, &weights);
        let quote = wording::quote_in(document, best, |hit| {
            reading.term(hit).map_or(0.0, |term| weights[term])
        });
        let mut note = wording::coverage("matches", &reading.terms, matched);
        if matched != 0 {
            note += &format!(
                ", {} above all ({}, in {} of {} documents)",
                reading.terms[lead.1].surface,
                wording::times(counts[lead.1]),
                holding[lead.1],
                reading.documents.len()
            );
        }
        Assessment::new(document, score, matched, quote, note)
    };
    reading.documents.iter().zip(&counts).map(assess).collect()
}

fn count(reading: &PoolReading, document: &DocumentReading) -> Vec<u32> {
    let mut counts = vec![0; reading.terms.len()];
    for term in document.hits.iter().filter_map(|hit| reading.term(hit)) {
        counts[term] += 1;
    }
    counts
}

/// The first passage with the highest total weight of distinct terms.
fn best_passage(reading: &PoolReading, document: &DocumentReading, weights: &[f64]) -> u32 {
    let mut best = (0.0, 0);
    for hits in document.hits.chunk_by(|a, b| a.passage == b.passage) {
        let (mut set, mut value) = (0u64, 0.0);
        for term in hits.iter().filter_map(|hit| reading.term(hit)) {
            value += if set >> term & 1 == 0 {
                weights[term]
            } else {
                0.0
            };
            set |= 1 << term;
        }
        if value > best.0 {
            best = (value, hits.first().map_or(0, |hit| hit.passage));
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::lexical::reading::tests::scores;

    #[test]
    fn scores_follow_the_formula() {
        let texts = [
            "fever fever aspirin",
            "fever",
            "nothing of that kind at all",
        ];
        let scores = scores(assess, "aspirin fevers", &texts);
        let mean = 10.0 / 3.0;
        let gain = |tf: f64, words: f64| tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * words / mean));
        let (aspirin, fever) = ((1.0 + 2.5 / 1.5f64).ln(), (1.0 + 1.5 / 2.5f64).ln());
        let expected = [
            aspirin * gain(1.0, 3.0) + fever * gain(2.0, 3.0),
            fever * gain(1.0, 1.0),
            0.0,
        ];
        for (score, expected) in scores.iter().zip(expected) {
            assert!((score - expected).abs() < 1e-12, "{scores:?}");
        }
    }
}
