//! Imports files into a project: recognizes each by its beginning, checks all of it, and imports
//! all of it or nothing.

mod ahead;
pub mod ai_scores;
pub mod datasets;
mod file_content;
mod folder;
mod imported;
mod imported_verdicts;
mod label_documents;
mod label_queries;
mod labels;
mod pair_games;
mod pair_votes;
mod picks;
mod pool_table;
mod preview;
mod rankings;
mod recorded_call;
mod sample;
#[cfg(feature = "parquet")]
mod shards;
pub mod source;
mod vote_importer;
pub mod votes;

use super::error::{AppError, FileProblems};
use super::input_files::{self, FoundLabels, ReadProgress};
use super::run_lock::RunLock;
use super::text_format::counted;
use crate::client::now_ms;
use crate::domain::adjudication::PickRecord;
use crate::domain::corpus::QueryId;
use crate::domain::metrics::RankedRun;
use crate::formats::answers::{AnswerItems, AnswerOptions, read_items};
use crate::formats::file_kind::FileKind;
use crate::store::Store;
use crate::store::imports::ImportRow;
pub use datasets::REFUSED;
pub use file_content::ContentKind;
use file_content::FileContent;
pub use folder::{FolderEntry, THIS_PROJECT, list_folder, typed_path};
use imported::KnownQueries;
pub use imported::{PoolsImport, VotesImport};
pub use label_queries::QueryMatch;
use labels::{LabelsImport, matched_labels};
use picks::PicksImport;
use pool_table::PoolTable;
pub use pool_table::PoolTableImport;
pub use preview::ImportPreview;
use preview::PoolCounts;
use rankings::RankingImport;
pub use sample::RecordSample;
use serde::Serialize;
#[cfg(feature = "parquet")]
pub use shards::check_shards;
use std::collections::HashSet;
use std::fmt::{self, Display};
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// Skip invalid parts instead of rejecting the file.
    pub skip_bad: bool,
    /// Name of a ranking, if it differs from that of the file.
    pub ranking: Option<String>,
    /// How labels name their queries; `None` to try both.
    pub query_match: Option<QueryMatch>,
    /// The kind of the file; `None` to recognize it.
    pub kind: Option<ContentKind>,
    /// How the answers of annotation tools are read.
    pub answers: AnswerOptions,
    /// Receives the amount of data read.
    pub progress: ReadProgress,
}

/// A file that was read completely and found valid, or valid enough.
#[derive(Debug)]
pub struct CheckedFile {
    path: PathBuf,
    /// A phrase that describes its content.
    format: &'static str,
    content: CheckedContent,
    query_match: Option<QueryMatch>,
    progress: ReadProgress,
    /// A record as it was parsed.
    pub sample: Option<RecordSample>,
    /// The problems of skipped parts.
    pub problems: FileProblems,
    /// Notes on skipped rows, and on ranks that contradict scores.
    pub notes: Vec<String>,
}

/// The content to import: pools are read again, everything else is kept in memory.
#[derive(Debug)]
enum CheckedContent {
    Dataset(PoolCounts),
    AiScores(PoolCounts),
    Labels(FoundLabels),
    Ranking(String, RankedRun),
    PoolTable(PoolTable),
    Picks(Vec<PickRecord>),
}

/// Reads a complete file of any kind.
pub fn check(path: &Path, options: &ImportOptions) -> Result<CheckedFile, AppError> {
    let mut problems = FileProblems::default();
    let progress = &options.progress;
    let mut notes = Vec::new();
    let found = file_content::recognize(path, options.kind)?;
    let mut sample = sample::first_record(path, &found)?;
    let content = match &found {
        FileContent::Dataset | FileContent::Requests | FileContent::MtebSet => {
            progress.expect(path, 2);
            let (wrong, counts) = datasets::check_lines(path, progress, |_| {})?;
            problems = wrong;
            CheckedContent::Dataset(counts)
        }
        FileContent::AiScores => {
            progress.expect(path, 3);
            let (wrong, counts) = ai_scores::check(path, progress)?;
            problems = wrong;
            CheckedContent::AiScores(counts)
        }
        FileContent::Picks => CheckedContent::Picks(picks::read(path)?),
        FileContent::Labels(kind) => {
            let labels = input_files::labels_by(path, kind, &options.answers, &mut notes)?;
            sample = sample.or_else(|| sample::any_label(path, &found, &labels));
            CheckedContent::Labels(labels)
        }
        FileContent::Rankings(kind) => {
            let name = options.ranking.clone();
            let run = input_files::rankings_of(path, kind, &mut notes)?;
            sample = sample.or_else(|| sample::any_ranked(path, &found, &run));
            CheckedContent::Ranking(name.unwrap_or_else(|| input_files::stem(path)), run)
        }
        FileContent::PoolTable(layout) => {
            let name = options.ranking.clone();
            let name = name.unwrap_or_else(|| input_files::stem(path));
            let kind = FileKind::Table(layout.clone());
            let run = input_files::rankings_of(path, &kind, &mut notes)?;
            problems = FileProblems::of(path);
            let table = PoolTable::read(path, layout, (name, run), &mut problems)?;
            CheckedContent::PoolTable(table)
        }
    };
    if options.query_match.is_some() && !matches!(content, CheckedContent::Labels(_)) {
        return Err(AppError::file(
            path,
            format!("is {}; --match is for labels", found.describe()),
        ));
    }
    let is_answered = matches!(&found, FileContent::Labels(FileKind::Judgments(_)));
    if options.answers != AnswerOptions::default() && !is_answered {
        return Err(AppError::file(
            path,
            format!(
                "is {}; --question, --fields, --answer, --rater and --median are for the judgments \
                 of several people",
                found.describe()
            ),
        ));
    }
    if !options.skip_bad {
        problems.clone().refuse(REFUSED)?;
    }
    Ok(CheckedFile {
        path: path.to_owned(),
        format: found.describe(),
        content,
        query_match: options.query_match,
        progress: options.progress.clone(),
        sample,
        problems,
        notes,
    })
}

impl CheckedFile {
    /// Counts what the file would add to a project; without a project, everything is new.
    pub fn preview(&self, store: Option<&Store>) -> Result<ImportPreview, AppError> {
        let known = store.map(KnownQueries::read).transpose()?;
        let queries: HashSet<&QueryId> = match &self.content {
            CheckedContent::Dataset(counts) | CheckedContent::AiScores(counts) => {
                counts.queries.iter().collect()
            }
            CheckedContent::Labels(found) => found.labels.keys().collect(),
            CheckedContent::Ranking(_, run) => run.keys().collect(),
            CheckedContent::PoolTable(table) => table.queries().collect(),
            CheckedContent::Picks(picks) => picks.iter().map(|pick| &pick.query).collect(),
        };
        let mut content = counted(queries.len(), "query");
        let mut add = |count: usize, noun: &str| {
            content += ", ";
            content += &counted(count, noun);
        };
        match &self.content {
            CheckedContent::Dataset(counts) => add(counts.documents, "document"),
            CheckedContent::AiScores(counts) => {
                add(counts.documents, "document");
                add(counts.battles, "battle");
                add(counts.votes, "vote");
            }
            CheckedContent::Labels(found) => {
                add(
                    found.labels.values().map(|grades| grades.len()).sum(),
                    "label",
                );
            }
            CheckedContent::PoolTable(table) => add(table.documents(), "document"),
            CheckedContent::Ranking(_, run) => {
                add(run.values().map(Vec::len).sum(), "ranked document");
            }
            CheckedContent::Picks(picks) => add(picks.len(), "pick"),
        }
        let here = |query: &&&QueryId| known.as_ref().is_some_and(|known| known.contains(query));
        let mut queries_here = queries.iter().filter(here).count();
        if let (CheckedContent::Labels(found), Some(store)) = (&self.content, store)
            && (found.may_name_texts || self.query_match.is_some())
        {
            let matched = matched_labels(store, &self.path, found.clone(), self.query_match)?;
            queries_here = matched.found;
            content += &matched.describe();
        }
        Ok(ImportPreview {
            file: input_files::display_name(&self.path),
            format: self.format,
            content,
            queries: queries.len(),
            queries_here,
        })
    }

    /// Imports the whole file into a project, or nothing.
    pub fn import(self, store: &Store) -> Result<ImportedFile, AppError> {
        let (path, progress) = (&self.path, &self.progress);
        // A run determines the missing answers when it starts; it would pay again for those that
        // arrive meanwhile.
        let brings_answers = matches!(
            self.content,
            CheckedContent::AiScores(_) | CheckedContent::Picks(_)
        );
        let brings_texts = matches!(
            self.content,
            CheckedContent::Dataset(_) | CheckedContent::PoolTable(_)
        );
        let lock = (brings_answers || brings_texts).then(|| RunLock::take(store.path()));
        let (_lock, keep_known) = match lock {
            Some(Err(error)) if brings_answers => return Err(AppError::failed(error)),
            // Queries may be added during a run, but not changed: its judges are being shown them.
            Some(Err(error)) => (None, Some(error.to_string())),
            Some(Ok(lock)) => (Some(lock), None),
            None => (None, None),
        };
        Ok(match self.content {
            CheckedContent::Dataset(_) => {
                ImportedFile::Pools(datasets::import(store, path, progress, keep_known, None)?)
            }
            CheckedContent::AiScores(_) => {
                ImportedFile::Pools(ai_scores::import(store, path, progress)?)
            }
            CheckedContent::Labels(labels) => {
                ImportedFile::Labels(labels::import(store, path, labels, self.query_match)?)
            }
            CheckedContent::Ranking(name, run) => {
                ImportedFile::Ranking(rankings::import(store, path, name, run)?)
            }
            CheckedContent::PoolTable(table) => {
                ImportedFile::PoolTable(table.import(store, path, keep_known)?)
            }
            CheckedContent::Picks(picks) => ImportedFile::Picks(picks::import(store, path, picks)?),
        })
    }
}

#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum ImportedFile {
    /// Queries with documents were imported, possibly with votes.
    Pools(PoolsImport),
    Labels(LabelsImport),
    Ranking(RankingImport),
    /// Queries, candidates and their ranking were imported.
    PoolTable(PoolTableImport),
    Picks(PicksImport),
}

impl Display for ImportedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pools(import) => import.fmt(f),
            Self::Labels(import) => import.fmt(f),
            Self::Ranking(import) => import.fmt(f),
            Self::PoolTable(import) => import.fmt(f),
            Self::Picks(import) => import.fmt(f),
        }
    }
}

/// The items of an annotation tool's data file.
pub fn answer_items(path: &Path) -> Result<AnswerItems, AppError> {
    let mut problems = FileProblems::of(path);
    let reader = input_files::open(path)?;
    let items = read_items(reader, &input_files::display_name(path), &mut |problem| {
        problems.add(problem);
    });
    problems.refuse_any()?;
    Ok(items)
}

pub fn log_import(store: &Store, annotator: &str, text: &str) -> Result<(), AppError> {
    let import = ImportRow::new(annotator, text, now_ms());
    store.write_blocking(move |db| db.add_import(&import))?;
    Ok(())
}

#[cfg(test)]
mod tests;
