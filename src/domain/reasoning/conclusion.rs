//! What a reasoning concludes, in words, to hold against the score that was given.

use super::labels;
use crate::domain::text::sentences;
use crate::domain::vote::Outcome;

/// Words that say a document is the better one.
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

/// Words that say it is the worse one.
const WORSE: [&str; 6] = [
    "worse",
    "inferior",
    "weaker",
    "less relevant",
    "less useful",
    "less directly",
];

/// Words that turn a sentence round, or make it no conclusion.
const UNSURE: [&str; 8] = [
    " not ", "n't ", "neither", " if ", "although", "might", "whether", "would",
];

/// Which document the reasoning says is better, in the letters it uses: the last sentence that names one document and
/// calls it better or worse decides. `None` where no sentence does so plainly.
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
    // "Document A is better than Document B" names both: the first is the one spoken of, if something is compared.
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
