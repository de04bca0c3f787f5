//! The findings of the three lexical judges on a pool, computed once so that a call only looks them
//! up and compares.

use super::assessment::Assessment;
use super::method::LexicalMethod;
use super::reading::PoolReading;
use super::{bm25, margin, ngram, proximity, wording};
use crate::domain::text::{self, NumberedTokens, Term};
use std::ops::Range;
use std::sync::Arc;

/// The judges' findings on every document of one pool.
#[derive(Debug)]
pub struct LexicalAnalysis {
    terms: Vec<Term>,
    query_words: u64,
    /// Number of whitespace-separated words of every document, up to the limit that is read.
    words: Vec<u64>,
    findings: [MethodScores; 3],
}

#[derive(Debug)]
struct MethodScores {
    assessments: Vec<Assessment>,
    scale: f64,
}

impl MethodScores {
    /// In the order of [`LexicalMethod`].
    fn of(reading: &PoolReading<'_>) -> [Self; 3] {
        let find = |assessments: Vec<Assessment>| {
            let scores: Vec<f64> = assessments
                .iter()
                .map(|assessment| assessment.score)
                .collect();
            Self {
                scale: margin::scale(&scores),
                assessments,
            }
        };
        [
            find(bm25::assess(reading)),
            find(proximity::assess(reading)),
            find(ngram::assess(reading)),
        ]
    }
}

/// The scores of a [`LexicalAnalysis`] without the notes, which take longer.
#[derive(Debug)]
pub struct LexicalScores([MethodScores; 3]);

impl LexicalScores {
    /// The scores of documents with these tokens.
    pub fn new(query: &str, documents: &[Arc<str>], tokens: &NumberedTokens) -> Self {
        let mut reading = PoolReading::new(query, documents, tokens);
        reading.has_notes = false;
        Self(MethodScores::of(&reading))
    }

    /// See [`LexicalAnalysis::score`].
    pub fn score(&self, method: LexicalMethod, document: usize) -> f64 {
        self.find(method, document).map_or(0.0, |found| found.score)
    }

    /// See [`LexicalAnalysis::matched`].
    pub fn matched(&self, method: LexicalMethod, document: usize) -> u64 {
        self.find(method, document).map_or(0, |found| found.matched)
    }

    fn find(&self, method: LexicalMethod, document: usize) -> Option<&Assessment> {
        self.0[method.index()].assessments.get(document)
    }
}

impl LexicalAnalysis {
    /// Analyzes a pool in time linear in the length of its texts.
    pub fn new(query: &str, documents: &[Arc<str>]) -> Self {
        let reading = PoolReading::new(query, documents, &NumberedTokens::of(documents));
        Self {
            query_words: count_words(query),
            words: documents
                .iter()
                .map(|document| count_words(document))
                .collect(),
            findings: MethodScores::of(&reading),
            terms: reading.terms,
        }
    }

    #[cfg(test)]
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// A judge's score of a document, 0 or more; 0 also outside the pool.
    pub fn score(&self, method: LexicalMethod, document: usize) -> f64 {
        self.find(method, document).map_or(0.0, |found| found.score)
    }

    /// The [`terms`](Self::terms) that a judge found in a document, as a bit set.
    pub fn matched(&self, method: LexicalMethod, document: usize) -> u64 {
        self.find(method, document).map_or(0, |found| found.matched)
    }

    /// The bytes of a document that a judge quotes, or `None` if it found nothing.
    pub fn passage(&self, method: LexicalMethod, document: usize) -> Option<Range<usize>> {
        self.find(method, document)
            .map(|found| found.passage.clone())
            .filter(|passage| !passage.is_empty())
    }

    /// A judge's margin in −1..=1 for two documents in the order shown; negative prefers the first,
    /// 0 neither.
    pub fn margin(&self, method: LexicalMethod, first: usize, second: usize) -> f64 {
        margin::margin(
            self.score(method, first),
            self.score(method, second),
            self.findings[method.index()].scale,
        )
    }

    /// A judge's note on two documents in the order shown, one thought per line.
    pub fn thoughts(&self, method: LexicalMethod, first: usize, second: usize) -> [String; 4] {
        let note = |document| {
            self.find(method, document)
                .map_or("is not in the pool.", |found| &found.note)
        };
        let (a, b) = (self.score(method, first), self.score(method, second));
        [
            format!("Document A {}", note(first)),
            format!("Document B {}", note(second)),
            wording::comparison(
                method.verb(),
                &self.terms,
                self.matched(method, first),
                self.matched(method, second),
            ),
            wording::conclusion(method.title(), a, b, self.margin(method, first, second)),
        ]
    }

    /// Number of words of the query and of two documents, up to the limit that is read.
    pub(crate) fn words(&self, first: usize, second: usize) -> u64 {
        let words = |document: usize| self.words.get(document).copied().unwrap_or(0);
        self.query_words + words(first) + words(second)
    }

    fn find(&self, method: LexicalMethod, document: usize) -> Option<&Assessment> {
        self.findings[method.index()].assessments.get(document)
    }
}

/// Number of whitespace-separated words, up to the limit that is read.
pub(crate) fn count_words(text: &str) -> u64 {
    text::readable(text).split_whitespace().count() as u64
}

#[cfg(test)]
mod tests {
    use super::super::reading::tests::pool;
    use super::*;
    use proptest::prelude::*;

    const TEXTS: &[&str] = &[
        "Aspirin reduces fever. It also thins blood.",
        "Blood tests show that fever is common.\nNothing else was found.",
        "Unrelated text.",
        "",
    ];

    #[test]
    fn a_note_is_true_and_its_quotes_are_in_the_documents() {
        let analysis = LexicalAnalysis::new("Does aspirin reduce fever?", &pool(TEXTS));
        assert_eq!(
            analysis.thoughts(LexicalMethod::Bm25, 0, 1),
            [
                "Document A matches all 3 query terms (aspirin, reduce, fever), aspirin above all \
                 (once, in 1 of 4 \
                 documents): “Aspirin reduces fever.”",
                "Document B matches 1 of 3 query terms (fever; not aspirin, reduce), fever above \
                 all (once, in 2 of 4 \
                 documents): “Blood tests show that fever is common.”",
                "Of the query terms, only Document A has aspirin, reduce.",
                "BM25 scores Document A 2.67 and Document B 0.46, so Document A is clearly the \
                 better match.",
            ]
        );
        assert_eq!(
            analysis.thoughts(LexicalMethod::Proximity, 2, 3),
            [
                "Document A covers none of the query terms (aspirin, reduce, fever).",
                "Document B has no words.",
                "Neither covers any of the query terms.",
                "Proximity scores Document A 0.00 and Document B 0.00, so neither is a match.",
            ]
        );
        assert_eq!(analysis.passage(LexicalMethod::Bm25, 0), Some(0..22));
        assert_eq!(analysis.passage(LexicalMethod::Bm25, 2), None);
        assert_eq!(analysis.matched(LexicalMethod::Proximity, 1), 0b100);
        assert_eq!(analysis.terms()[1].stem, "reduc");
    }

    #[test]
    fn what_lies_outside_the_pool_is_no_match() {
        let analysis = LexicalAnalysis::new("fever", &pool(TEXTS));
        assert_eq!(analysis.margin(LexicalMethod::Ngram, 8, 9), 0.0);
        assert!(analysis.margin(LexicalMethod::Ngram, 0, 9) < 0.0);
        assert_eq!(
            analysis.thoughts(LexicalMethod::Ngram, 8, 0)[0],
            "Document A is not in the pool."
        );
    }

    #[test]
    fn documents_without_a_query_word_and_equal_documents_are_tied() {
        for query in ["zebra", "", "?!"] {
            let analysis = LexicalAnalysis::new(query, &pool(TEXTS));
            assert!(
                LexicalMethod::ALL
                    .iter()
                    .all(|method| analysis.margin(*method, 0, 1) == 0.0),
                "{query}"
            );
        }
        let analysis =
            LexicalAnalysis::new("aspirin fever", &pool(&[TEXTS[0], TEXTS[0], TEXTS[1]]));
        assert!(
            LexicalMethod::ALL
                .iter()
                .all(|method| analysis.margin(*method, 0, 1) == 0.0)
        );
        assert!(
            LexicalMethod::ALL
                .iter()
                .all(|method| analysis.margin(*method, 0, 2) < 0.0)
        );
    }

    #[test]
    fn an_endless_document_is_read_in_part_and_says_so() {
        let endless = "fever and more ".repeat(300_000);
        let analysis = LexicalAnalysis::new("fever", &pool(&[&endless, "none"]));
        let note = &analysis.thoughts(LexicalMethod::Bm25, 0, 1)[0];
        assert!(
            note.ends_with(" Only its first 200000 characters were read."),
            "{note}"
        );
        assert_eq!(analysis.words(0, 1), 1 + 40_000 + 1);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn any_pool_is_judged_the_same_both_ways_round_and_twice(
            query in "[ a-cA-Cß“.\\-]{0,12}",
            texts in prop::collection::vec("[ a-c\n\t.!”\"é漢\u{0}\u{1b}\u{202e}\u{200d}\u{300}]{0,300}", 1..5),
        ) {
            let documents: Vec<Arc<str>> = texts.iter().map(|text| text.as_str().into()).collect();
            let (analysis, again) = (LexicalAnalysis::new(&query, &documents), LexicalAnalysis::new(&query, &documents));
            let scores = LexicalScores::new(&query, &documents, &NumberedTokens::of(&documents));
            for (method, at) in LexicalMethod::ALL.into_iter().flat_map(|method| (0..=documents.len()).map(move |at| (method, at))) {
                prop_assert_eq!(scores.score(method, at).to_bits(), analysis.score(method, at).to_bits());
                prop_assert_eq!(scores.matched(method, at), analysis.matched(method, at));
            }
            for method in LexicalMethod::ALL {
                for (a, text) in documents.iter().enumerate() {
                    let quote = analysis.passage(method, a).map(|passage| text.get(passage).unwrap());
                    prop_assert!(quote.is_none_or(|quote| quote.chars().count() <= wording::QUOTE_CHARS));
                    for b in 0..documents.len() {
                        let (there, back) = (analysis.margin(method, a, b), analysis.margin(method, b, a));
                        prop_assert_eq!(there, 0.0 - back);
                        prop_assert!((-1.0..=1.0).contains(&there));
                        prop_assert_eq!(analysis.thoughts(method, a, b), again.thoughts(method, a, b));
                        prop_assert_eq!(there.to_bits(), again.margin(method, a, b).to_bits());
                        let thoughts = analysis.thoughts(method, a, b).join("\n");
                        prop_assert!(thoughts.lines().count() == 4, "{}", thoughts);
                        for quoted in thoughts.split('“').skip(1).filter_map(|rest| rest.split('”').next()) {
                            prop_assert!(documents.iter().any(|text| text.contains(quoted)), "{}", quoted);
                        }
                    }
                }
            }
        }

        #[test]
        fn the_order_of_a_pool_changes_no_number(
            query in "[ a-c中国]{0,8}",
            texts in prop::collection::vec("[ a-c.中国]{0,40}", 1..6),
        ) {
            let mut documents: Vec<Arc<str>> = texts.iter().map(|text| text.as_str().into()).collect();
            let one = LexicalAnalysis::new(&query, &documents);
            documents.reverse();
            let other = LexicalAnalysis::new(&query, &documents);
            let place = |at: usize| documents.len() - 1 - at;
            for method in LexicalMethod::ALL {
                for a in 0..documents.len() {
                    prop_assert_eq!(one.score(method, a).to_bits(), other.score(method, place(a)).to_bits());
                    for b in 0..documents.len() {
                        let (there, again) = (one.margin(method, a, b), other.margin(method, place(a), place(b)));
                        prop_assert!((there - again).abs() < 1.5e-3, "{there} {again}");
                    }
                }
            }
        }

        #[test]
        fn no_text_panics(query in ".{0,30}", text in ".{0,200}") {
            let _ = LexicalAnalysis::new(&query, &[text.as_str().into(), query.as_str().into()]);
        }
    }
}
