//! Finds quoted phrases, and checks whether they are in a text.

use crate::domain::text::fold_into;
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

/// Maximum length of a quotation, in bytes.
const LONGEST: usize = 1_200;
/// Maximum number of phrases per reasoning.
const MOST: usize = 64;
/// Minimum number of characters between single quotation marks; shorter text is a word, a title or
/// two apostrophes.
const SHORTEST_SINGLE: usize = 12;

/// The phrases that `text` quotes, without their quotation marks: “…”, "…", and '…' with at least
/// twelve characters.
pub fn quotes(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut resume = 0;
    let mut misses = 0;
    let mut previous: Option<char> = None;
    for (at, c) in text.char_indices() {
        let before = previous.replace(c);
        if at < resume || !matches!(c, '“' | '"' | '\'' | '‘') {
            continue;
        }
        if found.len() == MOST || misses > MOST {
            break;
        }
        if c != '“' && before.is_some_and(char::is_alphanumeric) {
            continue;
        }
        let start = at + c.len_utf8();
        let end = match c {
            '“' => close_double(text, start, &['”', '"']),
            '"' => close_double(text, start, &['"']),
            '‘' => close_single(text, start, '’'),
            _ => close_single(text, start, '\''),
        };
        match end {
            Some((end, next)) => {
                let inner = &text[start..end];
                let from = end - inner.trim_start().len();
                let phrase = from..from + inner.trim().len();
                if text[phrase.clone()]
                    .chars()
                    .filter(|c| c.is_alphanumeric())
                    .count()
                    >= 3
                {
                    found.push(phrase);
                }
                resume = next;
            }
            None => misses += 1,
        }
    }
    found
}

/// The part of the paragraph from `start` that a quotation may cover.
fn reach(text: &str, start: usize) -> &str {
    let rest = &text[start..];
    let mut end = rest.len().min(LONGEST);
    while !rest.is_char_boundary(end) {
        end -= 1;
    }
    let rest = &rest[..end];
    rest.find("\n\n").map_or(rest, |end| &rest[..end])
}

fn close_double(text: &str, start: usize, marks: &[char]) -> Option<(usize, usize)> {
    let rest = reach(text, start);
    let end = rest.find(marks)?;
    let mark = rest[end..].chars().next().map_or(1, char::len_utf8);
    Some((start + end, start + end + mark))
}

fn close_single(text: &str, start: usize, mark: char) -> Option<(usize, usize)> {
    let rest = reach(text, start);
    if rest.starts_with(char::is_whitespace) {
        return None;
    }
    rest.match_indices(mark)
        .find(|(end, mark)| {
            let after = text[start + end + mark.len()..].chars().next();
            !after.is_some_and(char::is_alphanumeric)
                && !rest[..*end].ends_with(char::is_whitespace)
                && rest[..*end].chars().count() >= SHORTEST_SINGLE
        })
        .map(|(end, mark)| (start + end, start + end + mark.len()))
}

/// Whether `document` contains `quote`, ignoring case and whitespace. A final period or ellipsis is
/// allowed, and so is an ellipsis between two parts that follow each other in the document.
pub fn occurs(quote: &str, document: &str) -> bool {
    !FoldedText::new(document).find(quote).is_empty()
}

/// A text prepared for looking up quotes.
#[derive(Clone, Debug, Default)]
pub struct FoldedText {
    text: String,
    from: Vec<u32>,
    bytes: usize,
}

impl FoldedText {
    /// Folds case, composition, white space, dashes and quotation marks, and drops asterisks and
    /// invisible characters.
    pub fn new(text: &str) -> Self {
        let mut folded = Self {
            text: String::with_capacity(text.len()),
            from: Vec::with_capacity(text.len()),
            bytes: text.len(),
        };
        let mut small = String::new();
        for (at, cluster) in text.grapheme_indices(true) {
            match cluster {
                gap if gap.starts_with(char::is_whitespace) => {
                    if !folded.text.ends_with(' ') && !folded.text.is_empty() {
                        folded.push(" ", at);
                    }
                }
                "*" => {}
                "‘" | "’" | "‚" => folded.push("'", at),
                "“" | "”" | "„" => folded.push("\"", at),
                "…" => folded.push("...", at),
                dash if dash.starts_with(|c| matches!(c, '‐'..='―' | '−')) => {
                    folded.push("-", at)
                }
                cluster => {
                    fold_into(cluster, &mut small);
                    folded.push(&small, at);
                }
            }
        }
        folded
    }

    fn push(&mut self, folded: &str, at: usize) {
        self.text.push_str(folded);
        self.from
            .resize(self.text.len(), u32::try_from(at).unwrap_or(u32::MAX));
    }

    /// The position of `quote` in the text, with one range for each part between ellipses; empty if
    /// it does not occur.
    pub fn find(&self, quote: &str) -> Vec<Range<usize>> {
        let quote = Self::new(quote).text;
        let mut found = Vec::new();
        let mut from = 0;
        let mut parts = quote.split("...").peekable();
        while let Some(part) = parts.next() {
            let cut = parts.peek().is_some();
            let part =
                part.trim_matches(|c: char| c.is_whitespace() || ".,;:!?[]()\"'".contains(c));
            if part.is_empty() {
                continue;
            }
            let Some(at) = self.locate(part, from, cut) else {
                return Vec::new();
            };
            from = at + part.len();
            found.push(self.origin(at)..self.origin(from));
        }
        found
    }

    /// All occurrences of `words`, as ranges of the text; empty for blank words.
    pub fn occurrences(&self, words: &str) -> Vec<Range<usize>> {
        let words = Self::new(words.trim()).text;
        let words = words.trim_end();
        if words.is_empty() {
            return Vec::new();
        }
        let found = self.text.match_indices(words);
        found
            .map(|(at, _)| self.origin(at)..self.origin(at + words.len()))
            .collect()
    }

    fn locate(&self, part: &str, from: usize, cut: bool) -> Option<usize> {
        let rest = self.text.get(from..)?;
        let edge = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        rest.match_indices(part)
            .map(|(at, _)| from + at)
            .find(|at| {
                let inside =
                    edge(self.text[..*at].chars().next_back()) && edge(part.chars().next());
                let runs_on = edge(self.text[at + part.len()..].chars().next())
                    && edge(part.chars().next_back());
                !inside && (cut || !runs_on)
            })
    }

    fn origin(&self, at: usize) -> usize {
        self.from.get(at).map_or(self.bytes, |from| *from as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found(text: &str) -> Vec<&str> {
        quotes(text).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn phrases_between_marks_are_quotes_and_apostrophes_are_not() {
        assert_eq!(found("says “sleep got better” twice"), ["sleep got better"]);
        assert_eq!(found("A: \"one two\", B: \"three\""), ["one two", "three"]);
        assert_eq!(
            found("it's 'a phrase of some length', isn't it"),
            ["a phrase of some length"]
        );
        assert_eq!(
            found("‘the patient’s own words here’ end"),
            ["the patient’s own words here"]
        );
        assert_eq!(found("the patients' and doctors' views, 'short'"), [""; 0]);
        assert_eq!(found("a 5\" disc and 3\" disc"), [""; 0]);
        assert_eq!(found("“never closed"), [""; 0]);
        assert_eq!(found("“over\n\nparagraphs”"), [""; 0]);
        assert_eq!(found("“ padded ” “!?”"), ["padded"]);
    }

    #[test]
    fn a_quote_occurs_whatever_its_case_and_spacing() {
        let document = "Cognitive  behavioral\ntherapy — the patients’ choice — improved *sleep* \
                        in 46 adults.";
        for quote in [
            "cognitive behavioral therapy",
            "Cognitive Behavioral Therapy…",
            "improved sleep in 46 adults.",
            "the patients' choice",
            "therapy - the",
            "cognitive behav...",
            "Cognitive … improved sleep",
            "cognitive [...] adults",
            "impro\u{ad}ved sleep",
        ] {
            assert!(occurs(quote, document), "{quote}");
        }
        for quote in [
            "behavioral improved",
            "gnitive",
            "sleep … cognitive",
            "adult",
            "zopiclone",
            "",
        ] {
            assert!(!occurs(quote, document), "{quote}");
        }
    }

    #[test]
    fn a_quote_is_found_where_it_stands() {
        let document = "A\u{308}rzte  SAY\n“yes”";
        let places = FoldedText::new(document).find("ärzte say \"yes\"");
        assert_eq!(
            places
                .iter()
                .map(|at| &document[at.clone()])
                .collect::<Vec<_>>(),
            ["A\u{308}rzte  SAY\n“yes"]
        );
    }

    proptest! {
        #[test]
        fn every_range_fits_its_text(text in "(?s)[ a-c'\"“”‘’….*İ\n\\PC]{0,80}", quote in "(?s)[ a-c.…*İ\\PC]{0,12}") {
            for range in quotes(&text) {
                prop_assert!(text.get(range).is_some_and(|phrase| !phrase.trim().is_empty()));
            }
            for range in FoldedText::new(&text).find(&quote) {
                prop_assert!(text.get(range).is_some());
            }
        }

        #[test]
        fn words_of_a_document_occur_in_it(words in prop::collection::vec("[a-zà-ü]{1,6}", 1..12), from in 0usize..12, len in 1usize..6) {
            let document = words.join(" \n ");
            let from = from.min(words.len() - 1);
            let quote = words[from..(from + len).min(words.len())].join(" ").to_uppercase();
            prop_assert!(occurs(&quote, &document));
        }
    }
}
