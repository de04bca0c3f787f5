//! Votes of an arena, as LMSYS writes them: objects with `question_id`, `model_a`, `model_b`,
//! `winner` and `judge`, and the conversations of both models.
//!
//! A question is a query, and the answers of models are its documents, which are named after the
//! models. A vote is about the first `turn` turns of the conversations. `judge` is a person's name;
//! a list, such as `["gpt-4","pair-v2"]`, is a model and its prompt, which is refused.

use super::exported_pairs::{ExportedChoice, ExportedItem, ExportedPair, WrittenPairs};
use super::pair_tool::{PairAnswer, PairInfo, PairTool};
use crate::domain::vote::Outcome;
use crate::formats::answers::{AnswerOptions, ItemName, TIE, no_answers_of};
use crate::formats::json::{ValueError, kind, number, string};
use crate::formats::json_scan::first_members;
use crate::formats::jsonl;
use crate::formats::lines::TextLine;
use crate::formats::listed::FormatNames;
use crate::formats::object::ObjectReader;
use crate::formats::problem::{Problem, quoted};
use crate::formats::records::LineRecords;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::BufRead;
use std::ops::RangeInclusive;

static INFO: PairInfo = PairInfo {
    names: FormatNames {
        name: "arena",
        describe: "votes of an arena (LMSYS)",
        looks_like: "rows with \"model_a\" and \"winner\"",
    },
    written: Some(WrittenPairs {
        file_words: "JSON (.json)",
        endings: &["json"],
        items: rows,
        has_note: is_both_bad,
        has_time: |choice| tstamp(choice).is_some(),
    }),
};

const MODEL_A: &str = "model_a";
const MODEL_B: &str = "model_b";
const TIE_BOTH_BAD: &str = "tie (bothbad)";

/// The note on a tie of two bad answers.
const BOTH_BAD: &str = "both are bad";

pub(super) struct Arena;

impl PairTool for Arena {
    fn info(&self) -> &PairInfo {
        &INFO
    }

    fn recognizes(&self, start: &str) -> bool {
        let members = first_members(start.strip_prefix('[').unwrap_or(start));
        let has = |name: &str| members.iter().any(|(is, _)| is == name);
        has("model_a") && has("model_b") && (has("winner") || start.contains("\"winner\""))
    }

    fn read(
        &self,
        reader: &mut dyn BufRead,
        file: &str,
        options: &AnswerOptions,
        found: &mut dyn FnMut(Result<PairAnswer, Problem>),
    ) -> usize {
        let mut others = BTreeSet::new();
        let parse = |line: &TextLine<'_>| {
            jsonl::record(line, "vote", |row| vote(row, options, &mut others)).map(Some)
        };
        let mut is_met = options.rater.is_none();
        let mut records = LineRecords::new(reader, file, parse);
        while let Some(record) = records.next() {
            let line = records.line();
            match record {
                Ok(None) => {}
                Ok(Some(vote)) => {
                    is_met = true;
                    found(Ok(PairAnswer { line, ..vote }));
                }
                Err(problem) => found(Err(problem)),
            }
        }
        drop(records);
        if let (false, Some(wanted)) = (is_met, &options.rater) {
            found(Err(no_answers_of(file, wanted, &others)));
        }
        0
    }
}

/// The vote in an object, whose line is not known here; `None` inside if it is by somebody else than
/// the wanted person, who joins `others`.
fn vote(
    mut row: ObjectReader<'_, '_>,
    options: &AnswerOptions,
    others: &mut BTreeSet<String>,
) -> Option<Option<PairAnswer>> {
    let judge = row.required("judge");
    if let Some(judge) = judge
        && options.rater.is_some()
    {
        let name = string(judge).ok();
        if !options.wants(name.as_deref()) {
            others.extend(name);
            return Some(None);
        }
    }
    let question = row.identifier("question_id");
    let (model_a, model_b) = (row.text("model_a"), row.text("model_b"));
    if model_a.is_some() && model_a == model_b {
        row.note("model_b", "is the same model as model_a");
    }
    let winner = row.required("winner");
    let winner = winner.and_then(|value| row.read("winner", value, winner_of));
    let judge = judge.and_then(|value| row.read("judge", value, voter));
    let turn = row.nullable("turn", turn_number).unwrap_or(1);
    let created_ms = row.nullable("tstamp", seconds);
    let mut said = |name: &str| {
        let value = row.nullable(name, |value| turns(value, turn))?;
        Some(value)
    };
    let (a, b) = (said("conversation_a"), said("conversation_b"));
    if let (Some(Some(a)), Some(Some(b))) = (&a, &b)
        && a.question != b.question
    {
        row.note(
            "conversation_b",
            "begins with other questions than conversation_a",
        );
    }
    let (a, b) = (a.flatten(), b.flatten());
    let asked = a
        .as_ref()
        .or(b.as_ref())
        .map(|turns| turns.question.clone());
    let (choice, note) = winner?;
    let by = judge?;
    let question = question?;
    let document = |model: String, turns: Option<Turns>| ItemName {
        name: model,
        is_id: true,
        text: turns.map(|turns| turns.answer),
    };
    Some(Some(PairAnswer {
        line: 0,
        query: ItemName {
            // Later turns are other questions.
            name: match turn {
                1 => question,
                turn => format!("{question}#{turn}"),
            },
            is_id: false,
            text: asked,
        },
        a: document(model_a?, a),
        b: document(model_b?, b),
        by,
        choice,
        note: note.to_owned(),
        created_ms,
    }))
}

fn winner_of(value: &RawValue) -> Result<(Outcome, &'static str), ValueError> {
    match string(value)?.as_str() {
        MODEL_A => Ok((Outcome::A, "")),
        MODEL_B => Ok((Outcome::B, "")),
        TIE => Ok((Outcome::Tie, "")),
        TIE_BOTH_BAD => Ok((Outcome::Tie, BOTH_BAD)),
        other => Err(ValueError::expected(
            "model_a, model_b, tie or tie (bothbad)",
            quoted(other),
        )),
    }
}

/// The name of the person. A model is refused: which answer it saw first is unknown, so its votes
/// would invent a position.
fn voter(value: &RawValue) -> Result<String, ValueError> {
    if kind(value) == "an array" {
        return Err(ValueError::expected(
            "the name of a person",
            "a model; the file does not say which answer it saw first, so its vote would show a \
             position bias that nobody measured; leave such rows out",
        ));
    }
    let name = string(value)?;
    if name.trim().is_empty() {
        return Err(ValueError::Empty);
    }
    Ok(name)
}

fn turn_number(value: &RawValue) -> Result<usize, ValueError> {
    match number(value)? {
        turn if turn.fract() == 0.0 && (1.0..=1_000.0).contains(&turn) => Ok(turn as usize),
        _ => Err(ValueError::expected(
            "a number of turns from 1",
            quoted(value.get()),
        )),
    }
}

/// Times of votes, in seconds since the Unix epoch.
const SECONDS: RangeInclusive<f64> = 0.0..=253_402_300_799.0;

fn seconds(value: &RawValue) -> Result<i64, ValueError> {
    match number(value)? {
        seconds if SECONDS.contains(&seconds) => Ok((seconds * 1e3).round() as i64),
        _ => Err(ValueError::expected(
            "seconds since 1970",
            quoted(value.get()),
        )),
    }
}

/// The first turns of a conversation.
struct Turns {
    question: String,
    answer: String,
}

#[derive(serde::Deserialize)]
struct Message {
    role: String,
    content: String,
}

/// The first `count` turns; `None` if the conversation is left out.
fn turns(value: &RawValue, count: usize) -> Result<Option<Turns>, ValueError> {
    const EXPECTED: &str = "a list of messages with role and content";
    let messages: Vec<Message> = serde_json::from_str(value.get())
        .map_err(|_| ValueError::expected(EXPECTED, kind(value)))?;
    if messages.is_empty() {
        return Ok(None);
    }
    let of = |role: &str| -> Option<String> {
        let said = messages.iter().filter(|message| message.role == role);
        let said: Vec<&str> = said
            .take(count)
            .map(|message| message.content.as_str())
            .collect();
        (said.len() == count).then(|| said.join("\n\n"))
    };
    match (of("user"), of("assistant")) {
        (Some(question), Some(answer)) if !question.trim().is_empty() => {
            Ok(Some(Turns { question, answer }))
        }
        _ => Err(ValueError::expected(
            "as many messages of user and assistant as turns",
            "fewer",
        )),
    }
}

/// Whether a choice is a tie of two bad answers, the only note of an arena.
fn is_both_bad(choice: &ExportedChoice<'_>) -> bool {
    choice.choice == Outcome::Tie && choice.note == Some(BOTH_BAD)
}

/// The time of a choice in seconds since the Unix epoch; `None` if votes cannot have it.
fn tstamp(choice: &ExportedChoice<'_>) -> Option<f64> {
    let seconds = choice.created_ms as f64 / 1e3;
    SECONDS.contains(&seconds).then_some(seconds)
}

/// A row for each choice, about conversations of one turn. Scripts for arenas read only votes of
/// people who did not know the models.
fn rows(pair: &ExportedPair<'_>) -> Vec<Value> {
    let conversation = |document: ExportedItem<'_>| {
        json!([
            {"role": "user", "content": pair.query.text},
            {"role": "assistant", "content": document.text},
        ])
    };
    let row = |choice: &ExportedChoice<'_>| {
        let winner = match choice.choice {
            Outcome::A => MODEL_A,
            Outcome::B => MODEL_B,
            Outcome::Tie if is_both_bad(choice) => TIE_BOTH_BAD,
            Outcome::Tie => TIE,
        };
        json!({
            "question_id": pair.query.id,
            "model_a": pair.a.id,
            "model_b": pair.b.id,
            "winner": winner,
            "judge": choice.by,
            "turn": 1,
            "anony": true,
            "conversation_a": conversation(pair.a),
            "conversation_b": conversation(pair.b),
            "tstamp": tstamp(choice),
        })
    };
    pair.choices.iter().map(row).collect()
}
