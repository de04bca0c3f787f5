//! Extracts the conclusion of a reasoning from its words, to compare it with the score given.

use super::labels;
use crate::domain::text::sentences;
use crate::domain::vote::Outcome;

/// Words that call a document the better one.
const BETTER: [&str; 12] = [
    "better",
    "superior",
    "stronger",
    "preferable",
    "preferred",
    "prefer",
    "wins",
    "favor",
    "favour",
    "more relevant",
    "more useful",
    "more directly",
];

/// Words that call a document the worse one.
const WORSE: [&str; 6] = [
    "worse",
    "inferior",
    "weaker",
    "less relevant",
    "less useful",
    "less directly",
];

/// Words that invert a sentence, or make it inconclusive.
const UNSURE: [&str; 8] = [
    " not ", "n't ", "neither", " if ", "although", "might", "whether", "would",
];

/// The document that the reasoning calls better, in the letters it uses, according to the last
/// sentence that names one document and calls it better or worse. `None` if no sentence clearly
/// does.
pub fn conclusion(text: &str) -> Option<Outcome> {
    sentences(text)
        .into_iter()
        .rev()
        .find_map(|range| decided(&text[range]))
}

fn decided(sentence: &str) -> Option<Outcome> {
    let lower = format!(" {} ", sentence.to_lowercase());
    let holds = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if holds(&UNSURE) {
        return None;
    }
    let (better, worse) = (holds(&BETTER), holds(&WORSE));
    if better == worse {
        return None;
    }
    let named: Vec<bool> = labels(sentence)
        .into_iter()
        .filter_map(|at| sentence.as_bytes().get(at))
        .map(|letter| letter.eq_ignore_ascii_case(&b'a'))
        .collect();
    let first = *named.first()?;
    // "Document A is better than Document B" names both: in a comparison, the first is the subject.
    let both = named.iter().any(|a| *a != first);
    if both && !lower.contains(" than ") {
        return None;
    }
    Some(if first == better {
        Outcome::A
    } else {
        Outcome::B
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_plain_sentence_decides() {
        let table = [
            (
                "Document A names the trial. Overall, Document A is better.",
                Some(Outcome::A),
            ),
            (
                "Document B is more relevant than Document A.",
                Some(Outcome::B),
            ),
            ("Document B is clearly worse.", Some(Outcome::A)),
            (
                "Document A is less relevant than Document B.",
                Some(Outcome::B),
            ),
            ("I prefer Document B.", Some(Outcome::B)),
            ("Document A is not better.", None),
            ("Documents A and B are both better on paper.", None),
            ("Both mention sleep.", None),
            (
                "Document A is better. But Document B is better on balance.",
                Some(Outcome::B),
            ),
            ("", None),
        ];
        for (text, expected) in table {
            assert_eq!(conclusion(text), expected, "{text:?}");
        }
    }
}
