//! Words, sentences and passages of plain text, as used by the offline judges and for highlighting.
//!
//! All ranges are in bytes of the given text and lie on character boundaries. All functions take
//! time linear in the text and read no more of it than [`readable`] returns.

mod folding;
mod numbered;
mod passage;
mod tokens;

pub use folding::{fold_into, folded, is_ignorable};
pub use numbered::{NumberedToken, NumberedTokens};
pub use passage::{best_passage, clip, sentences};
pub use tokens::{TextPart, each_part, each_token, is_unspaced};

use foldhash::fast::RandomState;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;
use unicode_segmentation::UnicodeSegmentation;
use waken_snowball::Algorithm;

/// Number of characters of a text that are read; the rest is ignored.
pub const READ_CHARS: usize = 200_000;

/// Maximum number of distinct terms per query.
pub const MAX_TERMS: usize = 64;

/// Words longer than this many bytes are compared without stemming.
const MAX_STEMMED: usize = 64;

/// English stopwords, which are only removed from queries.
#[rustfmt::skip]
const STOPWORDS: &[&str] = &[
    "a", "about", "after", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "been", "being", "between",
    "both", "but", "by", "can", "could", "did", "do", "does", "doing", "for", "from", "had", "has", "have", "having",
    "he", "her", "his", "how", "i", "if", "in", "into", "is", "it", "its", "may", "me", "might", "more", "most", "my",
    "no", "nor", "not", "of", "on", "or", "our", "she", "should", "so", "some", "such", "than", "that", "the", "their",
    "them", "then", "there", "these", "they", "this", "those", "through", "to", "was", "we", "were", "what", "when",
    "where", "which", "while", "who", "whom", "whose", "why", "will", "with", "would", "you", "your",
];

/// One distinct term of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// The word in the spelling of its first occurrence in the query.
    pub surface: String,
    /// The stem used for comparison.
    pub stem: String,
}

/// The part of `text` that is read: its first [`READ_CHARS`] characters.
pub fn readable(text: &str) -> &str {
    head(text, READ_CHARS)
}

/// The words of `text` by Unicode's word boundaries (UAX #29), each with its first byte.
pub fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    readable(text).unicode_word_indices()
}

/// Writes `word`, [`folded`] and without an English possessive ending, to `normal`, which is
/// cleared first.
pub fn normalize_into(word: &str, normal: &mut String) {
    fold_into(word, normal);
    let kept = match normal.as_bytes() {
        [kept @ .., b'\'', b's'] | [kept @ .., 0xe2, 0x80, 0x99, b's'] => kept.len(),
        _ => 0,
    };
    if kept > 0 {
        normal.truncate(kept);
    }
}

/// Porter's 1980 stem of a normalized word. Words with non-ASCII characters, of one or two letters,
/// or very long ones are kept as they are.
pub fn stem(normal: &str) -> String {
    if normal.is_ascii() && (3..=MAX_STEMMED).contains(&normal.len()) {
        waken_snowball::stem(Algorithm::Porter, normal).into_owned()
    } else {
        normal.to_owned()
    }
}

/// Whether a normalized word is a stopword.
pub fn is_stopword(normal: &str) -> bool {
    static KNOWN: LazyLock<HashSet<&str, RandomState>> =
        LazyLock::new(|| STOPWORDS.iter().copied().collect());
    KNOWN.contains(normal)
}

/// The distinct terms of `query` in order, without stopwords unless there is nothing else; at most
/// [`MAX_TERMS`]. If there are more, single characters of scripts without spaces are dropped first,
/// since pairs of characters are more specific.
pub fn query_terms(query: &str) -> Vec<Term> {
    let collect = |keep_stopwords: bool| {
        let mut seen = HashSet::new();
        let mut terms: Vec<Term> = Vec::new();
        each_token(query, |range, normal| {
            if terms.len() == 2 * MAX_TERMS || !keep_stopwords && is_stopword(normal) {
                return;
            }
            let stem = stem(normal);
            if seen.insert(stem.clone()) {
                let surface = query[range].to_owned();
                terms.push(Term { surface, stem });
            }
        });
        if terms.len() > MAX_TERMS {
            terms.retain(|term| !tokens::is_one_character(&term.stem));
            terms.truncate(MAX_TERMS);
        }
        terms
    };
    let terms = collect(false);
    if terms.is_empty() {
        collect(true)
    } else {
        terms
    }
}

/// The ranges of `text` that match one of `terms`, in order, for highlighting. Overlapping ranges
/// are merged.
pub fn matches(text: &str, terms: &[Term]) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for (range, _) in hits(text, terms) {
        match found.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            _ => found.push(range),
        }
    }
    found
}

/// The tokens of `text` that match one of `terms`, each with the term's index.
fn hits(text: &str, terms: &[Term]) -> Vec<(Range<usize>, usize)> {
    let mut found = Vec::new();
    each_token(text, |range, normal| {
        // A stem keeps its word's first character, so most words need no stemming.
        let first = normal.chars().next();
        if terms.iter().all(|term| term.stem.chars().next() != first) {
            return;
        }
        let stem = stem(normal);
        found.extend(
            terms
                .iter()
                .position(|term| term.stem == stem)
                .map(|term| (range, term)),
        );
    });
    found
}

/// The first `chars` characters.
fn head(text: &str, chars: usize) -> &str {
    if text.len() <= chars {
        return text;
    }
    text.char_indices()
        .nth(chars)
        .map_or(text, |(end, _)| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn normalize(word: &str) -> String {
        let mut normal = String::new();
        normalize_into(word, &mut normal);
        normal
    }

    fn stems(query: &str) -> Vec<String> {
        query_terms(query)
            .into_iter()
            .map(|term| term.stem)
            .collect()
    }

    #[test]
    fn words_are_compared_in_lower_case_without_endings() {
        for (word, expected) in [
            ("Running", "run"),
            ("Alzheimer's", "alzheim"),
            ("ALZHEIMER’S", "alzheim"),
            ("'s", "'s"),
            ("caresses", "caress"),
            ("ÄRZTE", "ärzte"),
            ("TP53", "tp53"),
            ("3.14", "3.14"),
            ("s", "s"),
            ("İzmir", "izmir"),
        ] {
            assert_eq!(stem(&normalize(word)), expected, "{word}");
        }
        assert_eq!(stem(&"running".repeat(20)), "running".repeat(20));
    }

    #[test]
    fn a_query_loses_its_stopwords_unless_it_has_nothing_else() {
        assert_eq!(stems("Is the cell in a Cell's wall?"), ["cell", "wall"]);
        assert_eq!(stems("to be or not to be"), ["to", "be", "or", "not"]);
        assert_eq!(stems(" ?!"), [""; 0]);
        assert_eq!(query_terms("The Cells, cell")[0].surface, "Cells");
        let many: String = (0..100).map(|n| format!("w{n} ")).collect();
        assert_eq!(query_terms(&many).len(), MAX_TERMS);
    }

    #[test]
    fn matches_are_the_words_of_the_query_in_any_form() {
        let text = "Cells’ walls; cellular WALL, é-cell";
        let found: Vec<&str> = matches(text, &query_terms("cell walls"))
            .into_iter()
            .map(|range| &text[range])
            .collect();
        assert_eq!(found, ["Cells", "walls", "WALL", "cell"]);
    }

    #[test]
    fn scripts_without_spaces_match_by_characters_and_pairs() {
        assert_eq!(stems("中国人"), ["中", "中国", "国", "国人", "人"]);
        let terms = query_terms("中国");
        let text = "在中国，中国人；国";
        let found: Vec<&str> = matches(text, &terms)
            .into_iter()
            .map(|range| &text[range])
            .collect();
        assert_eq!(found, ["中国", "中国", "国"]);
        // 64 pairs and no single characters.
        let long: String = (0..100)
            .filter_map(|n| char::from_u32(0x4e00 + n))
            .collect();
        let terms = query_terms(&long);
        assert_eq!(terms.len(), MAX_TERMS);
        assert!(terms.iter().all(|term| term.surface.chars().count() == 2));
    }

    #[test]
    fn only_the_beginning_of_an_endless_text_is_read() {
        assert_eq!(readable(&"é".repeat(READ_CHARS + 1)).len(), 2 * READ_CHARS);
        assert_eq!(words(&"a ".repeat(READ_CHARS)).count(), READ_CHARS / 2);
    }

    proptest! {
        #[test]
        fn every_range_is_a_word_of_the_text(text in ".{0,80}", query in ".{0,20}") {
            for (start, word) in words(&text) {
                prop_assert_eq!(text.get(start..start + word.len()), Some(word));
            }
            let terms = query_terms(&query);
            for range in matches(&text, &terms) {
                prop_assert!(text.get(range).is_some_and(|hit| !matches(hit, &terms).is_empty()));
            }
        }

        #[test]
        fn every_word_of_a_query_matches_itself(query in "[ -~]{0,40}") {
            for term in query_terms(&query) {
                prop_assert_eq!(matches(&term.surface, std::slice::from_ref(&term)).len(), 1);
            }
        }
    }
}
