//! Prompts of the other file, and evaluations of them.

use crate::store::merge::Merger;
use crate::store::{Db, Result};
use rusqlite::types::Value;
use rusqlite::{Rows, params_from_iter};

const PROMPT: &str = "hash, text, fields, parent, note, author, examples, created_ms";
const LOOK: &str = "uid, judge, hash, identity, cases, pairs, p, result, author, created_ms";

/// Copies the prompts that are missing here, and the looks at the held-out part. A hash stands for
/// one text, so a known prompt stays as it is.
pub(crate) fn prompts(merger: &mut Merger<'_>) -> Result<()> {
    let mut statement = merger
        .from
        .prepare(&format!("SELECT {PROMPT} FROM prompt ORDER BY hash"))?;
    let insert = format!(
        "INSERT INTO prompt ({PROMPT}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT
         DO NOTHING"
    );
    copy(merger.db, statement.query([])?, &insert)?;
    let mut statement = merger
        .from
        .prepare(&format!("SELECT {LOOK} FROM prompt_look ORDER BY uid"))?;
    let insert = format!(
        "INSERT INTO prompt_look ({LOOK}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
         ON CONFLICT DO NOTHING"
    );
    copy(merger.db, statement.query([])?, &insert)
}

fn copy(db: &Db, mut rows: Rows<'_>, insert: &str) -> Result<()> {
    while let Some(row) = rows.next()? {
        let values: Vec<Value> = (0..row.as_ref().column_count())
            .map(|at| row.get(at))
            .collect::<rusqlite::Result<_>>()?;
        db.change(insert, params_from_iter(values))?;
    }
    Ok(())
}
