//! Prompts of the other file, and evaluations of them.

use crate::judge::PromptText;
use crate::judge::prompt::Template;
use crate::store::merge::{AddedCount, MergePart, Merger};
use crate::store::{Db, Result};
use rusqlite::types::Value;
use rusqlite::{Row, Rows, params_from_iter};

const PROMPT: &str =
    "hash, text, fields, project_texts, parent, note, author, examples, created_ms";
const LOOK: &str = "uid, judge, hash, identity, cases, pairs, p, result, author, created_ms";

const PROMPTS: AddedCount = AddedCount::new("prompts", "prompt");
const LOOKS: AddedCount = AddedCount::new("prompt_looks", "held-out look");

/// What is merged that belongs to no query.
pub(crate) const PART: MergePart = MergePart {
    name: "prompts",
    tables: &["prompt", "prompt_look"],
    is_about_queries: false,
    merge: prompts,
};

pub(crate) const COUNTS: &[AddedCount] = &[PROMPTS, LOOKS];

/// Copies the prompts that are missing here, and the looks at the held-out part. A hash stands for
/// one text, so a known prompt stays as it is, and a text with a wrong hash is skipped.
pub(crate) fn prompts(merger: &mut Merger<'_>) -> Result<()> {
    let mut statement = merger
        .from
        .prepare(&format!("SELECT {PROMPT} FROM prompt ORDER BY hash"))?;
    let insert = format!(
        "INSERT INTO prompt ({PROMPT}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT
         DO NOTHING"
    );
    let new = copy(merger.db, statement.query([])?, &insert, is_sound)?;
    merger.merged.count(&PROMPTS, new);
    let mut statement = merger
        .from
        .prepare(&format!("SELECT {LOOK} FROM prompt_look ORDER BY uid"))?;
    let insert = format!(
        "INSERT INTO prompt_look ({LOOK}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
         ON CONFLICT DO NOTHING"
    );
    let new = copy(merger.db, statement.query([])?, &insert, |_| Ok(true))?;
    merger.merged.count(&LOOKS, new);
    Ok(())
}

/// Whether a prompt has the hash of its text, and a readable list of examples.
fn is_sound(row: &Row<'_>) -> Result<bool> {
    let stored = PromptText {
        hash: row.get("hash")?,
        text: row.get("text")?,
        fields: row.get("fields")?,
        project_texts: row.get("project_texts")?,
    };
    let examples: String = row.get("examples")?;
    Ok(Template::of_stored(&stored).is_some()
        && serde_json::from_str::<Vec<String>>(&examples).is_ok())
}

/// Copies the rows that are to be copied according to `is_wanted`, and returns how many are new.
fn copy(
    db: &Db,
    mut rows: Rows<'_>,
    insert: &str,
    is_wanted: impl Fn(&Row<'_>) -> Result<bool>,
) -> Result<usize> {
    let mut new = 0;
    while let Some(row) = rows.next()? {
        if !is_wanted(row)? {
            continue;
        }
        let values: Vec<Value> = (0..row.as_ref().column_count())
            .map(|at| row.get(at))
            .collect::<rusqlite::Result<_>>()?;
        new += db.change(insert, params_from_iter(values))?;
    }
    Ok(new)
}
