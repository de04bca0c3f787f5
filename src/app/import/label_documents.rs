//! Finds the documents that a file names by their identifiers or by their texts in the pools of the
//! project.

use super::label_queries::MatchedLabels;
use crate::app::error::{AppError, FileProblems};
use crate::app::input_files::display_name;
use crate::domain::corpus::{DocId, QueryId};
use crate::formats::problem::{Problem, quoted};
use crate::formats::votes::text_hash;
use crate::store::{Db, Store, StoreError};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// The documents of a pool, by identifier and by text.
pub(super) struct PoolNames {
    ids: HashMap<String, [u8; 32]>,
    by_text: HashMap<[u8; 32], Vec<String>>,
}

impl PoolNames {
    /// The names in the pool of a query; `None` if the project does not have the query.
    pub(super) fn read(db: &Db, query: &str) -> Result<Option<Self>, StoreError> {
        let Some(texts) = db.texts(query)? else {
            return Ok(None);
        };
        let mut by_text: HashMap<[u8; 32], Vec<String>> = HashMap::new();
        for (id, hash) in &texts.documents {
            by_text.entry(*hash).or_default().push(id.clone());
        }
        let ids = texts.documents;
        Ok(Some(Self { ids, by_text }))
    }

    /// The identifier of the document that a file calls `name`.
    ///
    /// # Errors
    /// If no document of the pool has this identifier or text, or if several have this text.
    pub(super) fn id(&self, name: &str, query: &str) -> Result<DocId, String> {
        if self.ids.contains_key(name) {
            return Ok(DocId::new(name));
        }
        match self.by_text.get(&text_hash(name)).map(Vec::as_slice) {
            Some([id]) => Ok(DocId::new(id.as_str())),
            None | Some([]) => Err(format!(
                "{} is neither the identifier nor the text of a document in the pool of query {}; \
                 import the documents first, or name the field with identifiers with --fields",
                quoted(name),
                quoted(query)
            )),
            Some([first, second, ..]) => Err(format!(
                "{} is the text of the documents {} and {} of query {}; name the document by its \
                 identifier",
                quoted(name),
                quoted(first),
                quoted(second),
                quoted(query)
            )),
        }
    }
}

impl MatchedLabels {
    /// Replaces the names of documents by their identifiers in the pools of the project. `lines` has
    /// the names that may be texts, with their lines. The names of documents of other queries are
    /// kept.
    ///
    /// # Errors
    /// If a name is neither the identifier nor the text of one document, or if two names are the
    /// same document.
    pub(super) fn match_documents(
        &mut self,
        path: &Path,
        lines: &BTreeMap<(QueryId, DocId), u64>,
        store: &Store,
    ) -> Result<(), AppError> {
        let mut problems = FileProblems::of(path);
        let file = display_name(path);
        for (query, grades) in &mut self.labels {
            let id = query.clone();
            let pool = store.read_blocking(move |db| PoolNames::read(db, id.as_str()))?;
            let Some(pool) = pool else {
                continue;
            };
            let named = self.names.get(query).unwrap_or(query);
            let mut by_id = BTreeMap::new();
            for (document, grade) in std::mem::take(grades) {
                let line = lines.get(&(named.clone(), document.clone())).copied();
                let id = match line {
                    None => Ok(document),
                    Some(_) => pool.id(document.as_str(), query.as_str()),
                };
                let id = id.map_err(|what| Problem::new(&file, line, what));
                if let Some(id) = problems.keep(id)
                    && by_id.insert(id.clone(), grade).is_some()
                {
                    let what = format!(
                        "document {} of query {} is named in two ways; keep one",
                        quoted(id.as_str()),
                        quoted(query.as_str())
                    );
                    problems.add(Problem::new(&file, line, what));
                }
            }
            *grades = by_id;
        }
        problems.refuse_any()
    }
}
