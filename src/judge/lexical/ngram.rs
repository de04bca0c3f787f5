//! Character n-grams: the cosine similarity between the unstemmed query and a document, and its
//! best passage, over weighted sequences of three to five characters within words. It also matches
//! compounds, inflections and typos.

use super::assessment::Assessment;
use super::margin::idf;
use super::reading::{DocumentReading, PoolReading};
use super::wording;

/// The share of the best passage in the score; the rest comes from the whole document.
pub(super) const PASSAGE_SHARE: f64 = 0.5;

/// How strongly a passage, and a document, is penalized for its length (pivoted normalization,
/// Singhal et al. 1996).
pub(super) const SLOPES: [f64; 2] = [0.5, 0.25];

/// Every document's score, 0 or more and rarely above 100.
pub(super) fn assess(reading: &PoolReading) -> Vec<Assessment> {
    let grams = reading.gram_terms.len();
    let mut seen = GramSet::new(grams);
    let mut holding = vec![0usize; grams];
    for document in &reading.documents {
        seen.clear();
        for gram in document.hits.iter().flat_map(|hit| reading.grams(hit)) {
            if seen.mark(*gram) {
                holding[usize::from(*gram)] += 1;
            }
        }
    }
    let weights: Vec<f64> = holding
        .iter()
        .map(|holding| idf(reading.documents.len(), *holding))
        .collect();
    let whole: f64 = weights.iter().sum();
    let passages: usize = reading
        .documents
        .iter()
        .map(|document| document.passages.len())
        .sum();
    let words: f64 = reading
        .documents
        .iter()
        .map(|document| f64::from(document.words))
        .sum();
    let pool = GramScorer {
        reading,
        weights,
        whole,
        mean_passage: (words / passages.max(1) as f64).max(1.0),
        mean_document: reading.mean_words(),
        term_grams: (0..reading.terms.len())
            .map(|term| {
                reading
                    .gram_terms
                    .iter()
                    .filter(|set| *set >> term & 1 == 1)
                    .count()
            })
            .collect(),
    };
    reading
        .documents
        .iter()
        .map(|document| pool.assess(document, &mut seen))
        .collect()
}

struct GramScorer<'a> {
    reading: &'a PoolReading<'a>,
    /// The weight of every n-gram of the query: its idf, which is the product of two components.
    weights: Vec<f64>,
    whole: f64,
    mean_passage: f64,
    mean_document: f64,
    term_grams: Vec<usize>,
}

impl GramScorer<'_> {
    fn assess(&self, document: &DocumentReading, seen: &mut GramSet) -> Assessment {
        let mut best = (0.0, 0);
        for hits in document.hits.chunk_by(|a, b| a.passage == b.passage) {
            seen.clear();
            let dot = self.dot(
                hits.iter().flat_map(|hit| self.reading.grams(hit)),
                seen,
                |_| (),
            );
            let passage = hits.first().map_or(0, |hit| hit.passage);
            let words = document
                .passages
                .get(passage as usize)
                .map_or(0, |passage| passage.words);
            let value = self.cosine(dot, f64::from(words) / self.mean_passage, SLOPES[0]);
            if value > best.0 {
                best = (value, passage);
            }
        }
        seen.clear();
        let mut shared = 0;
        let mut held = vec![0usize; self.term_grams.len()];
        let all = document.hits.iter().flat_map(|hit| self.reading.grams(hit));
        let dot = self.dot(all, seen, |gram| {
            shared += 1;
            let set = self.reading.gram_terms[gram];
            for (term, held) in held.iter_mut().enumerate() {
                *held += usize::from(set >> term & 1 == 1);
            }
        });
        let value = self.cosine(
            dot,
            f64::from(document.words) / self.mean_document,
            SLOPES[1],
        );
        let score = 100.0 * (PASSAGE_SHARE * best.0 + (1.0 - PASSAGE_SHARE) * value);
        let matched = held
            .iter()
            .zip(&self.term_grams)
            .enumerate()
            .fold(0, |set, (term, (held, all))| {
                set | u64::from(*held > 0 && 2 * held >= *all) << term
            });
        if !self.reading.has_notes {
            return Assessment::of_score(score, matched);
        }
        let note = format!(
            "shares {shared} of the query's {} letter sequences and {}",
            self.weights.len(),
            wording::coverage(
                "has at least half of those in",
                &self.reading.terms,
                matched
            )
        );
        let quote = wording::quote_in(document, best.1, |hit| {
            self.reading
                .grams(hit)
                .iter()
                .map(|gram| self.weights[usize::from(*gram)])
                .sum()
        });
        Assessment::new(document, score, matched, quote, note)
    }

    fn dot<'g>(
        &self,
        grams: impl Iterator<Item = &'g u16>,
        seen: &mut GramSet,
        mut each: impl FnMut(usize),
    ) -> f64 {
        let mut dot = 0.0;
        for gram in grams {
            if seen.mark(*gram) {
                dot += self.weights[usize::from(*gram)];
                each(usize::from(*gram));
            }
        }
        dot
    }

    fn cosine(&self, dot: f64, length: f64, slope: f64) -> f64 {
        if dot == 0.0 {
            0.0
        } else {
            dot / self.whole / (1.0 - slope + slope * length).sqrt()
        }
    }
}

/// A set that can be cleared in constant time.
struct GramSet {
    round: u64,
    last: Vec<u64>,
}

impl GramSet {
    fn new(size: usize) -> Self {
        Self {
            round: 0,
            last: vec![0; size],
        }
    }

    fn clear(&mut self) {
        self.round += 1;
    }

    /// Adds `gram`; returns whether it was not in the set yet.
    fn mark(&mut self, gram: u16) -> bool {
        let last = &mut self.last[usize::from(gram)];
        let fresh = *last != self.round;
        *last = self.round;
        fresh
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
    fn parts_of_words_count_and_the_whole_word_counts_more() {
        let scores = scores(
            "neuron",
            &[
                "one neuron here",
                "one microneurons here",
                "one nothing here",
                "",
            ],
        );
        assert!(scores[0] > scores[1] && scores[1] > scores[2], "{scores:?}");
        assert_eq!(scores[2..], [0.0, 0.0]);
    }

    #[test]
    fn a_match_spread_over_a_long_document_scores_less() {
        let long = format!("gene therapy. {}", "Other words follow here. ".repeat(20));
        let scores = scores(
            "gene therapy",
            &[
                "gene therapy. Other words.",
                &long,
                "gene. A pause. Then therapy.",
            ],
        );
        assert!(scores[0] > scores[1] && scores[0] > scores[2], "{scores:?}");
    }

    #[test]
    fn a_set_forgets_when_it_is_cleared() {
        let mut marks = GramSet::new(2);
        marks.clear();
        assert!(marks.mark(1) && !marks.mark(1) && marks.mark(0));
        marks.clear();
        assert!(marks.mark(1));
    }
}
