//! Documents that the first stage found for a query and that its pool does not hold.

use super::corpus::QueryKey;
use super::{Db, Result};
use crate::domain::corpus::DocId;
use rusqlite::params;

impl Db {
    /// Stores a document that a query's pool does not hold. A later text replaces an earlier one.
    pub fn put_candidate(&self, query: QueryKey, document: &DocId, text: &str) -> Result<()> {
        let content = self.add_content(text)?;
        self.change(
            "INSERT INTO candidate (query, name, content) VALUES (?1, ?2, ?3)
             ON CONFLICT DO UPDATE SET content = excluded.content",
            params![query.0, document.as_str(), content],
        )?;
        Ok(())
    }

    /// Stores a document that a query's pool does not hold, unless it has a text already.
    pub fn add_candidate(&self, query: QueryKey, document: &DocId, text: &str) -> Result<()> {
        let content = self.add_content(text)?;
        self.change(
            "INSERT OR IGNORE INTO candidate (query, name, content) VALUES (?1, ?2, ?3)",
            params![query.0, document.as_str(), content],
        )?;
        Ok(())
    }

    /// The documents of a query that its pool does not hold, with their texts.
    pub fn candidates(&self, query: QueryKey) -> Result<Vec<(DocId, String)>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT name, text, dictionary, packed
             FROM candidate JOIN content ON content.id = candidate.content WHERE query = ?1
             ORDER BY name",
        )?;
        let mut rows = statement.query([query.0])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            found.push((row.get(0)?, self.content_text(row, 1)?));
        }
        Ok(found)
    }
}
