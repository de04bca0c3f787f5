//! How a text becomes terms.

use super::fold::fold;
use super::stopwords;
use crate::domain::text;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use waken_snowball::Algorithm;

/// The longest word that is stemmed, in bytes.
const MAX_STEMMED: usize = 512;

/// The analysis and weighting of an index.
///
/// The figures are Recall@10, MRR@10, NDCG@10 and Recall@100 on the 300 test claims of SciFact (5,183 abstracts).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// The words, stems and query stopwords of [`text`], as the highlighting sees them; a title counts twice.
    ///
    /// 0.8233, 0.6604, 0.6935, 0.9309. Chosen for its NDCG@10 on the 809 train claims.
    #[default]
    Overrule,
    /// What DuckDB's full-text extension does by default (SEEDS §2.1): accents and digits go, title and text are one
    /// bag, stopwords leave the documents and stay in the query.
    ///
    /// 0.8209, 0.6321, 0.6730, 0.9287: the original's own.
    Duckdb,
}

impl Profile {
    /// How soon further occurrences of a term stop counting.
    pub const K1: f64 = 1.2;

    /// How far a document's length is held against it.
    pub const B: f64 = 0.75;

    /// How often a title is counted.
    pub(super) fn title_weight(self) -> u32 {
        match self {
            Self::Overrule => 2,
            Self::Duckdb => 1,
        }
    }

    /// The weight of a term that `holding` of `documents` documents contain, above 0 (Robertson & Zaragoza 2009, with 1
    /// added inside the logarithm as in Lucene): a natural logarithm, or a decimal one for `Duckdb`.
    pub fn idf(self, documents: usize, holding: usize) -> f64 {
        let (n, df) = (documents as f64, holding as f64);
        let odds = (n - df + 0.5) / (df + 0.5) + 1.0;
        match self {
            Self::Overrule => odds.ln(),
            Self::Duckdb => odds.log10(),
        }
    }

    /// Calls `take` with every word of a text, in order and before stemming.
    pub fn each_word(self, text: &str, mut take: impl FnMut(&str)) {
        match self {
            Self::Overrule => {
                let mut normal = String::new();
                for (_, word) in text::words(text) {
                    text::normalise_into(word, &mut normal);
                    take(&normal);
                }
            }
            Self::Duckdb => {
                let folded = spaced(text);
                folded
                    .split(is_space)
                    .filter(|word| !word.is_empty())
                    .for_each(take);
            }
        }
    }

    /// The term under which a document's word is indexed, or `None` for a stopword.
    pub fn document_term(self, word: &str) -> Option<String> {
        match self {
            Self::Overrule => Some(text::stem(word)),
            Self::Duckdb if stopwords::is_stopword(word) => None,
            Self::Duckdb => Some(porter(word)),
        }
    }

    /// The distinct terms of a query, in its order.
    pub fn query_terms(self, query: &str) -> Vec<String> {
        match self {
            Self::Overrule => text::query_terms(query)
                .into_iter()
                .map(|term| term.stem)
                .collect(),
            Self::Duckdb => {
                let mut seen = HashSet::new();
                let mut terms = Vec::new();
                self.each_word(query, |word| {
                    let term = porter(word);
                    if seen.insert(term.clone()) {
                        terms.push(term);
                    }
                });
                terms
            }
        }
    }
}

/// Porter's 1980 stem of any word, however short or foreign. The stemmer may take quadratic time, so that words of more
/// than [`MAX_STEMMED`] bytes, which are nobody's, stay as they are.
fn porter(word: &str) -> String {
    if word.len() > MAX_STEMMED {
        return word.to_owned();
    }
    waken_snowball::stem(Algorithm::Porter, word).into_owned()
}

/// Lower case without accents, each ignored character a space. ASCII letters and everything beyond ASCII stay.
fn spaced(text: &str) -> String {
    let ignored = |c: char| c.is_ascii_graphic() && !c.is_ascii_alphabetic();
    fold(text)
        .map(|c| if ignored(c) { ' ' } else { c })
        .collect()
}

/// White space to the regular expressions of DuckDB (RE2's `\s`).
fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\u{c}' | '\r')
}
