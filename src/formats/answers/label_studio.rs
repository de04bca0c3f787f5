//! Label Studio's exports. JSON: tasks with their `data` and `annotations`, each with a list of
//! results. JSON-MIN: a record per annotation, with the fields of `data`, `id`, the results by name
//! and the annotator. Grades are ratings, numbers or choices; pairs are compared with the tag
//! `Pairwise` or with choices. A text area called `comment` is about them; other results are ignored.

use super::item_fields::ItemFields;
use super::options::AnswerOptions;
use super::tool::{AnswerTool, AnswerValue, AnsweredItem, COMMENT, PersonAnswer};
use crate::formats::json::{self, ValueError, boolean, kind, string};
use crate::formats::json_scan::first_members;
use crate::formats::object::ObjectReader;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;

/// The members of a JSON-MIN record that are neither data nor results.
const OWN_MEMBERS: [&str; 7] = [
    "id",
    "annotator",
    "annotation_id",
    "created_at",
    "updated_at",
    "lead_time",
    "agreement",
];

pub(crate) struct LabelStudio;

impl AnswerTool for LabelStudio {
    fn unit(&self) -> &'static str {
        "task"
    }

    fn recognizes(&self, start: &str) -> bool {
        let members = first_members(start.strip_prefix('[').unwrap_or(start));
        let has = |name: &str, byte| members.iter().any(|(is, next)| is == name && *next == byte);
        let is_min = || {
            let of_min = ["annotator", "annotation_id", "lead_time"];
            of_min
                .iter()
                .all(|name| members.iter().any(|(is, _)| is == name))
        };
        has("annotations", b'[') && (has("data", b'{') || start.contains("\"data\"")) || is_min()
    }

    fn item(
        &self,
        mut task: ObjectReader<'_, '_>,
        options: &AnswerOptions,
    ) -> Option<AnsweredItem> {
        if task.has("annotator") && task.has("annotation_id") && !task.has("annotations") {
            return Some(min_item(task, options));
        }
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
    let created_ms = time_of(&mut annotation);
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

/// A record of JSON-MIN: the annotation of one person. Choices look like data, so only the members
/// after `id`, where Label Studio adds them, and the question that the user names are read as results.
fn min_item(mut record: ObjectReader<'_, '_>, options: &AnswerOptions) -> AnsweredItem {
    let mut item = AnsweredItem::default();
    let rater = record.nullable("annotator", person);
    if !item.wants(rater.as_deref(), options) {
        return item;
    }
    let is_annotated = record.nullable("annotation_id", Ok).is_some();
    let created_ms = time_of(&mut record);
    let question = options.question.as_deref();
    let mut note = String::new();
    let mut is_after_id = false;
    let members: Vec<(String, &RawValue)> = record
        .members()
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    for (at, (name, value)) in members.iter().enumerate() {
        if members[..at].iter().any(|(earlier, _)| earlier == name) {
            record.note(name, "is repeated; remove one of them");
            return item;
        }
        let is_asked = question == Some(name.as_str());
        let is_other = question.is_some() && !is_asked;
        is_after_id |= name == "id";
        if OWN_MEMBERS.contains(&name.as_str()) {
            continue;
        }
        let may_answer = is_annotated && (is_after_id || is_asked);
        if may_answer && name == COMMENT && !is_asked {
            note = min_comment(value);
            continue;
        }
        let answers = match may_answer {
            true if is_other => min_answers(value).unwrap_or_default(),
            true => record.read(name, value, min_answers).unwrap_or_default(),
            false => None,
        };
        if is_asked && may_answer && answers.is_none() {
            record.note(
                name,
                "is not a choice, a rating or a number as Label Studio writes it",
            );
        }
        // Data with an `id` looks like results, until the user names the question.
        if answers.is_none() || is_other {
            item.fields.add(name, value);
        }
        let answers = answers.into_iter().flatten();
        item.answers.extend(answers.map(|value| PersonAnswer {
            question: name.clone(),
            rater: rater.clone(),
            value,
            note: String::new(),
            created_ms,
        }));
    }
    if item.answers.is_empty() {
        item.add_empty(None, rater.as_deref());
    }
    for answer in &mut item.answers {
        answer.note.clone_from(&note);
    }
    item
}

/// The answers in a result of JSON-MIN: a choice, several choices, or one or several values as in the
/// JSON export; `None` if it is no such result.
fn min_answers(value: &RawValue) -> Result<Option<Vec<AnswerValue>>, ValueError> {
    let values: Vec<&RawValue> = match kind(value) {
        "a string" => return Ok(Some(vec![AnswerValue::One(string(value)?)])),
        "an object" => vec![value],
        "an array" => serde_json::from_str(value.get()).unwrap_or_default(),
        _ => return Ok(None),
    };
    if values.iter().any(|value| kind(value) == "a string") {
        return Ok(Some(vec![answer_value(value)?]));
    }
    let mut answers = Vec::new();
    for value in values {
        let members = json::members(value.get()).unwrap_or_default();
        let is_value = |name: &str| ["rating", "number", "choices", "selected"].contains(&name);
        let mut found = members.into_iter().filter(|(name, _)| is_value(name));
        let answer = found.next();
        if found.next().is_some() {
            return Err(ValueError::expected("one answer", "several in one result"));
        }
        if let Some((_, answer)) = answer {
            answers.push(answer_value(answer)?);
        }
    }
    Ok((!answers.is_empty()).then_some(answers))
}

/// The paragraphs of one or several text areas in JSON-MIN. A single paragraph is written as a string.
fn min_comment(value: &RawValue) -> String {
    let texts = paragraphs(value).unwrap_or_else(|_| {
        let one = serde_json::from_str(value.get()).map(|area: Area| vec![area]);
        let areas = one.or_else(|_| serde_json::from_str(value.get()));
        let areas: Vec<Area> = areas.unwrap_or_default();
        areas.into_iter().flat_map(|area| area.text).collect()
    });
    texts.join("\n")
}

/// A text area with several paragraphs.
#[derive(Deserialize)]
struct Area {
    text: Vec<String>,
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

/// When an annotation was last changed.
fn time_of(annotation: &mut ObjectReader<'_, '_>) -> Option<i64> {
    let updated_ms = annotation.nullable("updated_at", moment);
    updated_ms.or_else(|| annotation.nullable("created_at", moment))
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
