//! What is wrong with an input file, where, and what to do about it.

use crate::domain::sanitise;
use std::fmt::{self, Write as _};

/// One thing wrong with an input file. Its text is safe to print.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Problem {
    /// The file's name, as shown.
    pub file: String,
    /// The line, from 1, where it is known.
    pub line: Option<u64>,
    /// What is wrong, and after a semicolon the remedy where there is one.
    pub message: String,
}

impl Problem {
    /// A problem in `file`. The name and the message are made safe to print.
    pub fn new(file: &str, line: Option<u64>, message: &str) -> Self {
        Self {
            file: sanitise::line(file).into_owned(),
            line,
            message: sanitise::line(message).into_owned(),
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

/// How much of a file's own text a message repeats.
const QUOTED_CHARACTERS: usize = 60;

/// Text of a file for a message: in quotes unless it has them, hazards spelled `\u{..}`, clipped.
pub(super) fn quoted(text: &str) -> String {
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
        if sanitise::is_hazard(ch) {
            // Writing to a string cannot fail.
            let _ = write!(out, "\\u{{{:x}}}", u32::from(ch));
        } else {
            out.push(ch);
        }
    }
    out.push('"');
    out
}

/// Messages of one line or element: the first few, and how many more there were.
#[derive(Default)]
pub(super) struct LineProblems {
    messages: Vec<String>,
    more: usize,
}

impl LineProblems {
    const SHOWN: usize = 5;

    /// Notes what is wrong with the member at `path`.
    pub(super) fn add(&mut self, path: fmt::Arguments<'_>, what: &str) {
        if self.messages.len() < Self::SHOWN {
            self.messages.push(format!("{path}: {what}"));
        } else {
            self.more += 1;
        }
    }

    /// The value, or a note of why there is none.
    pub(super) fn check<T>(
        &mut self,
        path: fmt::Arguments<'_>,
        value: Result<T, String>,
    ) -> Option<T> {
        value.map_err(|what| self.add(path, &what)).ok()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// The messages, the last saying how many were left out.
    pub(super) fn into_messages(mut self, unit: &str) -> Vec<String> {
        match self.more {
            0 => {}
            1 => self
                .messages
                .push(format!("and 1 more problem on this {unit}")),
            more => self
                .messages
                .push(format!("and {more} more problems on this {unit}")),
        }
        self.messages
    }
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
    }

    #[test]
    fn only_the_first_findings_are_spelled_out() {
        let mut findings = LineProblems::default();
        for index in 0..9 {
            findings.add(format_args!("documents[{index}].id"), "is missing");
        }
        let messages = findings.into_messages("line");
        assert_eq!(messages.len(), 6);
        assert_eq!(messages[5], "and 4 more problems on this line");
    }
}
