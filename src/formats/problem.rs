//! Problems in input files, with their locations and remedies.

use crate::domain::sanitize;
use std::fmt::{self, Write as _};

/// A problem in an input file. Its text is safe to print.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Problem {
    pub file: String,
    /// The line, from 1, if known.
    pub line: Option<u64>,
    /// The problem, followed by a semicolon and the remedy if there is one.
    pub message: String,
}

impl Problem {
    /// A problem in `file`. Makes the name and the message safe to print.
    pub fn new(file: &str, line: Option<u64>, message: impl fmt::Display) -> Self {
        Self {
            file: sanitize::line(file).into_owned(),
            line,
            message: sanitize::line(&message.to_string()).into_owned(),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.file, self.message),
            None => write!(f, "{}: {}", self.file, self.message),
        }
    }
}

/// Maximum length of text quoted from a file in a message.
const QUOTED_CHARACTERS: usize = 60;

/// The first `most` characters of a text, with `…` if more follow.
pub(super) fn clipped(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Formats text of a file for a message: quoted unless it contains quotes, hazards escaped as
/// `\u{..}`, truncated.
pub fn quoted(text: &str) -> String {
    let bare = text
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
        .unwrap_or(text);
    let mut out = String::from("\"");
    for (count, ch) in bare.chars().enumerate() {
        if count == QUOTED_CHARACTERS {
            out.push('…');
            break;
        }
        if sanitize::is_hazard(ch) {
            // Writing to a string cannot fail.
            let _ = write!(out, "\\u{{{:x}}}", u32::from(ch));
        } else {
            out.push(ch);
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_names_file_and_line_and_prints_nothing_hostile() {
        let problem = Problem::new("a\u{1b}[2J.jsonl", Some(3), "query.id: is empty");
        assert_eq!(problem.to_string(), "a␛[2J.jsonl:3: query.id: is empty");
        assert_eq!(Problem::new("f", None, "gone").to_string(), "f: gone");
    }

    #[test]
    fn quoted_text_is_escaped_and_clipped() {
        assert_eq!(quoted("a\u{202e}b\n\u{1b}"), r#""a\u{202e}b\u{a}\u{1b}""#);
        assert_eq!(
            quoted(&"x".repeat(500)).chars().count(),
            QUOTED_CHARACTERS + 3
        );
        assert_eq!(quoted("\"7\""), "\"7\"");
        assert_eq!(clipped("äöü", 3), "äöü");
        assert_eq!(clipped("äöü", 2), "äö…");
    }
}
