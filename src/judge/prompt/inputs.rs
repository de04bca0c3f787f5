//! What a prompt can show besides the query and the texts: titles, metadata, the narrative of the
//! query, and the texts that the project has for all its judges.

use super::document::{clean, truncated};
use crate::domain::document_cut::DocumentCut;
use crate::judge::metadata::{MetadataFields, holds_labels, query_field};
use crate::judge::presented::PoolText;
use serde_json::{Map, Value};
use strum::{EnumString, IntoStaticStr};

/// A text of the project that is the same in every message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum ProjectText {
    /// The guideline for annotators.
    Guideline,
    /// A note on the domain.
    Domain,
    /// A note on the languages.
    Language,
}

impl ProjectText {
    /// The name of its placeholder.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The option of `config project` that sets it.
    pub(super) fn option(self) -> &'static str {
        match self {
            Self::Guideline => "--guideline FILE",
            Self::Domain => "--domain-note TEXT",
            Self::Language => "--language-note TEXT",
        }
    }
}

/// The texts of a project that prompts can show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProjectTexts {
    pub guideline: Option<String>,
    pub domain: Option<String>,
    pub language: Option<String>,
}

impl ProjectTexts {
    /// The text as a prompt shows it; `None` if the project has none.
    pub(super) fn get(&self, of: ProjectText) -> Option<String> {
        let text = match of {
            ProjectText::Guideline => &self.guideline,
            ProjectText::Domain => &self.domain,
            ProjectText::Language => &self.language,
        };
        let text = text.as_deref().map(str::trim);
        text.filter(|text| !text.is_empty())
            .map(|text| clean(text).into_owned())
    }

    /// These texts as JSON, to be stored with the hash of a prompt.
    pub(super) fn canonical(&self, shown: &[ProjectText]) -> String {
        let texts = shown
            .iter()
            .filter_map(|of| Some((of.name().to_owned(), Value::String(self.get(*of)?))));
        Value::Object(texts.collect::<Map<_, _>>()).to_string()
    }

    /// Reads the JSON that is stored with the hash of a prompt.
    pub fn of_canonical(text: &str) -> Option<Self> {
        let Ok(Value::Object(mut texts)) = serde_json::from_str(text) else {
            return None;
        };
        let mut take = |of: ProjectText| match texts.remove(of.name()) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        };
        Some(Self {
            guideline: take(ProjectText::Guideline),
            domain: take(ProjectText::Domain),
            language: take(ProjectText::Language),
        })
    }
}

/// A document of a pair, as it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PairSide {
    A,
    B,
}

/// What a prompt shows of the data in addition to the texts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PromptInput {
    Title,
    /// A field of the metadata.
    Metadata(String),
    Narrative,
    Description,
}

impl PromptInput {
    /// A placeholder that shows it.
    pub fn placeholder(&self) -> String {
        match self {
            Self::Title => "{{title_a}}".to_owned(),
            Self::Metadata(field) => format!("{{{{metadata_a.{field}}}}}"),
            Self::Narrative => "{{narrative}}".to_owned(),
            Self::Description => "{{description}}".to_owned(),
        }
    }

    /// Its text for the document at this position of the pool, or for the query. Empty if there is
    /// none, or if it holds a label.
    pub(super) fn text(&self, pool: &PoolText, document: usize) -> String {
        let text = match self {
            Self::Title => pool.titles.get(document).cloned().flatten(),
            Self::Metadata(field) => pool
                .metadata
                .get(document)
                .and_then(|metadata| MetadataFields::text_of(field, metadata)),
            Self::Narrative => query_field(&pool.query_fields, "narrative"),
            Self::Description => query_field(&pool.query_fields, "description"),
        };
        text.unwrap_or_default()
    }

    /// Whether the query or one of the documents of the pool has it.
    pub fn is_in(&self, pool: &PoolText) -> bool {
        (0..pool.titles.len().max(1)).any(|document| !self.text(pool, document).is_empty())
    }
}

/// An optional placeholder of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct InputSlot {
    pub(super) input: PromptInput,
    /// The document that it is about; `None` for the query.
    side: Option<PairSide>,
}

impl InputSlot {
    /// The slot that a placeholder names, if it names one.
    pub(super) fn named(name: &str, is_of_pairs: bool) -> Option<Self> {
        let of_query = |input| Some(Self { input, side: None });
        let of_document = |input, side| Some(Self { input, side }).filter(|_| is_of_pairs);
        let (document, field) = match name.split_once('.') {
            Some((document, field)) => (document, Some(field.trim())),
            None => (name, None),
        };
        let side = match document.rsplit_once('_') {
            Some((_, "a")) => Some(PairSide::A),
            Some((_, "b")) => Some(PairSide::B),
            _ => None,
        };
        match (document, field) {
            ("narrative", None) => of_query(PromptInput::Narrative),
            ("description", None) => of_query(PromptInput::Description),
            ("title_a" | "title_b", None) => of_document(PromptInput::Title, side),
            ("metadata_a" | "metadata_b", Some(field)) if !field.is_empty() => {
                of_document(PromptInput::Metadata(field.to_owned()), side)
            }
            _ => None,
        }
    }

    /// The field of labels that it names, if it names one.
    pub(super) fn label(&self) -> Option<&str> {
        match &self.input {
            PromptInput::Metadata(field) if holds_labels(field) => Some(field),
            _ => None,
        }
    }

    /// The text for a pair of the pool, truncated like a document.
    pub(super) fn text(&self, pool: &PoolText, a: usize, b: usize, cut: DocumentCut) -> String {
        let document = match self.side {
            Some(PairSide::B) => b,
            Some(PairSide::A) | None => a,
        };
        let text = self.input.text(pool, document);
        let (head, remark) = truncated(&text, cut);
        format!("{}{remark}", clean(head))
    }
}

/// The optional placeholders of a case, in words.
pub(super) fn known_inputs(is_of_pairs: bool) -> &'static str {
    if is_of_pairs {
        "title_a, title_b, metadata_a.FIELD, metadata_b.FIELD, narrative, description, guideline, \
         domain, language, examples"
    } else {
        "narrative, description, guideline, domain, language, examples"
    }
}
