//! A reply as input of the parsers: its text, the field it came in, and the texts shown to the
//! judge.

use super::error::NoAnswer;
use crate::judge::call::JudgeReply;

#[derive(Clone, Copy, Debug)]
pub struct Written<'a> {
    pub text: &'a str,
    /// The field that contains the text, if it is not the field of the answer.
    pub outside: Option<&'static str>,
    /// The query and the documents: an answer copied from one of them is not the judge's.
    pub shown: &'a [&'a str],
}

impl<'a> From<&'a str> for Written<'a> {
    fn from(text: &'a str) -> Self {
        Self {
            text,
            outside: None,
            shown: &[],
        }
    }
}

impl<'a> Written<'a> {
    /// A reply of a judge that was shown these texts.
    pub fn of(reply: &'a JudgeReply, shown: &'a [&'a str]) -> Self {
        Self {
            text: &reply.text,
            outside: reply.outside,
            shown,
        }
    }

    /// The text without surrounding whitespace and byte order mark.
    pub(super) fn trimmed(&self) -> Result<&'a str, NoAnswer> {
        let text = self.text.trim_start_matches('\u{feff}').trim();
        if text.is_empty() {
            Err(NoAnswer::Empty)
        } else {
            Ok(text)
        }
    }

    /// Whether a text shown to the judge contains `answer`, ignoring whitespace, case, escapes and
    /// the form of quotation marks. `part` is a part of `answer`: most texts do not contain it, and
    /// are skipped without further checks.
    pub(super) fn is_copied(&self, answer: &str, part: &str) -> bool {
        let mut shown = self.shown.iter().filter(|shown| shown.contains(part));
        let answer = bare(answer);
        shown.any(|shown| bare(shown).contains(&answer))
    }

    /// `error`, or, for a text outside the content, an error that says so.
    pub(super) fn outside_or<E: From<NoAnswer>>(&self, error: E) -> E {
        match self.outside {
            Some(field) => E::from(NoAnswer::OutsideContent {
                field,
                characters: self.text.chars().count(),
            }),
            None => error,
        }
    }
}

/// `text` without the details that a copy may change.
fn bare(text: &str) -> String {
    text.replace("&quot;", "\"")
        .chars()
        .filter(|c| !c.is_whitespace() && !c.is_control() && *c != '\\')
        .map(|c| match c {
            '“' | '”' | '„' => '"',
            '‘' | '’' => '\'',
            other => other,
        })
        .flat_map(char::to_lowercase)
        .collect()
}
