//! Relabels A and B in a judge's reasoning to match the order on the screen, if that is safe.

use super::{labels, names, quotes, relabel};
use std::borrow::Cow;

/// The note on reasoning that is left as the judge wrote it.
pub const OTHER_ORDER: &str = "saw them in the other order: its A is your B";

/// Nouns before a letter that does not name a document.
const KINDS: [&str; 22] = [
    "vitamin",
    "vitamins",
    "hepatitis",
    "type",
    "types",
    "group",
    "groups",
    "class",
    "grade",
    "phase",
    "part",
    "plan",
    "appendix",
    "figure",
    "table",
    "section",
    "influenza",
    "factor",
    "schedule",
    "category",
    "stage",
    "annex",
];

/// Nouns that name a document together with its number.
const NOUNS: [&str; 10] = [
    "document", "doc", "text", "passage", "abstract", "answer", "response", "option", "result",
    "one",
];

const NUMBERS: [&str; 8] = ["first", "second", "1", "2", "one", "two", "#1", "#2"];

/// Reasoning as it is shown next to the two documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrientedReasoning<'a> {
    pub text: Cow<'a, str>,
    /// Whether its A is the person's B.
    pub is_reversed: bool,
}

/// Reasoning of a judge that saw the documents in the other order if `swapped`.
///
/// Exchanges the letters only if each one that may name a document certainly does. Otherwise, the
/// result could contradict itself, and the text is left as written.
pub fn oriented(text: &str, swapped: bool) -> OrientedReasoning<'_> {
    let is_reversed = swapped && has_uncertain_names(text);
    OrientedReasoning {
        text: relabel(text, swapped && !is_reversed),
        is_reversed,
    }
}

/// Whether something outside quotes may name a document without being one of its labels: a single
/// letter, or a number as in "the first document" and "Response 2".
fn has_uncertain_names(text: &str) -> bool {
    let (labels, quotes) = (labels(text), quotes(text));
    let said = |at: &usize| !quotes.iter().any(|quote| quote.contains(at));
    let letter = text
        .match_indices(['A', 'B'])
        .map(|(at, _)| at)
        .filter(|at| labels.binary_search(at).is_err() && said(at))
        .any(|at| may_name(text, at));
    letter || numbers_a_document(text, said)
}

/// Whether a capital letter stands alone and is neither an article nor part of a term.
fn may_name(text: &str, at: usize) -> bool {
    let (before, after) = (&text[..at], &text[at + 1..]);
    let mut previous = before.chars().rev();
    let ends_before = match previous.next() {
        // An apostrophe within a word; otherwise, the letter is in quotation marks.
        Some('’' | '\'') => previous.next().is_some_and(char::is_alphanumeric),
        Some(c) => c.is_alphanumeric() || matches!(c, '-' | '_'),
        None => false,
    };
    let mut next = after.chars();
    let goes_on = match next.next() {
        Some('-' | '_') => next.next().is_some_and(char::is_alphanumeric),
        Some(c) => c.is_alphanumeric(),
        None => false,
    };
    if ends_before || goes_on {
        return false;
    }
    let word = before
        .rsplit(|c: char| !c.is_alphanumeric())
        .find(|word| !word.is_empty())
        .unwrap_or_default();
    let is_kind = before.ends_with(' ') && KINDS.iter().any(|kind| word.eq_ignore_ascii_case(kind));
    let starts = before
        .trim_end()
        .chars()
        .next_back()
        .is_none_or(|c| matches!(c, '.' | '!' | '?' | ':' | '“' | '"' | '(' | '•' | '*'));
    let is_article =
        text[at..].starts_with("A ") && starts && !names(after) && !may_follow_name(after);
    !is_kind && !is_article
}

/// Whether the next word may follow a name as well as an article: an adverb or a comparison.
fn may_follow_name(after: &str) -> bool {
    let next = after.split_whitespace().next().unwrap_or_default();
    next.ends_with("ly") || matches!(next, "better" | "best" | "more" | "most" | "less" | "least")
}

fn numbers_a_document(text: &str, said: impl Fn(&usize) -> bool) -> bool {
    let words: Vec<(usize, String)> = text
        .split(|c: char| !c.is_alphanumeric() && c != '#')
        .filter(|word| !word.is_empty())
        .map(|word| {
            let at = word.as_ptr() as usize - text.as_ptr() as usize;
            (at, word.to_lowercase())
        })
        .collect();
    let is = |all: &[&str], word: &str| all.contains(&word);
    words.windows(2).any(|pair| {
        let [(at, one), (_, other)] = pair else {
            return false;
        };
        let counted = is(&["first", "second"], one) && is(&NOUNS, other);
        let numbered = is(&NOUNS, one) && one != "one" && is(&NUMBERS, other);
        (counted || numbered) && said(at)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("Document A is better.", "Document B is better.")]
    #[case(
        "Documents A and B; a vitamin A study.",
        "Documents B and A; a vitamin A study."
    )]
    #[case(
        "A trial in adults. Document B has none.",
        "A trial in adults. Document A has none."
    )]
    #[case(
        "B-cell counts differ in document A.",
        "B-cell counts differ in document B."
    )]
    #[case(
        "Document A quotes “method B is safe”.",
        "Document B quotes “method B is safe”."
    )]
    #[case(
        "Hepatitis B is only in Document B.",
        "Hepatitis B is only in Document A."
    )]
    #[case("Both are silent.", "Both are silent.")]
    fn certain_letters_are_exchanged(#[case] text: &str, #[case] expected: &str) {
        let shown = oriented(text, true);
        assert_eq!((&*shown.text, shown.is_reversed), (expected, false));
        let same = oriented(text, false);
        assert_eq!((&*same.text, same.is_reversed), (text, false));
    }

    #[rstest]
    #[case("A is better than B.")]
    #[case("Document A is good. B is not.")]
    #[case("I prefer B")]
    #[case("Option A names the drug.")]
    #[case("The first document is about mice.")]
    #[case("Response 2 is concise. Document A is long.")]
    #[case("A provides more detail.")]
    #[case("A directly addresses the query. Document B does not.")]
    #[case("A better answers the query than document B.")]
    #[case("I chose 'A', because document B is short.")]
    fn a_text_with_an_uncertain_name_stays_as_written(#[case] text: &str) {
        let shown = oriented(text, true);
        assert_eq!((&*shown.text, shown.is_reversed), (text, true));
        assert!(!oriented(text, false).is_reversed);
    }
}
