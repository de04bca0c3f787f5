//! `overrule import`: datasets, annotated datasets, zBench's `ai_scores.json`, labels, rankings and picks.

mod recorded;
mod relevance;
mod votes;

use super::{CommandContext, CommandFailure, CommandResult, output, pool};
use crate::client::now_ms;
use crate::domain::corpus::Pool;
use crate::formats::ai_scores::{self, ExpectedJudges};
use crate::formats::dataset;
use crate::formats::file;
use crate::formats::problem::Problem;
use crate::formats::recognise as columns;
use crate::store::corpus::{Imported, QueryKey};
use crate::store::{Db, Store, StoreError, imports};
use anyhow::anyhow;
use clap::{Args, Subcommand};
use relevance::{RelevanceFile, RelevanceImport};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    disable_help_subcommand = true,
    after_help = "A file is recognised by what is in it: JSON lines with \"documents\" are a dataset (annotated or not),
one JSON object with \"scored_pairs\" is zBench's ai_scores.json, whose votes are taken over as recorded, JSON lines with
\"query\":\"ID\" are picks (overrule export picks), 4 columns are TREC's qrels, 3 with a header BEIR's, 6 a run, 2 to 4
with a header or a score a list of candidates. Labels and rankings serve `overrule adjudication`. A folder is a benchmark
(corpus.jsonl, queries.jsonl, qrels/): its pools are built as `overrule pool build --beir` does.
Nothing is imported from a file with errors, unless --skip-bad leaves the bad parts of a dataset out.

Examples:
  overrule import dataset.jsonl
  overrule import data/annotation/dataset/ai_scores.json
  overrule import scifact/ --split test
  overrule import qrels/test.tsv bm25.trec --name bm25
  overrule import votes judgments.jsonl      other systems' and people's votes, one a line
  overrule import ./votes                    a file that is called votes"
)]
pub(super) struct ImportCommand {
    #[command(subcommand)]
    what: Option<ImportKind>,
    #[command(flatten)]
    files: ImportFiles,
}

#[derive(Debug, Subcommand)]
enum ImportKind {
    /// Pairwise judgments of any system: one vote of a model or a person a line
    Votes(votes::ImportVotesCommand),
}

#[derive(Debug, Args)]
struct ImportFiles {
    /// The files
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Leave bad lines out and import the rest
    #[arg(long)]
    skip_bad: bool,
    /// Check the files and change nothing
    #[arg(long)]
    dry_run: bool,
    /// What a ranking is called [default: its file's name without the ending]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Of a folder: whose labels
    #[arg(long, default_value = "test")]
    split: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What an import did.
#[derive(Debug, Default)]
pub(super) struct DatasetImport {
    /// Queries that were new.
    pub(super) added: usize,
    /// Queries that the project already held.
    pub(super) unchanged: usize,
    /// Battles that were new, with their votes and failures.
    battles: usize,
    votes: usize,
    failures: usize,
    /// Documents that came with a score, which is kept and not used.
    scored: usize,
    /// Lines or pairs left out.
    pub(super) skipped: usize,
    /// The queries of the file, in its order.
    pub(super) keys: Vec<QueryKey>,
}

impl ImportCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        match self.what {
            Some(ImportKind::Votes(votes)) => votes.run(context),
            None => self.files.run(context),
        }
    }
}

impl ImportFiles {
    fn run(self, context: &CommandContext) -> CommandResult {
        if let Some(folder) = self.paths.iter().find(|path| path.is_dir()) {
            if !folder.join("qrels").is_dir() {
                return Err(CommandFailure::usage(anyhow!(
                    "{}: is a folder, and no benchmark (corpus.jsonl, queries.jsonl, qrels/); name a file",
                    folder.display()
                )));
            }
            if self.paths.len() > 1 || self.dry_run || self.skip_bad {
                return Err(CommandFailure::usage(anyhow!(
                    "{}: a benchmark is imported by itself, without --dry-run and --skip-bad",
                    folder.display()
                )));
            }
            pool::import(context, folder, &self.split, self.json)?;
            let told = format!("{}: pools of its {} queries", folder.display(), self.split);
            return note(&context.open()?, context, &told);
        }
        let mut files = Vec::new();
        for path in &self.paths {
            files.push((path, self.read(path)?));
        }
        let mut done = Vec::new();
        if !self.dry_run {
            let store = context.open_or_create()?;
            for (path, found) in files {
                let taken = match found {
                    RecognisedFile::Battles(kind) => {
                        ImportResult::Battles(import(&store, path, kind)?)
                    }
                    RecognisedFile::Relevance(evidence) => {
                        ImportResult::Relevance(evidence.take_in(&store, path)?)
                    }
                };
                note(&store, context, &taken.words(path))?;
                done.push((path, taken));
            }
        }
        if self.json {
            let rows: Vec<_> = done
                .iter()
                .map(|(path, done)| match done {
                    ImportResult::Battles(report) => report.json(path),
                    ImportResult::Relevance(taken) => taken.json(path),
                })
                .collect();
            output::json(&rows)?;
            return Ok(());
        }
        if self.dry_run {
            output::text("nothing is wrong with what would be imported\n")?;
        }
        for (path, done) in done {
            output::text(&done.words(path))?;
        }
        Ok(())
    }

    /// Reads a file through.
    fn read(&self, path: &Path) -> Result<RecognisedFile, CommandFailure> {
        let kind = match recognise(path)? {
            FileContent::Battles(kind) => kind,
            FileContent::Columns(columns::FileKind::Dataset) => PoolFormat::Dataset,
            FileContent::Picks => {
                return Ok(RecognisedFile::Relevance(RelevanceFile::picks(path)?));
            }
            FileContent::Columns(columns::FileKind::Qrels | columns::FileKind::BeirQrels) => {
                return Ok(RecognisedFile::Relevance(RelevanceFile::labels(path)?));
            }
            FileContent::Columns(columns::FileKind::Run | columns::FileKind::Candidates) => {
                let name = self.name.as_deref();
                return Ok(RecognisedFile::Relevance(RelevanceFile::ranking(
                    path, name,
                )?));
            }
        };
        let bad = check(path, kind)?;
        if bad > 0 && !self.skip_bad {
            return Err(refused(path, bad));
        }
        Ok(RecognisedFile::Battles(kind))
    }
}

/// What a file holds: queries with documents, or evidence for the label court.
enum RecognisedFile {
    Battles(PoolFormat),
    Relevance(RelevanceFile),
}

/// What was done with it.
enum ImportResult {
    Battles(DatasetImport),
    Relevance(RelevanceImport),
}

impl ImportResult {
    fn words(&self, path: &Path) -> String {
        match self {
            Self::Battles(report) => report.words(path),
            Self::Relevance(taken) => taken.words(path),
        }
    }
}

/// Keeps what an import did for the log.
fn note(store: &Store, context: &CommandContext, told: &str) -> CommandResult {
    let import = imports::ImportRow::new(&context.annotator(), told.trim_end(), now_ms());
    store.write_blocking(move |db| db.add_import(&import))?;
    Ok(())
}

impl DatasetImport {
    fn json(&self, path: &Path) -> Value {
        json!({
            "file": path.display().to_string(),
            "queries_added": self.added,
            "queries_unchanged": self.unchanged,
            "battles": self.battles,
            "votes": self.votes,
            "failures": self.failures,
            "skipped": self.skipped,
        })
    }

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
        if self.scored > 0 {
            words += &format!(
                "; the scores of {} documents are kept beside them, and are not zELO of this project",
                self.scored
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
enum FileContent {
    Battles(PoolFormat),
    Picks,
    /// What is no JSON.
    Columns(columns::FileKind),
}

/// Queries with documents, perhaps with votes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PoolFormat {
    Dataset,
    AiScores,
}

pub(super) fn open(path: &Path) -> Result<BufReader<File>, CommandFailure> {
    let file = file::open(path).map_err(|error| {
        CommandFailure::usage(anyhow!("{}: cannot be opened: {error}", path.display()))
    })?;
    Ok(BufReader::with_capacity(1 << 18, file))
}

pub(super) fn display_name(path: &Path) -> String {
    path.display().to_string()
}

/// Looks at the first kilobytes: a dataset's line names its query, which is an object, or its documents, a pick its
/// query's id, `ai_scores.json` its pairs.
fn recognise(path: &Path) -> Result<FileContent, CommandFailure> {
    let mut reader = open(path)?;
    let start = reader
        .fill_buf()
        .map_err(|error| anyhow!("{}: cannot be read: {error}", path.display()))?;
    let start = String::from_utf8_lossy(start);
    let bare = start.trim_start_matches('\u{feff}').trim_start();
    let beginning: String = bare.chars().take(200).collect();
    let Some(members) = beginning.strip_prefix('{') else {
        let found =
            columns::recognise(reader, &display_name(path)).map_err(CommandFailure::usage)?;
        return Ok(FileContent::Columns(found));
    };
    let query = members.trim_start().strip_prefix("\"query\"");
    let value = query.and_then(|rest| rest.trim_start().strip_prefix(':'));
    if members.trim_start().starts_with("\"_id\"") {
        return Err(CommandFailure::usage(anyhow!(
            "{}: is a part of a BEIR folder; import the folder",
            path.display()
        )));
    }
    Ok(if beginning.contains("\"scored_pairs\"") {
        FileContent::Battles(PoolFormat::AiScores)
    } else if value.is_some_and(|value| value.trim_start().starts_with('"')) {
        FileContent::Picks
    } else {
        FileContent::Battles(PoolFormat::Dataset)
    })
}

/// Reads the whole file, prints what is wrong, and counts it.
fn check(path: &Path, kind: PoolFormat) -> Result<usize, CommandFailure> {
    let name = display_name(path);
    let mut problems_of_file = output::ProblemPrinter::about(&name);
    match kind {
        PoolFormat::Dataset => {
            let mut any = false;
            for pool in dataset::read_pools(open(path)?, &name) {
                any = true;
                if let Err(problem) = pool {
                    problems_of_file.tell(&problem);
                }
            }
            if !any {
                return Err(CommandFailure::usage(anyhow!(
                    "{name}: holds no query; expected one JSON object a line"
                )));
            }
        }
        PoolFormat::AiScores => {
            let mut texts = recorded::TextHashes::default();
            for (at, pair) in
                ai_scores::read_scored_pairs(open(path)?, &name, ExpectedJudges::Any).enumerate()
            {
                match pair {
                    Ok(pair) => {
                        if let Some(what) = texts.contradicted_by(&pair) {
                            problems_of_file.tell(&Problem::new(
                                &name,
                                None,
                                &format!("scored_pairs[{at}]: {what}"),
                            ));
                        }
                    }
                    Err(problem) => problems_of_file.tell(&problem),
                }
            }
        }
    }
    Ok(problems_of_file.end())
}

fn refused(path: &Path, bad: usize) -> CommandFailure {
    let problems = output::counted(bad, "problem");
    CommandFailure::usage(anyhow!(
        "{}: {problems}, nothing imported; mend the file or leave the bad parts out with --skip-bad",
        path.display()
    ))
}

/// A dataset that has been read through and found good, or good enough.
pub(super) struct CheckedDataset<'a> {
    path: &'a Path,
}

/// Reads a dataset through, for commands that take one as their input.
pub(super) fn checked(path: &Path, skip_bad: bool) -> Result<CheckedDataset<'_>, CommandFailure> {
    // What cannot be recognised is told as a dataset with a bad line.
    let other = match recognise(path) {
        Ok(FileContent::Battles(PoolFormat::AiScores)) => Some("recorded votes"),
        Ok(FileContent::Picks) => Some("picks"),
        Ok(FileContent::Columns(kind)) if kind != columns::FileKind::Dataset => {
            Some(kind.describe())
        }
        Ok(_) | Err(_) => None,
    };
    if let Some(other) = other {
        return Err(CommandFailure::usage(anyhow!(
            "{}: holds {other}, not a dataset; use `overrule import`",
            path.display()
        )));
    }
    let bad = check(path, PoolFormat::Dataset)?;
    if bad > 0 && !skip_bad {
        return Err(refused(path, bad));
    }
    Ok(CheckedDataset { path })
}

impl CheckedDataset<'_> {
    /// Puts the dataset into a project.
    pub(super) fn take_in(&self, store: &Store) -> Result<DatasetImport, CommandFailure> {
        let path = self.path;
        let report = import(store, path, PoolFormat::Dataset)?;
        if report.skipped > 0 {
            output::message(&format!(
                "{}: {} bad lines left out",
                path.display(),
                report.skipped
            ));
        }
        Ok(report)
    }
}

/// The pools of a dataset that has been checked, or an error for the first bad line.
pub(super) fn pools(
    path: &Path,
    skip_bad: bool,
) -> Result<impl Iterator<Item = Pool>, CommandFailure> {
    let bad = check(path, PoolFormat::Dataset)?;
    if bad > 0 && !skip_bad {
        return Err(refused(path, bad));
    }
    Ok(dataset::read_pools(open(path)?, &display_name(path)).filter_map(Result::ok))
}

/// What a file is called in the project.
pub(super) fn label(path: &Path) -> String {
    path.file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// Puts the bundled sample into a project.
pub(super) fn bundled(
    store: &Store,
    dataset: &'static [u8],
    ai_scores: &'static [u8],
) -> CommandResult {
    store.write_blocking(move |db| {
        import_dataset(db, dataset, "scifact.jsonl", "scifact")?;
        let name = "zbench_example.ai_scores.json";
        recorded::import_ai_scores(db, [ai_scores, ai_scores], name, "zbench_example")
    })?;
    Ok(())
}

/// Imports one file in one transaction: all of it, or nothing.
fn import(store: &Store, path: &Path, kind: PoolFormat) -> Result<DatasetImport, CommandFailure> {
    let (name, label) = (display_name(path), label(path));
    Ok(match kind {
        PoolFormat::Dataset => {
            let reader = open(path)?;
            store.write_blocking(move |db| import_dataset(db, reader, &name, &label))?
        }
        PoolFormat::AiScores => {
            let readers = [open(path)?, open(path)?];
            store
                .write_blocking(move |db| recorded::import_ai_scores(db, readers, &name, &label))?
        }
    })
}

fn import_dataset(
    db: &mut Db,
    reader: impl BufRead,
    name: &str,
    label: &str,
) -> Result<DatasetImport, StoreError> {
    let mut report = DatasetImport::default();
    let mut bad_lines = HashSet::new();
    for pool in dataset::read_pools(reader, name) {
        match pool {
            Err(problem) => {
                bad_lines.insert(problem.line);
            }
            Ok(pool) => {
                let imported = db.add_pool(&pool, label)?;
                match imported {
                    Imported::Added(_) => report.added += 1,
                    Imported::Unchanged(_) => report.unchanged += 1,
                }
                report.scored += pool
                    .documents
                    .iter()
                    .filter(|document| document.input_score.is_some())
                    .count();
                report.keys.push(imported.key());
            }
        }
    }
    report.skipped = bad_lines.len();
    Ok(report)
}
