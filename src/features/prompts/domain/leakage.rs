//! Detects texts of the regression set in a prompt. A pair whose texts are in the prompt measures
//! nothing, so all pairs of its query are left out.

use std::collections::HashSet;

/// Number of consecutive characters in common that count as a copy.
const COPIED: usize = 50;
/// A shorter text counts as copied if all of it is in the prompt and it has at least this many
/// characters.
const LEAST: usize = 20;

/// The text of a prompt, prepared for comparison.
#[derive(Clone, Debug)]
pub struct PromptWords {
    text: String,
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
        let text = normalized(prompt);
        Self {
            windows: windows(&text).map(str::to_owned).collect(),
            text,
        }
    }

    /// Whether the prompt holds a copy of a part of this text.
    pub fn hold(&self, text: &str) -> bool {
        let text = normalized(text);
        let length = text.chars().count();
        if length < COPIED {
            return length >= LEAST && self.text.contains(&text);
        }
        windows(&text).any(|window| self.windows.contains(window))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_copy_is_found_whatever_its_case_and_line_breaks() {
        let document = "Exercise in pregnancy lowers blood pressure, as twelve trials have shown.";
        let prompt = PromptWords::new(&format!(
            "For example: {}\nis evidence.",
            document.to_uppercase().replace(' ', "\n")
        ));
        assert!(prompt.hold(document));
        assert!(prompt.hold(&document[..30]));
        assert!(!prompt.hold("Exercise"));
        assert!(
            !prompt.hold("Exercise in pregnancy lowers body weight, as twelve studies have shown.")
        );
    }

    proptest! {
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
