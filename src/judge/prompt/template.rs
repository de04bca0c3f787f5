//! Fills a template with a pair, a pool or some candidates, so that no document can pose as
//! instructions.

use super::answer_form::AnswerForm;
use super::document::{clean, truncated};
use super::inputs::{InputSlot, ProjectText, ProjectTexts, PromptInput, known_inputs};
use crate::domain::adjudication::PickRequest;
use crate::domain::candidate_question::GradeScale;
use crate::domain::corpus::JsonObject;
use crate::domain::document_cut::DocumentCut;
use crate::domain::hex::{hex, short_hex};
use crate::judge::call::{Asking, JudgePrompt};
use crate::judge::metadata::MetadataFields;
use crate::judge::presented::{
    PoolText, PresentedPair, PresentedPool, PresentedQuestion, RerankAsk,
};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::str::FromStr as _;

/// Part of every prompt hash; increment it when the code below changes the prompt for the same
/// template.
const LAYOUT: &str = "overrule prompt layout 1";
/// The same for the form in which metadata is shown.
const METADATA: &str = "metadata 1";
/// The same for the texts of the project.
const PROJECT_TEXTS: &str = "project texts 1";
/// The placeholder that a trial replaces by examples.
pub const EXAMPLES: &str = "{{examples}}";
/// The line before the standing instructions.
pub const SYSTEM: &str = "=== system ===";
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
         ranking, selection, winner, best, grade, yesno (for reranking), link (for two queries), revision (for prompts)"
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
    /// The system prompt is the same for every case.
    #[error(
        "the prompt names {{{{{0}}}}} before the line {CASE:?}; move it below, because it differs \
         from case to case"
    )]
    NotInCase(String),
    #[error(
        "the prompt names the metadata field {0:?}, which holds labels; a prompt never shows labels"
    )]
    Label(String),
    #[error(
        "the prompt names {{{{{}}}}}, and the project has no such text; set it with `overrule config \
         project {}`",
        .0.name(), .0.option()
    )]
    NoText(ProjectText),
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
    /// The texts of the project that it shows, as [`ProjectTexts::canonical`] writes them.
    project_texts: Option<String>,
    system: Vec<TemplatePiece>,
    case: Vec<TemplatePiece>,
}

/// The text of a prompt, and the hash that identifies it in a judge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptText {
    pub hash: String,
    pub text: String,
    /// The metadata that is shown with the documents, as [`MetadataFields::canonical`] writes it.
    pub fields: Option<String>,
    /// The texts of the project that it shows, as JSON.
    pub project_texts: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum TemplatePiece {
    Text(String),
    Slot(usize),
    Project(ProjectText),
    Input(InputSlot),
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
        let case = case_pieces(case.trim(), answer)?;
        let shown = |slot: &usize| case.contains(&TemplatePiece::Slot(*slot));
        if let Some(slot) = (0..TEXTS).find(|slot| !shown(slot)) {
            return Err(TemplateError::Missing(names[slot]));
        }
        let digest = Sha256::digest(format!("{LAYOUT}\n{text}"));
        Ok(Self {
            answer,
            hash: short_hex(&digest),
            system: system_pieces(system.trim())?,
            case,
            fields: None,
            project_texts: None,
            text,
        })
    }

    /// The template of a stored prompt, if the text has its hash.
    pub fn of_stored(stored: &PromptText) -> Option<Self> {
        let template = Self::parse(&stored.text).ok()?;
        let template = match stored.fields.as_deref() {
            Some(fields) => template.with_metadata(&MetadataFields::of_canonical(fields)?),
            None => template,
        };
        let texts = stored.project_texts.as_deref().unwrap_or("{}");
        let texts = ProjectTexts::of_canonical(texts)?;
        let template = template.with_project_texts(&texts).ok()?;
        (template.hash == stored.hash).then_some(template)
    }

    /// Its text with its hash, as a project stores them.
    pub fn stored(&self) -> PromptText {
        PromptText {
            hash: self.hash.clone(),
            text: self.text.clone(),
            fields: self.fields.as_ref().map(MetadataFields::canonical),
            project_texts: self.project_texts.clone(),
        }
    }

    /// What it shows of the data in addition to the texts, each once.
    pub fn inputs(&self) -> Vec<PromptInput> {
        let inputs = self.case.iter().filter_map(|piece| match piece {
            TemplatePiece::Input(slot) => Some(slot.input.clone()),
            _ => None,
        });
        inputs.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Everything that it shows of a document and its query in addition to their texts, in a form in
    /// which equal data are equal.
    pub fn data_shown(&self, pool: &PoolText, document: usize) -> Vec<String> {
        let inputs = self.inputs();
        let inputs = inputs.iter().map(|input| input.text(pool, document));
        let metadata = self.fields.as_ref().map(|fields| {
            let none = JsonObject::default();
            fields.with(pool.metadata.get(document).unwrap_or(&none), "")
        });
        inputs.chain(metadata).collect()
    }

    /// Whether it names a text of the project.
    pub fn shows_project(&self) -> bool {
        !self.project_texts_shown().is_empty()
    }

    fn project_texts_shown(&self) -> Vec<ProjectText> {
        let pieces = self.system.iter().chain(&self.case);
        let shown = pieces.filter_map(|piece| match piece {
            TemplatePiece::Project(of) => Some(*of),
            _ => None,
        });
        shown.collect()
    }

    /// The template with these texts of the project in their places. If it shows any, they make it
    /// another version of the prompt.
    ///
    /// # Errors
    /// The project lacks a text that the prompt names.
    pub fn with_project_texts(self, texts: &ProjectTexts) -> Result<Self, TemplateError> {
        let shown = self.project_texts_shown();
        if shown.is_empty() {
            return Ok(self);
        }
        let placed = |pieces: Vec<TemplatePiece>| {
            let placed = pieces.into_iter().map(|piece| match piece {
                TemplatePiece::Project(of) => {
                    let text = texts.get(of).ok_or(TemplateError::NoText(of))?;
                    Ok(TemplatePiece::Text(text))
                }
                piece => Ok(piece),
            });
            placed.collect::<Result<Vec<_>, TemplateError>>()
        };
        let canonical = texts.canonical(&shown);
        let digest = Sha256::digest(format!("{PROJECT_TEXTS}\n{}\n{canonical}", self.hash));
        Ok(Self {
            hash: short_hex(&digest),
            system: placed(self.system)?,
            case: placed(self.case)?,
            project_texts: Some(canonical),
            ..self
        })
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
        self.fill_pair(&case.pool, case.first, case.second, cut)
    }

    fn fill_pair(&self, pool: &PoolText, a: usize, b: usize, cut: DocumentCut) -> JudgePrompt {
        let inputs = self.input_texts(pool, a, b, cut);
        let query = clean(&pool.query);
        let text = |at: usize| pool.documents.get(at).map_or("", |text| &**text);
        let (a, said_a) = truncated(text(a), cut);
        let (b, said_b) = truncated(text(b), cut);
        let (a, b) = (clean(a), clean(b));
        let texts: [&str; 3] = [&query, &a, &b];
        let of_message = mark(&texts, &inputs);
        let of_query = pool
            .fingerprint
            .map_or_else(|| of_message.clone(), |hash| unused(&hash, &texts, &inputs));
        // In the order of the names.
        let values = [
            query,
            a,
            b,
            of_message.into(),
            said_a.into(),
            said_b.into(),
            of_query.into(),
        ];
        self.filled(&values, &inputs)
    }

    /// The titles, metadata and fields of the query that the prompt shows of a pair, in the order in
    /// which it shows them.
    pub fn input_texts(
        &self,
        pool: &PoolText,
        a: usize,
        b: usize,
        cut: DocumentCut,
    ) -> Vec<String> {
        let inputs = self.case.iter().filter_map(|piece| match piece {
            TemplatePiece::Input(slot) => Some(slot.text(pool, a, b, cut)),
            _ => None,
        });
        inputs.collect()
    }

    /// The prompt for a lineup, with documents truncated to their share of `cut`. For templates
    /// that ask for slots or verdicts.
    pub fn fill_pool(&self, lineup: &PresentedPool, cut: DocumentCut) -> JudgePrompt {
        let pool = &lineup.pool;
        let cut = cut.shared(pool.documents.len());
        let documents = pool.documents.iter().map(|text| &**text);
        let task = task_text(lineup.ask, pool.documents.len());
        self.fill_list(pool, ("document", documents), cut, task)
    }

    /// The prompt for a reranking question, with documents truncated to `cut`. For a template with
    /// the answer form of the question, or a letter if two documents are compared.
    pub fn fill_question(&self, question: &PresentedQuestion, cut: DocumentCut) -> JudgePrompt {
        let query = &question.pool.query;
        let mut texts = question.texts();
        match question.ask {
            RerankAsk::Compare => {
                // An index outside the pool stands for an empty text.
                let shown = |at: usize| question.shown.get(at).copied().unwrap_or(usize::MAX);
                self.fill_pair(&question.pool, shown(0), shown(1), cut)
            }
            RerankAsk::Link => {
                let second = question.pool.second_query.as_deref().unwrap_or("");
                let (a, said_a) = truncated(texts.next().unwrap_or(""), cut);
                let (b, said_b) = truncated(texts.next().unwrap_or(""), cut);
                let (first, second) = (clean(query), clean(second));
                let (a, b) = (clean(a), clean(b));
                let mark = mark(&[&first, &a, &second, &b], &[]);
                // In the order of the names.
                let values = [
                    first,
                    a,
                    second,
                    b,
                    mark.into(),
                    said_a.into(),
                    said_b.into(),
                ];
                self.filled(&values, &[])
            }
            RerankAsk::Grade(_) => {
                let (text, remark) = truncated(texts.next().unwrap_or(""), cut);
                let (query, text) = (clean(query), clean(text));
                let mark = mark(&[&query, &text], &[]);
                // In the order of the names.
                self.filled(&[query, text, mark.into(), remark.into()], &[])
            }
            RerankAsk::Rank
            | RerankAsk::Select { .. }
            | RerankAsk::Best
            | RerankAsk::BestWorst
            | RerankAsk::Revise => {
                let task = rerank_task_text(question.ask, question.shown.len());
                let noun = match question.ask {
                    RerankAsk::Revise => "judgment",
                    _ => "document",
                };
                self.fill_list(&question.pool, (noun, texts), cut, task)
            }
        }
    }

    fn fill_list<'a>(
        &self,
        pool: &PoolText,
        (noun, documents): (&str, impl Iterator<Item = &'a str>),
        cut: DocumentCut,
        task: String,
    ) -> JudgePrompt {
        // Prompts for lists show only fields of the query.
        let inputs = self.input_texts(pool, 0, 0, cut);
        let query = clean(&pool.query);
        let shown: Vec<_> = documents
            .map(|text| {
                let (text, remark) = truncated(text, cut);
                (clean(text), remark)
            })
            .collect();
        let mut texts: Vec<&str> = vec![&query];
        texts.extend(shown.iter().map(|(text, _)| text.as_ref()));
        let mark = mark(&texts, &inputs);
        let mut documents = String::new();
        for (at, (text, remark)) in shown.iter().enumerate() {
            let (number, gap) = (at + 1, if at == 0 { "" } else { "\n\n" });
            // Writing to a string cannot fail.
            let _ = write!(
                documents,
                "{gap}[[{noun} {number} {mark}]]{remark}\n{text}\n[[/{noun} {number} {mark}]]"
            );
        }
        // In the order of the names.
        let values = [query, documents.into(), task.into(), mark.into()];
        self.filled(&values, &inputs)
    }

    /// The prompt with the values of the placeholders by name, and the inputs in their order.
    fn filled(&self, values: &[Cow<'_, str>], inputs: &[String]) -> JudgePrompt {
        let texts: usize = values.iter().map(|value| value.len()).sum();
        let mut user = String::with_capacity(texts + 2048);
        let mut inputs = inputs.iter();
        for piece in &self.case {
            user.push_str(match piece {
                TemplatePiece::Text(text) => text,
                TemplatePiece::Slot(name) => values.get(*name).map_or("", |value| value),
                TemplatePiece::Input(_) => inputs.next().map_or("", |text| text),
                // Texts since `with_project_texts`.
                TemplatePiece::Project(_) => "",
            });
        }
        let system = self.system.iter().map(|piece| match piece {
            TemplatePiece::Text(text) => text.as_str(),
            _ => "",
        });
        JudgePrompt {
            system: system.collect(),
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
pub(super) fn divide<'a>(text: &'a str, divider: &str) -> Option<(&'a str, &'a str)> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.trim_end() == divider {
            return Some((&text[..at], &text[at + line.len()..]));
        }
        at += line.len();
    }
    None
}

/// The pieces of a case. Every placeholder must be known.
fn case_pieces(text: &str, answer: AnswerForm) -> Result<Vec<TemplatePiece>, TemplateError> {
    let names = answer.names();
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((before, name, after)) = next_placeholder(rest) {
        let slot = names.iter().position(|known| *known == name);
        let input = match slot {
            None if answer.takes_inputs() => InputSlot::named(name, answer.is_of_pairs()),
            _ => None,
        };
        if let Some(label) = input.as_ref().and_then(InputSlot::label) {
            return Err(TemplateError::Label(label.to_owned()));
        }
        let piece = slot
            .map(TemplatePiece::Slot)
            .or_else(|| input.map(TemplatePiece::Input))
            .or_else(|| constant_piece(name));
        found.push(TemplatePiece::Text(before.to_owned()));
        found.push(piece.ok_or_else(|| TemplateError::Unknown {
            name: name.to_owned(),
            known: format!(
                "{}, {}",
                names.join(", "),
                known_inputs(answer.is_of_pairs())
            ),
        })?);
        rest = after;
    }
    found.push(TemplatePiece::Text(rest.to_owned()));
    Ok(found)
}

/// The pieces of a system prompt, which is the same for every case. Braces around anything but a
/// placeholder of this kind are ordinary text, since older prompts may contain them.
fn system_pieces(text: &str) -> Result<Vec<TemplatePiece>, TemplateError> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((before, name, after)) = next_placeholder(rest) {
        found.push(TemplatePiece::Text(before.to_owned()));
        if InputSlot::named(name, true).is_some() {
            return Err(TemplateError::NotInCase(name.to_owned()));
        }
        let literal = || TemplatePiece::Text(rest[before.len()..rest.len() - after.len()].into());
        found.push(constant_piece(name).unwrap_or_else(literal));
        rest = after;
    }
    found.push(TemplatePiece::Text(rest.to_owned()));
    Ok(found)
}

/// The text before the next placeholder, its name, and the text after it.
pub(super) fn next_placeholder(text: &str) -> Option<(&str, &str, &str)> {
    let (before, after) = text.split_once("{{")?;
    let (name, after) = after.split_once("}}")?;
    Some((before, name.trim(), after))
}

/// The piece of a placeholder that is the same in every message. Examples are empty unless a trial
/// has replaced the placeholder.
fn constant_piece(name: &str) -> Option<TemplatePiece> {
    if EXAMPLES.trim_matches(['{', '}']) == name {
        return Some(TemplatePiece::Text(String::new()));
    }
    ProjectText::from_str(name).ok().map(TemplatePiece::Project)
}

/// Twelve digits that are a hash of `texts`, and do not occur in any of them nor in `inputs`.
pub(super) fn mark(texts: &[&str], inputs: &[String]) -> String {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text.as_bytes());
    }
    unused(&hash.finalize(), texts, inputs)
}

/// The first twelve digits of a hash, or others that follow from them if a text contains them.
fn unused(digest: &[u8], texts: &[&str], inputs: &[String]) -> String {
    let mut mark = hex(&digest[..6]);
    let mut salt = 0u32;
    let inputs = || inputs.iter().map(String::as_str);
    while texts
        .iter()
        .copied()
        .chain(inputs())
        .any(|text| text.contains(&mark))
    {
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
        RerankAsk::BestWorst => format!(
            "Name the best and the worst of these {documents} documents: \"best\" and \"worst\" are \
             their numbers, two different ones from 1 to {documents}."
        ),
        RerankAsk::Compare => {
            "Name the better of the two documents: \"winner\" is \"A\" or \"B\".".to_owned()
        }
        RerankAsk::Link => {
            "Name the document that serves its own query better: \"winner\" is \"A\" or \"B\"."
                .to_owned()
        }
        RerankAsk::Revise => format!(
            "Revise the instructions so that the judge would decide these {documents} judgments as \
             people did, and judgments like them."
        ),
        RerankAsk::Grade(GradeScale::ZeroToThree) => {
            "Grade the document: \"grade\" is 0, 1, 2 or 3.".to_owned()
        }
        RerankAsk::Grade(GradeScale::YesNo) => {
            "Is the document relevant to the query? Yes or No.".to_owned()
        }
    }
}
