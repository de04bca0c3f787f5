//! Label Studio's JSON export: tasks with their `data` and `annotations`, each with a list of
//! results. Grades are ratings, numbers or choices; pairs are compared with the tag `Pairwise` or
//! with choices. A text area called `comment` is about them; other results are ignored.

use super::item_fields::ItemFields;
use super::options::AnswerOptions;
use super::tool::{AnswerTool, AnswerValue, AnsweredItem, COMMENT, PersonAnswer};
use crate::formats::json::{ValueError, boolean, kind, string};
use crate::formats::json_scan::first_members;
use crate::formats::object::ObjectReader;
use jiff::Timestamp;
use serde_json::value::RawValue;

pub(crate) struct LabelStudio;

impl AnswerTool for LabelStudio {
    fn unit(&self) -> &'static str {
        "task"
    }

    fn recognizes(&self, start: &str) -> bool {
        let members = first_members(start.strip_prefix('[').unwrap_or(start));
        let has = |name: &str, byte| members.iter().any(|(is, next)| is == name && *next == byte);
        has("annotations", b'[') && (has("data", b'{') || start.contains("\"data\""))
    }

    fn item(
        &self,
        mut task: ObjectReader<'_, '_>,
        options: &AnswerOptions,
    ) -> Option<AnsweredItem> {
        let mut item = AnsweredItem::default();
        let data = task.object("data").map(|data| {
            let mut fields = ItemFields::default();
            data.members()
                .for_each(|(name, value)| fields.add(name, value));
            fields
        });
        let annotations = task.array("annotations")?;
        if annotations.is_empty() {
            item.add_empty(None, None);
        }
        for (at, value) in annotations.into_iter().enumerate() {
            let Some(annotation) = task.enter(&format!("annotations[{at}]"), value) else {
                continue;
            };
            add_annotation(annotation, options, &mut item);
        }
        item.fields = data?;
        Some(item)
    }

    /// `toName` may name the fields in either order.
    fn positions(&self) -> Option<[&'static str; 2]> {
        Some(["left", "right"])
    }
}

fn add_annotation(
    mut annotation: ObjectReader<'_, '_>,
    options: &AnswerOptions,
    item: &mut AnsweredItem,
) {
    let rater = annotation.nullable("completed_by", person);
    if !item.wants(rater.as_deref(), options) {
        return;
    }
    if annotation.nullable("was_cancelled", boolean) == Some(true) {
        item.add_empty(None, rater.as_deref());
        return;
    }
    let updated_ms = annotation.nullable("updated_at", moment);
    let created_ms = updated_ms.or_else(|| annotation.nullable("created_at", moment));
    let mut answers = Vec::new();
    let mut note = String::new();
    for (at, value) in annotation.array("result").into_iter().flatten().enumerate() {
        let Some(mut result) = annotation.enter(&format!("result[{at}]"), value) else {
            continue;
        };
        let member = match result.nullable("type", string).as_deref() {
            Some("rating") => "rating",
            Some("number") => "number",
            Some("choices") => "choices",
            Some("pairwise") => "selected",
            Some("textarea") => {
                if result.nullable("from_name", string).as_deref() == Some(COMMENT) {
                    note = comment(result);
                }
                continue;
            }
            _ => continue,
        };
        let question = result.text("from_name");
        let value = result.object("value").and_then(|mut value| {
            let answer = value.required(member)?;
            value.read(member, answer, answer_value)
        });
        if let (Some(question), Some(value)) = (question, value) {
            answers.push(PersonAnswer {
                question,
                rater: rater.clone(),
                value,
                note: String::new(),
                created_ms,
            });
        }
    }
    if answers.is_empty() {
        item.add_empty(None, rater.as_deref());
    }
    for answer in &mut answers {
        answer.note.clone_from(&note);
    }
    item.answers.append(&mut answers);
}

/// The paragraphs of a text area.
fn comment(mut result: ObjectReader<'_, '_>) -> String {
    let texts = result.object("value").and_then(|mut value| {
        let texts = value.required("text")?;
        value.read("text", texts, paragraphs)
    });
    texts.unwrap_or_default().join("\n")
}

fn paragraphs(value: &RawValue) -> Result<Vec<String>, ValueError> {
    match kind(value) {
        "a string" => Ok(vec![string(value)?]),
        _ => serde_json::from_str(value.get()).map_err(|_| ValueError::NotNames),
    }
}

/// A person: a number, a name, or an object with the address.
fn person(value: &RawValue) -> Result<String, ValueError> {
    match kind(value) {
        "a number" => Ok(value.get().to_owned()),
        "a string" => string(value),
        "an object" => serde_json::from_str::<serde_json::Value>(value.get())
            .ok()
            .and_then(|value| value["email"].as_str().map(str::to_owned))
            .ok_or_else(|| ValueError::expected("a person with an email", "another object")),
        other => Err(ValueError::expected("a person", other)),
    }
}

fn answer_value(value: &RawValue) -> Result<AnswerValue, ValueError> {
    match kind(value) {
        "a number" => Ok(AnswerValue::One(value.get().to_owned())),
        "a string" => Ok(AnswerValue::One(string(value)?)),
        "an array" => {
            let choices: Vec<String> =
                serde_json::from_str(value.get()).map_err(|_| ValueError::NotNames)?;
            let choices = choices.into_iter().map(|choice| (choice, None));
            Ok(AnswerValue::List(choices.collect()))
        }
        other => Err(ValueError::expected("a number or choices", other)),
    }
}

fn moment(value: &RawValue) -> Result<i64, ValueError> {
    let text = string(value)?;
    let moment: Timestamp = text
        .parse()
        .map_err(|_| ValueError::expected("a time such as 2023-03-09T22:16:08Z", text))?;
    Ok(moment.as_millisecond())
}
