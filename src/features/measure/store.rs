//! Measurements and the documents that were drawn for them. Rows are only added.

use crate::domain::annotator_name::stored_annotator_name;
use crate::domain::corpus::{DocId, QueryId};
use crate::store::{Db, Result};
use rusqlite::{Row, params};
use std::collections::HashMap;

/// A measurement that was started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredMeasurement {
    /// Hash of the metric and of the ranks of the documents that count.
    pub id: [u8; 32],
    pub run: String,
    /// `None` if a single run is measured.
    pub baseline: Option<String>,
    pub metric: String,
    pub seed: u64,
    /// Milliseconds since the Unix epoch.
    pub created_ms: i64,
}

/// A drawn document; see [`Draw`](crate::features::measure::domain::Draw).
#[derive(Clone, Debug, PartialEq)]
pub struct StoredDraw {
    pub measurement: [u8; 32],
    pub annotator: String,
    pub step: usize,
    pub query: QueryId,
    pub document: DocId,
    pub probability: f64,
    pub relevance: f64,
    pub gradient: f64,
    pub variance: f64,
    pub mean: f64,
    /// Milliseconds since the Unix epoch.
    pub created_ms: i64,
}

const MEASUREMENT: &str = "id, run, baseline, metric, seed, created_ms";
const DRAW: &str =
    "measurement, annotator, step, query, document, probability, relevance, gradient,
                    variance, mean, created_ms";

impl Db {
    /// Stores a measurement unless it is known. Returns whether it is new.
    pub fn add_measurement(&self, new: &StoredMeasurement) -> Result<bool> {
        let added = self.change(
            &format!(
                "INSERT INTO measurement ({MEASUREMENT}) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                 ON CONFLICT DO NOTHING"
            ),
            params![
                &new.id[..],
                new.run,
                new.baseline,
                new.metric,
                new.seed.cast_signed(),
                new.created_ms,
            ],
        )?;
        Ok(added > 0)
    }

    /// All measurements, the latest first.
    pub fn measurements(&self) -> Result<Vec<StoredMeasurement>> {
        self.all(
            &format!("SELECT {MEASUREMENT} FROM measurement ORDER BY created_ms DESC, id"),
            [],
            |row| {
                Ok(StoredMeasurement {
                    id: row.get(0)?,
                    run: row.get(1)?,
                    baseline: row.get(2)?,
                    metric: row.get(3)?,
                    seed: row.get::<_, i64>(4)?.cast_unsigned(),
                    created_ms: row.get(5)?,
                })
            },
        )
    }

    /// Stores a draw with its encoded parts. Returns whether it is new: a known step stays as it is,
    /// and a row with impossible numbers is skipped.
    pub fn add_draw(&self, new: &StoredDraw, parts: Option<&[u8]>) -> Result<bool> {
        let added = self.change(
            &format!(
                "INSERT OR IGNORE INTO measure_draw ({DRAW}, parts) VALUES (?1, ?2, ?3, ?4, ?5, ?6,
                 ?7, ?8, ?9, ?10, ?11, ?12)"
            ),
            params![
                &new.measurement[..],
                stored_annotator_name(&new.annotator),
                new.step,
                new.query.as_str(),
                new.document.as_str(),
                new.probability,
                new.relevance,
                new.gradient,
                new.variance,
                new.mean,
                new.created_ms,
                parts,
            ],
        )?;
        Ok(added > 0)
    }

    /// The encoded parts of a measurement's draws, by annotator and step. Draws without any are
    /// missing.
    pub fn draw_parts(&self, measurement: &[u8; 32]) -> Result<HashMap<(String, usize), Vec<u8>>> {
        self.all(
            "SELECT annotator, step, parts FROM measure_draw
             WHERE measurement = ?1 AND parts IS NOT NULL",
            [&measurement[..]],
            |row| Ok(((row.get(0)?, row.get(1)?), row.get(2)?)),
        )
    }

    /// The draws of a measurement, earliest first.
    pub fn draws(&self, measurement: &[u8; 32]) -> Result<Vec<StoredDraw>> {
        self.all(
            &format!(
                "SELECT {DRAW} FROM measure_draw WHERE measurement = ?1
                 ORDER BY created_ms, annotator, step"
            ),
            [&measurement[..]],
            stored_draw,
        )
    }

    /// The draws of all measurements.
    pub fn all_draws(&self) -> Result<Vec<StoredDraw>> {
        self.all(
            &format!("SELECT {DRAW} FROM measure_draw ORDER BY measurement, annotator, step"),
            [],
            stored_draw,
        )
    }
}

fn stored_draw(row: &Row<'_>) -> rusqlite::Result<StoredDraw> {
    Ok(StoredDraw {
        measurement: row.get(0)?,
        annotator: row.get(1)?,
        step: row.get(2)?,
        query: row.get(3)?,
        document: row.get(4)?,
        probability: row.get(5)?,
        relevance: row.get(6)?,
        gradient: row.get(7)?,
        variance: row.get(8)?,
        mean: row.get(9)?,
        created_ms: row.get(10)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;

    fn draw(step: usize) -> StoredDraw {
        StoredDraw {
            measurement: [7; 32],
            annotator: "ana".to_owned(),
            step,
            query: QueryId::new("q"),
            document: DocId::new(format!("d{step}")),
            probability: 0.25,
            relevance: 0.5,
            gradient: -0.1,
            variance: 0.01,
            mean: 0.03,
            created_ms: 10 - step as i64,
        }
    }

    #[test]
    fn a_step_is_drawn_once_and_impossible_numbers_are_not_stored() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("p.db")).unwrap();
        store
            .write_blocking(|db| {
                assert!(db.add_draw(&draw(0), Some(&[0; 48]))?);
                let parts = [(("ana".to_owned(), 0), vec![0; 48])];
                assert_eq!(db.draw_parts(&[7; 32])?, parts.into());
                let again = StoredDraw {
                    document: DocId::new("other"),
                    ..draw(0)
                };
                assert!(!db.add_draw(&again, None)?);
                for wrong in [
                    StoredDraw {
                        probability: 0.0,
                        ..draw(2)
                    },
                    StoredDraw {
                        probability: f64::NAN,
                        ..draw(2)
                    },
                    StoredDraw {
                        variance: f64::INFINITY,
                        ..draw(2)
                    },
                    StoredDraw {
                        relevance: 1.5,
                        ..draw(2)
                    },
                ] {
                    assert!(!db.add_draw(&wrong, None)?);
                }
                assert!(db.add_draw(&draw(1), None)?);
                assert_eq!(db.draws(&[7; 32])?, [draw(1), draw(0)]);
                Ok(())
            })
            .unwrap();
    }
}
