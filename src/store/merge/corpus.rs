//! Matches queries and documents by name.

use super::{MatchedQuery, Merger, Texts};
use crate::domain::corpus::{DocId, Document, JsonObject, Pool, Query, QueryId};
use crate::store::corpus::{DocumentInfo, QueryKey};
use crate::store::{Result, StoreError};
use rusqlite::{Row, params};
use std::collections::HashMap;

/// A query in the other file.
pub(crate) struct OtherQuery {
    key: i64,
    name: String,
    text: String,
    extra: String,
    line: String,
    dataset: String,
    /// Number of documents planned there, if there is a plan.
    pub(crate) depth: Option<usize>,
    /// The ensemble that counts there.
    pub(crate) ensemble: Option<i64>,
}

#[cfg(feature = "remote")]
impl OtherQuery {
    /// Checks that it is the query with this name.
    pub(crate) fn check_name(&self, name: &str) -> Result<()> {
        if self.name == name {
            return Ok(());
        }
        Err(StoreError::Corrupt(format!(
            "it is about the query {:?} instead of {name:?}",
            self.name
        )))
    }
}

fn other_query(row: &Row<'_>) -> rusqlite::Result<OtherQuery> {
    Ok(OtherQuery {
        key: row.get(0)?,
        name: row.get(1)?,
        text: row.get(2)?,
        extra: row.get(3)?,
        line: row.get(4)?,
        dataset: row.get(5)?,
        depth: row.get(6)?,
        ensemble: row.get(7)?,
    })
}

/// A document of the other file without its text.
struct OtherDocument {
    name: String,
    hash: Vec<u8>,
    content: i64,
}

impl Merger<'_> {
    /// All queries of the other file.
    pub(crate) fn queries(&self) -> Result<Vec<OtherQuery>> {
        let mut statement = self.from.prepare(
            "SELECT id, name, text, extra, line, dataset, depth, ensemble FROM query ORDER BY id",
        )?;
        let rows = statement.query_map([], other_query)?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// A query of the other file.
    pub(crate) fn query(&self, theirs: QueryKey) -> Result<OtherQuery> {
        self.other.one(
            "SELECT id, name, text, extra, line, dataset, depth, ensemble FROM query WHERE id = ?1",
            [theirs.0],
            other_query,
        )
    }

    /// Matches a query of the other file to ours, adding missing documents. Returns `None` if the
    /// same name stands for two different texts, which is recorded.
    pub(crate) fn matched(&mut self, theirs: &OtherQuery) -> Result<Option<MatchedQuery>> {
        let documents = self.documents(theirs.key)?;
        let known = self.db.texts(&theirs.name)?;
        let differs = known.as_ref().and_then(|known| {
            if known.query != theirs.text {
                return Some("it has a different text there".to_owned());
            }
            let other = documents.iter().find(|document| {
                let known = &known.documents;
                known
                    .get(&document.name)
                    .is_some_and(|hash| hash[..] != document.hash[..])
            })?;
            Some(format!(
                "document {:?} has a different text there",
                other.name
            ))
        });
        let is_text_needed = self.texts == Texts::Known;
        let lacks = || match &known {
            _ if !is_text_needed => None,
            None => Some("it is not in this project: import the dataset".to_owned()),
            Some(known) => {
                let mut documents = documents.iter();
                let missing = documents.find(|one| !known.documents.contains_key(&one.name))?;
                let name = &missing.name;
                Some(format!(
                    "it has no document {name:?} here: import the dataset"
                ))
            }
        };
        if let Some(reason) = differs.or_else(lacks) {
            self.merged.refused.push((theirs.name.clone(), reason));
            return Ok(None);
        }
        let mut changed = false;
        let (ours, mut places) = match known {
            Some(known) => {
                let documents = self.db.documents(known.key)?;
                if !is_text_needed {
                    self.merged.metadata_clashes += self.other_metadata(theirs.key, &documents)?;
                }
                let places = documents.into_iter().enumerate();
                let places = places.map(|(at, document)| (document.id.to_string(), at));
                (known.key, places.collect())
            }
            None => {
                changed = true;
                self.merged.queries_added += 1;
                (self.add_query(theirs)?, HashMap::new())
            }
        };
        let mut matched = Vec::with_capacity(documents.len());
        for (position, document) in documents.iter().enumerate() {
            let place = match places.get(&document.name) {
                Some(place) => *place,
                None => {
                    let place = match self.texts {
                        Texts::LeftOut => self.add_outline(ours, &document.name, &document.hash)?,
                        Texts::Described | Texts::Stored => {
                            self.add_described(ours, (theirs.key, position), document)?
                        }
                        Texts::Copied | Texts::Known => {
                            let added = self.document(theirs.key, position, document)?;
                            self.db.add_document(ours, &added)?
                        }
                    };
                    places.insert(document.name.clone(), place);
                    self.merged.documents_added += 1;
                    changed = true;
                    place
                }
            };
            matched.push(place);
        }
        Ok(Some(MatchedQuery {
            theirs: theirs.key,
            ours,
            places: matched,
            changed,
        }))
    }

    /// Number of documents of a query with a different title or metadata in the other file.
    fn other_metadata(&self, query: i64, ours: &[DocumentInfo]) -> Result<usize> {
        let ours: HashMap<&str, &DocumentInfo> = ours
            .iter()
            .map(|document| (document.id.as_str(), document))
            .collect();
        let mut statement = self
            .from
            .prepare_cached("SELECT name, title, metadata FROM document WHERE query = ?1")?;
        let mut rows = statement.query([query])?;
        let mut others = 0;
        while let Some(row) = rows.next()? {
            let (name, title): (String, Option<String>) = (row.get(0)?, row.get(1)?);
            let metadata: JsonObject = row.get(2)?;
            let differs =
                |known: &&DocumentInfo| known.title != title || known.metadata != metadata;
            others += usize::from(ours.get(name.as_str()).is_some_and(differs));
        }
        Ok(others)
    }

    /// Adds a query of the other file without its documents.
    #[cfg(feature = "remote")]
    pub(crate) fn outline(&self, theirs: &OtherQuery) -> Result<()> {
        self.add_query(theirs)?;
        Ok(())
    }

    fn add_query(&self, theirs: &OtherQuery) -> Result<QueryKey> {
        let pool = Pool {
            query: Query {
                id: QueryId::new(theirs.name.as_str()),
                text: theirs.text.clone(),
                extra: JsonObject::from_compact(theirs.extra.as_str()),
            },
            documents: Vec::new(),
            extra: JsonObject::from_compact(theirs.line.as_str()),
        };
        Ok(self.db.add_pool(&pool, &theirs.dataset)?.key())
    }

    /// Copies the documents of a query that its pool does not hold.
    pub(crate) fn candidates(&self, query: &MatchedQuery) -> Result<()> {
        if !matches!(self.texts, Texts::Described | Texts::Stored) {
            for (document, text) in self.other.candidates(QueryKey(query.theirs))? {
                self.db.add_candidate(query.ours, &document, &text)?;
            }
            return Ok(());
        }
        let mut statement = self.from.prepare_cached(
            "SELECT name, hash FROM candidate JOIN content ON content.id = candidate.content
             WHERE query = ?1 ORDER BY name",
        )?;
        let mut rows = statement.query([query.theirs])?;
        while let Some(row) = rows.next()? {
            let content = self.content_with(&row.get::<_, Vec<u8>>(1)?)?;
            self.db.change(
                "INSERT OR IGNORE INTO candidate (query, name, content) VALUES (?1, ?2, ?3)",
                params![query.ours.0, row.get::<_, String>(0)?, content],
            )?;
        }
        Ok(())
    }

    /// Adds a document of the other file at the end of a pool. Its text is the one with its hash.
    fn add_described(
        &self,
        query: QueryKey,
        theirs: (i64, usize),
        known: &OtherDocument,
    ) -> Result<usize> {
        let content = self.content_with(&known.hash)?;
        let mut statement = self.from.prepare_cached(
            "SELECT title, metadata, extra, score FROM document WHERE query = ?1 AND position = ?2",
        )?;
        let mut rows = statement.query(theirs)?;
        let Some(row) = rows.next()? else {
            return Err(StoreError::Corrupt(format!(
                "the document {:?} is not there",
                known.name
            )));
        };
        let position: usize = self
            .db
            .value("SELECT documents FROM query WHERE id = ?1", [query.0])?;
        self.db.change(
            "INSERT INTO document (query, position, name, title, content, metadata, extra, score)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            params![
                query.0,
                position,
                known.name,
                row.get::<_, Option<String>>(0)?,
                content,
                row.get::<_, JsonObject>(1)?.as_str(),
                row.get::<_, JsonObject>(2)?.as_str(),
                row.get::<_, Option<f64>>(3)?,
            ],
        )?;
        self.db.change(
            "UPDATE query SET documents = documents + 1, revision = revision + 1 WHERE id = ?1",
            [query.0],
        )?;
        Ok(position)
    }

    /// The text with this hash. While texts are left out, an empty one stands for it.
    fn content_with(&self, hash: &[u8]) -> Result<i64> {
        if self.texts == Texts::Described {
            self.db.change(
                "INSERT INTO content (hash, text) VALUES (?1, '') ON CONFLICT DO NOTHING",
                [hash],
            )?;
        }
        self.db
            .maybe_value("SELECT id FROM content WHERE hash = ?1", [hash])?
            .ok_or_else(|| StoreError::NotFound("the text of a document is not there".to_owned()))
    }

    fn documents(&self, query: i64) -> Result<Vec<OtherDocument>> {
        let mut statement = self.from.prepare_cached(
            "SELECT document.name, content.hash, content.id FROM document JOIN content
             ON content.id = document.content
             WHERE query = ?1 ORDER BY position",
        )?;
        let rows = statement.query_map([query], |row| {
            Ok(OtherDocument {
                name: row.get(0)?,
                hash: row.get(1)?,
                content: row.get(2)?,
            })
        })?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    fn document(&self, query: i64, position: usize, known: &OtherDocument) -> Result<Document> {
        let content = {
            let sql = "SELECT text, dictionary, packed FROM content WHERE id = ?1";
            let mut statement = self.from.prepare_cached(sql)?;
            let mut rows = statement.query([known.content])?;
            let Some(row) = rows.next()? else {
                let lost = format!("the text {} of a document is not there", known.content);
                return Err(StoreError::Corrupt(lost));
            };
            self.other.content_text(row, 0)?
        };
        let mut statement = self.from.prepare_cached(
            "SELECT title, metadata, extra, score FROM document WHERE query = ?1 AND position = ?2",
        )?;
        Ok(statement.query_row((query, position), |row| {
            Ok(Document {
                id: DocId::new(known.name.as_str()),
                title: row.get(0)?,
                content,
                metadata: row.get(1)?,
                extra: row.get(2)?,
                input_score: row.get(3)?,
            })
        })?)
    }
}
