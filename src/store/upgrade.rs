//! Upgrades old projects: moves votes from wide rows to narrow ones and returns the freed space.

use super::columns::KEPT_OF_KEY;
use super::error::Result;
use super::file::free_room;
use super::replies::{Replies, ReplyText};
use crate::domain::annotator_name::stored_annotator_name;
use crate::judge::OFFLINE;
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, OptionalExtension, Row, params_from_iter};
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Progress of an upgrade.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpgradeProgress {
    /// Votes moved, of the total.
    Votes(u64, u64),
    /// The file is being rewritten without its free bytes.
    Shrinking { free: u64 },
    /// The free bytes stay in the file and will be reused.
    NotShrunk { free: u64 },
    /// Votes removed because they were copies of the judge's answer in another battle of the same
    /// pair.
    CopiesRemoved(u64),
}

/// Receives the progress of upgrades, if a listener is set.
static LISTENER: OnceLock<fn(&Path, UpgradeProgress)> = OnceLock::new();

/// Sets the listener for the progress of upgrades. Only the first call has an effect.
pub fn tell_upgrades(listener: fn(&Path, UpgradeProgress)) {
    LISTENER.get_or_init(|| listener);
}

fn tell(path: Option<&Path>, progress: UpgradeProgress) {
    if let (Some(listener), Some(path)) = (LISTENER.get(), path) {
        listener(path, progress);
    }
}

/// Reports how many copied votes a migration has removed.
pub(super) fn tell_of_copies(connection: &Connection, path: Option<&Path>) -> Result<()> {
    let copies = connection.query_row("SELECT count(*) FROM copied_vote", [], |row| row.get(0))?;
    if copies > 0 {
        tell(path, UpgradeProgress::CopiesRemoved(copies));
    }
    Ok(())
}

/// Number of votes between two looks at the clock.
const STEP: u64 = 4_096;

/// Interval between progress reports.
const PACE: Duration = Duration::from_secs(2);

/// Number of old votes that a dictionary is trained on.
const SAMPLES: i64 = 2_000;

/// Index of votes by call. The first bytes of the key suffice and take a quarter of the space.
const CALL_INDEX: &str =
    "CREATE INDEX vote_call ON vote (substr(call_key, 1, 8)) WHERE call_key IS NOT NULL";

/// Columns of a vote that stay unchanged.
const PLAIN: &str = "battle, judge, swapped, margin, attempt, tokens_input, tokens_cached,
                     tokens_output, tokens_thinking,
    cost_usd, latency_ms, truncated, run, created_ms, call_key";

/// Columns that move elsewhere, and the row ID.
const APART: &str = "model, stop_reason, reasoning, raw, request_id, id";

/// Moves all votes from `wide_vote` to `vote`, inside the caller's transaction.
pub(super) fn narrow_votes(connection: &Connection, path: Option<&Path>) -> Result<()> {
    let all: u64 = connection.query_row("SELECT count(*) FROM wide_vote", [], |row| row.get(0))?;
    let mut upgrade = VoteUpgrade::begin(connection)?;
    upgrade
        .replies
        .train_now(connection, samples(connection)?)?;
    // Votes that share the reply of another vote, which may come later.
    let mut reused: Vec<i64> = Vec::new();
    let mut statement = connection.prepare(&format!(
        "SELECT {PLAIN}, {APART} FROM wide_vote ORDER BY battle, judge"
    ))?;
    let mut rows = statement.query([])?;
    let (mut done, mut told) = (0, Instant::now());
    while let Some(row) = rows.next()? {
        if done % STEP == 0 && told.elapsed() > PACE {
            tell(path, UpgradeProgress::Votes(done, all));
            told = Instant::now();
        }
        done += 1;
        if is_reused(row)? {
            reused.push(row.get("id")?);
        } else {
            upgrade.add(row, false)?;
        }
    }
    connection.execute_batch(CALL_INDEX)?;
    let mut statement = connection.prepare(&format!(
        "SELECT {PLAIN}, {APART} FROM wide_vote WHERE id = ?1"
    ))?;
    for id in reused {
        let mut rows = statement.query([id])?;
        if let Some(row) = rows.next()? {
            upgrade.add(row, true)?;
        }
    }
    Ok(())
}

/// Moves rows from the wide table to the narrow one.
struct VoteUpgrade<'a> {
    connection: &'a Connection,
    replies: Replies,
    embedded: HashSet<i64>,
    names: HashMap<String, i64>,
}

impl<'a> VoteUpgrade<'a> {
    fn begin(connection: &'a Connection) -> Result<Self> {
        let mut statement = connection.prepare("SELECT id FROM judge WHERE provider = ?1")?;
        let embedded = statement.query_map([OFFLINE], |row| row.get(0))?;
        Ok(Self {
            connection,
            replies: Replies::default(),
            embedded: embedded.collect::<rusqlite::Result<_>>()?,
            names: HashMap::new(),
        })
    }

    fn add(&mut self, row: &Row<'_>, reused: bool) -> Result<()> {
        let reply = if self.is_written_again(row)? {
            None
        } else {
            self.reply(row, reused)?
        };
        let columns = PLAIN.split(',').count();
        let mut values = Vec::with_capacity(columns + 3);
        for column in 0..columns {
            values.push(match row.get::<_, Value>(column)? {
                // The key of the call, the only BLOB column.
                Value::Blob(mut key) => {
                    key.truncate(KEPT_OF_KEY);
                    Value::Blob(key)
                }
                value => value,
            });
        }
        values.push(self.name(row.get("model")?)?.into());
        values.push(self.name(row.get("stop_reason")?)?.into());
        values.push(reply.into());
        self.connection
            .prepare_cached(&format!(
                "INSERT INTO vote ({PLAIN}, model, stop_reason, reply)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16,
                 ?17, ?18)"
            ))?
            .execute(params_from_iter(values))?;
        Ok(())
    }

    /// Whether an embedded judge wrote it during a run, in which case it can be regenerated at no
    /// cost.
    fn is_written_again(&self, row: &Row<'_>) -> Result<bool> {
        let of_run = row.get::<_, Option<i64>>("run")?.is_some();
        Ok(of_run && self.embedded.contains(&row.get("judge")?))
    }

    fn reply(&self, row: &Row<'_>, reused: bool) -> Result<Option<i64>> {
        let text = text_of(row)?;
        if reused {
            let mut statement = self.connection.prepare_cached(
                "SELECT reply, dictionary, packed FROM vote JOIN reply ON reply.id = vote.reply
                 WHERE substr(call_key, 1, 8) = substr(?1, 1, 8) AND call_key = ?1",
            )?;
            let mut key: Vec<u8> = row.get("call_key")?;
            key.truncate(KEPT_OF_KEY);
            let mut known = statement.query([key])?;
            while let Some(known) = known.next()? {
                let packed: Vec<u8> = known.get(2)?;
                if self
                    .replies
                    .unpacked(self.connection, known.get(1)?, &packed)?
                    == text
                {
                    return Ok(Some(known.get(0)?));
                }
            }
        }
        self.replies.keep(self.connection, &text)
    }

    fn name(&mut self, name: Option<String>) -> Result<Option<i64>> {
        let Some(name) = name else {
            return Ok(None);
        };
        if let Some(known) = self.names.get(&name) {
            return Ok(Some(*known));
        }
        self.connection
            .prepare_cached("INSERT INTO name (text) VALUES (?1)")?
            .execute([&name])?;
        let id = self.connection.last_insert_rowid();
        self.names.insert(name, id);
        Ok(Some(id))
    }
}

/// Whether a vote was copied from another one's answer; only such votes have these columns.
fn is_reused(row: &Row<'_>) -> Result<bool> {
    Ok(row.get::<_, Option<f64>>("latency_ms")?.is_none()
        && row.get::<_, Option<f64>>("cost_usd")? == Some(0.0)
        && row.get::<_, i64>("tokens_input")? == 0
        && row.get::<_, i64>("tokens_output")? == 0
        && row.get::<_, Option<i64>>("run")?.is_some()
        && row.get_ref("call_key")? != ValueRef::Null)
}

fn text_of(row: &Row<'_>) -> rusqlite::Result<ReplyText> {
    Ok(ReplyText {
        reasoning: row.get("reasoning")?,
        raw: row.get("raw")?,
        request_id: row.get("request_id")?,
    })
}

/// Texts of paid votes, sampled evenly from the old table.
fn samples(connection: &Connection) -> Result<Vec<ReplyText>> {
    let last: i64 =
        connection.query_row("SELECT coalesce(max(id), 0) FROM wide_vote", [], |row| {
            row.get(0)
        })?;
    let mut statement = connection.prepare(
        "SELECT reasoning, raw, request_id FROM wide_vote WHERE id = ?1 AND raw IS NOT NULL",
    )?;
    let step = usize::try_from(last / SAMPLES).unwrap_or(usize::MAX).max(1);
    let mut texts = Vec::new();
    for id in (1..=last).step_by(step) {
        texts.extend(statement.query_row([id], text_of).optional()?);
    }
    Ok(texts)
}

/// Free space below this size stays in the file.
const WORTH_SHRINKING: u64 = 16 << 20;

/// Returns the space freed by an upgrade, if it is large and the disk has room for a temporary
/// copy. If that fails, the file is intact: the free space stays in it and is reused.
pub(super) fn shrink(connection: &Connection, path: &Path) -> Result<()> {
    let number = |name: &str| -> Result<u64> {
        Ok(connection.pragma_query_value(None, name, |row| row.get(0))?)
    };
    let page = number("page_size")?;
    let (free, all) = (
        number("freelist_count")? * page,
        number("page_count")? * page,
    );
    if free < WORTH_SHRINKING || free < all / 4 {
        return Ok(());
    }
    // The copy, and the log through which it is written back.
    let wanted = 2 * (all - free) + WORTH_SHRINKING;
    if free_room(path).is_none_or(|room| room < wanted) {
        tell(Some(path), UpgradeProgress::NotShrunk { free });
        return Ok(());
    }
    tell(Some(path), UpgradeProgress::Shrinking { free });
    let shrunk = connection
        .execute_batch("VACUUM")
        .and_then(|()| connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())));
    if let Err(error) = shrunk {
        tracing::warn!(%error, "the file cannot be made smaller");
        tell(Some(path), UpgradeProgress::NotShrunk { free });
    }
    Ok(())
}

/// Stores each person's name in a single spelling. Names of duel participants are kept because
/// their tasks depend on them.
pub(super) fn spell_names_alike(connection: &Connection) -> Result<()> {
    for table in [
        "verdict",
        "undo",
        "ruling",
        "ruling_undo",
        "shown",
        "queue_item",
        "ruling_item",
        "import",
    ] {
        let mut names = connection.prepare(&format!("SELECT DISTINCT annotator FROM {table}"))?;
        let names: Vec<String> = names
            .query_map([], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        for name in names {
            let spelled = stored_annotator_name(&name);
            if spelled != name {
                connection.execute(
                    &format!("UPDATE {table} SET annotator = ?2 WHERE annotator = ?1"),
                    [&name, &spelled],
                )?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
