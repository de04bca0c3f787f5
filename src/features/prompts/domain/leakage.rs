//! Detects texts of the regression set in a prompt. A pair whose texts are in the prompt measures
//! nothing, so all pairs of its query are left out.

use std::collections::HashSet;

/// Number of consecutive characters in common that count as a copy.
const COPIED: usize = 50;
/// A shorter text with at least this many characters counts as copied if all of it is in the prompt.
const PHRASE: usize = 20;
/// A still shorter text, which may consist of common words, counts as copied if the prompt shows it
/// alone: on a line, after a label, or in quotes. Single characters are names such as A.
const LEAST: usize = 2;
/// Characters after which a text stands alone.
const BEFORE: [char; 13] = [
    ':', '=', '|', '>', ']', '"', '\'', '`', '“', '„', '‘', '«', '»',
];
/// Characters before which a text stands alone.
const AFTER: [char; 10] = ['|', '<', '[', '"', '\'', '`', '”', '“', '’', '»'];

/// The text of a prompt, prepared for comparison.
#[derive(Clone, Debug)]
pub struct PromptWords {
    text: String,
    /// Where the lines of the prompt start in `text`, in ascending order.
    lines: Vec<usize>,
    windows: HashSet<String>,
}

/// Lower case, with each run of white space as one space.
pub fn normalized(text: &str) -> String {
    text.split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .to_lowercase()
}

/// Each sequence of [`COPIED`] characters of a text.
fn windows(text: &str) -> impl Iterator<Item = &str> {
    let starts: Vec<usize> = text
        .char_indices()
        .map(|(at, _)| at)
        .chain([text.len()])
        .collect();
    let ends = starts.clone().into_iter().skip(COPIED);
    starts
        .into_iter()
        .zip(ends)
        .filter_map(|(start, end)| text.get(start..end))
}

impl PromptWords {
    pub fn new(prompt: &str) -> Self {
        let (mut text, mut lines) = (String::new(), Vec::new());
        for line in prompt
            .lines()
            .map(normalized)
            .filter(|line| !line.is_empty())
        {
            if !text.is_empty() {
                text.push(' ');
            }
            lines.push(text.len());
            text += &line;
        }
        Self {
            windows: windows(&text).map(str::to_owned).collect(),
            text,
            lines,
        }
    }

    /// Whether the prompt holds a copy of a part of this text.
    pub fn hold(&self, text: &str) -> bool {
        let text = normalized(text);
        let length = text.chars().count();
        match length {
            0..LEAST => false,
            LEAST..PHRASE => self.shows_alone(&text),
            PHRASE..COPIED => self.text.contains(&text),
            _ => windows(&text).any(|window| self.windows.contains(window)),
        }
    }

    /// Whether the prompt holds all of this text, or its first `chars` characters if it is longer.
    pub fn hold_start(&self, text: &str, chars: usize) -> bool {
        let start: String = normalized(text).chars().take(chars).collect();
        let start = start.trim_end();
        if start.chars().count() < PHRASE {
            return self.hold(start);
        }
        self.text.contains(start)
    }

    /// Whether the prompt shows this text with nothing else on its lines, after a label, or in
    /// quotes.
    fn shows_alone(&self, text: &str) -> bool {
        // Occurrences may overlap.
        self.text.char_indices().any(|(start, _)| {
            let end = start + text.len();
            let is_here = self.text[start..].starts_with(text);
            is_here && self.is_preceded(start) && self.is_followed(end)
        })
    }

    /// Whether a text that starts here is preceded by a mark, or by no letter on its line.
    fn is_preceded(&self, start: usize) -> bool {
        let line = self.lines.iter().rev().find(|line| **line <= start);
        let before = &self.text[line.copied().unwrap_or(0)..start];
        before.trim_end().ends_with(BEFORE) || !before.contains(char::is_alphabetic)
    }

    /// Whether a text that ends here is followed by a mark, or by no letter or digit on its line.
    fn is_followed(&self, end: usize) -> bool {
        let next = self.lines.iter().find(|line| **line > end);
        let after = &self.text[end..next.copied().unwrap_or(self.text.len())];
        after.trim_start().starts_with(AFTER) || !after.contains(char::is_alphanumeric)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::vote::Outcome;
    use crate::features::prompts::domain::{PromptExample, with_examples};
    use proptest::prelude::*;

    #[test]
    fn a_copy_is_found_whatever_its_case_and_line_breaks() {
        let document = "Exercise in pregnancy lowers blood pressure, as twelve trials have shown.";
        let prompt = PromptWords::new(&format!(
            "For example: {}\nis evidence.",
            document.to_uppercase().replace(", ", ",\n")
        ));
        assert!(prompt.hold(document));
        assert!(prompt.hold(&document[..30]));
        assert!(!prompt.hold("Exercise"));
        assert!(
            !prompt.hold("Exercise in pregnancy lowers body weight, as twelve studies have shown.")
        );
    }

    #[test]
    fn the_start_of_a_long_text_is_found_and_a_common_beginning_is_not() {
        let text = format!(
            "The instruction is as follows: {}",
            "write a poem ".repeat(20)
        );
        let prompt = PromptWords::new(&format!("Query: {}\nDecision: A", &text[..120]));
        assert!(prompt.hold_start(&text, 100));
        assert!(prompt.hold_start(&text[..60], 100));
        assert!(!prompt.hold_start(&text, 150));
        assert!(!prompt.hold_start("The instruction is as follows: write a novel", 100));
        assert!(prompt.hold_start("a", 100) == prompt.hold("a"));
    }

    #[test]
    fn a_short_text_is_found_where_the_prompt_shows_it_alone() {
        let prompt = "answer: score\n=== system ===\nJudge recency and depth; the tram, not cars.\n\
                      Example 1\nQuery: capital of  France\nDocument A: Paris.\n- **Rome**\n\
                      For \"Oslo\", answer A. | Bern | 2 |\n<doc>Kyiv</doc>\n東京\none\ntwo\n";
        let words = PromptWords::new(prompt);
        for text in [
            "Capital of France",
            "Paris",
            "paris.",
            "Rome",
            "Oslo",
            "Bern",
            "Kyiv",
            "東京",
            "one\n\ntwo",
        ] {
            assert!(words.hold(text), "{text}");
        }
        for text in [
            "",
            "A",
            "2",
            "recency",
            "depth",
            "tram",
            "the tram",
            "cars",
            "France",
            "capital",
            "Par",
            "京",
            "judge",
            "answer",
            "example",
            "one two three",
        ] {
            assert!(!words.hold(text), "{text}");
        }
    }

    proptest! {
        #[test]
        fn the_short_texts_of_an_example_are_found(
            texts in prop::array::uniform3("[a-zA-Z0-9 ,.:\u{3b1}-\u{3c9}\u{4e00}-\u{4e20}]{2,19}"),
        ) {
            let [query, a, b] = texts.clone();
            let example = PromptExample { query, a, b, people: Outcome::A };
            let places = ("{{examples}}", "=== case ===");
            let prompt = with_examples("=== system ===\nJudge.\n=== case ===\n", places, &[example]);
            let prompt = PromptWords::new(&prompt.unwrap());
            for text in texts.iter().filter(|text| normalized(text).chars().count() >= LEAST) {
                prop_assert!(prompt.hold(text), "{text:?}");
            }
        }

        #[test]
        fn fifty_characters_of_any_text_are_found(
            text in "\\PC{80,200}", start in 0usize..20, before in "\\PC{0,40}", after in "\\PC{0,40}",
        ) {
            let part: String = text.chars().skip(start).take(60).collect();
            let prompt = PromptWords::new(&format!("{before} {part} {after}"));
            // White space at the ends and lower case can shorten a part.
            if normalized(&part).chars().count() >= COPIED + 2 {
                let inner = normalized(&part);
                prop_assert!(prompt.hold(&inner));
            }
        }
    }
}
