//! Processes judges' reasoning: maps its "Document A" to the right document, and checks which
//! quotes are in the text.

mod conclusion;
mod copied;
mod oriented;
mod quote;

pub use conclusion::conclusion;
pub use copied::{WordRuns, copied_runs};
pub use oriented::{OTHER_ORDER, OrientedReasoning, oriented};
pub use quote::{FoldedText, occurs, quotes};

use std::borrow::Cow;

/// Characters allowed between "document" and its letter: whitespace, markup, quotation marks.
const OPENERS: &[char] = &[
    ' ', '\t', '\u{a0}', '*', '_', '`', '"', '\'', '“', '”', '‘', '’', '(', '[', '{', '<', '#',
];

/// Characters that may close a letter's markup before a list continues.
const CLOSERS: &[char] = &['*', '_', '`', '"', '\'', '”', '’', ')', ']', '}', '>'];

/// Words that continue a list of letters.
const LINKS: &[&str] = &["and", "or", "nor", "vs", "versus", "over", "than"];

/// Words after a lowercase letter that show it to be a label, because none of them can follow the
/// article "a".
const AFTER_LABEL: &[&str] = &[
    "and", "or", "nor", "but", "vs", "versus", "over", "than", "is", "was", "has", "had", "does",
    "did", "do", "are", "in", "on", "to", "for", "with", "by", "at", "from", "because", "since",
    "while", "whereas", "as", "also", "not", "only", "could", "would", "should", "may", "might",
    "can", "will", "which", "that",
];

/// The reasoning of a judge that saw the pair swapped, with the letters of its documents exchanged.
///
/// Exchanges only letters that follow "document" or "doc", and those in a list that starts this way
/// ("Documents A and B"); a bare letter may be an article, an initial or a vitamin, and is kept.
fn relabel(text: &str, swapped: bool) -> Cow<'_, str> {
    if !swapped {
        return Cow::Borrowed(text);
    }
    let letters = labels(text);
    if letters.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut exchanged = String::with_capacity(text.len());
    let mut copied = 0;
    for at in letters {
        exchanged.push_str(&text[copied..at]);
        exchanged.push(match text.as_bytes().get(at) {
            Some(b'A') => 'B',
            Some(b'B') => 'A',
            Some(b'a') => 'b',
            _ => 'a',
        });
        copied = at + 1;
    }
    exchanged.push_str(&text[copied..]);
    Cow::Owned(exchanged)
}

/// The byte offsets of the letters that name documents, in order.
///
/// This does not depend on which of the two letters it is, so it finds the same positions after
/// they are exchanged.
fn labels(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let mut found = bare_probabilities(text).map_or_else(Vec::new, Vec::from);
    let mut at = 0;
    while at + 3 <= bytes.len() {
        if !bytes[at..at + 3].eq_ignore_ascii_case(b"doc")
            || text[..at].ends_with(char::is_alphanumeric)
        {
            at += 1;
            continue;
        }
        let word: usize = bytes[at..]
            .iter()
            .take_while(|byte| byte.is_ascii_alphabetic())
            .count();
        at += noun(&text[at..at + word]).map_or(word, |noun| {
            let first = label(text, at + noun, true);
            let mut last = first;
            while let Some(letter) = last {
                found.push(letter);
                last = link(text, letter + 1).and_then(|next| label(text, next, false));
            }
            noun
        });
        at = found.last().map_or(at, |letter| at.max(letter + 1));
    }
    found
}

/// The letters in the probabilities of a vote stored by an earlier version of this program: "A
/// 0.305, B 0.235" without the word "document".
fn bare_probabilities(text: &str) -> Option<[usize; 2]> {
    let start = "the model's own probabilities: ";
    let (one, rest) = text.strip_prefix(start)?.split_once(", ")?;
    let letter = |part: &str| part.starts_with(['A', 'B']) && part[1..].starts_with(' ');
    let second = start.len() + one.len() + ", ".len();
    (letter(one) && letter(rest)).then_some([start.len(), second])
}

/// The length of "document" or "doc" at the start of `word`, if present; the rest is a letter glued
/// to it.
fn noun(word: &str) -> Option<usize> {
    let whole = ["documents", "document", "docs", "doc"]
        .into_iter()
        .find(|noun| word.eq_ignore_ascii_case(noun));
    let glued = |noun: &&str| {
        word.get(..noun.len())
            .is_some_and(|head| head.eq_ignore_ascii_case(noun))
            && word.len() == noun.len() + 1
            && word[..noun.len()].ends_with(|c: char| c.is_ascii_lowercase())
            && word.ends_with(['A', 'B'])
    };
    whole
        .or_else(|| ["document", "doc"].into_iter().find(glued))
        .map(str::len)
}

/// The letter that starts at `at`, after markup.
fn label(text: &str, at: usize, joined: bool) -> Option<usize> {
    let rest = text.get(at..)?;
    let glue = joined && rest.starts_with(['-', '_']);
    let rest = rest.strip_prefix('-').filter(|_| glue).unwrap_or(rest);
    let bare = rest.trim_start_matches(OPENERS);
    if text.len() - bare.len() > at + 12 {
        return None;
    }
    let mut after = bare.chars();
    let letter = after
        .next()
        .filter(|c| matches!(c, 'A' | 'B' | 'a' | 'b'))?;
    let after = after.as_str();
    if after.starts_with(char::is_alphanumeric) {
        return None;
    }
    (letter.is_ascii_uppercase() || glue || names(after)).then(|| text.len() - bare.len())
}

/// Whether the text after a lowercase letter shows that it is not an article.
fn names(after: &str) -> bool {
    if !after.starts_with(' ') {
        return true;
    }
    let word: String = after
        .trim_start()
        .chars()
        .take_while(|c| c.is_alphabetic())
        .take(16)
        .flat_map(char::to_lowercase)
        .collect();
    let verb =
        word.len() > 3 && word.ends_with('s') && !word.ends_with("ss") && !word.ends_with("us");
    word.is_empty() || verb || AFTER_LABEL.contains(&word.as_str())
}

/// The start of the next letter of a list, after the link between the letters.
fn link(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at..)?.trim_start_matches(CLOSERS);
    let rest = rest
        .strip_prefix("'s")
        .unwrap_or(rest)
        .trim_start_matches(' ');
    if let Some(next) = rest.strip_prefix(['/', '&', '+']) {
        return Some(text.len() - next.len());
    }
    let rest = rest
        .strip_prefix(',')
        .map_or(rest, |rest| rest.trim_start_matches(' '));
    let word = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
    let next = &rest[word..];
    let known = LINKS
        .iter()
        .any(|link| rest[..word].eq_ignore_ascii_case(link));
    let next = next.strip_prefix('.').unwrap_or(next);
    (known && next.starts_with(OPENERS)).then(|| text.len() - next.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rstest::rstest;

    #[rstest]
    #[case("Document A is better.", "Document B is better.")]
    #[case("document B, DOCUMENT A", "document A, DOCUMENT B")]
    #[case("Doc A beats doc B", "Doc B beats doc A")]
    #[case("Documents A and B", "Documents B and A")]
    #[case("Documents A or B; docs B & A", "Documents B or A; docs A & B")]
    #[case(
        "**Document A** and **Document B**",
        "**Document B** and **Document A**"
    )]
    #[case("Document **A** and **B**", "Document **B** and **A**")]
    #[case("Document \"A\" vs. \"B\"", "Document \"B\" vs. \"A\"")]
    #[case("Document A/B, document_a, doc-b", "Document B/A, document_b, doc-a")]
    #[case("DocumentA over B", "DocumentB over A")]
    #[case("Document A's trial", "Document B's trial")]
    #[case(
        "document a provides more than document b.",
        "document b provides more than document a."
    )]
    #[case("documents a and b are", "documents b and a are")]
    #[case(
        "the model's own probabilities: A 0.305, B 0.235, tie 0.460",
        "the model's own probabilities: B 0.305, A 0.235, tie 0.460"
    )]
    #[case(
        "the model's own probabilities: document A 0.305, document B 0.235, tie 0.460",
        "the model's own probabilities: document B 0.305, document A 0.235, tie 0.460"
    )]
    fn labels_are_exchanged_and_keep_their_case(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(relabel(text, true), expected);
        assert_eq!(relabel(text, false), text);
    }

    #[rstest]
    #[case("vitamin A and vitamin B")]
    #[case("A is better than B")]
    #[case("the document a user wants")]
    #[case("which document a better writer would write")]
    #[case("documents: A review of B")]
    #[case("The document\nA better one")]
    #[case("Document AB, Document A1, doctor B, documentary A, undocumented")]
    #[case("Document Ä")]
    fn what_is_no_label_stays(#[case] text: &str) {
        assert_eq!(relabel(text, true), text);
    }

    #[test]
    fn a_reasoning_without_labels_is_borrowed() {
        assert!(matches!(
            relabel("Both are silent.", true),
            Cow::Borrowed(_)
        ));
    }

    proptest! {
        #[test]
        fn exchanging_twice_changes_nothing(parts in prop::collection::vec(prop::sample::select(vec![
            "Document ", "documents ", "Doc", "doc-", "document_", "A", "B", "a", "b", " and ", " or ", "/", "**", "\"",
            " is ", " user ", "'s ", ", ", ". ", "\n", "é", "“", "”", " ", "than ", "(", ")", "vs. ",
        ]), 0..24)) {
            let text: String = parts.concat();
            let once = relabel(&text, true).into_owned();
            prop_assert_eq!(once.len(), text.len());
            prop_assert_eq!(relabel(&once, true), text);
        }

        #[test]
        fn any_text_is_relabelled_without_loss(text in "(?s).{0,80}") {
            let once = relabel(&text, true).into_owned();
            prop_assert_eq!(relabel(&once, true), text);
        }
    }
}
