//! Files into a project: recognised by what is in them, read through, and imported all or nothing.

pub mod ai_scores;
pub mod datasets;
mod file_content;
mod imported;
mod imported_verdicts;
mod labels;
mod pair_games;
mod picks;
mod rankings;
mod recorded_call;
mod vote_importer;
pub mod votes;

use super::error::{AppError, FileProblems};
use super::input_files;
use crate::client::now_ms;
use crate::domain::adjudication::PickRecord;
use crate::domain::metrics::{Qrels, RankedRun};
use crate::store::Store;
use crate::store::imports::ImportRow;
pub use datasets::REFUSED;
use file_content::FileContent;
pub use imported::{PoolsImport, VotesImport};
use labels::LabelsImport;
use picks::PicksImport;
use rankings::RankingImport;
use serde::Serialize;
use std::fmt::{self, Display};
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// Leave bad parts out instead of refusing the file.
    pub skip_bad: bool,
    /// What a ranking is called, where not as its file.
    pub ranking: Option<String>,
}

/// A file that has been read through and found good, or good enough.
#[derive(Debug)]
pub struct CheckedFile {
    path: PathBuf,
    content: CheckedContent,
    /// What is wrong with the parts that are left out.
    pub problems: FileProblems,
}

/// What is to be imported: pools are read again, the rest is kept.
#[derive(Debug)]
enum CheckedContent {
    Dataset,
    AiScores,
    Labels(Qrels),
    Ranking(String, RankedRun),
    Picks(Vec<PickRecord>),
}

/// Reads a file through, whatever it holds.
pub fn check(path: &Path, options: &ImportOptions) -> Result<CheckedFile, AppError> {
    let mut problems = FileProblems::default();
    let content = match file_content::recognise(path)? {
        FileContent::Dataset => {
            problems = datasets::check_lines(path)?;
            CheckedContent::Dataset
        }
        FileContent::AiScores => {
            problems = ai_scores::check(path)?;
            CheckedContent::AiScores
        }
        FileContent::Picks => CheckedContent::Picks(picks::read(path)?),
        FileContent::Labels(_) => CheckedContent::Labels(input_files::read_labels(path)?),
        FileContent::Ranking(_) => {
            let name = options.ranking.clone();
            let run = input_files::read_ranking(path, &mut Vec::new())?;
            CheckedContent::Ranking(name.unwrap_or_else(|| input_files::stem(path)), run)
        }
    };
    if !options.skip_bad {
        problems.clone().refuse(REFUSED)?;
    }
    Ok(CheckedFile {
        path: path.to_owned(),
        content,
        problems,
    })
}

impl CheckedFile {
    /// Puts the file into a project: all of it, or nothing.
    pub fn import(self, store: &Store) -> Result<ImportedFile, AppError> {
        let path = &self.path;
        Ok(match self.content {
            CheckedContent::Dataset => ImportedFile::Pools(datasets::import(store, path)?),
            CheckedContent::AiScores => ImportedFile::Pools(ai_scores::import(store, path)?),
            CheckedContent::Labels(labels) => {
                ImportedFile::Labels(labels::import(store, path, labels)?)
            }
            CheckedContent::Ranking(name, run) => {
                ImportedFile::Ranking(rankings::import(store, path, name, run)?)
            }
            CheckedContent::Picks(picks) => ImportedFile::Picks(picks::import(store, path, picks)?),
        })
    }
}

#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum ImportedFile {
    /// Queries with documents came, perhaps with votes.
    Pools(PoolsImport),
    Labels(LabelsImport),
    Ranking(RankingImport),
    Picks(PicksImport),
}

impl Display for ImportedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pools(import) => import.fmt(f),
            Self::Labels(import) => import.fmt(f),
            Self::Ranking(import) => import.fmt(f),
            Self::Picks(import) => import.fmt(f),
        }
    }
}

pub fn log_import(store: &Store, annotator: &str, text: &str) -> Result<(), AppError> {
    let import = ImportRow::new(annotator, text, now_ms());
    store.write_blocking(move |db| db.add_import(&import))?;
    Ok(())
}
