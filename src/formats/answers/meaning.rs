//! What an answer means: a grade of a document, or a choice between two documents.

use super::field_role::FieldRole;
use super::item_fields::ItemName;
use super::options::AnswerOptions;
use super::tool::{AnswerTool, AnswerValue, PlacedAnswer};
use crate::domain::vote::Outcome;
use crate::formats::grade::whole_grade;
use crate::formats::problem::quoted;

/// A person's grade of a document.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct GradedItem {
    pub(crate) line: u64,
    pub(crate) query: ItemName,
    pub(crate) document: ItemName,
    pub(crate) grade: i32,
    /// The person, if the file says who it was.
    pub(crate) rater: Option<String>,
}

/// A person's choice between two documents.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct AnsweredPair {
    pub(crate) line: u64,
    pub(crate) query: ItemName,
    pub(crate) a: ItemName,
    pub(crate) b: ItemName,
    pub(crate) choice: Outcome,
    pub(crate) rater: Option<String>,
    /// What the person wrote about it; empty if nothing.
    pub(crate) note: String,
    /// In milliseconds since the Unix epoch.
    pub(crate) created_ms: Option<i64>,
}

/// The choice with this name on the command line.
fn choice_named(name: &str) -> Option<Outcome> {
    match name {
        "a" => Some(Outcome::A),
        "tie" => Some(Outcome::Tie),
        "b" => Some(Outcome::B),
        _ => None,
    }
}

impl PlacedAnswer {
    /// The grade that the answer gives to the document of its item.
    pub(super) fn grade(&self, options: &AnswerOptions) -> Result<GradedItem, String> {
        let named = |role| self.fields.named(role, options);
        let document = match named(FieldRole::Document) {
            Err(_) if named(FieldRole::A).is_ok() && named(FieldRole::B).is_ok() => {
                return Err(
                    "is about a pair of documents; `overrule import votes` imports such answers"
                        .to_owned(),
                );
            }
            document => document?,
        };
        let text = match &self.answer.value {
            AnswerValue::One(text) => text,
            AnswerValue::List(list) => match list.as_slice() {
                [(text, _)] => text,
                list => {
                    return Err(format!(
                        "question {}: has {} answers of one person, not one grade",
                        quoted(self.question()),
                        list.len()
                    ));
                }
            },
        };
        let text = text.trim();
        let meant = options.meanings.get(text).map_or(text, String::as_str);
        let grade = whole_grade(meant).ok_or_else(|| {
            format!(
                "question {}: the answer {} is not a whole number; say which grade it means with \
                 --answer '{}=GRADE'",
                quoted(self.question()),
                quoted(text),
                text.chars().take(40).collect::<String>()
            )
        })?;
        Ok(GradedItem {
            line: self.line,
            query: named(FieldRole::Query)?,
            document,
            grade,
            rater: self.answer.rater.clone(),
        })
    }

    /// The choice that the answer makes between the two documents of its item.
    pub(super) fn pair(
        &self,
        tool: &dyn AnswerTool,
        options: &AnswerOptions,
    ) -> Result<AnsweredPair, String> {
        let named = |role| self.fields.named(role, options);
        let (a, b) = match (named(FieldRole::A), named(FieldRole::B)) {
            (Ok(a), Ok(b)) => (a, b),
            (Err(_), _) | (_, Err(_)) if named(FieldRole::Document).is_ok() => {
                return Err(
                    "is about a single document; `overrule import` imports such answers as labels"
                        .to_owned(),
                );
            }
            (Err(what), _) | (_, Err(what)) => return Err(what),
        };
        Ok(AnsweredPair {
            line: self.line,
            query: named(FieldRole::Query)?,
            a,
            b,
            choice: self.choice(tool, options)?,
            rater: self.answer.rater.clone(),
            note: self.answer.note.clone(),
            created_ms: self.answer.created_ms,
        })
    }

    fn choice(&self, tool: &dyn AnswerTool, options: &AnswerOptions) -> Result<Outcome, String> {
        let list = match &self.answer.value {
            AnswerValue::One(text) => return self.choice_of(text, tool, options),
            AnswerValue::List(list) => list,
        };
        match list.as_slice() {
            [(text, _)] => self.choice_of(text, tool, options),
            [(first, Some(first_rank)), (second, Some(second_rank))] => {
                let first = self.choice_of(first, tool, options)?;
                let second = self.choice_of(second, tool, options)?;
                let is_tie = first_rank == second_rank;
                match (first, second, first_rank > second_rank) {
                    (Outcome::A, Outcome::B, _) | (Outcome::B, Outcome::A, _) if is_tie => {
                        Ok(Outcome::Tie)
                    }
                    (Outcome::A, Outcome::B, false) | (Outcome::B, Outcome::A, true) => {
                        Ok(Outcome::A)
                    }
                    (Outcome::B, Outcome::A, false) | (Outcome::A, Outcome::B, true) => {
                        Ok(Outcome::B)
                    }
                    _ => Err(format!(
                        "question {}: does not rank the two documents",
                        quoted(self.question())
                    )),
                }
            }
            [(first, _), (second, _)] => Err(format!(
                "question {}: found the answers {} and {} without a rank of each; a ranking needs \
                 whole ranks, since a choice of both looks the same",
                quoted(self.question()),
                quoted(first),
                quoted(second)
            )),
            list => Err(format!(
                "question {}: has {} answers of one person; expected a choice between two documents",
                quoted(self.question()),
                list.len()
            )),
        }
    }

    /// The choice that a text stands for: as the user says, as the tool names it, or the name of a
    /// field.
    fn choice_of(
        &self,
        text: &str,
        tool: &dyn AnswerTool,
        options: &AnswerOptions,
    ) -> Result<Outcome, String> {
        let text = text.trim();
        let unknown = || {
            format!(
                "question {}: the answer {} does not say which document is better; say it with \
                 --answer '{}=a', b or tie",
                quoted(self.question()),
                quoted(text),
                text.chars().take(40).collect::<String>()
            )
        };
        if let Some(meant) = options.meanings.get(text) {
            return choice_named(meant)
                .ok_or_else(|| format!("--answer: {} is not a, b or tie", quoted(meant)));
        }
        if let Some([left, right]) = tool.positions()
            && (text == left || text == right)
        {
            let other = if text == left { right } else { left };
            return match options.meanings.get(other).map(String::as_str) {
                Some("a") => Ok(Outcome::B),
                Some("b") => Ok(Outcome::A),
                _ => Err(format!(
                    "question {}: the answer {} does not say which field it is; say which one is \
                     on the left with --answer {left}=a or --answer {left}=b",
                    quoted(self.question()),
                    quoted(text)
                )),
            };
        }
        if let Some((_, choice)) = tool.choices().iter().find(|(name, _)| *name == text) {
            return Ok(*choice);
        }
        let is_field = |role| self.fields.is_field(role, text, options);
        match (is_field(FieldRole::A), is_field(FieldRole::B)) {
            (true, false) => Ok(Outcome::A),
            (false, true) => Ok(Outcome::B),
            _ => Err(unknown()),
        }
    }
}
