//! The form of answer requested from a judge, in words and as a schema.

use super::inputs::known_inputs;
use crate::domain::adjudication::{EvidenceLabel, PickMode};
use crate::judge::presented::RerankKind;
use serde_json::{Value, json};
use strum::{EnumString, IntoStaticStr};

const PAIR: &[&str] = &["query", "a", "b", "mark", "cut_a", "cut_b", "query_mark"];
const LINEUP: &[&str] = &["query", "documents", "task", "mark"];
const LINK: &[&str] = &["query_a", "a", "query_b", "b", "mark", "cut_a", "cut_b"];
const REVISION: &[&str] = &["prompt", "judgments", "task", "mark"];
const SINGLE: &[&str] = &["query", "document", "mark", "cut"];

/// Maximum number of thoughts and maximum number of characters of each, for servers that accept
/// bounds in a schema. The prompts ask for two to six short points.
const THOUGHTS: usize = 8;
const THOUGHT: usize = 400;

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
    /// `{"ranking": [2, …]}`: every number once.
    Ranking,
    /// `{"selected": [2, …]}`: as many numbers as requested.
    Selection,
    /// `{"winner": "A" | "B"}`
    Winner,
    /// `{"winner": "A" | "B"}`, for two documents of two queries.
    Link,
    /// `{"best": 2}`
    Best,
    /// `{"best": 2, "worst": 1}`
    BestWorst,
    /// `{"grade": 0 | 1 | 2 | 3}`
    Grade,
    /// One word: Yes or No.
    YesNo,
    /// `{"prompt": "…"}`: the revised instructions of a judge.
    Revision,
}

impl AnswerForm {
    /// The form of picks in this mode.
    pub fn of(way: PickMode) -> Self {
        match way {
            PickMode::Exactly | PickMode::AnyNumber => Self::Slots,
            PickMode::PerDocument => Self::Verdicts,
        }
    }

    /// The form of answers to reranking questions of this kind.
    pub fn of_rerank(kind: RerankKind) -> Self {
        match kind {
            RerankKind::Rank => Self::Ranking,
            RerankKind::Compare => Self::Winner,
            RerankKind::Link => Self::Link,
            RerankKind::Select => Self::Selection,
            RerankKind::Best => Self::Best,
            RerankKind::BestWorst => Self::BestWorst,
            RerankKind::YesNo => Self::YesNo,
            RerankKind::Grade => Self::Grade,
            RerankKind::Revise => Self::Revision,
        }
    }

    /// Whether it answers a battle.
    pub fn is_of_battles(self) -> bool {
        matches!(self, Self::Score | Self::Choice | Self::Letter)
    }

    /// Whether the answer is one word, whose probabilities are read if the server returns them.
    pub fn is_word(self) -> bool {
        matches!(self, Self::Letter | Self::YesNo)
    }

    /// The name in a template's first line.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The JSON schema of the answer, in the subset that all providers support; a letter has none.
    pub fn schema(self) -> Option<Value> {
        let numbers = || json!({"type": "array", "items": {"type": "integer"}});
        let last = match self {
            Self::Score => json!({"score": {"type": "number"}}),
            Self::Choice => json!({"choice": {"type": "string", "enum": ["A", "B", "tie"]}}),
            Self::Slots => json!({"slots": numbers()}),
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
            // Without thoughts: a method asks hundreds of these questions, and output tokens
            // dominate the cost.
            Self::Ranking => json!({"ranking": numbers()}),
            Self::Selection => json!({"selected": numbers()}),
            Self::Winner | Self::Link => json!({"winner": {"type": "string", "enum": ["A", "B"]}}),
            Self::Best => json!({"best": {"type": "integer"}}),
            Self::BestWorst => json!({"best": {"type": "integer"}, "worst": {"type": "integer"}}),
            Self::Grade => json!({"grade": {"type": "integer"}}),
            Self::Revision => json!({"prompt": {"type": "string"}}),
            Self::Letter | Self::YesNo => return None,
        };
        let (mut properties, mut required) = match self {
            Self::Score | Self::Choice | Self::Slots | Self::Verdicts => (
                json!({"thoughts": {"type": "array", "items": {"type": "string"}}}),
                vec![json!("thoughts")],
            ),
            _ => (json!({}), Vec::new()),
        };
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

    /// The schema with bounds on the thoughts, for servers of small models, which tend to repeat a
    /// point or a character forever. Servers that reject the bounds get the plain schema.
    pub fn bounded_schema(self, refused: bool) -> Option<Value> {
        let mut schema = self.schema()?;
        let thoughts = schema.pointer_mut("/properties/thoughts");
        if let Some(thoughts) = thoughts.filter(|_| !refused) {
            *thoughts = json!({
                "type": "array",
                "items": {"type": "string", "maxLength": THOUGHT},
                "maxItems": THOUGHTS,
            });
        }
        Some(schema)
    }

    /// Whether it is about two documents of one query.
    pub(super) fn is_of_pairs(self) -> bool {
        self.names() == PAIR
    }

    /// Whether its prompts may show fields of the query, and titles and metadata of two documents.
    pub(super) fn takes_inputs(self) -> bool {
        self.is_of_pairs() || self.names() == LINEUP
    }

    /// The placeholders that a case must contain or may contain; [`super::inputs`] has others.
    pub fn names(self) -> &'static [&'static str] {
        match self {
            Self::Slots
            | Self::Verdicts
            | Self::Ranking
            | Self::Selection
            | Self::Best
            | Self::BestWorst => LINEUP,
            Self::Grade | Self::YesNo => SINGLE,
            Self::Link => LINK,
            Self::Revision => REVISION,
            Self::Score | Self::Choice | Self::Letter | Self::Winner => PAIR,
        }
    }

    /// All placeholders that a prompt may contain, those of the texts first.
    pub fn placeholders(self) -> impl Iterator<Item = &'static str> {
        let inputs = known_inputs(self.is_of_pairs()).split(", ");
        self.names().iter().copied().chain(inputs)
    }

    /// The reminder appended to the message if an answer was unreadable.
    pub(super) fn reminder(self) -> &'static str {
        match self {
            Self::Score => {
                "An earlier answer to this message could not be read. Answer with exactly one JSON \
                 object, \
                 {\"thoughts\": [\"...\"], \"score\": number from -1 to 1}, and no other text."
            }
            Self::Choice => {
                "An earlier answer to this message could not be read. Answer with exactly one JSON \
                 object, \
                 {\"thoughts\": [\"...\"], \"choice\": \"A\", \"B\" or \"tie\"}, and no other text."
            }
            Self::Letter => {
                "An earlier answer to this message could not be read. Answer with exactly one \
                 letter: A, B or T."
            }
            Self::Slots => {
                "An earlier answer to this message broke the rules. Answer with exactly one JSON \
                 object of the members \
                 \"thoughts\" and \"slots\", and no other text; keep to the numbers that exist, to \
                 how many are asked \
                 for, and name none twice."
            }
            Self::Verdicts => {
                "An earlier answer to this message broke the rules. Answer with exactly one JSON \
                 object of the members \
                 \"thoughts\" and \"verdicts\", and no other text; give each document one verdict, \
                 copy each sentence word \
                 for word from its own document, and put null for it where the verdict \
                 is \"not_enough\"."
            }
            Self::Ranking => {
                "An earlier answer to this message broke the rules. Answer with exactly one JSON \
                 object, \
                 {\"ranking\": [numbers]}, and no other text; name every number that exists once, \
                 and no other."
            }
            Self::Selection => {
                "An earlier answer to this message broke the rules. Answer with exactly one JSON \
                 object, \
                 {\"selected\": [numbers]}, and no other text; keep to the numbers that exist, to \
                 how many are asked for, \
                 and name none twice."
            }
            Self::Winner | Self::Link => {
                "An earlier answer to this message could not be read. Answer with exactly one JSON \
                 object, \
                 {\"winner\": \"A\"} or {\"winner\": \"B\"}, and no other text."
            }
            Self::Best => {
                "An earlier answer to this message broke the rules. Answer with exactly one JSON \
                 object, \
                 {\"best\": number}, and no other text; the number is one of those that exist."
            }
            Self::BestWorst => {
                "An earlier answer to this message broke the rules. Answer with exactly one JSON \
                 object, \
                 {\"best\": number, \"worst\": number}, and no other text; the numbers are two \
                 different ones of those that exist."
            }
            Self::Grade => {
                "An earlier answer to this message could not be read. Answer with exactly one JSON \
                 object, \
                 {\"grade\": 0, 1, 2 or 3}, and no other text."
            }
            Self::Revision => {
                "An earlier answer to this message broke the rules. Answer with exactly one JSON \
                 object, {\"prompt\": \"...\"}, and no other text; it holds the complete \
                 instructions, without new text in double braces."
            }
            Self::YesNo => {
                "An earlier answer to this message could not be read. Answer with exactly one \
                 word: Yes or No."
            }
        }
    }
}
