//! The phrases of the lexical judges: lists of terms, quotes and conclusions.

use super::reading::{DocumentReading, QueryHit};
use crate::domain::text::{self, Term};
use std::ops::Range;

/// Maximum length of a quote, in characters.
pub(super) const QUOTE_CHARS: usize = 160;

/// Maximum number of terms named in one list.
const NAMED: usize = 8;

/// Characters at which a quote must stop, because they would end the quotation or the line.
const BREAKS: &[char] = &[
    '“', '”', '„', '"', '\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}',
];

/// The bytes to quote of one passage, around its heaviest word.
pub(super) fn quote_in(
    document: &DocumentReading,
    passage: u32,
    weigh: impl Fn(&QueryHit) -> f64,
) -> Range<usize> {
    let mut focus = (0.0, 0..0);
    let from = document.hits.partition_point(|hit| hit.passage < passage);
    for hit in document.hits[from..]
        .iter()
        .take_while(|hit| hit.passage == passage)
    {
        if weigh(hit) > focus.0 {
            focus = (weigh(hit), hit.range());
        }
    }
    quote_around(document, focus.1)
}

/// The bytes to quote around `focus`: the sentences that it overlaps, up to the nearest breaks and
/// truncated to [`QUOTE_CHARS`]; empty if `focus` is empty.
pub(super) fn quote_around(document: &DocumentReading, focus: Range<usize>) -> Range<usize> {
    if focus.is_empty() {
        return 0..0;
    }
    let first = document
        .passages
        .partition_point(|passage| passage.range.end <= focus.start);
    let Some(first) = document.passages.get(first) else {
        return focus;
    };
    let last = document
        .passages
        .partition_point(|passage| passage.range.end < focus.end);
    let end = document
        .passages
        .get(last)
        .map_or(focus.end, |last| last.range.end);
    let before = &document.text[first.range.start..focus.start];
    let start = before
        .char_indices()
        .rfind(|(_, c)| BREAKS.contains(c))
        .map_or(first.range.start, |(at, c)| {
            first.range.start + at + c.len_utf8()
        });
    let end = document.text[focus.start..end]
        .find(BREAKS)
        .map_or(end, |at| focus.start + at);
    let start = start + document.text[start..focus.start].len()
        - document.text[start..focus.start].trim_start().len();
    let end = focus.start + document.text[focus.start..end].trim_end().len();
    text::clip(document.text, start..end, focus.start, QUOTE_CHARS)
}

/// The query terms that a document contains and those that it lacks.
pub(super) fn coverage(verb: &str, terms: &[Term], matched: u64) -> String {
    let count = matched.count_ones();
    let lacking = !matched;
    match (count, terms.len()) {
        (_, 0) => format!("{verb} nothing, for the query has no words"),
        (0, _) => format!("{verb} none of the query terms ({})", list(terms, lacking)),
        (1, 1) => format!("{verb} the one query term ({})", list(terms, matched)),
        (_, all) if count as usize == all => {
            format!("{verb} all {all} query terms ({})", list(terms, matched))
        }
        (_, all) => {
            format!(
                "{verb} {count} of {all} query terms ({}; not {})",
                list(terms, matched),
                list(terms, lacking)
            )
        }
    }
}

/// The terms of a set, as spelled in the query.
pub(super) fn list(terms: &[Term], set: u64) -> String {
    let chosen = || {
        terms
            .iter()
            .enumerate()
            .filter(|(index, _)| set >> index & 1 == 1)
            .map(|(_, term)| term)
    };
    let mut listed = String::new();
    for (count, term) in chosen().take(NAMED).enumerate() {
        listed += if count == 0 { "" } else { ", " };
        // Without whitespace, a term may be as long as a whole file.
        listed.extend(term.surface.chars().take(QUOTE_CHARS));
    }
    let more = chosen().count().saturating_sub(NAMED);
    if more > 0 {
        listed += &format!(" and {more} more");
    }
    listed
}

/// A number of occurrences in words.
pub(super) fn times(count: u32) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        _ => format!("{count} times"),
    }
}

/// The terms that only one of the documents contains.
pub(super) fn comparison(verb: &str, terms: &[Term], a: u64, b: u64) -> String {
    let only = |label: &str, set: u64| format!("only Document {label} {verb} {}", list(terms, set));
    match (a & !b, b & !a) {
        (0, 0) if a == 0 => "Neither covers any of the query terms.".to_owned(),
        (0, 0) => "Both cover the same query terms.".to_owned(),
        (more, 0) => format!("Of the query terms, {}.", only("A", more)),
        (0, more) => format!("Of the query terms, {}.", only("B", more)),
        (at_a, at_b) => format!(
            "Of the query terms, {}; {}.",
            only("A", at_a),
            only("B", at_b)
        ),
    }
}

/// The conclusion from both scores.
pub(super) fn conclusion(method: &str, a: f64, b: f64, margin: f64) -> String {
    let scores = format!("{method} scores Document A {a:.2} and Document B {b:.2}");
    let winner = if margin < 0.0 { "A" } else { "B" };
    match margin.abs() {
        0.0 if a == 0.0 && b == 0.0 => format!("{scores}, so neither is a match."),
        0.0 => format!("{scores}, which is practically equal."),
        m if m < 0.3 => format!("{scores}, so Document {winner} is slightly the better match."),
        m if m < 0.7 => format!("{scores}, so Document {winner} is the better match."),
        _ => format!("{scores}, so Document {winner} is clearly the better match."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::text::query_terms;

    #[test]
    fn terms_are_listed_and_many_are_counted() {
        let terms = query_terms("alpha beta gamma delta epsilon zeta eta theta iota kappa");
        assert_eq!(list(&terms, 0b101), "alpha, gamma");
        assert_eq!(
            list(&terms, u64::MAX),
            "alpha, beta, gamma, delta, epsilon, zeta, eta, theta and 2 more"
        );
        assert_eq!(
            coverage("has", &terms[..2], 0b10),
            "has 1 of 2 query terms (beta; not alpha)"
        );
        assert_eq!(
            coverage("has", &terms[..1], 1),
            "has the one query term (alpha)"
        );
        assert_eq!(
            coverage("has", &[], 0),
            "has nothing, for the query has no words"
        );
    }

    #[test]
    fn a_comparison_names_what_one_side_has_alone() {
        let terms = query_terms("alpha beta");
        assert_eq!(
            comparison("has", &terms, 1, 2),
            "Of the query terms, only Document A has alpha; only Document B has beta."
        );
        assert_eq!(
            comparison("has", &terms, 1, 3),
            "Of the query terms, only Document B has beta."
        );
        assert_eq!(
            comparison("has", &terms, 3, 3),
            "Both cover the same query terms."
        );
    }

    #[test]
    fn a_conclusion_is_as_strong_as_its_margin() {
        for (margin, end) in [
            (0.0, "which is practically equal."),
            (0.01, "so Document B is slightly the better match."),
            (-0.5, "so Document A is the better match."),
            (-1.0, "so Document A is clearly the better match."),
        ] {
            assert_eq!(
                conclusion("X", 2.0, 2.004, margin),
                format!("X scores Document A 2.00 and Document B 2.00, {end}")
            );
        }
    }
}
