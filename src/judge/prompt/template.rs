//! Fills a template with a pair, a pool or some candidates, so that no document can pose as
//! instructions.

use super::answer_form::AnswerForm;
use super::document::{clean, truncated};
use crate::domain::adjudication::PickRequest;
use crate::domain::candidate_question::GradeScale;
use crate::domain::document_cut::DocumentCut;
use crate::domain::hex::{hex, short_hex};
use crate::judge::call::{Asking, JudgePrompt};
use crate::judge::metadata::MetadataFields;
use crate::judge::presented::{PresentedPair, PresentedPool, PresentedQuestion, RerankAsk};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::str::FromStr as _;

/// Part of every prompt hash; increment it when the code below changes the prompt for the same
/// template.
const LAYOUT: &str = "overrule prompt layout 1";
/// The same for the form in which metadata is shown.
const METADATA: &str = "metadata 1";
const SYSTEM: &str = "=== system ===";
/// The line before the message of a case.
pub const CASE: &str = "=== case ===";
/// Number of placeholders that a case must contain; they come first among the names.
const TEXTS: usize = 3;
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// The first line is invalid.
    #[error(
        "the prompt does not begin with \"answer: \" and one of score, choice, letter (for \
         battles), slots, verdicts (for picks), \
         ranking, selection, winner, best, grade, yesno (for reranking), link (for two queries)"
    )]
    Answer,
    /// A divider is missing.
    #[error(
        "the prompt has no line {0:?}; it needs {SYSTEM:?} and {CASE:?}, each once, in this order"
    )]
    Divider(&'static str),
    /// A text is never used.
    #[error("the prompt's case does not contain {{{{{0}}}}}")]
    Missing(&'static str),
    #[error(
        "the prompt contains {{{{{name}}}}}, which is not a placeholder; the placeholders are \
             {known}"
    )]
    Unknown {
        name: String,
        /// The valid placeholders.
        known: String,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    pub answer: AnswerForm,
    /// The first 16 hexadecimal digits of a hash of its text; prompts with equal hashes are
    /// identical.
    pub hash: String,
    /// Its text, with normalized line ends.
    text: String,
    /// The metadata that is shown with the documents.
    fields: Option<MetadataFields>,
    system: String,
    case: Vec<TemplatePiece>,
}

/// The text of a prompt, and the hash that identifies it in a judge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptText {
    pub hash: String,
    pub text: String,
    /// The metadata that is shown with the documents, as [`MetadataFields::canonical`] writes it.
    pub fields: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum TemplatePiece {
    Text(String),
    Slot(usize),
}

impl Template {
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
        let (first, rest) = text.split_once('\n').ok_or(TemplateError::Answer)?;
        let answer = first
            .trim()
            .strip_prefix("answer: ")
            .and_then(|name| AnswerForm::from_str(name).ok());
        let answer = answer.ok_or(TemplateError::Answer)?;
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
            hash: short_hex(&digest),
            system: system.trim().to_owned(),
            case,
            fields: None,
            text,
        })
    }

    /// Its text with its hash, as a project stores them.
    pub fn stored(&self) -> PromptText {
        PromptText {
            hash: self.hash.clone(),
            text: self.text.clone(),
            fields: self.fields.as_ref().map(MetadataFields::canonical),
        }
    }

    /// The template for documents with this metadata in front of their texts, which is another
    /// version of the prompt.
    #[must_use]
    pub fn with_metadata(self, fields: &MetadataFields) -> Self {
        let digest = Sha256::digest(format!("{METADATA}\n{}\n{}", self.hash, fields.canonical()));
        Self {
            hash: short_hex(&digest),
            fields: Some(fields.clone()),
            ..self
        }
    }

    /// The prompt for a case, with documents truncated to `cut`. For templates that ask about two
    /// documents.
    pub fn fill(&self, case: &PresentedPair, cut: DocumentCut) -> JudgePrompt {
        self.fill_pair(&case.pool.query, case.first_text(), case.second_text(), cut)
    }

    fn fill_pair(&self, query: &str, a: &str, b: &str, cut: DocumentCut) -> JudgePrompt {
        let query = clean(query);
        let (a, said_a) = truncated(a, cut);
        let (b, said_b) = truncated(b, cut);
        let (a, b) = (clean(a), clean(b));
        let mark = mark(&[&query, &a, &b]);
        // In the order of the names.
        self.filled(&[query, a, b, mark.into(), said_a.into(), said_b.into()])
    }

    /// The prompt for a lineup, with documents truncated to their share of `cut`. For templates
    /// that ask for slots or verdicts.
    pub fn fill_pool(&self, lineup: &PresentedPool, cut: DocumentCut) -> JudgePrompt {
        let pool = &lineup.pool;
        let cut = cut.shared(pool.documents.len());
        let documents = pool.documents.iter().map(|text| &**text);
        let task = task_text(lineup.ask, pool.documents.len());
        self.fill_list(&pool.query, documents, cut, task)
    }

    /// The prompt for a reranking question, with documents truncated to `cut`. For a template with
    /// the answer form of the question, or a letter if two documents are compared.
    pub fn fill_question(&self, question: &PresentedQuestion, cut: DocumentCut) -> JudgePrompt {
        let query = &question.pool.query;
        let mut texts = question.texts();
        match question.ask {
            RerankAsk::Compare => {
                let (a, b) = (texts.next().unwrap_or(""), texts.next().unwrap_or(""));
                self.fill_pair(query, a, b, cut)
            }
            RerankAsk::Link => {
                let second = question.pool.second_query.as_deref().unwrap_or("");
                let (a, said_a) = truncated(texts.next().unwrap_or(""), cut);
                let (b, said_b) = truncated(texts.next().unwrap_or(""), cut);
                let (first, second) = (clean(query), clean(second));
                let (a, b) = (clean(a), clean(b));
                let mark = mark(&[&first, &a, &second, &b]);
                // In the order of the names.
                self.filled(&[
                    first,
                    a,
                    second,
                    b,
                    mark.into(),
                    said_a.into(),
                    said_b.into(),
                ])
            }
            RerankAsk::Grade(_) => {
                let (text, remark) = truncated(texts.next().unwrap_or(""), cut);
                let (query, text) = (clean(query), clean(text));
                let mark = mark(&[&query, &text]);
                // In the order of the names.
                self.filled(&[query, text, mark.into(), remark.into()])
            }
            RerankAsk::Rank | RerankAsk::Select { .. } | RerankAsk::Best => {
                let count = question.shown.len();
                let task = rerank_task_text(question.ask, count);
                self.fill_list(query, texts, cut, task)
            }
        }
    }

    fn fill_list<'a>(
        &self,
        query: &str,
        documents: impl Iterator<Item = &'a str>,
        cut: DocumentCut,
        task: String,
    ) -> JudgePrompt {
        let query = clean(query);
        let shown: Vec<_> = documents
            .map(|text| {
                let (text, remark) = truncated(text, cut);
                (clean(text), remark)
            })
            .collect();
        let mut texts: Vec<&str> = vec![&query];
        texts.extend(shown.iter().map(|(text, _)| text.as_ref()));
        let mark = mark(&texts);
        let mut documents = String::new();
        for (at, (text, remark)) in shown.iter().enumerate() {
            let (number, gap) = (at + 1, if at == 0 { "" } else { "\n\n" });
            // Writing to a string cannot fail.
            let _ = write!(
                documents,
                "{gap}[[document {number} {mark}]]{remark}\n{text}\n[[/document {number} {mark}]]"
            );
        }
        // In the order of the names.
        self.filled(&[query, documents.into(), task.into(), mark.into()])
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
            ..JudgePrompt::default()
        }
    }

    /// The same message with a reminder of the answer form.
    pub fn remind(&self, prompt: &JudgePrompt) -> JudgePrompt {
        JudgePrompt {
            user: format!("{}\n\n{}", prompt.user, self.answer.reminder()),
            asking: Asking::Again,
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

/// Twelve digits that do not occur in any of `texts`.
pub(super) fn mark(texts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text.as_bytes());
    }
    let digest = hash.finalize();
    let mut mark = hex(&digest[..6]);
    let mut salt = 0u32;
    while texts.iter().any(|text| text.contains(&mark)) {
        salt += 1;
        mark = hex(&Sha256::digest(format!("{mark}{salt}"))[..6]);
    }
    mark
}

/// The instruction for this many documents.
pub(crate) fn task_text(ask: PickRequest, documents: usize) -> String {
    match ask {
        PickRequest::Exactly(1) => format!(
            "Exactly 1 of these {documents} documents is relevant: \"slots\" holds exactly 1 \
             number from 1 to {documents}."
        ),
        PickRequest::Exactly(wanted) => format!(
            "Exactly {wanted} of these {documents} documents are relevant: \"slots\" holds exactly \
             {wanted} different \
             numbers from 1 to {documents}."
        ),
        PickRequest::AnyNumber => format!(
            "Any number of these {documents} documents may be relevant, or none: \"slots\" holds \
             their numbers from 1 to \
             {documents}, and is empty where none is."
        ),
        PickRequest::PerDocument => format!(
            "Give each of these {documents} documents its verdict: \"verdicts\" has {documents} \
             members, one for each number \
             from 1 to {documents}."
        ),
    }
}

/// The instruction for this many candidates.
pub(crate) fn rerank_task_text(ask: RerankAsk, documents: usize) -> String {
    match ask {
        RerankAsk::Rank => format!(
            "Put these {documents} documents in order: \"ranking\" holds every number from 1 to \
             {documents} exactly once, the \
             best document first."
        ),
        RerankAsk::Select { count: 1 } => format!(
            "Choose the 1 best of these {documents} documents: \"selected\" holds exactly 1 number \
             from 1 to {documents}."
        ),
        RerankAsk::Select { count } => format!(
            "Choose the {count} best of these {documents} documents: \"selected\" holds exactly \
             {count} different numbers from \
             1 to {documents}, the best document first."
        ),
        RerankAsk::Best => format!(
            "Name the best of these {documents} documents: \"best\" is its number, from 1 to \
             {documents}."
        ),
        RerankAsk::Compare => {
            "Name the better of the two documents: \"winner\" is \"A\" or \"B\".".to_owned()
        }
        RerankAsk::Link => {
            "Name the document that serves its own query better: \"winner\" is \"A\" or \"B\"."
                .to_owned()
        }
        RerankAsk::Grade(GradeScale::ZeroToThree) => {
            "Grade the document: \"grade\" is 0, 1, 2 or 3.".to_owned()
        }
        RerankAsk::Grade(GradeScale::YesNo) => {
            "Is the document relevant to the query? Yes or No.".to_owned()
        }
    }
}
