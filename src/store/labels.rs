//! Benchmark labels, and rankings to evaluate.

use super::corpus::{QueryKey, whole};
use super::{Db, Result, StoreError};
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::metrics::{Qrels, RankedRun};
use crate::domain::retrieval::{JudgingPool, PoolLayout, PoolSlot};
use rusqlite::{OptionalExtension, params};
use std::collections::{BTreeMap, BTreeSet};

/// Number of items to adjudicate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AdjudicationCounts {
    pub labels: usize,
    pub rankings: usize,
    /// Answers of judges about pools, including invalid and failed ones.
    pub picks: usize,
    pub rulings: usize,
}

impl Db {
    /// Stores labels and returns how many were new.
    ///
    /// # Errors
    /// A label that contradicts the stored one.
    pub fn put_labels(&self, labels: &Qrels) -> Result<usize> {
        let mut added = 0;
        for (query, grades) in labels {
            for (document, grade) in grades {
                added += usize::from(self.put_label(query, document, *grade)?);
            }
        }
        Ok(added)
    }

    pub(crate) fn put_label(&self, query: &QueryId, document: &DocId, grade: i32) -> Result<bool> {
        let known = self.label(query, document)?;
        let (query, document) = (query.as_str(), document.as_str());
        if let Some(known) = known {
            return if known == grade {
                Ok(false)
            } else {
                Err(StoreError::Conflict(format!(
                    "query {query:?}, document {document:?}: labeled {grade} here and {known} in the project; use another project (--project) for other labels"
                )))
            };
        }
        self.change(
            "INSERT INTO label (query, document, grade) VALUES (?1, ?2, ?3)",
            params![query, document, grade],
        )?;
        Ok(true)
    }

    /// The label of a document; `None` if it is unjudged.
    pub fn label(&self, query: &QueryId, document: &DocId) -> Result<Option<i32>> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT grade FROM label WHERE query = ?1 AND document = ?2")?;
        let found = statement.query_row([query.as_str(), document.as_str()], |row| row.get(0));
        Ok(found.optional()?)
    }

    pub fn labels(&self) -> Result<Qrels> {
        let mut labels = Qrels::new();
        let mut statement = self
            .connection
            .prepare_cached("SELECT query, document, grade FROM label")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let grades = labels.entry(row.get(0)?);
            let document = row.get(1)?;
            grades.or_default().insert(document, row.get(2)?);
        }
        Ok(labels)
    }

    /// Stores a ranking. If one with this name exists, its results for these queries are replaced
    /// and the others kept. Returns whether one existed.
    pub fn put_ranking(&self, name: &str, run: &RankedRun, created_ms: i64) -> Result<bool> {
        let known: Option<(i64, String)> = self.maybe(
            "SELECT id, empty FROM ranking WHERE name = ?1",
            [name],
            |row| row.try_into(),
        )?;
        let mut empty: BTreeSet<QueryId> = match &known {
            Some((_, empty)) => queries(empty)?,
            None => BTreeSet::new(),
        };
        empty.retain(|query| !run.contains_key(query));
        let nothing = run.iter().filter(|(_, ranked)| ranked.is_empty());
        empty.extend(nothing.map(|(query, _)| query.clone()));
        let empty = serde_json::to_string(&empty).map_err(|error| {
            StoreError::Corrupt(format!("a ranking cannot be written: {error}"))
        })?;
        let id = match known {
            Some((id, _)) => {
                self.change(
                    "UPDATE ranking SET empty = ?2 WHERE id = ?1",
                    params![id, empty],
                )?;
                id
            }
            None => {
                self.change(
                    "INSERT INTO ranking (name, empty, created_ms) VALUES (?1, ?2, ?3)",
                    params![name, empty, created_ms],
                )?;
                self.connection.last_insert_rowid()
            }
        };
        let mut clear = self
            .connection
            .prepare_cached("DELETE FROM ranked WHERE ranking = ?1 AND query = ?2")?;
        let mut insert = self.connection.prepare_cached(
            "INSERT INTO ranked (ranking, query, document, score) VALUES (?1, ?2, ?3, ?4)",
        )?;
        for (query, ranked) in run {
            clear.execute(params![id, query.as_str()])?;
            for (document, score) in ranked {
                insert.execute(params![id, query.as_str(), document.as_str(), score])?;
            }
        }
        Ok(known.is_some())
    }

    /// All rankings, by name.
    pub fn rankings(&self) -> Result<Vec<(String, RankedRun)>> {
        let mut names = self
            .connection
            .prepare_cached("SELECT id, name, empty FROM ranking ORDER BY name")?;
        let names: Vec<(i64, String, String)> = names
            .query_map([], |row| row.try_into())?
            .collect::<rusqlite::Result<_>>()?;
        let mut statement = self.connection.prepare_cached(
            "SELECT query, document, score FROM ranked WHERE ranking = ?1 ORDER BY query,
             score DESC, document DESC",
        )?;
        let mut rankings = Vec::new();
        for (id, name, empty) in names {
            let mut run: RankedRun = queries(&empty)?
                .into_iter()
                .map(|query| (query, Vec::new()))
                .collect();
            let mut rows = statement.query([id])?;
            while let Some(row) = rows.next()? {
                let ranked = run.entry(row.get(0)?);
                let document = row.get(1)?;
                ranked.or_default().push((document, row.get(2)?));
            }
            rankings.push((name, run));
        }
        Ok(rankings)
    }

    /// Number of items to adjudicate.
    pub fn adjudication_counts(&self) -> Result<AdjudicationCounts> {
        let count = |table: &str| {
            let sql = format!("SELECT count(*) FROM {table}");
            self.connection.query_row(&sql, [], |row| row.get(0))
        };
        Ok(AdjudicationCounts {
            labels: count("label")?,
            rankings: count("ranking")?,
            picks: count("pick")?,
            rulings: self.standing_rulings()?.len(),
        })
    }

    /// A query's documents as slots, in pool order. Documents with a grade of at least `level` are
    /// labeled relevant.
    pub fn judging_pool(&self, key: QueryKey, level: i32) -> Result<JudgingPool> {
        let id = self.query(key)?.id;
        let mut statement = self
            .connection
            .prepare_cached("SELECT document, grade FROM label WHERE query = ?1")?;
        let rows = statement.query_map([id.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let grades: BTreeMap<DocId, i32> = rows.collect::<rusqlite::Result<_>>()?;
        self.slots(key, id, Some(&grades), level)
    }

    /// [`Db::judging_pool`] with labels that are already loaded.
    pub(crate) fn slots(
        &self,
        key: QueryKey,
        query: QueryId,
        grades: Option<&BTreeMap<DocId, i32>>,
        level: i32,
    ) -> Result<JudgingPool> {
        let mut statement = self.connection.prepare_cached(
            "SELECT name, metadata FROM document WHERE query = ?1 ORDER BY position",
        )?;
        let rows = statement.query_map([key.0], |row| {
            let document = row.get(0)?;
            let metadata = row.get(1)?;
            let grade = grades.and_then(|grades| grades.get(&document));
            Ok(PoolSlot {
                positive: grade.is_some_and(|grade| *grade >= level),
                rank: whole(&metadata, "first_stage_rank").and_then(|rank| rank.try_into().ok()),
                document,
            })
        })?;
        Ok(JudgingPool {
            query,
            slots: rows.collect::<rusqlite::Result<_>>()?,
            // How the order was determined makes no difference here.
            layout: PoolLayout::Original,
        })
    }
}

/// Parses a stored list of queries.
fn queries(text: &str) -> Result<BTreeSet<QueryId>> {
    serde_json::from_str(text)
        .map_err(|error| StoreError::Corrupt(format!("a ranking cannot be read: {error}")))
}

#[cfg(test)]
pub(crate) mod tests {
    use crate::domain::corpus::{DocId, Document, JsonObject, Pool, Query, QueryId};
    use crate::store::Store;
    use crate::store::schema::project_of_version;
    use std::collections::BTreeMap;

    /// A query with one document for each of these metadata, named 0, 1, ….
    pub(crate) fn pool(metadata: &[&str]) -> Pool {
        let document = |(at, text): (usize, &&str)| Document {
            id: DocId::new(at.to_string()),
            title: None,
            content: String::new(),
            metadata: JsonObject::from_compact(*text),
            extra: JsonObject::default(),
            input_score: None,
        };
        Pool {
            query: Query {
                id: QueryId::new("q"),
                text: String::new(),
                extra: JsonObject::default(),
            },
            documents: metadata.iter().enumerate().map(document).collect(),
            extra: JsonObject::default(),
        }
    }

    #[test]
    fn an_older_project_brings_its_grades_whatever_else_its_metadata_hold() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.db");
        let deep = format!(
            "{{\"grade\":1,\"x\":{}{}}}",
            "[".repeat(2000),
            "]".repeat(2000)
        );
        let metadata = [
            r#"{"grade":2}"#,
            r#"{"grade":5000000000}"#,
            r#"{"grade":"A"}"#,
            &deep,
            "{}",
        ];
        let old = project_of_version(4, &path);
        old.execute_batch(
            "INSERT INTO query (id, name, text, extra, line, dataset, documents)
                 VALUES (1, 'q', '', '{}', '{}', 'set', 5);
             INSERT INTO content (id, hash, text) VALUES (1, x'00', '');",
        )
        .unwrap();
        for (at, metadata) in metadata.into_iter().enumerate() {
            old.execute(
                "INSERT INTO document (query, position, name, content, metadata, extra)
                 VALUES (1, ?1, CAST(?1 AS TEXT), 1, ?2, '{}')",
                rusqlite::params![at, metadata],
            )
            .unwrap();
        }
        drop(old);
        let labels = Store::open(&path)
            .unwrap()
            .read_blocking(|db| db.labels())
            .unwrap();
        let grades = BTreeMap::from([(DocId::new("0"), 2)]);
        assert_eq!(labels, BTreeMap::from([(QueryId::new("q"), grades)]));
    }
}
