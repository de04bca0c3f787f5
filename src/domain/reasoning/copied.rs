//! Finds passages that a reasoning copies verbatim from a text, without quotation marks.

use crate::domain::text::folded;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::ops::Range;

/// Minimum number of consecutive words for a copied passage. Shorter runs are idioms and names.
pub const COPIED_WORDS: usize = 6;

/// Every run of [`COPIED_WORDS`] words of a text, ignoring case, whitespace and punctuation.
#[derive(Clone, Debug, Default)]
pub struct WordRuns(HashSet<u64>);

impl WordRuns {
    pub fn new(text: &str) -> Self {
        Self(runs(text).into_iter().collect())
    }
}

/// The number of passages of `reasoning` that occur verbatim in one of `documents`: the longest
/// runs of at least [`COPIED_WORDS`] words. Passages that are also in the `query` are not copies of
/// a document, and `marked` quotes, ascending, are skipped.
pub fn copied_runs(
    reasoning: &str,
    marked: &[Range<usize>],
    documents: &[&WordRuns],
    query: &WordRuns,
) -> usize {
    let starts = std::iter::once(0).chain(marked.iter().map(|quote| quote.end));
    let ends = marked.iter().map(|quote| quote.start);
    let unmarked = starts.zip(ends.chain([reasoning.len()]));
    unmarked
        .filter_map(|(start, end)| reasoning.get(start..end))
        .map(|part| {
            let copied = |run: u64| {
                !query.0.contains(&run) && documents.iter().any(|text| text.0.contains(&run))
            };
            let found: Vec<bool> = runs(part).into_iter().map(copied).collect();
            let before = std::iter::once(&false).chain(&found);
            let begins = found
                .iter()
                .zip(before)
                .filter(|(now, before)| **now && !**before);
            begins.count()
        })
        .sum()
}

/// The hash of each run of words, in order.
fn runs(text: &str) -> Vec<u64> {
    let words: Vec<String> = text
        .split(|c: char| c.is_whitespace() || matches!(c, '*' | '"' | '“' | '”' | '‐'..='―' | '-'))
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
        .filter(|word| !word.is_empty())
        .map(|word| folded(&word.replace('’', "'")))
        .collect();
    let hash = |run: &[String]| {
        let mut hasher = DefaultHasher::new();
        run.hash(&mut hasher);
        hasher.finish()
    };
    words.windows(COPIED_WORDS).map(hash).collect()
}

#[cfg(test)]
mod tests {
    use super::super::quotes;
    use super::*;

    const A: &str = "In a trial of 46 adults, cognitive behavioral\ntherapy improved *sleep* more \
                     than zopiclone did.";
    const B: &str = "Melatonin is sold over the counter in many countries of the world.";

    fn copied(reasoning: &str) -> usize {
        let texts = [WordRuns::new(A), WordRuns::new(B)];
        let query = WordRuns::new("is melatonin sold over the counter in many countries");
        let texts: Vec<&WordRuns> = texts.iter().collect();
        copied_runs(reasoning, &quotes(reasoning), &texts, &query)
    }

    #[test]
    fn six_words_in_a_row_are_copied_and_five_are_not() {
        for (reasoning, expected) in [
            (
                "A says Cognitive Behavioral Therapy improved sleep more than that.",
                1,
            ),
            (
                "A says cognitive behavioral therapy improved sleep, as is known.",
                0,
            ),
            (
                "cognitive behavioral therapy really improved sleep more than nothing",
                0,
            ),
            (
                "In a trial of 46 adults it did well; (over the counter in many countries of the \
                 world) it did not.",
                2,
            ),
            // Both halves are in one text, but not adjacent.
            ("in a trial of improved sleep more than", 0),
            // The judge repeats the question.
            (
                "The question is melatonin sold over the counter in many countries?",
                0,
            ),
            // A quote in quotation marks is counted as such, and separates the words around it.
            (
                "“In a trial of 46 adults, cognitive behavioral therapy improved sleep”",
                0,
            ),
            ("in a trial of “46 adults” cognitive behavioral therapy", 0),
            ("", 0),
        ] {
            assert_eq!(copied(reasoning), expected, "{reasoning}");
        }
    }
}
