//! Choices between two documents in the exports of annotation tools.

use super::exported_pairs::{ExportedChoice, ExportedPair, WrittenPairs};
use super::pair_tool::{PairAnswer, PairInfo, PairTool};
use crate::domain::vote::Outcome;
use crate::formats::answers::{
    AnswerOptions, AnswerTool, AnsweredPair, Argilla, COMMENT, LabelStudio, Potato, TIE,
    read_answers,
};
use crate::formats::listed::FormatNames;
use crate::formats::problem::Problem;
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use std::io::BufRead;

/// The question that exported choices answer.
const QUESTION: &str = "better";

/// Choices in the export of an annotation tool.
pub(super) struct AnnotatedPairs {
    tool: &'static dyn AnswerTool,
    info: PairInfo,
}

pub(super) static LABEL_STUDIO: AnnotatedPairs = AnnotatedPairs {
    tool: &LabelStudio,
    info: PairInfo {
        names: FormatNames {
            name: "label-studio",
            describe: "choices between two documents (Label Studio)",
            looks_like: "tasks with \"annotations\", or JSON-MIN",
        },
        written: Some(WrittenPairs {
            file_words: "JSON (.json)",
            endings: &["json"],
            items: label_studio_task,
            has_note: |_| true,
            has_time: |choice| moment(choice).is_some(),
        }),
    },
};

pub(super) static ARGILLA: AnnotatedPairs = AnnotatedPairs {
    tool: &Argilla,
    info: PairInfo {
        names: FormatNames {
            name: "argilla",
            describe: "choices between two documents (Argilla)",
            looks_like: "records with \"fields\" and \"responses\"",
        },
        written: Some(WrittenPairs {
            file_words: "JSON (.json)",
            endings: &["json"],
            items: argilla_record,
            has_note: |_| true,
            has_time: |_| false,
        }),
    },
};

pub(super) static POTATO: AnnotatedPairs = AnnotatedPairs {
    tool: &Potato,
    info: PairInfo {
        names: FormatNames {
            name: "potato",
            describe: "choices between two documents (Potato)",
            looks_like: "lines or a table with \"instance_id\"",
        },
        written: None,
    },
};

impl PairTool for AnnotatedPairs {
    fn info(&self) -> &PairInfo {
        &self.info
    }

    fn recognizes(&self, start: &str) -> bool {
        self.tool.recognizes(start)
    }

    fn read(
        &self,
        reader: &mut dyn BufRead,
        file: &str,
        options: &AnswerOptions,
        found: &mut dyn FnMut(Result<PairAnswer, Problem>),
    ) -> usize {
        let answers = read_answers(self.tool, reader, file, options, &mut |problem| {
            found(Err(problem));
        });
        for pair in answers.pairs(file, self.tool, options) {
            found(pair.and_then(|pair| answer(pair, file)));
        }
        answers.unanswered
    }
}

fn answer(pair: AnsweredPair, file: &str) -> Result<PairAnswer, Problem> {
    let by = pair.rater.filter(|rater| !rater.trim().is_empty());
    let by = by.ok_or_else(|| {
        let what = "does not say who has chosen, which a verdict needs";
        Problem::new(file, Some(pair.line), what)
    })?;
    Ok(PairAnswer {
        line: pair.line,
        query: pair.query,
        a: pair.a,
        b: pair.b,
        by,
        choice: pair.choice,
        note: pair.note,
        created_ms: pair.created_ms,
    })
}

impl ExportedPair<'_> {
    /// The texts that people read.
    fn texts(&self) -> Map<String, Value> {
        let items = [("query", self.query), ("a", self.a), ("b", self.b)];
        let texts = items.map(|(name, item)| (name.to_owned(), json!(item.text)));
        texts.into_iter().collect()
    }

    fn ids(&self) -> Map<String, Value> {
        let items = [("query_id", self.query), ("a_id", self.a), ("b_id", self.b)];
        let ids = items.map(|(name, item)| (name.to_owned(), json!(item.id)));
        ids.into_iter().collect()
    }
}

/// The answer with this meaning: the name of a field, or a tie.
fn answer_name(choice: Outcome) -> &'static str {
    match choice {
        Outcome::A => "a",
        Outcome::Tie => TIE,
        Outcome::B => "b",
    }
}

/// The time of a choice; `None` if no calendar has it.
fn moment(choice: &ExportedChoice<'_>) -> Option<Timestamp> {
    Timestamp::from_millisecond(choice.created_ms).ok()
}

/// A task with an annotation of each person by the tags `Choices` and `TextArea`; `Pairwise` has no
/// ties. Texts come last, so that the beginning of the file shows its format.
fn label_studio_task(pair: &ExportedPair<'_>) -> Vec<Value> {
    let annotations = pair.choices.iter().map(|choice| {
        let mut result = vec![json!({
            "from_name": QUESTION,
            "to_name": "a",
            "type": "choices",
            "value": {"choices": [answer_name(choice.choice)]},
        })];
        result.extend(choice.note.map(|note| {
            json!({
                "from_name": COMMENT,
                "to_name": "a",
                "type": "textarea",
                "value": {"text": [note]},
            })
        }));
        json!({
            "completed_by": label_studio_person(choice.by),
            "result": result,
            "was_cancelled": false,
            // Label Studio takes an annotation as the truth unless it says otherwise.
            "ground_truth": false,
            "created_at": moment(choice).map(|time| time.to_string()),
        })
    });
    let annotations: Vec<Value> = annotations.collect();
    let mut data = pair.ids();
    data.extend(pair.texts());
    vec![json!({"annotations": annotations, "data": data})]
}

/// A person: the number of a user, or an address.
fn label_studio_person(name: &str) -> Value {
    match name.parse::<u32>() {
        Ok(user) if user.to_string() == name => json!(user),
        _ => json!({"email": name}),
    }
}

/// A record with the responses of all people, before its texts. Without a status, Argilla takes a
/// response as a draft.
fn argilla_record(pair: &ExportedPair<'_>) -> Vec<Value> {
    let mut responses = Map::new();
    let response =
        |value: &str, by: &str| json!({"value": value, "user_id": by, "status": "submitted"});
    let choices = pair.choices.iter();
    let answers = choices
        .clone()
        .map(|choice| response(answer_name(choice.choice), choice.by));
    responses.insert(QUESTION.to_owned(), answers.collect());
    let comments = choices.filter_map(|choice| Some(response(choice.note?, choice.by)));
    let comments: Vec<Value> = comments.collect();
    if !comments.is_empty() {
        responses.insert(COMMENT.to_owned(), json!(comments));
    }
    vec![json!({
        "id": json!([pair.query.id, pair.a.id, pair.b.id]).to_string(),
        "responses": responses,
        "metadata": pair.ids(),
        "fields": pair.texts(),
        "suggestions": {},
        "vectors": {},
    })]
}
