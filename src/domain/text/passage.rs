//! Sentence splitting, and the passage of a text most worth quoting.

use super::{MAX_TERMS, Term, head, hits, readable};
use std::ops::Range;

/// Maximum length of a passage in characters before it is truncated.
const MAX_PASSAGE: usize = 400;

/// Abbreviations that do not end a sentence, without their period.
const ABBREVIATIONS: &[&str] = &[
    "al", "approx", "ca", "cf", "dr", "e.g", "eg", "eq", "fig", "figs", "i.e", "ie", "mr", "mrs",
    "ms", "no", "prof", "ref", "st", "vol", "vs",
];

/// The sentences of `text`, without surrounding whitespace. A line break always ends a sentence.
pub fn sentences(text: &str) -> Vec<Range<usize>> {
    let text = readable(text);
    let mut found = Vec::new();
    let mut start = 0;
    let mut push = |range: Range<usize>| {
        let whole = &text[range.clone()];
        let trimmed = whole.trim_start();
        let first = range.end - trimmed.len();
        let last = first + trimmed.trim_end().len();
        if first < last {
            found.push(first..last);
        }
    };
    for (at, c) in text.char_indices() {
        if at < start {
            continue;
        }
        let after = at + c.len_utf8();
        let stop = match c {
            '.' | '!' | '?' => sentence_stop(text, start, at),
            '。' | '！' | '？' => Some(after),
            _ => is_line_break(c).then_some(after),
        };
        if let Some(stop) = stop {
            push(start..stop);
            start = stop;
        }
    }
    push(start..text.len());
    found
}

/// The end of the sentence starting at `start` if the mark at `at` ends it.
fn sentence_stop(text: &str, start: usize, at: usize) -> Option<usize> {
    let rest = &text[at + 1..];
    let after = rest.trim_start_matches([')', ']', '"', '\'', '”', '’']);
    let next = after.trim_start();
    if next.len() == after.len() {
        return None;
    }
    let next = next
        .trim_start_matches(['(', '[', '"', '\'', '“', '‘'])
        .chars()
        .next()?;
    if !(next.is_uppercase() || next.is_numeric())
        || text[at..].starts_with('.') && abbreviates(&text[start..at])
    {
        return None;
    }
    Some(text.len() - after.len())
}

/// Whether the last word of `before` is an initial or a known abbreviation.
fn abbreviates(before: &str) -> bool {
    let last: Vec<char> = before
        .chars()
        .rev()
        .take(8)
        .take_while(|c| c.is_alphanumeric() || *c == '.')
        .collect();
    let word: String = last.iter().rev().flat_map(|c| c.to_lowercase()).collect();
    last.len() == 1 && last.iter().all(|c| c.is_uppercase())
        || ABBREVIATIONS.contains(&word.as_str())
}

/// Whether `c` starts a new line in any terminal or editor.
fn is_line_break(c: char) -> bool {
    matches!(
        c,
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

/// The sentence, or two adjacent sentences, of `text` with the most distinct `terms`, with more
/// weight for terms that are rare in `text`.
///
/// The first sentence if no term occurs, and an empty range if there are no sentences.
pub fn best_passage(text: &str, terms: &[Term]) -> Range<usize> {
    let sentences = sentences(text);
    let mut held = vec![0u64; sentences.len()];
    let mut focus: Vec<Option<usize>> = vec![None; sentences.len()];
    let mut at = 0;
    for (range, term) in hits(text, &terms[..terms.len().min(MAX_TERMS)]) {
        while sentences
            .get(at)
            .is_some_and(|sentence| sentence.end < range.end)
        {
            at += 1;
        }
        if at < held.len() {
            held[at] |= 1 << term;
            focus[at].get_or_insert(range.start);
        }
    }
    let rarity: Vec<f64> = (0..terms.len().min(MAX_TERMS))
        .map(|term| {
            1.0 + 1.0
                / held
                    .iter()
                    .filter(|set| *set >> term & 1 == 1)
                    .count()
                    .max(1) as f64
        })
        .collect();
    let weigh = |set: u64| -> f64 {
        rarity
            .iter()
            .enumerate()
            .map(|(t, w)| w * (set >> t & 1) as f64)
            .sum()
    };
    let mut best = (0.0, sentences.first().cloned().unwrap_or(0..0), None);
    for (at, range) in sentences.iter().enumerate() {
        let alone = weigh(held[at]);
        if alone > best.0 {
            best = (alone, range.clone(), focus[at]);
        }
        let Some(next) = sentences.get(at + 1) else {
            continue;
        };
        // A neighbor is included only if it adds a term; the small penalty favors the shorter
        // passage.
        let both = weigh(held[at] | held[at + 1]) - 0.5;
        if held[at] != 0
            && held[at + 1] != 0
            && both > best.0
            && next.end - range.start <= MAX_PASSAGE
        {
            best = (both, range.start..next.end, focus[at]);
        }
    }
    let focus = best.2.unwrap_or(best.1.start);
    clip(text, best.1, focus, MAX_PASSAGE)
}

/// At most `chars` characters of `passage` around the byte `focus`, cut at whitespace if there is
/// any.
///
/// Ranges that do not fit the text or its character boundaries give an empty range.
pub fn clip(text: &str, passage: Range<usize>, focus: usize, chars: usize) -> Range<usize> {
    let Some(whole) = text.get(passage.clone()) else {
        return 0..0;
    };
    if head(whole, chars).len() == whole.len() {
        return passage;
    }
    let focus = focus.clamp(passage.start, passage.end);
    let (Some(before), Some(after)) =
        (text.get(passage.start..focus), text.get(focus..passage.end))
    else {
        return 0..0;
    };
    // The beginning of the passage reads best, unless the focus is too far from it.
    let room = if head(before, chars / 2).len() == before.len() {
        chars / 2
    } else {
        chars / 3
    };
    let lead = before
        .chars()
        .rev()
        .take(room)
        .map(char::len_utf8)
        .sum::<usize>();
    // Near the end of the passage, use the spare room for the words before the focus.
    let spare = chars.saturating_sub(after.chars().take(chars).count());
    let lead = lead.max(before.chars().rev().take(spare).map(char::len_utf8).sum());
    let mut start = focus - lead;
    if start > passage.start && !text[..start].ends_with(char::is_whitespace) {
        let skipped = text[start..focus].find(char::is_whitespace);
        start = skipped
            .map_or(start, |at| {
                text.len() - text[start + at..].trim_start().len()
            })
            .min(focus);
    }
    let kept = head(&text[start..passage.end], chars);
    let mut end = start + kept.len();
    if end < passage.end && !text[end..].starts_with(char::is_whitespace) {
        end = kept.rfind(char::is_whitespace).map_or(end, |at| start + at);
    }
    start..start + text[start..end].trim_end().len()
}

#[cfg(test)]
mod tests {
    use super::super::query_terms;
    use super::*;
    use proptest::prelude::*;

    fn split(text: &str) -> Vec<&str> {
        sentences(text)
            .into_iter()
            .map(|range| &text[range])
            .collect()
    }

    fn best<'a>(text: &'a str, query: &str) -> &'a str {
        &text[best_passage(text, &query_terms(query))]
    }

    #[test]
    fn sentences_end_at_marks_and_line_breaks_but_not_at_abbreviations() {
        for (text, expected) in [
            (
                "One. Two! Three? 4 is four.",
                vec!["One.", "Two!", "Three?", "4 is four."],
            ),
            (
                "Smith et al. 2010 and Fig. 2 by J. Doe, e.g. Here. End",
                vec!["Smith et al. 2010 and Fig. 2 by J. Doe, e.g. Here.", "End"],
            ),
            (
                "p < 0.05 vs. 3.5 of them. (In all.) “Yes.” No",
                vec!["p < 0.05 vs. 3.5 of them.", "(In all.)", "“Yes.”", "No"],
            ),
            (
                "Title\r\n\n  line two  \u{2028}three... and four",
                vec!["Title", "line two", "three... and four"],
            ),
            ("一。二！三", vec!["一。", "二！", "三"]),
            (" \n ", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(split(text), expected);
        }
    }

    #[test]
    fn the_best_passage_has_the_most_and_the_rarest_terms() {
        let text = "Cells grow. Cells divide. Walls of cells break. Aspirin is old. Other words. \
                    Fever is older.";
        assert_eq!(best(text, "cell"), "Cells grow.");
        assert_eq!(best(text, "cells walls"), "Walls of cells break.");
        assert_eq!(
            best(text, "walls aspirin"),
            "Walls of cells break. Aspirin is old."
        );
        assert_eq!(best(text, "cells fever"), "Fever is older.");
        assert_eq!(best(text, "zebra"), "Cells grow.");
        assert_eq!(best(" ", "zebra"), "");
        assert_eq!(
            best(&format!("{} fever", "é".repeat(5000)), "fever"),
            "fever"
        );
        assert_eq!(
            best(&format!("fever{}", " é".repeat(5000)), "fever")
                .chars()
                .count(),
            399
        );
    }

    #[test]
    fn a_clip_keeps_its_focus_and_whole_words() {
        let text = "alpha beta gamma delta epsilon zeta";
        let clipped = |focus: usize, chars| &text[clip(text, 0..text.len(), focus, chars)];
        assert_eq!(clipped(0, 99), text);
        assert_eq!(clipped(0, 12), "alpha beta");
        assert_eq!(clipped(17, 12), "delta");
        assert_eq!(clipped(31, 12), "epsilon zeta");
        assert_eq!(clipped(31, 0), "");
        assert_eq!(clip("é", 1..2, 0, 9), 0..0);
        assert_eq!(clip("ééé", 0..6, 1, 2), 0..0);
    }

    proptest! {
        #[test]
        fn ranges_fit_any_text(text in ".{0,120}", query in ".{0,12}", from in 0..130usize, chars in 0..40usize) {
            let mut last = 0;
            for range in sentences(&text) {
                prop_assert!(range.start >= last && !text[range.clone()].trim().is_empty());
                last = range.end;
            }
            prop_assert!(text.get(best_passage(&text, &query_terms(&query))).is_some());
            let clipped = text.get(clip(&text, 0..text.len(), from, chars));
            prop_assert!(clipped.is_some_and(|clipped| clipped.chars().count() <= chars));
        }
    }
}
