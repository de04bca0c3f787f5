//! What a judge is asked for: the form of its answer, in words and as a schema.

use crate::domain::adjudication::{EvidenceLabel, PickMode};
use serde_json::{Value, json};
use strum::{EnumString, IntoStaticStr};

const PAIR: &[&str] = &["query", "a", "b", "mark", "cut_a", "cut_b"];
const LINEUP: &[&str] = &["query", "documents", "task", "mark"];

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumString, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
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
    /// What picks are asked for in this way.
    pub fn of(way: PickMode) -> Self {
        match way {
            PickMode::Exactly | PickMode::AnyNumber => Self::Slots,
            PickMode::PerDocument => Self::Verdicts,
        }
    }

    /// The word of a template's first line.
    pub fn name(self) -> &'static str {
        self.into()
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
    pub(super) fn names(self) -> &'static [&'static str] {
        match self {
            Self::Slots | Self::Verdicts => LINEUP,
            _ => PAIR,
        }
    }

    /// What is appended to the message when an answer could not be read.
    pub(super) fn reminder(self) -> &'static str {
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
