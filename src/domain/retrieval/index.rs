//! BM25 over an in-memory inverted index.

use super::analyzer::AnalysisProfile;
use super::packed_ids::PackedIds;
use super::postings::Postings;
use crate::domain::corpus::DocId;
use std::collections::HashMap;

/// Maximum number of cached spellings; terms of further ones are recomputed.
const SPELLINGS: usize = 1 << 20;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchHit {
    /// Index of the document, in the order in which documents were added.
    pub document: usize,
    /// BM25 score, above 0.
    pub score: f64,
}

/// An inverted index to which documents can be added at any time.
///
/// Title and text form one bag of words. The score of a document is the sum over the distinct terms
/// of the query, in their order, of idf · tf (k₁ + 1) / (tf + k₁ (1 − b + b · length / mean
/// length)), with k₁ = 1.2 and b = 0.75 (Robertson & Zaragoza 2009, "The Probabilistic Relevance
/// Framework: BM25 and Beyond", §3.4); see [`AnalysisProfile::idf`].
#[derive(Clone, Debug)]
pub struct Bm25Index {
    profile: AnalysisProfile,
    ids: PackedIds,
    /// The terms of words seen in documents, so that each word is stemmed once; `None` is a
    /// stopword.
    words: HashMap<Box<str>, Option<u32>>,
    terms: HashMap<Box<str>, u32>,
    postings: Vec<Postings>,
    lengths: Vec<u32>,
    total_length: u64,
}

impl Bm25Index {
    pub fn new(profile: AnalysisProfile) -> Self {
        Self {
            profile,
            ids: PackedIds::default(),
            words: HashMap::new(),
            terms: HashMap::new(),
            postings: Vec::new(),
            lengths: Vec::new(),
            total_length: 0,
        }
    }

    /// Appends a document. IDs are not compared: if a corpus repeats an ID, both documents are
    /// indexed.
    pub fn add(&mut self, id: DocId, title: &str, text: &str) {
        let document = self.ids.len() as u32;
        let mut found: Vec<(u32, u32)> = Vec::new();
        let profile = self.profile;
        for (part, weight) in [(title, profile.title_weight()), (text, 1)] {
            profile.each_word(part, |word| {
                found.extend(self.term(word).map(|term| (term, weight)));
            });
        }
        found.sort_unstable();
        let mut length = 0u32;
        for same in found.chunk_by(|x, y| x.0 == y.0) {
            let count = same
                .iter()
                .fold(0u32, |sum, (_, weight)| sum.saturating_add(*weight));
            if let Some(postings) = same
                .first()
                .and_then(|(term, _)| self.postings.get_mut(*term as usize))
            {
                postings.push(document, count);
            }
            length = length.saturating_add(count);
        }
        self.ids.push(&id);
        self.lengths.push(length);
        self.total_length += u64::from(length);
    }

    /// The number of a document's term; new words get a new number.
    fn term(&mut self, word: &str) -> Option<u32> {
        if let Some(known) = self.words.get(word) {
            return *known;
        }
        let term = self.profile.document_term(word).map(|term| {
            let next = self.postings.len() as u32;
            let number = *self.terms.entry(term.into()).or_insert(next);
            if number == next {
                self.postings.push(Postings::default());
            }
            number
        });
        if self.words.len() == SPELLINGS {
            self.words.clear();
        }
        self.words.insert(word.into(), term);
        term
    }

    /// The `depth` best documents for `query`, best first; ties by descending ID, like trec_eval.
    /// Documents without any term of the query are not returned.
    pub fn search(&self, query: &str, depth: usize) -> Vec<SearchHit> {
        let mut scores = vec![0.0; self.ids.len()];
        let mut hits: Vec<SearchHit> = Vec::new();
        let mean = self.mean_length().unwrap_or(1.0);
        for term in self.profile.query_terms(query) {
            let Some(postings) = self
                .terms
                .get(term.as_str())
                .and_then(|term| self.postings.get(*term as usize))
            else {
                continue;
            };
            let idf = self.profile.idf(self.ids.len(), postings.documents());
            for (document, count) in postings.iter() {
                let document = document as usize;
                let (Some(score), Some(length)) =
                    (scores.get_mut(document), self.lengths.get(document))
                else {
                    continue;
                };
                if *score == 0.0 {
                    hits.push(SearchHit {
                        document,
                        score: 0.0,
                    });
                }
                let (tf, relative) = (f64::from(count), f64::from(*length) / mean);
                let (k1, b) = (AnalysisProfile::K1, AnalysisProfile::B);
                *score += idf * tf * (k1 + 1.0) / (tf + k1 * (1.0 - b + b * relative));
            }
        }
        for hit in &mut hits {
            hit.score = scores.get(hit.document).copied().unwrap_or(0.0);
        }
        let better = |x: &SearchHit, y: &SearchHit| {
            let later = || self.ids.get(y.document).cmp(&self.ids.get(x.document));
            y.score
                .total_cmp(&x.score)
                .then_with(later)
                .then(x.document.cmp(&y.document))
        };
        if depth < hits.len() {
            hits.select_nth_unstable_by(depth, better);
            hits.truncate(depth);
        }
        hits.sort_unstable_by(better);
        hits
    }

    pub fn id(&self, document: usize) -> Option<DocId> {
        self.ids.get(document).map(DocId::new)
    }

    pub fn documents(&self) -> usize {
        self.ids.len()
    }

    pub fn vocabulary(&self) -> usize {
        self.postings.len()
    }

    /// The mean length of the documents in words, or `None` without documents.
    pub fn mean_length(&self) -> Option<f64> {
        (self.ids.len() > 0).then(|| self.total_length as f64 / self.ids.len() as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::sampling::SeededRng;
    use proptest::prelude::*;

    fn index(profile: AnalysisProfile, texts: &[(&str, &str)]) -> Bm25Index {
        let mut index = Bm25Index::new(profile);
        for (at, (title, text)) in texts.iter().enumerate() {
            index.add(DocId::new(at.to_string()), title, text);
        }
        index
    }

    #[test]
    fn scores_follow_the_formula() {
        let texts = [
            ("Fever", "aspirin, fevers"),
            ("", "fever of the hay"),
            ("", "nothing else"),
        ];
        let part =
            |tf: f64, length: f64, mean: f64| tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * length / mean));
        let (aspirin, fever) = (1.0 + 2.5 / 1.5f64, 1.0 + 1.5 / 2.5f64);

        // The title counts three times; "the" and "of" count as words of a document.
        let own = index(AnalysisProfile::Overrule, &texts);
        let mean = 11.0 / 3.0;
        let expected = [
            aspirin.ln() * part(1.0, 5.0, mean) + fever.ln() * part(4.0, 5.0, mean),
            fever.ln() * part(1.0, 4.0, mean),
        ];
        assert_eq!(own.mean_length(), Some(mean));
        check(
            &own.search("aspirin for fevers", 9),
            &[(0, expected[0]), (1, expected[1])],
        );

        // Here they do not, but a query keeps them, as it keeps the stem of "else".
        let duckdb = index(AnalysisProfile::Duckdb, &texts);
        let mean = (3.0 + 2.0 + 0.0) / 3.0;
        let expected = [
            aspirin.log10() * part(1.0, 3.0, mean) + fever.log10() * part(2.0, 3.0, mean),
            fever.log10() * part(1.0, 2.0, mean),
        ];
        assert_eq!((duckdb.vocabulary(), duckdb.mean_length()), (3, Some(mean)));
        check(
            &duckdb.search("aspirin fevers of the else", 9),
            &[(0, expected[0]), (1, expected[1])],
        );
    }

    fn check(hits: &[SearchHit], expected: &[(usize, f64)]) {
        assert_eq!(hits.len(), expected.len(), "{hits:?}");
        for (hit, (document, score)) in hits.iter().zip(expected) {
            assert!(
                hit.document == *document && (hit.score - score).abs() < 1e-12,
                "{hit:?} {score}"
            );
        }
    }

    #[test]
    fn equal_scores_are_ordered_as_trec_eval_does() {
        let index = index(
            AnalysisProfile::Overrule,
            &[("", "cell"), ("", "wall"), ("", "cells"), ("", "cell")],
        );
        let found = |depth| {
            index
                .search("cell", depth)
                .iter()
                .map(|hit| hit.document)
                .collect::<Vec<_>>()
        };
        assert_eq!(found(9), [3, 2, 0]);
        assert_eq!(found(2), [3, 2]);
        assert!(found(0).is_empty() && index.search("", 9).is_empty());
        assert!(
            Bm25Index::new(AnalysisProfile::Duckdb)
                .search("cell", 9)
                .is_empty()
        );
        assert_eq!(index.id(2), Some(DocId::new("2")));
    }

    proptest! {
        #[test]
        fn a_prefix_of_a_deeper_search_is_the_shallower_search(
            texts in prop::collection::vec("([abc]{1,2} ){0,6}", 0..12),
            query in "([abc]{1,2} ){0,4}",
            depth in 0usize..12,
        ) {
            for profile in [AnalysisProfile::Overrule, AnalysisProfile::Duckdb] {
                let texts: Vec<(&str, &str)> = texts.iter().map(|text| ("b", text.as_str())).collect();
                let index = index(profile, &texts);
                let all = index.search(&query, usize::MAX);
                prop_assert!(all.iter().all(|hit| hit.score > 0.0 && hit.score.is_finite()));
                let few = index.search(&query, depth);
                prop_assert_eq!(&all[..all.len().min(depth)], few.as_slice());
            }
        }

        #[test]
        fn the_order_of_documents_changes_no_score(
            texts in prop::collection::vec("([abc]{1,2} |中国|국){0,6}", 0..12),
            query in "([abc]{1,2} |中国|국){0,4}",
            seed: u64,
        ) {
            for profile in [AnalysisProfile::Overrule, AnalysisProfile::Duckdb] {
                let mut order: Vec<usize> = (0..texts.len()).collect();
                let found = |order: &[usize]| {
                    let mut index = Bm25Index::new(profile);
                    for at in order {
                        index.add(DocId::new(at.to_string()), "b", &texts[*at]);
                    }
                    index.search(&query, usize::MAX).into_iter().map(|hit| (index.id(hit.document), hit.score.to_bits())).collect::<Vec<_>>()
                };
                let one = found(&order);
                SeededRng::new(seed, &["documents"]).shuffle(&mut order);
                prop_assert_eq!(one, found(&order));
            }
        }

        #[test]
        fn no_text_panics(text in ".{0,60}", query in ".{0,20}") {
            for profile in [AnalysisProfile::Overrule, AnalysisProfile::Duckdb] {
                let index = index(profile, &[(&text, &query), (&query, &text)]);
                prop_assert!(index.search(&query, 2).len() <= 2);
            }
        }
    }
}
