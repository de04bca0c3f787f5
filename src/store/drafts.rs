//! Drafts of reasons for decisions, and postponed rulings, for each person.

use super::corpus::QueryKey;
use super::{Db, Result};
use crate::domain::battle::Pair;
use crate::domain::corpus::DocId;
use rusqlite::params;
use std::collections::HashMap;

/// The subject of a decision.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum DecisionSubject {
    Pair(QueryKey, Pair),
    Document(QueryKey, DocId),
}

impl Db {
    /// A person's drafts that no decision has used yet.
    pub fn drafts(&self, annotator: &str) -> Result<HashMap<DecisionSubject, String>> {
        let pairs: Vec<(i64, usize, usize, String)> = self.all(
            "SELECT query, a, b, note FROM verdict_draft WHERE annotator = ?1",
            [annotator],
            |row| row.try_into(),
        )?;
        let documents: Vec<(i64, DocId, String)> = self.all(
            "SELECT query, document, note FROM ruling_draft WHERE annotator = ?1",
            [annotator],
            |row| row.try_into(),
        )?;
        let pairs = pairs.into_iter().filter_map(|(query, a, b, note)| {
            let subject = DecisionSubject::Pair(QueryKey(query), Pair::new(a, b)?);
            Some((subject, note))
        });
        let documents = documents.into_iter().map(|(query, document, note)| {
            (DecisionSubject::Document(QueryKey(query), document), note)
        });
        Ok(pairs.chain(documents).collect())
    }

    /// Stores a person's draft reason for a future decision; `None` removes it.
    pub fn set_draft(
        &self,
        annotator: &str,
        subject: &DecisionSubject,
        note: Option<&str>,
    ) -> Result<()> {
        match (subject, note) {
            (DecisionSubject::Pair(query, pair), Some(note)) => self.change(
                "INSERT INTO verdict_draft (annotator, query, a, b, note) VALUES (?1, ?2, ?3, ?4,
                 ?5)
                 ON CONFLICT DO UPDATE SET note = excluded.note",
                params![annotator, query.0, pair.low(), pair.high(), note],
            ),
            (DecisionSubject::Pair(query, pair), None) => self.change(
                "DELETE FROM verdict_draft WHERE annotator = ?1 AND query = ?2 AND a = ?3 AND b = ?4",
                params![annotator, query.0, pair.low(), pair.high()],
            ),
            (DecisionSubject::Document(query, document), Some(note)) => self.change(
                "INSERT INTO ruling_draft (annotator, query, document, note) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT DO UPDATE SET note = excluded.note",
                params![annotator, query.0, document.as_str(), note],
            ),
            (DecisionSubject::Document(query, document), None) => self.change(
                "DELETE FROM ruling_draft WHERE annotator = ?1 AND query = ?2 AND document = ?3",
                params![annotator, query.0, document.as_str()],
            ),
        }?;
        Ok(())
    }

    /// Takes the draft for use in a decision and removes it from the drafts.
    pub(super) fn take_draft(
        &self,
        annotator: &str,
        subject: &DecisionSubject,
    ) -> Result<Option<String>> {
        let note = match subject {
            DecisionSubject::Pair(query, pair) => self.maybe_value(
                "SELECT note FROM verdict_draft WHERE annotator = ?1 AND query = ?2 AND a = ?3
                 AND b = ?4",
                params![annotator, query.0, pair.low(), pair.high()],
            )?,
            DecisionSubject::Document(query, document) => self.maybe_value(
                "SELECT note FROM ruling_draft WHERE annotator = ?1 AND query = ?2 AND document = ?3",
                params![annotator, query.0, document.as_str()],
            )?,
        };
        if note.is_some() {
            self.set_draft(annotator, subject, None)?;
        }
        Ok(note)
    }

    /// Postpones a person's ruling on a document until after all others.
    pub fn postpone_ruling(
        &self,
        annotator: &str,
        query: QueryKey,
        document: &DocId,
        now_ms: i64,
    ) -> Result<()> {
        self.change(
            "INSERT INTO ruling_later (annotator, query, document, later_ms) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT DO UPDATE SET later_ms = excluded.later_ms",
            params![annotator, query.0, document.as_str(), now_ms],
        )?;
        Ok(())
    }

    /// Who postponed a ruling on which document, earliest first.
    pub fn postponed_rulings(&self) -> Result<Vec<(String, QueryKey, DocId)>> {
        self.all(
            "SELECT annotator, query, document FROM ruling_later ORDER BY later_ms, query, document",
            [],
            |row| Ok((row.get(0)?, QueryKey(row.get(1)?), row.get(2)?)),
        )
    }

    pub(super) fn end_postponement(
        &self,
        annotator: &str,
        query: QueryKey,
        document: &DocId,
    ) -> Result<()> {
        self.change(
            "DELETE FROM ruling_later WHERE annotator = ?1 AND query = ?2 AND document = ?3",
            params![annotator, query.0, document.as_str()],
        )?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::verdict::Decision;
    use crate::store::labels::tests::pool;
    use crate::store::verdicts::NewVerdict;

    #[test]
    fn a_draft_waits_for_the_decision_of_its_person() {
        let db = Db::scratch().unwrap();
        let query = db.add_pool(&pool(&["{}", "{}"]), "set").unwrap().key();
        let pair = DecisionSubject::Pair(query, Pair::new(0, 1).unwrap());
        let document = DecisionSubject::Document(query, DocId::new("0"));
        db.set_draft("ada", &pair, Some("first")).unwrap();
        db.set_draft("ada", &pair, Some("names the trial")).unwrap();
        db.set_draft("ada", &document, Some("too old")).unwrap();
        assert_eq!(db.drafts("bob").unwrap().len(), 0);
        assert_eq!(db.drafts("ada").unwrap()[&pair], "names the trial");
        for annotator in ["bob", "ada"] {
            let verdict = NewVerdict::open(query, 1, 0, Decision::A, annotator);
            db.add_verdict(&verdict).unwrap();
        }
        let notes: Vec<Option<String>> = db
            .standing_verdicts(None)
            .unwrap()
            .into_iter()
            .map(|row| row.verdict.note)
            .collect();
        assert_eq!(notes, [None, Some("names the trial".to_owned())]);
        assert_eq!(db.drafts("ada").unwrap().len(), 1, "that of the document");
        db.set_draft("ada", &document, None).unwrap();
        assert_eq!(db.drafts("ada").unwrap().len(), 0);
    }
}
