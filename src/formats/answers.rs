//! People's answers in the exports of annotation tools: which item an answer is about, who gave it
//! and what it means.

mod argilla;
mod field_role;
mod item_fields;
mod label_studio;
mod meaning;
mod options;
mod potato;
mod tool;

pub(super) use argilla::Argilla;
pub use field_role::FieldRole;
pub use item_fields::ItemName;
pub(super) use label_studio::LabelStudio;
pub(super) use meaning::{AnsweredPair, GradedItem};
pub use options::{AnswerItems, AnswerOptions};
pub(super) use potato::Potato;
pub(super) use tool::{AnswerTool, COMMENT, TIE};

use super::jsonl;
use super::lines::TextLine;
use super::problem::{Problem, quoted};
use super::records::LineRecords;
use std::collections::BTreeSet;
use std::io::BufRead;
use tool::{AnsweredItem, EmptyAnswer, PlacedAnswer};

/// The answers of a file to one question.
#[derive(Default)]
pub(super) struct FoundAnswers {
    answers: Vec<PlacedAnswer>,
    /// Number of answers to the question that say nothing: missing, skipped, discarded or not
    /// submitted.
    pub(super) unanswered: usize,
}

/// Reads the answers of a file to one question. Calls `report` with each problem; `file` is the
/// file's name there.
pub(super) fn read_answers(
    tool: &dyn AnswerTool,
    reader: &mut dyn BufRead,
    file: &str,
    options: &AnswerOptions,
    report: &mut dyn FnMut(Problem),
) -> FoundAnswers {
    let mut found = FoundAnswers::default();
    let mut unanswered = Vec::new();
    let mut items: Vec<(u64, AnsweredItem)> = Vec::new();
    let mut others = BTreeSet::new();
    let parse = |line: &TextLine<'_>| {
        jsonl::record(line, tool.unit(), |object| tool.item(object, options)).map(Some)
    };
    let mut records = match tool.table() {
        Some(schema) => LineRecords::or_table(reader, file, schema, parse),
        None => LineRecords::new(reader, file, parse),
    };
    while let Some(record) = records.next() {
        let line = records.line();
        match record {
            Ok(item) => items.push((line, item)),
            Err(problem) => report(problem),
        }
    }
    let are_notes = items.iter().any(|(_, item)| item.has_question());
    for (line, mut item) in items {
        match are_notes {
            true => item.note_comments(),
            false => item.answer_comments(),
        }
        unanswered.append(&mut item.unanswered);
        others.extend(std::mem::take(&mut item.others));
        found.answers.extend(item.placed(line));
    }
    if let (Some(wanted), true) = (&options.rater, found.answers.is_empty()) {
        report(no_answers_of(file, wanted, &others));
        return FoundAnswers::default();
    }
    let questions: BTreeSet<&str> = found.answers.iter().map(PlacedAnswer::question).collect();
    let listed = |names: &BTreeSet<&str>| {
        let names: Vec<String> = names.iter().take(8).map(|name| quoted(name)).collect();
        names.join(", ")
    };
    let problem = match &options.question {
        Some(name) if !questions.contains(name.as_str()) => Some(format!(
            "holds no answers to the question {}; its questions are {}",
            quoted(name),
            listed(&questions)
        )),
        Some(_) => None,
        None if questions.len() > 1 => Some(format!(
            "holds answers to several questions: {}; name one of them with --question",
            listed(&questions)
        )),
        None => None,
    };
    if let Some(problem) = problem {
        report(Problem::new(file, None, problem));
        return FoundAnswers::default();
    }
    if let Some(name) = &options.question {
        found.answers.retain(|answer| answer.question() == name);
    }
    let counts = |empty: &&EmptyAnswer| {
        let of_question = match (&options.question, &empty.question) {
            (Some(wanted), Some(question)) => wanted == question,
            _ => true,
        };
        of_question && options.wants(empty.rater.as_deref())
    };
    found.unanswered = unanswered.iter().filter(counts).count();
    found
}

/// The problem that a file has no answers of a person.
pub(super) fn no_answers_of(file: &str, wanted: &str, people: &BTreeSet<String>) -> Problem {
    let names: Vec<String> = people.iter().take(8).map(|name| quoted(name)).collect();
    let people = match names.is_empty() {
        true => String::new(),
        false => format!("; its people are {}", names.join(", ")),
    };
    let what = format!("has no answers of {}{people}", quoted(wanted));
    Problem::new(file, None, what)
}

/// Reads the items of a tool's data file: JSON lines with an `id` and other fields. Calls `report` with
/// each problem.
pub fn read_items(
    reader: impl BufRead,
    file: &str,
    report: &mut dyn FnMut(Problem),
) -> AnswerItems {
    let parse = |line: &TextLine<'_>| {
        let read = jsonl::record(line, "item", |mut object| {
            let id = object.identifier("id");
            let fields: Vec<(String, String)> = object
                .members()
                .filter_map(|(name, value)| Some((name.to_owned(), item_fields::scalar(value)?)))
                .collect();
            Some((id?, fields))
        });
        read.map(Some)
    };
    let mut items = AnswerItems::new();
    let mut records = LineRecords::new(reader, file, parse);
    while let Some(record) = records.next() {
        let line = records.line();
        match record {
            Ok((id, fields)) => {
                if items.insert(id.clone(), fields).is_some() {
                    let what = format!("id: {} is on an earlier line too; keep one", quoted(&id));
                    report(Problem::new(file, Some(line), what));
                }
            }
            Err(problem) => report(problem),
        }
    }
    items
}

impl FoundAnswers {
    /// The grades of single documents.
    pub(super) fn grades<'a>(
        &'a self,
        file: &'a str,
        options: &'a AnswerOptions,
    ) -> impl Iterator<Item = Result<GradedItem, Problem>> + 'a {
        self.answers
            .iter()
            .map(move |answer| answer.in_file(file, answer.grade(options)))
    }

    /// The choices between two documents.
    pub(super) fn pairs<'a>(
        &'a self,
        file: &'a str,
        tool: &'a dyn AnswerTool,
        options: &'a AnswerOptions,
    ) -> impl Iterator<Item = Result<AnsweredPair, Problem>> + 'a {
        self.answers
            .iter()
            .map(move |answer| answer.in_file(file, answer.pair(tool, options)))
    }
}
