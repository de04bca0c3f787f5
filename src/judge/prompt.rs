//! Prompt templates: our own wording, or the user's, filled with a case so that no document can pose as instructions.
//!
//! A template is a text file: a line `answer: score`, `answer: choice` or `answer: letter`, a line `=== system ===`, the
//! standing instructions, a line `=== case ===`, and the message of one case. In the message, `{{query}}`, `{{a}}` and
//! `{{b}}` stand for the texts, `{{mark}}` for twelve digits that cannot be known to who wrote a text (they are a hash
//! of all three), and `{{cut_a}}`, `{{cut_b}}` for a remark on a document that was cut. Texts are put in once and never
//! looked at again, so that a `{{b}}` inside a document stays what it is.
//!
//! The templates for picks begin with `answer: slots` or, for a verdict on each document, `answer: verdicts`; their
//! messages have `{{query}}`, `{{documents}}`, `{{task}}` and `{{mark}}`.

mod document;
mod pool;

pub use document::DocumentCut;
pub(super) use pool::task_text;

use super::{JudgePrompt, PresentedPair};
use crate::domain::adjudication::{EvidenceLabel, PickMode};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::borrow::Cow;

/// The template that asks for a number.
pub const SCORE: &str = include_str!("../../assets/prompts/score.md");
/// The template that asks for A, B or a tie, with reasons.
pub const CHOICE: &str = include_str!("../../assets/prompts/choice.md");
/// The template that asks for one letter: for small models whose log-probabilities are read.
pub const LETTER: &str = include_str!("../../assets/prompts/letter.md");
/// The template that asks for the relevant documents of a pool.
pub const PICK: &str = include_str!("../../assets/prompts/pick.md");
/// The template that asks for a verdict on every document of a pool.
pub const VERDICTS: &str = include_str!("../../assets/prompts/verdicts.md");

/// Part of every prompt hash; goes up when the code below changes what is sent for the same template.
const LAYOUT: &str = "overrule prompt layout 1";
const SYSTEM: &str = "=== system ===";
const CASE: &str = "=== case ===";
/// What may stand in a case; the texts come first and must.
const TEXTS: usize = 3;
const PAIR: &[&str] = &["query", "a", "b", "mark", "cut_a", "cut_b"];
const LINEUP: &[&str] = &["query", "documents", "task", "mark"];

/// What a template asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AnswerForm {
    /// `{"thoughts": […], "score": -1..1}`
    Score,
    /// `{"thoughts": […], "choice": "A" | "B" | "tie"}`
    Choice,
    /// One letter: A, B or T.
    Letter,
    /// `{"thoughts": […], "slots": [1, …]}`
    Slots,
    /// `{"thoughts": […], "verdicts": [{"slot": 1, "sentence": "…" | null, "verdict": "supports" | …}, …]}`
    Verdicts,
}

impl AnswerForm {
    const ALL: [Self; 5] = [
        Self::Score,
        Self::Choice,
        Self::Letter,
        Self::Slots,
        Self::Verdicts,
    ];

    /// What picks are asked for in this way.
    pub fn of(way: PickMode) -> Self {
        match way {
            PickMode::Exactly | PickMode::AnyNumber => Self::Slots,
            PickMode::PerDocument => Self::Verdicts,
        }
    }

    /// The word of a template's first line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Score => "score",
            Self::Choice => "choice",
            Self::Letter => "letter",
            Self::Slots => "slots",
            Self::Verdicts => "verdicts",
        }
    }

    /// The JSON schema of the answer, in the subset that all providers take; a letter has none.
    pub fn schema(self) -> Option<Value> {
        let last = match self {
            Self::Score => json!({"score": {"type": "number"}}),
            Self::Choice => json!({"choice": {"type": "string", "enum": ["A", "B", "tie"]}}),
            Self::Slots => json!({"slots": {"type": "array", "items": {"type": "integer"}}}),
            Self::Verdicts => {
                let words = EvidenceLabel::ALL.map(EvidenceLabel::name);
                let item = json!({
                    "slot": {"type": "integer"},
                    "sentence": {"type": ["string", "null"]},
                    "verdict": {"type": "string", "enum": words},
                });
                json!({"verdicts": {"type": "array", "items": {
                    "type": "object",
                    "properties": item,
                    "required": ["slot", "sentence", "verdict"],
                    "additionalProperties": false,
                }}})
            }
            Self::Letter => return None,
        };
        let mut properties = json!({"thoughts": {"type": "array", "items": {"type": "string"}}});
        let mut required = vec![json!("thoughts")];
        if let (Some(properties), Value::Object(last)) = (properties.as_object_mut(), last) {
            required.extend(last.keys().map(|key| json!(key)));
            properties.extend(last);
        }
        Some(json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        }))
    }

    /// What may stand in a case.
    fn names(self) -> &'static [&'static str] {
        match self {
            Self::Slots | Self::Verdicts => LINEUP,
            _ => PAIR,
        }
    }

    /// What is appended to the message when an answer could not be read.
    fn reminder(self) -> &'static str {
        match self {
            Self::Score => {
                "An earlier answer to this message could not be read. Answer with exactly one JSON object, \
                 {\"thoughts\": [\"...\"], \"score\": number from -1 to 1}, and no other text."
            }
            Self::Choice => {
                "An earlier answer to this message could not be read. Answer with exactly one JSON object, \
                 {\"thoughts\": [\"...\"], \"choice\": \"A\", \"B\" or \"tie\"}, and no other text."
            }
            Self::Letter => {
                "An earlier answer to this message could not be read. Answer with exactly one letter: A, B or T."
            }
            Self::Slots => {
                "An earlier answer to this message broke the rules. Answer with exactly one JSON object of the members \
                 \"thoughts\" and \"slots\", and no other text; keep to the numbers that exist, to how many are asked \
                 for, and name none twice."
            }
            Self::Verdicts => {
                "An earlier answer to this message broke the rules. Answer with exactly one JSON object of the members \
                 \"thoughts\" and \"verdicts\", and no other text; give each document one verdict, copy each sentence word \
                 for word from its own document, and put null for it where the verdict is \"not_enough\"."
            }
        }
    }
}

/// Why a template cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// The first line is something else.
    #[error(
        "the prompt does not begin with \"answer: \" and one of score, choice, letter (for battles), slots, verdicts (for picks)"
    )]
    Answer,
    /// A divider is missing.
    #[error(
        "the prompt has no line {0:?}; it needs {SYSTEM:?} and {CASE:?}, each once, in this order"
    )]
    Divider(&'static str),
    /// A text is never shown.
    #[error("the prompt's case never mentions {{{{{0}}}}}")]
    Missing(&'static str),
    /// A placeholder that stands for nothing.
    #[error("the prompt mentions {{{{{name}}}}}, which stands for nothing; there are {known}")]
    Unknown {
        /// The placeholder.
        name: String,
        /// Those that stand for something.
        known: String,
    },
}

/// A prompt to be filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    /// What it asks for.
    pub answer: AnswerForm,
    /// The first 16 hexadecimal digits of a hash of its text: two prompts with one hash are one prompt.
    pub hash: String,
    system: String,
    case: Vec<TemplatePiece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum TemplatePiece {
    Text(String),
    Slot(usize),
}

impl Template {
    /// Reads a template.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
        let (first, rest) = text.split_once('\n').ok_or(TemplateError::Answer)?;
        let named = first.trim().strip_prefix("answer: ");
        let answer = AnswerForm::ALL
            .into_iter()
            .find(|answer| named == Some(answer.name()))
            .ok_or(TemplateError::Answer)?;
        let (_, rest) = divide(rest, SYSTEM).ok_or(TemplateError::Divider(SYSTEM))?;
        let (system, case) = divide(rest, CASE).ok_or(TemplateError::Divider(CASE))?;
        let names = answer.names();
        let case = pieces(case.trim(), names)?;
        let shown = |slot: &usize| case.contains(&TemplatePiece::Slot(*slot));
        if let Some(slot) = (0..TEXTS).find(|slot| !shown(slot)) {
            return Err(TemplateError::Missing(names[slot]));
        }
        let digest = Sha256::digest(format!("{LAYOUT}\n{text}"));
        Ok(Self {
            answer,
            hash: hex(&digest, 8),
            system: system.trim().to_owned(),
            case,
        })
    }

    /// The prompt for a case, its documents cut to `cut`. For a template that asks about two documents.
    pub fn fill(&self, case: &PresentedPair, cut: DocumentCut) -> JudgePrompt {
        let query = document::clean(&case.pool.query);
        let (a, said_a) = cut.apply(case.first_text());
        let (b, said_b) = cut.apply(case.second_text());
        let (a, b) = (document::clean(a), document::clean(b));
        let mark = mark(&[&query, &a, &b]);
        // In the order of the names.
        self.filled(&[query, a, b, mark.into(), said_a.into(), said_b.into()])
    }

    fn filled(&self, values: &[Cow<'_, str>]) -> JudgePrompt {
        let texts: usize = values.iter().map(|value| value.len()).sum();
        let mut user = String::with_capacity(texts + 2048);
        for piece in &self.case {
            match piece {
                TemplatePiece::Text(text) => user.push_str(text),
                TemplatePiece::Slot(name) => {
                    user.push_str(values.get(*name).map_or("", |value| value))
                }
            }
        }
        JudgePrompt {
            system: self.system.clone(),
            user,
            longer: false,
        }
    }

    /// The same message with a reminder of the form of the answer.
    pub fn remind(&self, prompt: &JudgePrompt) -> JudgePrompt {
        JudgePrompt {
            user: format!("{}\n\n{}", prompt.user, self.answer.reminder()),
            ..prompt.clone()
        }
    }
}

/// The texts before and after the line `divider`.
fn divide<'a>(text: &'a str, divider: &str) -> Option<(&'a str, &'a str)> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.trim_end() == divider {
            return Some((&text[..at], &text[at + line.len()..]));
        }
        at += line.len();
    }
    None
}

fn pieces(text: &str, names: &[&str]) -> Result<Vec<TemplatePiece>, TemplateError> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((name, after)) = after.split_once("}}") else {
            break;
        };
        let slot = names.iter().position(|known| *known == name.trim());
        let slot = slot.ok_or_else(|| TemplateError::Unknown {
            name: name.trim().to_owned(),
            known: names.join(", "),
        })?;
        found.push(TemplatePiece::Text(before.to_owned()));
        found.push(TemplatePiece::Slot(slot));
        rest = after;
    }
    found.push(TemplatePiece::Text(rest.to_owned()));
    Ok(found)
}

/// Twelve digits that stand in none of `texts`.
fn mark(texts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text.as_bytes());
    }
    let digest = hash.finalize();
    let mut mark = hex(&digest, 6);
    let mut salt = 0u32;
    while texts.iter().any(|text| text.contains(&mark)) {
        salt += 1;
        mark = hex(&Sha256::digest(format!("{mark}{salt}")), 6);
    }
    mark
}

/// The first `bytes` bytes in hexadecimal.
fn hex(digest: &[u8], bytes: usize) -> String {
    digest
        .iter()
        .take(bytes)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[cfg(test)]
mod tests;
