//! Potato's export as JSON lines: an answer per line, with the ids of its instance and person. What
//! an instance is about is in Potato's own data file.

use super::item_fields::ItemFields;
use super::options::AnswerOptions;
use super::tool::{AnswerTool, AnswerValue, AnsweredItem, PersonAnswer, TIE};
use crate::domain::vote::Outcome;
use crate::formats::json::{ValueError, kind, string};
use crate::formats::json_scan::first_members;
use crate::formats::object::ObjectReader;
use crate::formats::problem::quoted;
use serde_json::value::RawValue;

/// The name under which the choice between two items is stored.
const SELECTION: &str = "selection";

pub(crate) struct Potato;

impl AnswerTool for Potato {
    fn unit(&self) -> &'static str {
        "annotation"
    }

    fn recognizes(&self, start: &str) -> bool {
        let members = first_members(start);
        let has = |name: &str| members.iter().any(|(is, _)| is == name);
        has("instance_id") && has("user_id") && (has("labels") || start.contains("\"labels\""))
    }

    fn item(
        &self,
        mut line: ObjectReader<'_, '_>,
        options: &AnswerOptions,
    ) -> Option<AnsweredItem> {
        let instance = line.identifier("instance_id")?;
        let rater = line.text("user_id")?;
        if !options.wants(Some(&rater)) {
            return Some(AnsweredItem {
                others: vec![rater],
                ..AnsweredItem::default()
            });
        }
        let fields = match &options.items {
            None => {
                line.note(
                    "instance_id",
                    "what it is about is in Potato's data file; name it with --items",
                );
                return None;
            }
            Some(items) => match items.get(&instance) {
                Some(fields) => ItemFields::of(fields),
                None => {
                    let what = format!("{} is not in the file of --items", quoted(&instance));
                    line.note("instance_id", what);
                    return None;
                }
            },
        };
        let mut item = AnsweredItem {
            fields,
            ..AnsweredItem::default()
        };
        let labels = line.object("labels")?;
        let by_question: Vec<(String, &RawValue)> = labels
            .members()
            .map(|(question, value)| (question.to_owned(), value))
            .collect();
        for (question, value) in by_question {
            match line.read(&format!("labels.{question}"), value, answer_value) {
                Some(Some(value)) => item.answers.push(PersonAnswer {
                    question,
                    rater: Some(rater.clone()),
                    value,
                    note: String::new(),
                    created_ms: None,
                }),
                Some(None) => item.add_empty(Some(&question), Some(&rater)),
                None => {}
            }
        }
        Some(item)
    }

    fn choices(&self) -> &'static [(&'static str, Outcome)] {
        &[("A", Outcome::A), ("B", Outcome::B), (TIE, Outcome::Tie)]
    }
}

/// The answer to a question: the names of the chosen labels, or the selected item of a comparison;
/// `None` if nothing was chosen.
fn answer_value(value: &RawValue) -> Result<Option<AnswerValue>, ValueError> {
    match kind(value) {
        "an object" => {}
        "a string" | "a number" => return Ok(Some(AnswerValue::One(scalar(value)?))),
        "null" => return Ok(None),
        other => return Err(ValueError::expected("chosen labels", other)),
    }
    let members = crate::formats::json::members(value.get()).unwrap_or_default();
    if let Some((_, selected)) = members.iter().find(|(name, _)| name == SELECTION) {
        return Ok(Some(AnswerValue::One(scalar(selected)?)));
    }
    Ok(match members.as_slice() {
        [] => None,
        [(name, _)] => Some(AnswerValue::One(name.to_string())),
        several => {
            let names = several.iter().map(|(name, _)| (name.to_string(), None));
            Some(AnswerValue::List(names.collect()))
        }
    })
}

fn scalar(value: &RawValue) -> Result<String, ValueError> {
    match kind(value) {
        "a number" => Ok(value.get().to_owned()),
        _ => string(value),
    }
}
