//! Analyzes a pool in one pass: finds the words of each document that are related to the query,
//! once for all three judges.

use crate::domain::text::{self, NumberedToken, NumberedTokens, Term};
use foldhash::fast::RandomState;
use std::collections;
use std::ops::Range;
use std::sync::Arc;

type HashMap<K, V> = collections::HashMap<K, V, RandomState>;

/// The lengths of the character n-grams that the `ngram` judge compares.
pub(super) const GRAMS: std::ops::RangeInclusive<usize> = 3..=5;

/// A sentence longer than this many words is split into several passages.
const PASSAGE_WORDS: u32 = 60;

/// Only this many characters of a longer word are used for n-grams.
const GRAM_WORD: usize = 48;

/// The analyzed pool.
#[derive(Debug)]
pub(super) struct PoolReading<'a> {
    pub(super) terms: Vec<Term>,
    /// For each distinct n-gram of the query, the terms that contain it, as a bit set.
    pub(super) gram_terms: Vec<u64>,
    pub(super) documents: Vec<DocumentReading<'a>>,
    /// Whether assessments have notes with quotes.
    pub(super) has_notes: bool,
    lexicon: Lexicon,
}

/// One document's passages and its words that are related to the query.
#[derive(Debug)]
pub(super) struct DocumentReading<'a> {
    /// The part that is read.
    pub(super) text: &'a str,
    /// Whether the document is longer.
    pub(super) is_cut: bool,
    pub(super) words: u32,
    pub(super) passages: Vec<SentencePassage>,
    pub(super) hits: Vec<QueryHit>,
}

/// A sentence, or a part of a very long one.
#[derive(Debug)]
pub(super) struct SentencePassage {
    pub(super) range: Range<usize>,
    pub(super) words: u32,
}

/// A word that is a query term or shares an n-gram with one.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueryHit {
    /// Index among the document's words.
    pub(super) at: u32,
    pub(super) passage: u32,
    start: u32,
    end: u32,
    word: u32,
}

impl QueryHit {
    /// The word's bytes.
    pub(super) fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// The relation of a word to the query.
#[derive(Debug, Default)]
struct WordMeaning {
    term: Option<usize>,
    grams: Vec<u16>,
}

#[derive(Debug, Default)]
struct Lexicon {
    grams: HashMap<u128, u16>,
    stems: HashMap<String, usize>,
    /// By the number of the token; `None` is unrelated to the query.
    words: Vec<Option<u32>>,
    meanings: Vec<WordMeaning>,
    /// The characters of a word, reused for the next one.
    padded: Vec<char>,
}

impl<'a> PoolReading<'a> {
    pub(super) fn new(query: &str, documents: &'a [Arc<str>], tokens: &NumberedTokens) -> Self {
        let terms = text::query_terms(query);
        let mut lexicon = Lexicon::default();
        let mut gram_terms: Vec<u64> = Vec::new();
        let mut normal = String::new();
        for (index, term) in terms.iter().enumerate() {
            lexicon.stems.insert(term.stem.clone(), index);
            text::normalize_into(&term.surface, &mut normal);
            each_gram(&normal, &mut Vec::new(), |gram| {
                let next = gram_terms.len();
                let id = *lexicon.grams.entry(gram).or_insert(next as u16);
                if usize::from(id) == next {
                    gram_terms.push(0);
                }
                gram_terms[usize::from(id)] |= 1 << index;
                true
            });
        }
        lexicon.words = tokens.forms().map(|form| lexicon.meaning(form)).collect();
        let documents = documents.iter().zip(tokens.texts());
        let documents = documents
            .map(|(document, tokens)| lexicon.read(document, tokens))
            .collect();
        Self {
            terms,
            gram_terms,
            documents,
            has_notes: true,
            lexicon,
        }
    }

    /// The query term of a hit.
    pub(super) fn term(&self, hit: &QueryHit) -> Option<usize> {
        self.lexicon.meanings.get(hit.word as usize)?.term
    }

    /// The n-grams that a hit shares with the query.
    pub(super) fn grams(&self, hit: &QueryHit) -> &[u16] {
        self.lexicon
            .meanings
            .get(hit.word as usize)
            .map_or(&[], |meaning| &meaning.grams)
    }

    /// The mean length of the pool's documents, at least 1.
    pub(super) fn mean_words(&self) -> f64 {
        let words: u64 = self
            .documents
            .iter()
            .map(|document| u64::from(document.words))
            .sum();
        (words as f64 / self.documents.len().max(1) as f64).max(1.0)
    }
}

impl Lexicon {
    fn read<'a>(&self, document: &'a str, tokens: &[NumberedToken]) -> DocumentReading<'a> {
        let text = text::readable(document);
        let mut sentences = text::sentences(text).into_iter();
        let mut passages: Vec<SentencePassage> = Vec::new();
        let mut hits = Vec::new();
        let mut words = 0;
        let mut last_start = None;
        for token in tokens {
            let range = token.range();
            while passages
                .last()
                .is_none_or(|passage| passage.range.end < range.end)
            {
                let Some(range) = sentences.next() else { break };
                passages.push(SentencePassage { range, words: 0 });
            }
            // A pair of characters starts where its first character does, and is no further word.
            if last_start.replace(range.start) != Some(range.start) {
                if let Some(long) = passages
                    .last_mut()
                    .filter(|passage| passage.words == PASSAGE_WORDS)
                {
                    let rest = range.start..long.range.end;
                    let head = &text[long.range.start..range.start];
                    long.range.end = long.range.start + head.trim_end().len();
                    passages.push(SentencePassage {
                        range: rest,
                        words: 0,
                    });
                }
                if let Some(passage) = passages.last_mut() {
                    passage.words += 1;
                }
                words += 1;
            }
            let word = self.words.get(token.number as usize);
            if let Some(word) = word.copied().flatten() {
                hits.push(QueryHit {
                    at: words - 1,
                    passage: passages.len().saturating_sub(1) as u32,
                    start: range.start as u32,
                    end: range.end as u32,
                    word,
                });
            }
        }
        DocumentReading {
            text,
            is_cut: text.len() < document.len(),
            words,
            passages,
            hits,
        }
    }

    /// The index of a token's meaning, unless it is unrelated to the query.
    fn meaning(&mut self, normal: &str) -> Option<u32> {
        // A stem keeps its word's first character, so most words need no stemming.
        let first = normal.chars().next();
        let term = self
            .stems
            .keys()
            .any(|stem| stem.chars().next() == first)
            .then(|| text::stem(normal));
        let term = term.and_then(|stem| self.stems.get(&stem).copied());
        let mut grams = Vec::new();
        each_gram(normal, &mut self.padded, |gram| {
            let known = self.grams.get(&gram);
            grams.extend(known);
            known.is_some()
        });
        grams.sort_unstable();
        grams.dedup();
        (term.is_some() || !grams.is_empty()).then(|| {
            self.meanings.push(WordMeaning { term, grams });
            (self.meanings.len() - 1) as u32
        })
    }
}

/// The n-grams of a word surrounded by spaces, each packed into a number.
///
/// Longer n-grams with the same start follow as long as `take` returns true. `padded` is a buffer.
fn each_gram(normal: &str, padded: &mut Vec<char>, mut take: impl FnMut(u128) -> bool) {
    padded.clear();
    padded.push(' ');
    padded.extend(normal.chars().take(GRAM_WORD));
    padded.push(' ');
    for start in 0..padded.len() {
        let mut packed = 0;
        for (before, c) in padded[start..].iter().take(*GRAMS.end()).enumerate() {
            // A character takes 21 bits; one is added so that n-grams of different lengths differ.
            packed = packed << 21 | (u128::from(u32::from(*c)) + 1);
            if GRAMS.contains(&(before + 1)) && !take(packed) {
                break;
            }
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::judge::lexical::assessment::Assessment;

    /// A pool of texts.
    pub(in crate::judge::lexical) fn pool(texts: &[&str]) -> Vec<Arc<str>> {
        texts.iter().map(|text| (*text).into()).collect()
    }

    /// The scores of texts by one of the offline judges.
    pub(in crate::judge::lexical) fn scores(
        assess: impl Fn(&PoolReading<'_>) -> Vec<Assessment>,
        query: &str,
        texts: &[&str],
    ) -> Vec<f64> {
        let documents = pool(texts);
        let reading = PoolReading::new(query, &documents, &NumberedTokens::of(&documents));
        assess(&reading).iter().map(Assessment::score).collect()
    }

    #[test]
    fn hits_are_the_words_that_touch_the_query() {
        let documents = pool(&["No cells here. Two Cell's walls\nand cellular", ""]);
        let reading = PoolReading::new("cell", &documents, &NumberedTokens::of(&documents));
        let hits: Vec<_> = reading.documents[0]
            .hits
            .iter()
            .map(|hit| {
                (
                    &documents[0][hit.range()],
                    hit.at,
                    hit.passage,
                    reading.term(hit),
                    reading.grams(hit).len(),
                )
            })
            .collect();
        assert_eq!(
            hits,
            [
                ("cells", 1, 0, Some(0), 6),
                ("Cell's", 4, 1, Some(0), 9),
                ("cellular", 7, 2, None, 6)
            ]
        );
        assert_eq!(
            (reading.documents[0].words, reading.documents[1].words),
            (8, 0)
        );
        assert_eq!(reading.gram_terms.len(), 9);
        assert_eq!(reading.mean_words(), 4.0);
    }

    #[test]
    fn an_endless_sentence_is_read_in_pieces() {
        let documents = pool(&["word ".repeat(130).trim()]);
        let reading = PoolReading::new("word", &documents, &NumberedTokens::of(&documents));
        let words: Vec<u32> = reading.documents[0]
            .passages
            .iter()
            .map(|passage| passage.words)
            .collect();
        assert_eq!(words, [60, 60, 10]);
        assert_eq!(reading.documents[0].passages[1].range, 300..599);
    }
}
