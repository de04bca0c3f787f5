//! Text features of a query's documents for students: overlap with the query beyond the scores of
//! the offline judges, and similarity to each other.

use crate::domain::text::{
    NumberedToken, NumberedTokens, each_token, is_stopword, query_terms, stem,
};
use foldhash::fast::RandomState;
use std::collections;

type HashMap<K, V> = collections::HashMap<K, V, RandomState>;
type HashSet<T> = collections::HashSet<T, RandomState>;

/// Features of one text.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TextNumbers {
    /// Share of the query's distinct words, including common ones, that occur in the text as
    /// written.
    pub words_covered: f64,
    /// Share of the query's adjacent terms that are also adjacent in the text, in the same order;
    /// stopwords are skipped in both. 0 for a query of one term.
    pub phrases: f64,
    /// Occurrences of the query's terms per word of the text.
    pub density: f64,
    /// Mean cosine similarity to the other texts.
    pub likeness: f64,
}

/// The analyzed texts of one query.
#[derive(Clone, Debug, PartialEq)]
pub struct PoolTexts {
    numbers: Vec<TextNumbers>,
    /// By text: its stems with their weights, (1 + ln tf) · ln((N + 1) / df) normalized to length 1
    /// (Salton & Buckley 1988), sorted by stem.
    vectors: Vec<Vec<(u32, f64)>>,
}

impl PoolTexts {
    /// Analyzes texts with these tokens in time linear in their lengths.
    pub fn read(query: &str, tokens: &NumberedTokens) -> Self {
        let mut lexicon = Lexicon::default();
        let looked_for = QueryWords::new(query, &mut lexicon);
        let words: Vec<KnownWord> = tokens.forms().map(|form| lexicon.of_pool(form)).collect();
        let known = |token: &NumberedToken| words.get(token.number as usize).copied();
        let read: Vec<ReadText> = tokens
            .texts()
            .iter()
            .map(|text| ReadText::of(text.iter().filter_map(known)))
            .collect();
        let vectors = vectors(&read, lexicon.stems.len());
        let likeness = likeness(&vectors, lexicon.stems.len());
        let numbers = read.iter().zip(likeness);
        Self {
            numbers: numbers
                .map(|(text, near)| looked_for.of(text, near))
                .collect(),
            vectors,
        }
    }

    /// By pool index.
    pub fn numbers(&self) -> &[TextNumbers] {
        &self.numbers
    }

    /// The cosine of two texts in 0..=1; 0 outside the pool.
    pub fn cosine(&self, a: usize, b: usize) -> f64 {
        let of = |at: usize| self.vectors.get(at).map_or(&[][..], Vec::as_slice);
        let (mut a, mut b) = (of(a), of(b));
        let mut sum = 0.0;
        while let ([(x, weight), rest_a @ ..], [(y, other), rest_b @ ..]) = (a, b) {
            if x == y {
                sum += weight * other;
            }
            (a, b) = (
                if x <= y { rest_a } else { a },
                if y <= x { rest_b } else { b },
            );
        }
        sum
    }
}

/// The words of one text as numbers of the lexicon.
struct ReadText {
    /// Number of words.
    words: usize,
    /// Those that the query has too, as written, in order.
    written: Vec<u32>,
    /// The stems of all words except stopwords, in order.
    stems: Vec<u32>,
}

impl ReadText {
    fn of(words: impl Iterator<Item = KnownWord>) -> Self {
        let (mut count, mut written, mut stems) = (0, Vec::new(), Vec::new());
        for word in words {
            count += 1;
            written.extend(word.written);
            stems.extend(word.stem);
        }
        Self {
            words: count,
            written,
            stems,
        }
    }
}

#[derive(Clone, Copy)]
struct KnownWord {
    /// `None` for a word that the query does not have.
    written: Option<u32>,
    /// `None` for a stopword.
    stem: Option<u32>,
}

/// Assigns numbers to the words of the query, and to stems.
#[derive(Default)]
struct Lexicon {
    words: HashMap<String, KnownWord>,
    stems: HashMap<String, u32>,
}

impl Lexicon {
    fn stem(&mut self, stem: String) -> u32 {
        let next = self.stems.len() as u32;
        *self.stems.entry(stem).or_insert(next)
    }

    /// A word of a pool, which may not occur in the query.
    fn of_pool(&mut self, normal: &str) -> KnownWord {
        self.words
            .get(normal)
            .copied()
            .unwrap_or_else(|| KnownWord {
                written: None,
                stem: self.stem_of(normal),
            })
    }

    fn of_query(&mut self, normal: &str) -> KnownWord {
        if let Some(known) = self.words.get(normal) {
            return *known;
        }
        let known = KnownWord {
            written: Some(self.words.len() as u32),
            stem: self.stem_of(normal),
        };
        self.words.insert(normal.to_owned(), known);
        known
    }

    fn stem_of(&mut self, normal: &str) -> Option<u32> {
        (!is_stopword(normal)).then(|| self.stem(stem(normal)))
    }

    fn read(&mut self, text: &str) -> ReadText {
        let mut words = Vec::new();
        each_token(text, |_, normal| words.push(self.of_query(normal)));
        ReadText::of(words.into_iter())
    }
}

/// The words and terms of a query, which is the first text of its lexicon: its words and stems have
/// the lowest numbers.
struct QueryWords {
    /// Number of distinct words, and of distinct stems.
    written: usize,
    stems: u32,
    /// By stem: whether it is that of a term.
    is_term: Vec<bool>,
    neighbors: HashSet<(u32, u32)>,
}

impl QueryWords {
    fn new(query: &str, lexicon: &mut Lexicon) -> Self {
        let read = lexicon.read(query);
        let (written, stems) = (lexicon.words.len(), lexicon.stems.len() as u32);
        let terms = query_terms(query).into_iter();
        let terms: Vec<u32> = terms.map(|term| lexicon.stem(term.stem)).collect();
        let mut is_term = vec![false; lexicon.stems.len()];
        terms
            .into_iter()
            .for_each(|stem| is_term[stem as usize] = true);
        Self {
            written,
            stems,
            is_term,
            neighbors: neighbors(&read.stems).collect(),
        }
    }

    fn of(&self, text: &ReadText, likeness: f64) -> TextNumbers {
        let mut is_covered = vec![false; self.written];
        for word in &text.written {
            if let Some(is_covered) = is_covered.get_mut(*word as usize) {
                *is_covered = true;
            }
        }
        let covered = is_covered.into_iter().filter(|of| *of).count();
        let is_near =
            |pair: &(u32, u32)| pair.0.max(pair.1) < self.stems && self.neighbors.contains(pair);
        let found: HashSet<(u32, u32)> = neighbors(&text.stems).filter(is_near).collect();
        let is_term = |stem: &&u32| self.is_term.get(**stem as usize) == Some(&true);
        let hits = text.stems.iter().filter(is_term);
        TextNumbers {
            words_covered: share(covered, self.written),
            phrases: share(found.len(), self.neighbors.len()),
            density: share(hits.count(), text.words),
            likeness,
        }
    }
}

fn neighbors(stems: &[u32]) -> impl Iterator<Item = (u32, u32)> {
    stems.windows(2).filter_map(|pair| match pair {
        [one, next] => Some((*one, *next)),
        _ => None,
    })
}

/// 0 if `whole` is 0.
fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}

fn vectors(texts: &[ReadText], stems: usize) -> Vec<Vec<(u32, f64)>> {
    let mut holding = vec![0usize; stems];
    let counts: Vec<Vec<(u32, usize)>> = texts
        .iter()
        .map(|text| {
            let mut sorted = text.stems.clone();
            sorted.sort_unstable();
            sorted
                .chunk_by(|a, b| a == b)
                .filter_map(|run| Some((*run.first()?, run.len())))
                .inspect(|(stem, _)| holding[*stem as usize] += 1)
                .collect()
        })
        .collect();
    let all = texts.len() as f64 + 1.0;
    // By number of texts that a stem occurs in.
    let rarities: Vec<f64> = (0..=texts.len())
        .map(|holding| (all / holding as f64).ln())
        .collect();
    let vector = |counts: &Vec<(u32, usize)>| {
        let weight = |(stem, count): &(u32, usize)| {
            // The logarithm of 1 is 0.
            let often = match count {
                1 => 1.0,
                _ => 1.0 + (*count as f64).ln(),
            };
            (*stem, often * rarities[holding[*stem as usize]])
        };
        let mut vector: Vec<(u32, f64)> = counts.iter().map(weight).collect();
        let squares: f64 = vector.iter().map(|(_, x)| x * x).sum();
        let length = squares.sqrt();
        for (_, x) in &mut vector {
            *x /= length;
        }
        vector
    };
    counts.iter().map(vector).collect()
}

/// The mean cosine of each vector with the others.
fn likeness(vectors: &[Vec<(u32, f64)>], stems: usize) -> Vec<f64> {
    let mut sum = vec![0.0; stems];
    for (stem, x) in vectors.iter().flatten() {
        sum[*stem as usize] += x;
    }
    let others = vectors.len().saturating_sub(1).max(1) as f64;
    let of = |vector: &Vec<(u32, f64)>| {
        let near = vector
            .iter()
            .map(|(stem, x)| x * (sum[*stem as usize] - x))
            .sum::<f64>();
        near / others
    };
    vectors.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn numbers(query: &str, texts: &[&str]) -> Vec<TextNumbers> {
        PoolTexts::read(query, &NumberedTokens::of(texts))
            .numbers()
            .to_vec()
    }

    #[test]
    fn common_words_are_covered_and_endings_are_not() {
        let found = numbers(
            "Does the cell divide in the wall?",
            &["The cells divide.", "in the wall", ""],
        );
        // does, the, cell, divide, in, wall
        let covered = found.iter().map(|of| of.words_covered);
        assert!(covered.eq([2.0 / 6.0, 3.0 / 6.0, 0.0]));
        let dense = found.iter().map(|of| of.density);
        assert!(dense.eq([2.0 / 3.0, 1.0 / 3.0, 0.0]));
    }

    #[test]
    fn phrases_are_neighbors_in_their_order() {
        let found = numbers(
            "gene therapy of the heart",
            &[
                "Gene therapies for hearts",
                "therapy, gene",
                "a gene in therapy",
                "heart",
            ],
        );
        let phrases = found.iter().map(|of| of.phrases);
        assert!(phrases.eq([1.0, 0.0, 0.5, 0.0]));
        let one_term = numbers("gene", &["gene gene", "heart"]);
        assert!(one_term.iter().all(|of| of.phrases == 0.0));
    }

    #[test]
    fn a_text_like_others_is_nearer_to_them() {
        let texts = ["fever and aspirin", "aspirin lowers", "fever in ovens", ""];
        let pool = PoolTexts::read("aspirin", &NumberedTokens::of(&texts));
        let near: Vec<f64> = pool.numbers().iter().map(|of| of.likeness).collect();
        assert!(near[0] > near[1] && near[1] > 0.1, "{near:?}");
        assert!((near[1] - near[2]).abs() < 1e-12 && near[3] == 0.0);
        assert!((pool.cosine(1, 1) - 1.0).abs() < 1e-12);
        assert_eq!((pool.cosine(1, 2), pool.cosine(0, 9)), (0.0, 0.0));
    }

    proptest! {
        #[test]
        fn likeness_is_the_mean_of_cosines_and_no_text_panics(
            query in "[ a-c]{0,8}|.{0,8}",
            texts in prop::collection::vec("[ a-e]{0,40}|.{0,20}", 0..6),
        ) {
            let pool = PoolTexts::read(&query, &NumberedTokens::of(&texts));
            for (at, of) in pool.numbers().iter().enumerate() {
                let sum: f64 = (0..texts.len()).filter(|other| *other != at).map(|other| pool.cosine(at, other)).sum();
                let mean = sum / (texts.len() - 1).max(1) as f64;
                prop_assert!((of.likeness - mean).abs() < 1e-9);
                prop_assert!((0.0..=1.0).contains(&of.words_covered));
                prop_assert!((0.0..=1.0).contains(&of.phrases));
                prop_assert!((0.0..=1.0).contains(&of.density));
            }
        }
    }
}
