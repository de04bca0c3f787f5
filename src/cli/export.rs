//! `overrule export`: what the project holds, in other programs' forms.

mod labels;
mod verdicts;

use super::{CommandContext, CommandFailure, CommandResult, output};
use crate::app::adjudication::data::AdjudicationData;
use crate::app::adjudication::data::adjudication_data;
use crate::config::user_file;
use crate::domain::corpus::{Pool, QueryId};
use crate::domain::rating::RatingError;
use crate::domain::sanitise;
use crate::domain::vote::{JudgeId, Margin};
use crate::formats::ai_scores::{RecordedVote, ScoredDocument, ScoredPairsWriter, ZbenchPair};
use crate::formats::csv_cell::SafeCsv;
use crate::formats::dataset::{self, Unscored};
use crate::formats::file;
use crate::store::corpus::QueryKey;
use crate::store::file::beside;
use crate::store::{Store, StoreError};
use anyhow::anyhow;
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use std::io::{self, BufWriter, Read as _, Write};
use std::path::{Path, PathBuf};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ExportKind {
    /// Documents with zELO scores, JSON lines in zBench's form
    Annotated,
    /// Battles with every vote, in zBench's ai_scores.json form
    AiScores,
    /// One row a vote, or a failed call that no vote made good, of every judge; `counts` says whose count
    Votes,
    /// One row an annotator's verdict on a pair; `in_force` says which of them counts
    Verdicts,
    /// Labels in TREC's or BEIR's columns; --corrected puts the rulings in
    Qrels,
    /// One row a ruling on a label that stands, with what it changes
    Rulings,
    /// Every answer of a judge on a pool, JSON lines
    Picks,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum RowFormat {
    Csv,
    Jsonl,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  overrule export annotated --out scored.jsonl
  overrule export votes --format jsonl | jq 'select(.failure)'
  overrule export qrels --corrected --out corrected.tsv    and corrected_rulings.csv: who ruled, when and why
  overrule export qrels --diff                             only what the rulings change")]
pub(super) struct ExportCommand {
    /// What to write
    #[arg(value_enum)]
    kind: ExportKind,
    /// Write here instead of stdout
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Only this query, repeatable
    #[arg(long, value_name = "QUERY")]
    query: Vec<String>,
    /// For votes, verdicts and rulings
    #[arg(long, value_enum, default_value = "csv")]
    format: RowFormat,
    #[command(flatten)]
    labels: labels::QrelsOptions,
    /// Write documents without a score too, with "score":null (zBench refuses such a file)
    #[arg(long)]
    keep_unscored: bool,
}

impl ExportCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let store = context.open()?;
        let names = self.query.clone();
        let keys: Vec<QueryKey> = store.read_blocking(move |db| match names.is_empty() {
            true => Ok(db.queries()?.into_iter().map(|query| query.key).collect()),
            false => names.iter().map(|name| db.find_query(name)).collect(),
        })?;
        if let Some(path) = &self.out {
            check_target(context, path, &[])?;
        }
        let Some(path) = &self.out else {
            let mut out = BufWriter::new(io::stdout().lock());
            self.write(&store, &keys, &mut out)?;
            out.flush()?;
            return Ok(());
        };
        let side = self.labels.side_file(path);
        let side = side.filter(|_| self.kind == ExportKind::Qrels);
        if let Some(side) = &side {
            check_target(context, side, &[])?;
            let rows = self.court(&store)?;
            write_atomically(side, |out| {
                self.labels.provenance(&rows, RowFormat::Csv, out)
            })?;
        }
        write_atomically(path, |out| self.write(&store, &keys, out))?;
        for path in std::iter::once(path).chain(&side) {
            output::message(&format!("wrote {}", path.display()));
        }
        Ok(())
    }

    fn write(&self, store: &Store, keys: &[QueryKey], out: &mut dyn Write) -> CommandResult {
        match self.kind {
            ExportKind::Annotated => {
                let left_out = write_annotated(store, keys, self.keep_unscored, out, |_| {})?;
                if left_out > 0 && !self.keep_unscored {
                    output::message(&format!(
                        "{left_out} documents without a score are left out"
                    ));
                }
                Ok(())
            }
            ExportKind::AiScores => write_ai_scores(store, keys, out),
            ExportKind::Votes => write_votes(store, keys, self.format, out),
            ExportKind::Verdicts => verdicts::write(store, keys, self.format, out),
            ExportKind::Qrels => self
                .labels
                .write(&self.court(store)?, self.out.as_deref(), out),
            ExportKind::Rulings => self
                .labels
                .provenance(&self.court(store)?, self.format, out),
            ExportKind::Picks => {
                let wanted = &self.query;
                let mut picks = store.read_blocking(|db| db.picks())?;
                picks.retain(|pick| {
                    wanted.is_empty() || wanted.iter().any(|name| name == pick.query.as_str())
                });
                for pick in &picks {
                    output::json_line(out, pick)?;
                }
                Ok(())
            }
        }
    }

    /// Labels and rulings, of the queries that are wanted.
    fn court(&self, store: &Store) -> Result<AdjudicationData, CommandFailure> {
        let level = self.labels.level;
        let mut rows = store.read_blocking(move |db| adjudication_data(db, level))?;
        if !self.query.is_empty() {
            let wanted = |id: &QueryId| self.query.iter().any(|name| name == id.as_str());
            rows.labels.retain(|query, _| wanted(query));
            rows.rulings.retain(|row| wanted(&row.ruling.query));
        }
        Ok(rows)
    }
}

/// Where a file is or would be, whatever way it is spelled; `None` where its folder does not exist.
fn real(path: &Path) -> Option<PathBuf> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let folder = folder.canonicalize().ok()?;
    path.canonicalize()
        .ok()
        .or_else(|| Some(folder.join(path.file_name()?)))
}

/// What a file is by its name, where it holds keys or settings: those are never written over.
pub(super) fn is_configuration(path: &Path) -> Option<&'static str> {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    [path, &real].into_iter().find_map(|path| {
        let name = path.file_name()?.to_string_lossy().to_lowercase();
        match name.as_str() {
            "overrule.toml" | "config.toml" => Some("a configuration file"),
            ".env" => Some("a file of keys"),
            name if name.starts_with(".env.") => Some("a file of keys"),
            _ => None,
        }
    })
}

/// Refuses an output file that cannot be written, that holds configuration, or that would replace the project or one of
/// the inputs, before any work is done.
pub(super) fn check_target(
    context: &CommandContext,
    path: &Path,
    inputs: &[(&str, &Path)],
) -> CommandResult {
    let refuse = |why: &str| {
        Err(CommandFailure::usage(anyhow!(
            "{}: {why}; name another file",
            path.display()
        )))
    };
    let found = std::fs::metadata(path).ok();
    if let Some(kind) = found.as_ref().and_then(file::odd_kind) {
        return refuse(&format!("cannot be written: it is {kind}"));
    }
    let (Some(name), Some(target)) = (path.file_name(), real(path)) else {
        return refuse("cannot be written: its folder does not exist");
    };
    if let Some(what) = is_configuration(path) {
        return refuse(&format!("is {what}, which is never written over"));
    }
    let project = context.project();
    let mut kept: Vec<(&str, PathBuf)> = vec![("project", project.to_owned())];
    let log = real(project).unwrap_or_else(|| project.to_owned());
    for suffix in ["-wal", "-shm", "-journal", "-run"] {
        kept.push(("project's log or lock", beside(&log, suffix)));
    }
    let configuration = context.config_file.clone().into_iter().chain(user_file());
    kept.extend(configuration.map(|path| ("configuration", path)));
    kept.extend(
        inputs
            .iter()
            .map(|(what, path)| (*what, path.to_path_buf())),
    );
    for (what, other) in &kept {
        if real(other).as_ref() == Some(&target) || file::same(other, path) {
            return refuse(&format!("would overwrite the {what}"));
        }
    }
    // Not looked into before here: to close a handle on the open project would take SQLite's locks away.
    if found.is_some() && is_database(path) {
        return refuse("would overwrite a database");
    }
    let probe = target.with_file_name(format!(".{}.overrule", name.to_string_lossy()));
    if let Err(error) = file::create(&probe) {
        return refuse(&format!("cannot be written: {error}"));
    }
    drop(std::fs::remove_file(&probe));
    Ok(())
}

fn is_database(path: &Path) -> bool {
    let mut start = [0; 16];
    let read = file::open(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && &start == b"SQLite format 3\0"
}

/// Writes a file beside its final name and moves it there when it is whole. It is its owner's alone.
pub(super) fn write_atomically(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> CommandResult,
) -> CommandResult {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    let part = path.with_file_name(name);
    let file = file::create(&part).map_err(|error| {
        CommandFailure::usage(anyhow!("{}: cannot be written: {error}", path.display()))
    })?;
    let mut out = BufWriter::new(file);
    let result = write(&mut out).and_then(|()| Ok(out.flush()?));
    if let Err(failure) = result {
        drop(std::fs::remove_file(&part));
        return Err(match failure.is_disk_full() {
            true => anyhow!(
                "{}: cannot be written: the disk is full; free some space and repeat the command",
                path.display()
            )
            .into(),
            false => failure,
        });
    }
    if let Err(error) = std::fs::rename(&part, path) {
        drop(std::fs::remove_file(&part));
        return Err(anyhow!("{}: cannot be written: {error}", path.display()).into());
    }
    Ok(())
}

/// Writes the annotated dataset of some queries, tells after each how many are written, and says how many documents had no
/// score.
pub(super) fn annotated(
    store: &Store,
    keys: &[QueryKey],
    path: &Path,
    keep: bool,
    wrote: impl FnMut(usize),
) -> Result<usize, CommandFailure> {
    let mut left_out = 0;
    write_atomically(path, |out| {
        left_out = write_annotated(store, keys, keep, out, wrote)?;
        Ok(())
    })?;
    Ok(left_out)
}

fn write_annotated(
    store: &Store,
    keys: &[QueryKey],
    keep: bool,
    out: &mut dyn Write,
    mut wrote: impl FnMut(usize),
) -> Result<usize, CommandFailure> {
    let unscored = if keep {
        Unscored::Null
    } else {
        Unscored::LeaveOut
    };
    let (mut written, mut left_out) = (0, 0);
    store.read_each(
        keys,
        |db, key| Ok(scored_lines(&db.pool(key)?, db.scores(key)?, unscored)),
        |_, lines| {
            let (lines, missing) = lines?;
            out.write_all(&lines)?;
            left_out += missing;
            written += 1;
            wrote(written);
            Ok::<(), CommandFailure>(())
        },
    )?;
    Ok(left_out)
}

/// A query's part of the annotated dataset, and how many of its documents have no score.
fn scored_lines(
    pool: &Pool,
    scores: Result<Vec<Option<f64>>, RatingError>,
    unscored: Unscored,
) -> Result<(Vec<u8>, usize), CommandFailure> {
    let scores = scores.map_err(|error| {
        let id = sanitise::line(pool.query.id.as_str());
        let who = error.blamed(|at| {
            let document = pool.documents.get(at);
            document.map_or(String::new(), |d| {
                sanitise::line(d.id.as_str()).into_owned()
            })
        });
        CommandFailure::usage(anyhow!("query {id}: {error}{who}"))
    })?;
    let mut lines = Vec::new();
    let missing = dataset::write_annotated(&mut lines, pool, &scores, unscored)?;
    Ok((lines, missing))
}

fn write_ai_scores(store: &Store, keys: &[QueryKey], out: &mut dyn Write) -> CommandResult {
    let mut writer = ScoredPairsWriter::new(out)?;
    for key in keys {
        let key = *key;
        let (pool, judges, battles) = store.read_blocking(move |db| {
            let judges = db.judges_of(key)?;
            let seats: Vec<JudgeId> = judges.iter().map(|(id, _)| *id).collect();
            let mut battles = Vec::new();
            for record in db.rows(key)?.battles {
                battles.push((record.battle, db.battle_votes(record.battle.id, &seats)?));
            }
            Ok((db.pool(key)?, judges, battles))
        })?;
        for (battle, votes) in battles {
            if votes.is_empty() {
                continue;
            }
            let document = |at: usize| {
                let document = &pool.documents[at];
                ScoredDocument {
                    id: document.id.clone(),
                    content: document.content.clone(),
                    metadata: document.metadata.clone(),
                }
            };
            let (a, b) = (document(battle.a), document(battle.b));
            let votes = judges
                .iter()
                .map(|(id, spec)| {
                    let recorded = votes
                        .iter()
                        .find(|vote| vote.judge == *id)
                        .and_then(|vote| {
                            let margin: Margin = *vote.result.as_ref().ok()?;
                            Some(RecordedVote::Vote {
                                margin,
                                swapped: vote.swapped,
                                thought: vote.reasoning.clone(),
                            })
                        });
                    (spec.name.clone(), recorded.unwrap_or(RecordedVote::Failure))
                })
                .collect();
            writer.write(&ZbenchPair {
                pair_id: ZbenchPair::zbench_id(&pool.query.id, &a.id, &b.id),
                query_id: pool.query.id.clone(),
                query: pool.query.text.clone(),
                a,
                b,
                votes,
            })?;
        }
    }
    writer.finish()?;
    Ok(())
}

fn write_votes(
    store: &Store,
    keys: &[QueryKey],
    layout: RowFormat,
    out: &mut dyn Write,
) -> CommandResult {
    const HEADER: [&str; 19] = [
        "query",
        "a",
        "b",
        "game",
        "judge",
        "counts",
        "provider",
        "model",
        "margin",
        "failure",
        "swapped",
        "attempt",
        "tokens_input",
        "tokens_output",
        "cost_usd",
        "latency_ms",
        "reasoning",
        "raw",
        "message",
    ];
    let mut csv = None;
    let mut lines = None;
    match layout {
        RowFormat::Csv => {
            let mut writer = SafeCsv::new(out);
            writer.row(HEADER)?;
            csv = Some(writer);
        }
        RowFormat::Jsonl => lines = Some(out),
    }
    for key in keys {
        let key = *key;
        let (info, documents, (judges, counting), battles) = store.read_blocking(move |db| {
            let counting: Vec<JudgeId> = db.judges_of(key)?.into_iter().map(|(id, _)| id).collect();
            let judges = db.all_judges()?;
            let seats: Vec<JudgeId> = judges.iter().map(|(id, _)| *id).collect();
            let battles = db
                .rows(key)?
                .battles
                .into_iter()
                .map(|record| Ok((record.battle, db.battle_votes(record.battle.id, &seats)?)))
                .collect::<Result<Vec<_>, StoreError>>()?;
            Ok((
                db.query(key)?,
                db.documents(key)?,
                (judges, counting),
                battles,
            ))
        })?;
        for (battle, votes) in battles {
            for vote in votes {
                let spec = judges
                    .iter()
                    .find(|(id, _)| *id == vote.judge)
                    .map(|(_, spec)| spec);
                let failure = vote.result.as_ref().err();
                let row = json!({
                    "query": info.id,
                    "a": documents[battle.a].id,
                    "b": documents[battle.b].id,
                    "game": battle.game,
                    "judge": spec.map(|spec| &spec.name),
                    "counts": counting.contains(&vote.judge),
                    "provider": spec.map(|spec| &spec.provider),
                    "model": vote.model.as_ref().or(spec.map(|spec| &spec.model)),
                    "margin": vote.result.as_ref().ok().map(|margin| margin.get()),
                    "failure": failure.map(|(cause, _)| cause),
                    "swapped": vote.swapped,
                    "attempt": vote.attempt,
                    "tokens_input": vote.tokens.0,
                    "tokens_output": vote.tokens.1,
                    "cost_usd": vote.cost_usd,
                    "latency_ms": vote.latency_ms,
                    "reasoning": vote.reasoning,
                    "raw": vote.raw,
                    "message": failure.map(|(_, message)| message),
                });
                if let Some(out) = &mut lines {
                    output::json_line(out, &row)?;
                }
                if let Some(writer) = &mut csv {
                    writer.row(HEADER.map(|name| cell(&row[name])))?;
                }
            }
        }
    }
    if let Some(writer) = csv {
        writer.finish()?;
    }
    Ok(())
}

/// A value as a cell: nothing for null.
pub(super) fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Writes rows as a table with these columns, or as JSON lines with all there is.
fn write_rows<const N: usize>(
    columns: [&str; N],
    rows: impl Iterator<Item = Value>,
    layout: RowFormat,
    out: &mut dyn Write,
) -> CommandResult {
    match layout {
        RowFormat::Jsonl => {
            for row in rows {
                output::json_line(out, &row)?;
            }
        }
        RowFormat::Csv => {
            let mut writer = SafeCsv::new(out);
            writer.row(columns)?;
            for row in rows {
                writer.row(columns.map(|name| cell(&row[name])))?;
            }
            writer.finish()?;
        }
    }
    Ok(())
}
