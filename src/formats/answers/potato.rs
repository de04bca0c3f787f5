//! Potato's export as JSON lines or as a table: a person's answers about an instance per line, with
//! the ids of both. What an instance is about is in Potato's own data file.

use super::item_fields::ItemFields;
use super::options::AnswerOptions;
use super::tool::{AnswerTool, AnswerValue, AnsweredItem, PersonAnswer, TIE};
use crate::domain::vote::Outcome;
use crate::formats::json::{ValueError, kind, string};
use crate::formats::json_scan::first_members;
use crate::formats::object::ObjectReader;
use crate::formats::problem::quoted;
use crate::formats::table_file::Column;
use crate::formats::table_objects::TableSchema;
use serde_json::value::RawValue;

/// The name under which the choice between two items is stored.
const SELECTION: &str = "selection";

/// The ending of columns with marked passages.
const SPANS: &str = "_spans";

/// The answers in a row of a table. A column is called QUESTION.LABEL, or QUESTION if the label has
/// no name.
const COLUMNS: &str = "columns";

static TABLE: TableSchema = TableSchema {
    columns: &[Column::text("instance_id"), Column::text("user_id")],
    required: &["instance_id", "user_id"],
    is_own: false,
    others: Some(COLUMNS),
};

/// A question, and its answer if there is one.
type Answered = (String, Option<AnswerValue>);

pub(crate) struct Potato;

impl AnswerTool for Potato {
    fn unit(&self) -> &'static str {
        "annotation"
    }

    fn recognizes(&self, start: &str) -> bool {
        let members = first_members(start);
        let has = |name: &str| members.iter().any(|(is, _)| is == name);
        let is_line = || {
            has("instance_id") && has("user_id") && (has("labels") || start.contains("\"labels\""))
        };
        ["instance_id,user_id,", "instance_id\tuser_id\t"]
            .iter()
            .any(|header| start.starts_with(header))
            || is_line()
    }

    fn table(&self) -> Option<&'static TableSchema> {
        Some(&TABLE)
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
        if line.has(COLUMNS) && line.has("labels") {
            line.note(COLUMNS, "stands next to labels; remove one of them");
            return None;
        }
        let answers = match line.has(COLUMNS) {
            true => in_columns(&mut line, options)?,
            false => in_labels(&mut line)?,
        };
        for (question, value) in answers {
            match value {
                Some(value) => item.answers.push(PersonAnswer {
                    question,
                    rater: Some(rater.clone()),
                    value,
                    note: String::new(),
                    created_ms: None,
                }),
                None => item.add_empty(Some(&question), Some(&rater)),
            }
        }
        Some(item)
    }

    fn choices(&self) -> &'static [(&'static str, Outcome)] {
        &[("A", Outcome::A), ("B", Outcome::B), (TIE, Outcome::Tie)]
    }
}

fn in_labels(line: &mut ObjectReader<'_, '_>) -> Option<Vec<Answered>> {
    let labels = line.object("labels")?;
    let by_question: Vec<(String, &RawValue)> = labels
        .members()
        .map(|(question, value)| (question.to_owned(), value))
        .collect();
    let answers = by_question.into_iter().filter_map(|(question, value)| {
        let answer = line.read(&format!("labels.{question}"), value, answer_value)?;
        Some((question, answer))
    });
    Some(answers.collect())
}

fn in_columns(line: &mut ObjectReader<'_, '_>, options: &AnswerOptions) -> Option<Vec<Answered>> {
    let columns = line.object(COLUMNS)?;
    let columns: Vec<(String, Option<String>)> = columns
        .members()
        .map(|(column, value)| (column.to_owned(), string(value).ok()))
        .collect();
    let mut questions: Vec<(String, Vec<(String, String)>)> = Vec::new();
    for (column, cell) in columns {
        let Some((question, label)) = question_and_label(&column, options) else {
            if cell.is_some() {
                let what = "has several dots, one of which is between a question and its label; name \
                            the question with --question";
                line.note(&column, what);
            }
            continue;
        };
        if label == SPANS {
            continue;
        }
        let known = questions.iter().position(|(of, _)| of == question);
        let at = known.unwrap_or_else(|| {
            questions.push((question.to_owned(), Vec::new()));
            questions.len() - 1
        });
        let (_, labels) = &mut questions[at];
        labels.extend(cell.map(|cell| (label.to_owned(), cell)));
    }
    let answered = |(question, mut labels): (String, Vec<(String, String)>)| {
        // With a label, the column of a question repeats it.
        if labels.iter().any(|(label, _)| !label.is_empty()) {
            labels.retain(|(label, _)| !label.is_empty());
        }
        let selected = |(label, _): &(String, String)| label.is_empty() || label == SELECTION;
        let answer = match labels.iter().position(selected) {
            Some(at) => Some(AnswerValue::One(labels.swap_remove(at).1)),
            None => {
                let labels = labels.iter();
                chosen(
                    labels
                        .filter_map(|(label, cell)| choice(label, cell))
                        .collect(),
                )
            }
        };
        (question, answer)
    };
    Some(questions.into_iter().map(answered).collect())
}

/// The question of a column and its label, which is empty if the column has none; `None` if several
/// dots may be between them.
fn question_and_label<'a>(column: &'a str, options: &AnswerOptions) -> Option<(&'a str, &'a str)> {
    if let Some(question) = &options.question
        && let Some(rest) = column.strip_prefix(question.as_str())
        && (rest.is_empty() || rest.starts_with('.'))
    {
        let label = rest.strip_prefix('.').unwrap_or_default();
        return Some((&column[..question.len()], label));
    }
    match column.split_once('.') {
        None => Some((column, "")),
        Some((_, label)) if label.contains('.') && options.question.is_none() => None,
        parts => parts,
    }
}

/// The choice that a value of a label stands for: the label if the value repeats it or is `true`, and
/// none if it is falsy. Another value, such as the position of a slider, does not choose the label;
/// the answer then consists of both.
fn choice(label: &str, value: &str) -> Option<String> {
    if value == label || value.eq_ignore_ascii_case("true") {
        return Some(label.to_owned());
    }
    let is_falsy = matches!(value, "" | "0") || value.eq_ignore_ascii_case("false");
    (!is_falsy).then(|| format!("{label}: {value}"))
}

/// The answer that consists of these labels.
fn chosen(mut labels: Vec<String>) -> Option<AnswerValue> {
    match labels.len() {
        0 => None,
        1 => labels.pop().map(AnswerValue::One),
        _ => {
            let labels = labels.into_iter().map(|label| (label, None));
            Some(AnswerValue::List(labels.collect()))
        }
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
    let mut choices = Vec::new();
    for (label, value) in &members {
        let value = match kind(value) {
            "null" => continue,
            "a string" => string(value)?,
            _ => value.get().to_owned(),
        };
        choices.extend(choice(label, &value));
    }
    Ok(chosen(choices))
}

fn scalar(value: &RawValue) -> Result<String, ValueError> {
    match kind(value) {
        "a number" => Ok(value.get().to_owned()),
        _ => string(value),
    }
}
