//! Options for reading the answers in the exports of annotation tools.

use crate::app::error::{AppError, invalid};
use crate::app::import::answer_items;
use crate::cli::argument::ArgumentError;
use crate::formats::answers::{AnswerOptions, FieldRole};
use crate::formats::problem::quoted;
use clap::Args;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

#[derive(Clone, Debug, Default, PartialEq, Args)]
pub(super) struct AnswerArgs {
    /// Of an annotation tool's export: the question whose answers to read, if it has several
    #[arg(long, value_name = "NAME")]
    question: Option<String>,
    /// Of an annotation tool's export: which fields name the query, the document, or the documents a
    /// and b of a pair [default: fields with these names, or query_id, document_id, a_id, b_id]
    #[arg(long, value_name = "ROLE=FIELD", value_delimiter = ',', value_parser = field)]
    fields: Vec<(FieldRole, String)>,
    /// Of an annotation tool's export: what an answer means: a grade; for pairs a, b or tie
    /// (repeatable)
    #[arg(long = "answer", value_name = "ANSWER=MEANING", value_parser = meaning)]
    answers: Vec<(String, String)>,
    /// Of Potato's export: its data file, with the fields of the instances
    #[arg(long, value_name = "FILE")]
    items: Option<PathBuf>,
    /// Of judgments by several people: read only those of this person
    #[arg(long, value_name = "NAME")]
    rater: Option<String>,
}

impl AnswerArgs {
    /// The options; `median` says whether people may differ on a document.
    pub(super) fn options(self, median: bool) -> Result<AnswerOptions, AppError> {
        let items = self.items.as_deref().map(answer_items).transpose()?;
        Ok(AnswerOptions {
            question: self.question,
            fields: once("--fields", self.fields, |role| role.name())?,
            meanings: once("--answer", self.answers, |answer| answer.as_str())?,
            rater: self.rater,
            median,
            items: items.map(Arc::new),
        })
    }
}

/// The values of an option by name.
fn once<K: Ord, V>(
    option: &str,
    given: Vec<(K, V)>,
    name: impl Fn(&K) -> &str,
) -> Result<BTreeMap<K, V>, AppError> {
    let mut values = BTreeMap::new();
    for (key, value) in given {
        if values.contains_key(&key) {
            return Err(invalid!(
                "{option}: {} is given twice; keep one",
                quoted(name(&key))
            ));
        }
        values.insert(key, value);
    }
    Ok(values)
}

fn field(text: &str) -> Result<(FieldRole, String), ArgumentError> {
    let expected = ArgumentError::Expected("query=FIELD, document=FIELD, a=FIELD or b=FIELD");
    let Some((role, field)) = text.split_once('=').filter(|(_, field)| !field.is_empty()) else {
        return Err(expected);
    };
    let role = FieldRole::ALL
        .into_iter()
        .find(|of| of.name() == role.trim());
    Ok((role.ok_or(expected)?, field.to_owned()))
}

fn meaning(text: &str) -> Result<(String, String), ArgumentError> {
    match text.rsplit_once('=') {
        Some((answer, meaning)) if !answer.trim().is_empty() && !meaning.trim().is_empty() => {
            Ok((answer.trim().to_owned(), meaning.trim().to_owned()))
        }
        _ => Err(ArgumentError::Expected(
            "ANSWER=GRADE, or for pairs ANSWER=a, ANSWER=b or ANSWER=tie",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_given_once() {
        let answers = |names: &[&str]| {
            let given = names
                .iter()
                .map(|name| ((*name).to_owned(), "1".to_owned()));
            AnswerArgs {
                answers: given.collect(),
                ..AnswerArgs::default()
            }
        };
        answers(&["Good", "good"]).options(false).unwrap();
        let error = answers(&["Good", "Good"]).options(false).unwrap_err();
        assert_eq!(
            error.to_string(),
            "--answer: \"Good\" is given twice; keep one"
        );
        let fields = AnswerArgs {
            fields: ["x", "y"].map(|of| (FieldRole::A, of.to_owned())).into(),
            ..AnswerArgs::default()
        };
        let error = fields.options(false).unwrap_err();
        assert_eq!(
            error.to_string(),
            "--fields: \"a\" is given twice; keep one"
        );
    }
}
