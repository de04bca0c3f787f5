//! Imported queries and documents.

use super::{Db, Result, StoreError};
use crate::domain::corpus::{DocId, Document, JsonObject, Pool, Query, QueryId};
use crate::domain::named::did_you_mean;
use crate::judge::PoolText;
use rusqlite::{OptionalExtension, Row, params};
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// Row ID of a query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct QueryKey(pub i64);

/// How an import changed a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Imported {
    /// The pool was new.
    Added(QueryKey),
    /// The project already has the same query with the same documents.
    Unchanged(QueryKey),
    /// The project has the same query with the same documents. Titles, metadata, scores and further
    /// fields of the query and of this number of documents were updated from the file.
    Updated {
        key: QueryKey,
        documents: usize,
        /// Votes of judges that were shown something that has changed; they no longer count.
        stale_votes: usize,
    },
}

impl Imported {
    pub fn key(self) -> QueryKey {
        match self {
            Self::Added(key) | Self::Unchanged(key) | Self::Updated { key, .. } => key,
        }
    }
}

/// Maximum number of characters in a snippet.
const SNIPPET: usize = 160;

/// A document without its text.
#[derive(Clone, Debug, PartialEq)]
pub struct DocumentInfo {
    /// Unique in the pool.
    pub id: DocId,
    pub title: Option<String>,
    /// The first characters of its text.
    pub snippet: String,
    /// Its metadata, as a compact JSON object.
    pub metadata: JsonObject,
}

impl DocumentInfo {
    /// Its title without surrounding blanks; `None` if it has none.
    pub fn title(&self) -> Option<&str> {
        let title = self.title.as_deref()?.trim();
        (!title.is_empty()).then_some(title)
    }
}

/// A query without its documents.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryInfo {
    pub key: QueryKey,
    pub id: QueryId,
    pub text: String,
    /// Number of documents in the pool.
    pub documents: usize,
}

impl Db {
    /// Adds a pool. If the query already exists, it must have the same text and the same documents
    /// in the same order. Titles, metadata, scores and further fields may differ and are updated;
    /// votes of judges that were shown a changed one are set aside.
    pub fn add_pool(&self, pool: &Pool, dataset: &str) -> Result<Imported> {
        if let Some((key, text)) = self.maybe(
            "SELECT id, text FROM query WHERE name = ?1",
            [pool.query.id.as_str()],
            |row| Ok((QueryKey(row.get(0)?), row.get::<_, String>(1)?)),
        )? {
            self.same_pool(key, &text, pool)?;
            self.put_grades(pool)?;
            return self.update_pool(key, pool);
        }
        self.change(
            "INSERT INTO query (name, text, extra, line, dataset, documents) VALUES (?1, ?2, ?3,
             ?4, ?5, ?6)",
            params![
                pool.query.id.as_str(),
                pool.query.text,
                pool.query.extra.as_str(),
                pool.extra.as_str(),
                dataset,
                pool.documents.len(),
            ],
        )?;
        let key = QueryKey(self.connection.last_insert_rowid());
        for (position, document) in pool.documents.iter().enumerate() {
            self.put_document(key, position, document)?;
        }
        self.put_grades(pool)?;
        Ok(Imported::Added(key))
    }

    /// Rejects a pool whose query is in the project with a different text or different documents.
    pub fn check_pool(&self, pool: &Pool) -> Result<()> {
        let known = self.maybe(
            "SELECT id, text FROM query WHERE name = ?1",
            [pool.query.id.as_str()],
            |row| Ok((QueryKey(row.get(0)?), row.get::<_, String>(1)?)),
        )?;
        known.map_or(Ok(()), |(key, text)| self.same_pool(key, &text, pool))
    }

    /// Updates everything but the texts from a pool whose query and documents are in the project.
    fn update_pool(&self, key: QueryKey, pool: &Pool) -> Result<Imported> {
        let fields = [pool.query.extra.as_str(), pool.extra.as_str()];
        let of_query = self.one(
            "SELECT extra, line FROM query WHERE id = ?1",
            [key.0],
            |row| Ok([row.get_ref(0)?.as_str()?, row.get_ref(1)?.as_str()?] != fields),
        )?;
        let stored: Vec<(Option<String>, String, String, Option<f64>)> = self.all(
            "SELECT title, metadata, extra, score FROM document WHERE query = ?1 ORDER BY position",
            [key.0],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)),
        )?;
        let documents = pool.documents.iter().zip(stored).enumerate();
        let changed: Vec<(usize, &Document)> = documents
            .filter(|(_, (document, (title, metadata, extra, score)))| {
                *title != document.title
                    || metadata != document.metadata.as_str()
                    || extra != document.extra.as_str()
                    || *score != document.input_score
            })
            .map(|(position, (document, _))| (position, document))
            .collect();
        if !of_query && changed.is_empty() {
            return Ok(Imported::Unchanged(key));
        }
        let before = self.inputs_of(key)?;
        self.change(
            "UPDATE query SET extra = ?2, line = ?3 WHERE id = ?1",
            params![key.0, pool.query.extra.as_str(), pool.extra.as_str()],
        )?;
        for (position, document) in &changed {
            self.change(
                "UPDATE document SET title = ?3, metadata = ?4, extra = ?5, score = ?6
                 WHERE query = ?1 AND position = ?2",
                params![
                    key.0,
                    position,
                    document.title,
                    document.metadata.as_str(),
                    document.extra.as_str(),
                    document.input_score,
                ],
            )?;
        }
        let stale_votes = self.set_stale_votes_aside(key, &before)?;
        self.touch(key)?;
        Ok(Imported::Updated {
            key,
            documents: changed.len(),
            stale_votes,
        })
    }

    /// Stores the labels in the metadata of a pool's documents.
    fn put_grades(&self, pool: &Pool) -> Result<()> {
        for document in &pool.documents {
            if let Some(grade) = whole(&document.metadata, "grade")
                && let Ok(grade) = i32::try_from(grade)
            {
                self.put_label(&pool.query.id, &document.id, grade)?;
            }
        }
        Ok(())
    }

    /// Stores a document at an unused position of a pool.
    pub(super) fn put_document(
        &self,
        query: QueryKey,
        position: usize,
        document: &Document,
    ) -> Result<()> {
        let content = self.add_content(&document.content)?;
        self.change(
            "INSERT INTO document (query, position, name, title, content, metadata, extra, score)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            params![
                query.0,
                position,
                document.id.as_str(),
                document.title,
                content,
                document.metadata.as_str(),
                document.extra.as_str(),
                document.input_score,
            ],
        )?;
        Ok(())
    }

    pub(crate) fn add_content(&self, text: &str) -> Result<i64> {
        let hash: [u8; 32] = Sha256::digest(text.as_bytes()).into();
        if let Some(id) = self.maybe_value("SELECT id FROM content WHERE hash = ?1", [&hash[..]])? {
            return Ok(id);
        }
        match self.replies.pack_text(&self.connection, text)? {
            Some(packed) => self.change(
                "INSERT INTO content (hash, text, chars, dictionary, packed) VALUES (?1, '', ?2,
                 ?3, ?4)",
                params![
                    &hash[..],
                    text.chars().count(),
                    packed.dictionary,
                    packed.bytes
                ],
            )?,
            None => self.change(
                "INSERT INTO content (hash, text) VALUES (?1, ?2)",
                params![&hash[..], text],
            )?,
        };
        Ok(self.connection.last_insert_rowid())
    }

    fn same_pool(&self, key: QueryKey, text: &str, pool: &Pool) -> Result<()> {
        let conflict = |what: String| {
            Err(StoreError::Conflict(format!(
                "query {:?} is already in the project with {what}; give it another id or use another \
                 project (--project)",
                pool.query.id.as_str()
            )))
        };
        if text != pool.query.text {
            return conflict("a different text".to_owned());
        }
        let stored: Vec<(String, Vec<u8>)> = self.all(
            "SELECT document.name, content.hash FROM document JOIN content
             ON content.id = document.content
             WHERE query = ?1 ORDER BY position",
            [key.0],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        if stored.len() != pool.documents.len() {
            return conflict(format!(
                "{} documents instead of {}",
                stored.len(),
                pool.documents.len()
            ));
        }
        for (document, (name, hash)) in pool.documents.iter().zip(stored) {
            if document.id.as_str() != name {
                return conflict(format!(
                    "document {name:?} where this file has {:?}",
                    document.id.as_str()
                ));
            }
            if Sha256::digest(document.content.as_bytes()).as_slice() != hash {
                return conflict(format!("a different text for document {name:?}"));
            }
        }
        Ok(())
    }

    /// All queries, in import order.
    pub fn queries(&self) -> Result<Vec<QueryInfo>> {
        self.all(
            "SELECT id, name, text, documents FROM query ORDER BY id",
            [],
            |row| {
                Ok(QueryInfo {
                    key: QueryKey(row.get(0)?),
                    id: row.get(1)?,
                    text: row.get(2)?,
                    documents: row.get(3)?,
                })
            },
        )
    }

    /// The names of the datasets that the queries came from.
    pub fn datasets(&self) -> Result<Vec<String>> {
        self.all(
            "SELECT DISTINCT dataset FROM query ORDER BY dataset",
            [],
            |row| row.get(0),
        )
    }

    pub fn query(&self, key: QueryKey) -> Result<QueryInfo> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT name, text, documents FROM query WHERE id = ?1")?;
        statement
            .query_row([key.0], |row| {
                Ok(QueryInfo {
                    key,
                    id: row.get(0)?,
                    text: row.get(1)?,
                    documents: row.get(2)?,
                })
            })
            .optional()?
            .ok_or_else(|| StoreError::NotFound("no such query".to_owned()))
    }

    /// The key of a query by its identifier, if it exists.
    pub fn known_query(&self, id: &str) -> Result<Option<QueryKey>> {
        Ok(self
            .maybe_value("SELECT id FROM query WHERE name = ?1", [id])?
            .map(QueryKey))
    }

    /// The keys of those queries with these identifiers that exist.
    pub fn known_queries(&self, ids: &[String]) -> Result<Vec<QueryKey>> {
        let known: Vec<_> = ids
            .iter()
            .map(|id| self.known_query(id))
            .collect::<Result<_>>()?;
        Ok(known.into_iter().flatten().collect())
    }

    /// The key of a query by its identifier.
    pub fn find_query(&self, id: &str) -> Result<QueryKey> {
        if let Some(key) = self.known_query(id)? {
            return Ok(key);
        }
        let mut statement = self
            .connection
            .prepare_cached("SELECT name FROM query ORDER BY id")?;
        let names = statement.query_map([], |row| row.get(0))?;
        let near = did_you_mean(id, names.collect::<rusqlite::Result<Vec<String>>>()?);
        Err(StoreError::NotFound(format!(
            "no query {id:?} in the project{near}; `overrule queries` lists them"
        )))
    }

    /// Position of a document in a query's pool, by its identifier.
    pub fn find_document(&self, key: QueryKey, id: &str) -> Result<usize> {
        let found = self.maybe_value(
            "SELECT position FROM document WHERE query = ?1 AND name = ?2",
            params![key.0, id],
        )?;
        if let Some(position) = found {
            return Ok(position);
        }
        let names = self.document_ids(key)?;
        let near = did_you_mean(id, names.iter().map(DocId::as_str));
        Err(StoreError::NotFound(format!(
            "no document {id:?} in this query{near}; `overrule matrix --query QUERY` lists them"
        )))
    }

    /// A query's documents without their texts, in pool order. Snippets have at most 160
    /// characters.
    pub fn documents(&self, key: QueryKey) -> Result<Vec<DocumentInfo>> {
        self.check_positions(key)?;
        let mut statement = self.connection.prepare_cached(
            "SELECT document.name, title, metadata, iif(packed IS NULL, substr(text, 1, 160),
             text), dictionary, packed
             FROM document JOIN content ON content.id = document.content WHERE query = ?1
             ORDER BY position",
        )?;
        let mut rows = statement.query([key.0])?;
        let mut documents = Vec::new();
        while let Some(row) = rows.next()? {
            let snippet = snippet(self.content_text(row, 3)?);
            documents.push(DocumentInfo {
                id: row.get(0)?,
                title: row.get(1)?,
                snippet,
                metadata: row.get(2)?,
            });
        }
        Ok(documents)
    }

    /// A document's title, or the first 160 characters of its text.
    pub fn document_title(&self, key: QueryKey, position: usize) -> Result<String> {
        let mut statement = self.connection.prepare_cached(
            "SELECT title, iif(packed IS NULL, substr(text, 1, 160), text), dictionary, packed
             FROM document JOIN content ON content.id = document.content WHERE query = ?1
             AND position = ?2",
        )?;
        let mut rows = statement.query(params![key.0, position])?;
        let Some(row) = rows.next()? else {
            return Err(StoreError::NotFound("no such document".to_owned()));
        };
        match row.get(0)? {
            Some(title) => Ok(title),
            None => Ok(snippet(self.content_text(row, 1)?)),
        }
    }

    /// Reads a document's text from three columns of a row: text, dictionary and packed text.
    pub(crate) fn content_text(&self, row: &Row<'_>, first: usize) -> Result<String> {
        let packed = row.get_ref(first + 2)?.as_blob_or_null();
        match packed.map_err(rusqlite::Error::from)? {
            None => Ok(row.get(first)?),
            Some(packed) => {
                self.replies
                    .unpacked_text(&self.connection, row.get(first + 1)?, packed)
            }
        }
    }

    /// The text of one document.
    pub fn document_text(&self, key: QueryKey, position: usize) -> Result<Arc<str>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT text, dictionary, packed FROM document JOIN content
             ON content.id = document.content
             WHERE query = ?1 AND position = ?2",
        )?;
        let mut rows = statement.query(params![key.0, position])?;
        match rows.next()? {
            Some(row) => self.content_text(row, 0).map(Arc::from),
            None => Err(StoreError::NotFound("no such document".to_owned())),
        }
    }

    /// A query's text with its first `depth` documents, or with all, and with everything that a
    /// prompt may show.
    pub fn pool_text(&self, key: QueryKey, depth: Option<usize>) -> Result<PoolText> {
        let documents = self.query(key)?.documents;
        let depth = depth.map_or(documents, |limit| limit.min(documents));
        self.texts_of(key, &(0..depth).collect::<Vec<_>>())
    }

    /// The same with the documents at these positions.
    pub fn texts_of(&self, key: QueryKey, positions: &[usize]) -> Result<PoolText> {
        let (query, fields) = self
            .maybe(
                "SELECT text, extra FROM query WHERE id = ?1",
                [key.0],
                |row| Ok((row.get::<_, String>(0)?, row.get(1)?)),
            )?
            .ok_or_else(|| StoreError::NotFound("no such query".to_owned()))?;
        let mut statement = self.connection.prepare_cached(
            "SELECT text, dictionary, packed, metadata, title FROM document JOIN content
             ON content.id = document.content
             WHERE query = ?1 AND position = ?2",
        )?;
        let hashes: Vec<[u8; 32]> = self.all(
            "SELECT content.hash FROM document JOIN content ON content.id = document.content
             WHERE query = ?1 ORDER BY position",
            [key.0],
            |row| row.get(0),
        )?;
        let (mut texts, mut metadata, mut titles) = (Vec::new(), Vec::new(), Vec::new());
        for position in positions {
            let mut rows = statement.query(params![key.0, position])?;
            let Some(row) = rows.next()? else {
                return Err(StoreError::NotFound("no such document".to_owned()));
            };
            texts.push(self.content_text(row, 0).map(Arc::from)?);
            metadata.push(row.get(3)?);
            titles.push(row.get(4)?);
        }
        Ok(PoolText::new(query, texts)
            .with_metadata(metadata)
            .with_inputs(titles, fields)
            .in_pool(hashes.into_iter()))
    }

    /// What prompts may show of a query and its documents, without the texts of the documents.
    pub fn inputs_of(&self, key: QueryKey) -> Result<PoolText> {
        let fields = self.value("SELECT extra FROM query WHERE id = ?1", [key.0])?;
        let documents: Vec<(JsonObject, Option<String>)> = self.all(
            "SELECT metadata, title FROM document WHERE query = ?1 ORDER BY position",
            [key.0],
            |row| row.try_into(),
        )?;
        let (metadata, titles) = documents.into_iter().unzip();
        Ok(PoolText::new("", Vec::new())
            .with_metadata(metadata)
            .with_inputs(titles, fields))
    }

    /// Every query with the further members of its object in the dataset.
    pub fn query_extras(&self) -> Result<Vec<(QueryId, JsonObject)>> {
        self.all("SELECT name, extra FROM query ORDER BY id", [], |row| {
            row.try_into()
        })
    }

    /// The metadata of one document.
    pub fn document_metadata(&self, key: QueryKey, position: usize) -> Result<JsonObject> {
        let found = self.maybe(
            "SELECT metadata FROM document WHERE query = ?1 AND position = ?2",
            params![key.0, position],
            |row| row.get(0),
        )?;
        found.ok_or_else(|| StoreError::NotFound("no such document".to_owned()))
    }

    /// A query with its documents, as imported.
    pub fn pool(&self, key: QueryKey) -> Result<Pool> {
        self.check_positions(key)?;
        let (query, extra) = self
            .maybe(
                "SELECT name, text, extra, line FROM query WHERE id = ?1",
                [key.0],
                |row| {
                    let query = Query {
                        id: row.get(0)?,
                        text: row.get(1)?,
                        extra: row.get(2)?,
                    };
                    Ok((query, row.get(3)?))
                },
            )?
            .ok_or_else(|| StoreError::NotFound("no such query".to_owned()))?;
        let mut statement = self.connection.prepare_cached(
            "SELECT document.name, title, metadata, extra, score, text, dictionary, packed
             FROM document JOIN content ON content.id = document.content WHERE query = ?1
             ORDER BY position",
        )?;
        let mut rows = statement.query([key.0])?;
        let mut documents = Vec::new();
        while let Some(row) = rows.next()? {
            documents.push(Document {
                id: row.get(0)?,
                title: row.get(1)?,
                content: self.content_text(row, 5)?,
                metadata: row.get(2)?,
                extra: row.get(3)?,
                input_score: row.get(4)?,
            });
        }
        Ok(Pool {
            query,
            documents,
            extra,
        })
    }

    /// The name of the dataset that a query was imported from.
    pub fn dataset_of(&self, key: QueryKey) -> Result<String> {
        self.value("SELECT dataset FROM query WHERE id = ?1", [key.0])
    }

    /// Every query's key and name.
    pub fn query_names(&self) -> Result<Vec<(QueryKey, String)>> {
        self.all("SELECT id, name FROM query ORDER BY id", [], |row| {
            Ok((QueryKey(row.get(0)?), row.get(1)?))
        })
    }

    /// The identifiers of a query's documents, in pool order.
    pub fn document_ids(&self, key: QueryKey) -> Result<Vec<DocId>> {
        self.check_positions(key)?;
        self.all(
            "SELECT name FROM document WHERE query = ?1 ORDER BY position",
            [key.0],
            |row| row.get(0),
        )
    }

    /// Length of each document of a query in characters.
    pub(crate) fn document_lengths(&self, query: QueryKey) -> Result<Vec<usize>> {
        self.check_positions(query)?;
        self.all(
            "SELECT coalesce(chars, length(text)) FROM document JOIN content
             ON content.id = document.content
             WHERE query = ?1 ORDER BY position",
            [query.0],
            |row| row.get(0),
        )
    }
}

/// Truncates a text to the snippet length.
fn snippet(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(SNIPPET) {
        text.truncate(end);
    }
    text
}

/// The positions of a pool's documents in first-stage order. If the documents carry
/// `first_stage_rank`, as those of mixed pools do, they are ordered by that rank, with the
/// documents without one last; otherwise in pool order.
pub(crate) fn first_stage_order<'a>(metadata: impl Iterator<Item = &'a JsonObject>) -> Vec<usize> {
    let ranks: Vec<Option<i64>> = metadata
        .map(|object| whole(object, "first_stage_rank"))
        .collect();
    let mut order: Vec<usize> = (0..ranks.len()).collect();
    order.sort_by_key(|at| ranks.get(*at).copied().flatten().unwrap_or(i64::MAX));
    order
}

/// An integer in a document's metadata.
pub(crate) fn whole(metadata: &JsonObject, name: &str) -> Option<i64> {
    let text = metadata.as_str();
    if !text.contains(name) {
        return None;
    }
    let members: serde_json::Value = serde_json::from_str(text).ok()?;
    members.get(name)?.as_i64()
}
