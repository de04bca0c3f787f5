//! Students of the other file and their predictions.

use crate::domain::battle::Pair;
use crate::domain::prediction::QueryPredictions;
use crate::features::student::store::{Packed, unpacked};
use crate::store::merge::{AddedCount, MatchedQuery, MergePart, Merger};
use crate::store::{Result, StoreError};
use rusqlite::types::Value;
use rusqlite::{params, params_from_iter};

const TABLE: &str = "student";
const STUDENT: &str = "uid, name, step, source, hash, model, annotator, created_ms";

/// New students, counting each checkpoint.
const STUDENTS: AddedCount = AddedCount::new("students", "student");

/// What is merged that belongs to no query.
pub(crate) const PART: MergePart = MergePart {
    name: "students",
    tables: &["student"],
    is_about_queries: false,
    merge: students,
};

pub(crate) const COUNTS: &[AddedCount] = &[STUDENTS];

/// Copies students that are missing here. For each name and step, the latest counts, whichever
/// file it came from.
fn students(merger: &mut Merger<'_>) -> Result<()> {
    let mut statement = merger
        .from
        .prepare(&format!("SELECT id, {STUDENT} FROM student ORDER BY id"))?;
    let mut rows = statement.query([])?;
    let sql = format!(
        "INSERT INTO student ({STUDENT}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT
         DO NOTHING"
    );
    let mut new = Vec::new();
    while let Some(row) = rows.next()? {
        let values: Vec<Value> = (1..=8)
            .map(|at| row.get(at))
            .collect::<rusqlite::Result<_>>()?;
        if merger.db.change(&sql, params_from_iter(values))? > 0 {
            merger.merged.count(&STUDENTS, 1);
            new.push(row.get("name")?);
        }
        let here = merger.db.value(
            "SELECT id FROM student WHERE uid = ?1",
            [row.get::<_, String>(1)?],
        )?;
        merger.ids.insert((TABLE, row.get(0)?), here);
    }
    merger.db.students_changed(&new)
}

/// Copies the students' predictions for a query.
pub(crate) fn predictions(merger: &mut Merger<'_>, query: &mut MatchedQuery) -> Result<()> {
    let mut statement = merger
        .from
        .prepare_cached("SELECT student, packed FROM prediction WHERE query = ?1")?;
    let mut rows = statement.query([query.theirs])?;
    while let Some(row) = rows.next()? {
        let Some(student) = merger.ids.get(&(TABLE, row.get(0)?)) else {
            continue;
        };
        if merger.exists(
            "SELECT 1 FROM prediction WHERE student = ?1 AND query = ?2",
            [*student, query.ours.0],
        )? {
            continue;
        }
        let theirs = unpacked(row.get_ref(1)?.as_blob().unwrap_or_default())?;
        let mut ours = QueryPredictions::new();
        for (pair, mut of) in theirs {
            let (low, high) = (query.place(pair.low())?, query.place(pair.high())?);
            let here = Pair::new(low, high).ok_or_else(|| {
                StoreError::Corrupt("a student's pair is one document".to_owned())
            })?;
            if low == here.high() {
                of.orders.reverse();
                of.orders = of.orders.map(|order| order.map(|order| order.swapped()));
            }
            ours.insert(here, of);
        }
        let packed = Packed::of(&ours)?;
        merger.db.change(
            "INSERT INTO prediction (student, query, pairs, both, packed) VALUES (?1, ?2, ?3,
             ?4, ?5)",
            params![
                student,
                query.ours.0,
                packed.pairs,
                packed.both,
                packed.bytes
            ],
        )?;
        query.changed = true;
    }
    Ok(())
}
