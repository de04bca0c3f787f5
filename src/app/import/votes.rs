//! Imports pairwise judgments of other systems and people vote by vote.

use super::ahead::{ReadAhead, read_ahead};
use super::imported::VotesImport;
use super::sample::RecordSample;
use super::vote_importer::{PackedVote, ReadVote, VotesImporter};
use crate::app::error::{AppError, FileProblems};
use crate::app::input_files::{InputReader, display_name, open, stem};
use crate::app::run_lock::RunLock;
use crate::client::now_ms;
use crate::formats::votes::{KnownTexts, read_votes, text_hash};
use crate::store::votes::TextPacker;
use crate::store::{Db, Store, StoreError};
use std::collections::HashMap;
use std::io::BufRead;
use std::path::{Path, PathBuf};

/// Texts of queries and documents by query, as far as files contain them.
pub type TextsByQuery = HashMap<String, KnownTexts>;

/// The result of checking a file of votes.
#[derive(Debug)]
pub struct CheckedVotes {
    /// A vote as it was parsed.
    pub sample: Option<RecordSample>,
    pub problems: FileProblems,
}

/// Checks a file of votes. `texts` holds the texts of the files before it, and is extended by the
/// texts of this one.
pub fn check(
    path: &Path,
    project: Option<&Store>,
    texts: &mut TextsByQuery,
) -> Result<CheckedVotes, AppError> {
    let mut problems = FileProblems::of(path);
    let mut sample = None;
    let mut votes = read_votes(open(path)?, &display_name(path), |query: &str| {
        let id = query.to_owned();
        match (texts.get(query), project) {
            (Some(known), _) => Ok(Some(known.clone())),
            (None, None) => Ok(None),
            (None, Some(store)) => store
                .read_blocking(move |db| known_texts(db, &id))
                .map_err(Into::into),
        }
    })
    .given_before(latest_ms());
    let mut any = false;
    while let Some(vote) = votes.next() {
        any = true;
        let line = votes.line();
        let vote = problems.keep(vote);
        sample = sample.or_else(|| Some(RecordSample::of_vote(path, line, &vote?)));
    }
    if !any {
        return Err(AppError::file(
            path,
            "contains no votes; expected one JSON object per line, or CSV as written by `overrule \
             export votes`",
        ));
    }
    let told = votes.into_texts();
    texts.extend(told);
    Ok(CheckedVotes { sample, problems })
}

/// Imports a whole file, or nothing. Invalid lines are skipped.
pub fn import(store: &Store, path: &Path) -> Result<VotesImport, AppError> {
    let file = VotesFile::open(path)?;
    let _lock = RunLock::take(store.path()).map_err(AppError::failed)?;
    let imported = store.write_blocking(move |db| file.import(db))?;
    store.update_estimates()?;
    Ok(imported)
}

/// What imports of the files, one after the other, would change in a project, or in a new one.
pub fn rehearse(paths: &[PathBuf], project: Option<&Store>) -> Result<Vec<VotesImport>, AppError> {
    let files = paths.iter().map(|path| VotesFile::open(path));
    let files = files.collect::<Result<Vec<_>, _>>()?;
    let import = move |db: &mut Db| {
        let imports = files.into_iter().map(|file| file.import(db));
        imports.collect::<Result<Vec<_>, StoreError>>()
    };
    Ok(match project {
        Some(store) => store.write_blocking(move |db| db.rehearsed(import))?,
        None => import(&mut Db::scratch()?)?,
    })
}

/// Imports votes as the dataset of this name; `file` is the file's name in problems. Invalid lines
/// are skipped.
pub fn add(
    db: &mut Db,
    votes: impl BufRead + Send,
    file: &str,
    dataset: &str,
) -> Result<VotesImport, StoreError> {
    let packer = db.reply_packer()?;
    let read = |ahead: &mut ReadAhead<ReadVote>| read_all(votes, file, packer, ahead);
    let mut importer = VotesImporter::new(db, dataset, now_ms());
    read_ahead(db, read, |vote| importer.add(vote))??;
    let import = importer.finish()?;
    Ok(VotesImport {
        file: file.to_owned(),
        ..import
    })
}

/// Hands over all votes of a file, and a problem for each line that is none.
fn read_all(
    votes: impl BufRead,
    file: &str,
    mut packer: TextPacker,
    ahead: &mut ReadAhead<ReadVote>,
) -> Result<(), StoreError> {
    let lookup = ahead.lookup();
    let votes = read_votes(votes, file, |query: &str| {
        let query = query.to_owned();
        let known = lookup.of(move |db| known_texts(db, &query));
        known.map_err(Into::into)
    });
    for vote in votes.given_before(latest_ms()) {
        let read = match vote {
            Ok(vote) => ReadVote::Vote(Box::new(PackedVote::of(vote, &mut packer)?)),
            Err(problem) => ReadVote::Problem(problem.line),
        };
        if !ahead.put(read) {
            break;
        }
    }
    Ok(())
}

/// A file to be read into a project.
struct VotesFile {
    reader: InputReader,
    name: String,
    dataset: String,
}

impl VotesFile {
    fn open(path: &Path) -> Result<Self, AppError> {
        Ok(Self {
            reader: open(path)?,
            name: display_name(path),
            dataset: stem(path),
        })
    }

    fn import(self, db: &mut Db) -> Result<VotesImport, StoreError> {
        add(db, self.reader, &self.name, &self.dataset)
    }
}

/// The latest acceptable time of a verdict: clocks and time zones may differ by a day.
fn latest_ms() -> i64 {
    const DAY_MS: i64 = 24 * 60 * 60 * 1_000;
    now_ms() + DAY_MS
}

/// The texts of a query in the project.
fn known_texts(db: &Db, query: &str) -> Result<Option<KnownTexts>, StoreError> {
    Ok(db.texts(query)?.map(|known| KnownTexts {
        query: text_hash(&known.query),
        documents: known.documents,
    }))
}
