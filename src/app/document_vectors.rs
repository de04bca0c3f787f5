//! Vectors of documents, from a file or an embedder.

use crate::app::embeddings::{CachedEmbedder, EmbedError, EmbeddingNeed};
use crate::app::error::{AppError, invalid};
use crate::app::input_files::{display_name, open};
use crate::app::text_format::counted;
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::sanitize;
use crate::formats::file::unpacked_name;
use crate::formats::vectors::{NamedVectors, read_names, read_npy};
use std::collections::HashMap;
use std::path::Path;
use tokio::runtime::Runtime;

/// Number of texts to embed between two progress reports.
const TOGETHER: usize = 1_000;

/// Meaning of the rows in a file without names.
#[derive(Clone, Debug)]
pub enum RowNames {
    /// Documents, with their query if a document has one vector per query.
    Documents(Vec<(Option<QueryId>, DocId)>),
    /// Texts with their queries; a document may have several.
    Texts(Vec<(QueryId, String)>),
}

/// A text that needs a vector, with one document that has it.
#[derive(Clone, Copy, Debug)]
pub struct DocumentText<'a> {
    pub query: &'a QueryId,
    pub document: &'a DocId,
    pub text: &'a str,
}

impl DocumentText<'_> {
    /// Each text once.
    pub fn distinct(mut texts: Vec<Self>) -> Vec<Self> {
        texts.sort_by_key(|one| (one.text, one.query, one.document));
        texts.dedup_by_key(|one| one.text);
        texts
    }

    fn name(&self) -> String {
        let (query, document) = (self.query.as_str(), self.document.as_str());
        format!(
            "document {:?} of query {:?}",
            sanitize::line(document),
            sanitize::line(query)
        )
    }
}

/// Vectors of documents.
#[derive(Clone, Debug)]
pub enum DocumentVectors {
    /// By name.
    Named(NamedVectors),
    /// By query and text.
    Lines(HashMap<(QueryId, String), Vec<f64>>),
    /// By text.
    Texts(HashMap<String, Vec<f32>>),
}

impl DocumentVectors {
    /// Reads the vectors of a file. Rows of a `.npy` file get their names from `names`.
    pub fn read(path: &Path, names: Option<RowNames>) -> Result<Self, AppError> {
        let name = display_name(path);
        let unpacked = unpacked_name(path);
        if unpacked.extension().is_none_or(|ending| ending != "npy") {
            let named = NamedVectors::read(open(path)?, &name).map_err(AppError::invalid)?;
            return Ok(Self::Named(named));
        }
        let Some(names) = names else {
            return Err(invalid!(
                "{name}: its rows have no names; give them with --vector-names FILE, one document \
                 per line"
            ));
        };
        let rows = read_npy(open(path)?, &name).map_err(AppError::invalid)?;
        let named = match &names {
            RowNames::Documents(names) => names.len(),
            RowNames::Texts(texts) => texts.len(),
        };
        if named != rows.len() {
            return Err(invalid!(
                "{name}: has {}, and {named} are named; name one document per row, in their order",
                counted(rows.len(), "row")
            ));
        }
        Ok(match names {
            RowNames::Documents(names) => Self::Named(NamedVectors::of_rows(names, rows)),
            RowNames::Texts(texts) => Self::Lines(texts.into_iter().zip(rows).collect()),
        })
    }

    /// Reads row names from a file: one document per line, preceded by its query and a tab if a
    /// document has one vector per query.
    pub fn read_names(path: &Path) -> Result<RowNames, AppError> {
        let names = read_names(open(path)?, &display_name(path)).map_err(AppError::invalid)?;
        Ok(RowNames::Documents(names))
    }

    /// Embeds texts. `progress` receives the number of finished texts.
    pub fn embed(
        vectors: &mut CachedEmbedder,
        runtime: &Runtime,
        texts: &[DocumentText<'_>],
        progress: &mut dyn FnMut(usize),
    ) -> Result<Self, EmbedError> {
        let mut by_text = HashMap::new();
        for chunk in texts.chunks(TOGETHER) {
            let passages: Vec<String> = chunk
                .iter()
                .map(|one| vectors.embedder().passage(one.text))
                .collect();
            let name = |at: usize| chunk.get(at).map_or_else(String::new, DocumentText::name);
            let found = runtime.block_on(vectors.of(&passages, &name))?;
            let named = chunk.iter().map(|one| one.text.to_owned());
            by_text.extend(named.zip(found));
            progress(by_text.len());
        }
        Ok(Self::Texts(by_text))
    }

    /// The effort needed to embed `texts`.
    pub fn need(
        vectors: &CachedEmbedder,
        texts: &[DocumentText<'_>],
    ) -> Result<EmbeddingNeed, EmbedError> {
        let mut need = EmbeddingNeed::default();
        for one in texts {
            vectors.add_need(&mut need, &vectors.embedder().passage(one.text))?;
        }
        Ok(need)
    }

    /// The vector of a query's document, which has this text; an empty one where the text is blank
    /// and has no direction.
    pub fn of(&self, query: &QueryId, document: &DocId, text: &str) -> Option<Vec<f64>> {
        match self {
            Self::Named(named) => named.get(query, document).cloned(),
            Self::Lines(lines) => lines.get(&(query.clone(), text.to_owned())).cloned(),
            Self::Texts(texts) => Some(texts.get(text)?.iter().map(|x| f64::from(*x)).collect()),
        }
    }
}
