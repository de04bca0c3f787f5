//! Argilla's records as JSON: `fields` and `responses`, which are a list per question (version 2), or
//! a list of people with the values of all questions (version 1). Names are looked up in the fields
//! and in the metadata. Texts that answer a question called `comment` are about a person's other
//! answers, unless the file has no other question.

use super::item_fields::ItemFields;
use super::options::AnswerOptions;
use super::tool::{AnswerTool, AnswerValue, AnsweredItem, COMMENT, PersonAnswer};
use crate::formats::json::{ValueError, kind, string};
use crate::formats::json_scan::first_members;
use crate::formats::object::ObjectReader;
use serde_json::Value;
use serde_json::value::RawValue;

/// The status of a response that is neither a draft nor discarded.
const SUBMITTED: &str = "submitted";

pub(crate) struct Argilla;

impl AnswerTool for Argilla {
    fn unit(&self) -> &'static str {
        "record"
    }

    fn recognizes(&self, start: &str) -> bool {
        let members = first_members(start.strip_prefix('[').unwrap_or(start));
        let next = |name: &str| members.iter().find(|(is, _)| is == name).map(|of| of.1);
        next("fields") == Some(b'{') && matches!(next("responses"), Some(b'{' | b'['))
    }

    fn item(
        &self,
        mut record: ObjectReader<'_, '_>,
        options: &AnswerOptions,
    ) -> Option<AnsweredItem> {
        let mut item = AnsweredItem::default();
        let mut fields = ItemFields::default();
        let mut add = |of: ObjectReader<'_, '_>| {
            of.members()
                .for_each(|(name, value)| fields.add(name, value));
        };
        let has_fields = record.object("fields").map(&mut add).is_some();
        if let Some(metadata) = record.nullable("metadata", Ok) {
            record.enter("metadata", metadata).map(&mut add);
        }
        let responses = record.required("responses")?;
        match kind(responses) {
            "an array" => {
                let people = record.read("responses", responses, elements)?;
                for (at, value) in people.into_iter().enumerate() {
                    if let Some(response) = record.enter(&format!("responses[{at}]"), value) {
                        add_person(response, options, &mut item);
                    }
                }
            }
            _ => {
                let questions = record.enter("responses", responses)?;
                add_questions(questions, options, &mut item);
            }
        }
        if options.question.as_deref() != Some(COMMENT) {
            let is_comment = |answer: &mut PersonAnswer| answer.question == COMMENT;
            item.comments = item.answers.extract_if(.., is_comment).collect();
        }
        if item.answers.is_empty()
            && item.comments.is_empty()
            && item.unanswered.is_empty()
            && item.others.is_empty()
        {
            item.add_empty(None, None);
        }
        item.fields = fields;
        has_fields.then_some(item)
    }
}

/// The answers of a person to all questions, as version 1 writes them.
fn add_person(
    mut response: ObjectReader<'_, '_>,
    options: &AnswerOptions,
    item: &mut AnsweredItem,
) {
    let rater = response.nullable("user_id", identifier);
    if !item.wants(rater.as_deref(), options) {
        return;
    }
    let status = response.nullable("status", string);
    if status.is_some_and(|status| status != SUBMITTED) {
        item.add_empty(None, rater.as_deref());
        return;
    }
    let Some(values) = response.object("values") else {
        return;
    };
    let answers: Vec<(String, &RawValue)> = values
        .members()
        .map(|(question, value)| (question.to_owned(), value))
        .collect();
    for (question, value) in answers {
        if let Some(mut answer) = response.enter(&format!("values.{question}"), value) {
            push(&mut answer, question, rater.clone(), item);
        }
    }
}

/// The answers of all people to each question, as version 2 writes them.
fn add_questions(
    mut questions: ObjectReader<'_, '_>,
    options: &AnswerOptions,
    item: &mut AnsweredItem,
) {
    let by_question: Vec<(String, &RawValue)> = questions
        .members()
        .map(|(question, value)| (question.to_owned(), value))
        .collect();
    for (question, value) in by_question {
        let answers = questions.read(&question, value, elements);
        for (at, value) in answers.into_iter().flatten().enumerate() {
            if let Some(mut answer) = questions.enter(&format!("{question}[{at}]"), value) {
                let rater = answer.nullable("user_id", identifier);
                if !item.wants(rater.as_deref(), options) {
                    continue;
                }
                let status = answer.nullable("status", string);
                if status.is_none_or(|status| status == SUBMITTED) {
                    push(&mut answer, question.clone(), rater, item);
                } else if question != COMMENT {
                    item.add_empty(Some(&question), rater.as_deref());
                }
            }
        }
    }
}

fn push(
    answer: &mut ObjectReader<'_, '_>,
    question: String,
    rater: Option<String>,
    item: &mut AnsweredItem,
) {
    match answer.nullable("value", answer_value) {
        Some(value) => item.answers.push(PersonAnswer {
            question,
            rater,
            value,
            note: String::new(),
            created_ms: None,
        }),
        None if question == COMMENT => {}
        None => item.add_empty(Some(&question), rater.as_deref()),
    }
}

fn elements(value: &RawValue) -> Result<Vec<&RawValue>, ValueError> {
    serde_json::from_str(value.get()).map_err(|_| ValueError::expected("an array", kind(value)))
}

fn identifier(value: &RawValue) -> Result<String, ValueError> {
    match kind(value) {
        "a number" => Ok(value.get().to_owned()),
        _ => string(value),
    }
}

/// A label, a number, a list of labels, or a ranking: labels with their ranks.
fn answer_value(value: &RawValue) -> Result<AnswerValue, ValueError> {
    match kind(value) {
        "a number" => Ok(AnswerValue::One(value.get().to_owned())),
        "a string" => Ok(AnswerValue::One(string(value)?)),
        "an array" => {
            let list: Vec<Value> = serde_json::from_str(value.get())
                .map_err(|_| ValueError::expected("a list of labels", "another array"))?;
            let label = |value: &Value| match value {
                Value::String(label) => Some((label.clone(), None)),
                Value::Object(of) => {
                    let label = of.get("value")?.as_str()?.to_owned();
                    Some((label, of.get("rank").and_then(Value::as_i64)))
                }
                _ => None,
            };
            let labels: Option<Vec<_>> = list.iter().map(label).collect();
            labels
                .map(AnswerValue::List)
                .ok_or_else(|| ValueError::expected("a list of labels", "another array"))
        }
        other => Err(ValueError::expected("an answer", other)),
    }
}
