//! `overrule import`: datasets, annotated datasets and zBench's `ai_scores.json`.

mod recorded;

use super::{Context, Failure, Outcome, output};
use crate::domain::corpus::Pool;
use crate::formats::ai_scores::{self, Ensemble};
use crate::formats::dataset;
use crate::formats::problem::Problem;
use crate::store::corpus::{Imported, QueryKey};
use crate::store::{Store, StoreError};
use anyhow::anyhow;
use clap::Args;
use serde_json::json;
use std::collections::HashSet;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

/// Problems printed before the rest is only counted.
const SHOWN: usize = 50;
/// Pools or pairs stored in one transaction.
const BATCH: usize = 64;

#[derive(Debug, Args)]
#[command(
    after_help = "A file is recognised by what is in it: JSON lines with \"documents\" are a dataset (annotated or not),
one JSON object with \"scored_pairs\" is zBench's ai_scores.json, whose votes are taken over as recorded.
Nothing is imported from a file with errors, unless --skip-bad leaves the bad parts out.

Examples:
  overrule import dataset.jsonl
  overrule import data/annotation/dataset/ai_scores.json"
)]
pub(super) struct Import {
    /// The files
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Leave bad lines out and import the rest
    #[arg(long)]
    skip_bad: bool,
    /// Check the files and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What an import did.
#[derive(Debug, Default)]
pub(super) struct Report {
    /// Queries that were new.
    pub(super) added: usize,
    /// Queries that the project already held.
    pub(super) unchanged: usize,
    /// Battles that were new, with their votes and failures.
    battles: usize,
    votes: usize,
    failures: usize,
    /// Lines or pairs left out.
    pub(super) skipped: usize,
    /// The queries of the file, in its order.
    pub(super) keys: Vec<QueryKey>,
}

impl Import {
    pub(super) fn run(self, context: &Context) -> Outcome {
        let mut reports = Vec::new();
        let mut store = None;
        for path in &self.paths {
            let kind = recognise(path)?;
            let bad = check(path, kind)?;
            if bad > 0 && !self.skip_bad {
                return Err(refused(path, bad));
            }
            if self.dry_run {
                continue;
            }
            if store.is_none() {
                store = Some(context.open_or_create()?);
            }
            if let Some(store) = &store {
                let report = match kind {
                    Kind::Dataset => {
                        import_dataset(store, open(path)?, &display_name(path), &label(path))?
                    }
                    Kind::AiScores => recorded::import_ai_scores(
                        store,
                        || open(path),
                        &display_name(path),
                        &label(path),
                    )?,
                };
                reports.push((path, report));
            }
        }
        if self.json {
            let rows: Vec<_> = reports
                .iter()
                .map(|(path, report)| {
                    json!({
                        "file": path.display().to_string(),
                        "queries_added": report.added,
                        "queries_unchanged": report.unchanged,
                        "battles": report.battles,
                        "votes": report.votes,
                        "failures": report.failures,
                        "skipped": report.skipped,
                    })
                })
                .collect();
            output::json(&rows)?;
            return Ok(());
        }
        if self.dry_run {
            output::text("nothing is wrong with what would be imported\n")?;
        }
        for (path, report) in reports {
            output::text(&report.words(path))?;
        }
        Ok(())
    }
}

impl Report {
    fn words(&self, path: &Path) -> String {
        let mut words = format!(
            "{}: {} queries added, {} were there already",
            crate::domain::sanitise::line(&path.display().to_string()),
            self.added,
            self.unchanged
        );
        if self.battles > 0 || self.votes > 0 {
            words += &format!(
                "; {} battles with {} votes and {} failed calls taken over as recorded",
                self.battles, self.votes, self.failures
            );
        }
        if self.skipped > 0 {
            words += &format!("; {} bad parts left out", self.skipped);
        }
        words + "\n"
    }
}

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Dataset,
    AiScores,
}

fn open(path: &Path) -> Result<BufReader<File>, Failure> {
    let file = File::open(path).map_err(|error| {
        Failure::usage(anyhow!("{}: cannot be opened: {error}", path.display()))
    })?;
    if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        return Err(Failure::usage(anyhow!(
            "{}: is a folder; name a file",
            path.display()
        )));
    }
    Ok(BufReader::with_capacity(1 << 18, file))
}

fn display_name(path: &Path) -> String {
    path.display().to_string()
}

/// Looks at the first kilobytes: a dataset's line names its query first or its documents, `ai_scores.json` its pairs.
fn recognise(path: &Path) -> Result<Kind, Failure> {
    let mut reader = open(path)?;
    let start = reader
        .fill_buf()
        .map_err(|error| anyhow!("{}: cannot be read: {error}", path.display()))?;
    let start = String::from_utf8_lossy(start);
    let bare = start.trim_start_matches('\u{feff}').trim_start();
    let first_key = bare
        .strip_prefix('{')
        .map(str::trim_start)
        .unwrap_or_default();
    Ok(if first_key.starts_with("\"scored_pairs\"") {
        Kind::AiScores
    } else {
        Kind::Dataset
    })
}

/// Reads the whole file, prints what is wrong, and counts it.
fn check(path: &Path, kind: Kind) -> Result<usize, Failure> {
    let name = display_name(path);
    let mut bad = 0;
    let mut complain = |problem: &Problem| {
        bad += 1;
        if bad <= SHOWN {
            output::complain(&problem.to_string());
        }
    };
    match kind {
        Kind::Dataset => {
            let mut any = false;
            for pool in dataset::read_pools(open(path)?, &name) {
                any = true;
                if let Err(problem) = pool {
                    complain(&problem);
                }
            }
            if !any {
                return Err(Failure::usage(anyhow!(
                    "{name}: holds no query; expected one JSON object a line"
                )));
            }
        }
        Kind::AiScores => {
            for pair in ai_scores::read_scored_pairs(open(path)?, &name, Ensemble::Any) {
                if let Err(problem) = pair {
                    complain(&problem);
                }
            }
        }
    }
    if bad > SHOWN {
        output::complain(&format!("{name}: and {} more", bad - SHOWN));
    }
    Ok(bad)
}

fn refused(path: &Path, bad: usize) -> Failure {
    let problems = if bad == 1 {
        "1 problem".to_owned()
    } else {
        format!("{bad} problems")
    };
    Failure::usage(anyhow!(
        "{}: {problems}, nothing imported; mend the file or leave the bad parts out with --skip-bad",
        path.display()
    ))
}

/// Checks a dataset and imports it, for commands that take one as their input.
pub(super) fn take_in(store: &Store, path: &Path, skip_bad: bool) -> Result<Report, Failure> {
    if recognise(path)? == Kind::AiScores {
        return Err(Failure::usage(anyhow!(
            "{}: holds recorded votes, not a dataset; use `overrule import`",
            path.display()
        )));
    }
    let bad = check(path, Kind::Dataset)?;
    if bad > 0 && !skip_bad {
        return Err(refused(path, bad));
    }
    let report = import_dataset(store, open(path)?, &display_name(path), &label(path))?;
    if report.skipped > 0 {
        output::complain(&format!(
            "{}: {} bad lines left out",
            path.display(),
            report.skipped
        ));
    }
    Ok(report)
}

/// The pools of a dataset that has been checked, or an error for the first bad line.
pub(super) fn pools(path: &Path, skip_bad: bool) -> Result<impl Iterator<Item = Pool>, Failure> {
    let bad = check(path, Kind::Dataset)?;
    if bad > 0 && !skip_bad {
        return Err(refused(path, bad));
    }
    Ok(dataset::read_pools(open(path)?, &display_name(path)).filter_map(Result::ok))
}

/// What a file is called in the project.
fn label(path: &Path) -> String {
    path.file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// Puts the bundled sample into a project.
pub(super) fn bundled(store: &Store, dataset: &'static [u8], ai_scores: &'static [u8]) -> Outcome {
    import_dataset(store, dataset, "scifact.jsonl", "scifact")?;
    recorded::import_ai_scores(
        store,
        || Ok(ai_scores),
        "zbench_example.ai_scores.json",
        "zbench_example",
    )?;
    Ok(())
}

fn import_dataset(
    store: &Store,
    reader: impl BufRead,
    name: &str,
    label: &str,
) -> Result<Report, Failure> {
    let mut report = Report::default();
    let mut batch: Vec<Pool> = Vec::new();
    let mut bad_lines = HashSet::new();
    let flush = |batch: &mut Vec<Pool>, report: &mut Report| -> Result<(), StoreError> {
        let (pools, label) = (std::mem::take(batch), label.to_owned());
        let done = store.write_blocking(move |db| {
            pools
                .iter()
                .map(|pool| db.add_pool(pool, &label))
                .collect::<Result<Vec<Imported>, _>>()
        })?;
        for imported in done {
            match imported {
                Imported::Added(_) => report.added += 1,
                Imported::Unchanged(_) => report.unchanged += 1,
            }
            report.keys.push(imported.key());
        }
        Ok(())
    };
    let mut weight = 0;
    for pool in dataset::read_pools(reader, name) {
        match pool {
            Err(problem) => {
                bad_lines.insert(problem.line);
            }
            Ok(pool) => {
                weight += pool
                    .documents
                    .iter()
                    .map(|document| document.content.len())
                    .sum::<usize>();
                batch.push(pool);
                if batch.len() >= BATCH || weight > 1 << 24 {
                    flush(&mut batch, &mut report)?;
                    weight = 0;
                }
            }
        }
    }
    flush(&mut batch, &mut report)?;
    report.skipped = bad_lines.len();
    Ok(report)
}
