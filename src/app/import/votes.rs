//! Imports pairwise judgments of other systems and people vote by vote.

use super::ahead::{Lookup, ReadAhead, read_ahead};
use super::imported::VotesImport;
use super::pair_votes::{PairVotes, read_pair_votes};
use super::sample::RecordSample;
use super::vote_importer::{PackedVote, ReadVote, VotesImporter};
use crate::app::error::{AppError, FileProblems};
use crate::app::input_files::{InputReader, display_name, open, stem};
use crate::app::run_lock::RunLock;
use crate::client::now_ms;
use crate::formats::problem::Problem;
use crate::formats::votes::{
    ExternalVote, GivenVotes, KnownTexts, LookupError, read_votes, text_hash,
};
use crate::store::votes::TextPacker;
use crate::store::{Db, Store, StoreError};
use std::collections::HashMap;
use std::io::BufRead;
use std::path::{Path, PathBuf};

pub use super::pair_votes::{PairOptions, refuse_several};

/// Texts of queries and documents by query, as far as files contain them.
pub type TextsByQuery = HashMap<String, KnownTexts>;

/// The result of checking a file of votes.
#[derive(Debug)]
pub struct CheckedVotes {
    /// A vote as it was parsed.
    pub sample: Option<RecordSample>,
    pub problems: FileProblems,
    /// How queries were found, and what was skipped.
    pub notes: Vec<String>,
}

/// Checks a file of votes. `texts` holds the texts of the files before it, and is extended by the
/// texts of this one.
pub fn check(
    path: &Path,
    project: Option<&Store>,
    options: &PairOptions,
    texts: &mut TextsByQuery,
) -> Result<CheckedVotes, AppError> {
    let known = |query: &str| {
        let id = query.to_owned();
        match (texts.get(query), project) {
            (Some(known), _) => Ok(Some(known.clone())),
            (None, None) => Ok(None),
            (None, Some(store)) => store
                .read_blocking(move |db| known_texts(db, &id))
                .map_err(Into::into),
        }
    };
    let name = display_name(path);
    let mut checked = CheckedVotes {
        sample: None,
        problems: FileProblems::of(path),
        notes: Vec::new(),
    };
    let mut any = false;
    let mut take = |vote, line, format| {
        any = true;
        let vote = checked.problems.keep(vote);
        if let (None, Some(vote)) = (&checked.sample, vote) {
            checked.sample = Some(RecordSample::of_vote(path, format, line, &vote));
        }
    };
    let (told, notes, lacking) = if let Some(pairs) = read_pair_votes(path, project, options)? {
        let notes = pairs.notes(&name);
        let mut votes = GivenVotes::new(pairs.votes, &name, known, latest_ms());
        while let Some(vote) = votes.next() {
            take(vote, votes.line(), pairs.format);
        }
        let lacking = format!("contains no votes; it was read as {}", pairs.format);
        (votes.into_texts(), notes, lacking)
    } else {
        let mut votes = read_votes(open(path)?, &name, known).given_before(latest_ms());
        while let Some(vote) = votes.next() {
            take(vote, votes.line(), "votes");
        }
        let lacking = "contains no votes; expected one JSON object per line, or CSV as written by \
                       `overrule export votes`";
        (votes.into_texts(), Vec::new(), lacking.to_owned())
    };
    if !any {
        return Err(AppError::file(path, lacking));
    }
    texts.extend(told);
    Ok(CheckedVotes { notes, ..checked })
}

/// Imports a whole file, or nothing. Invalid lines are skipped.
pub fn import(store: &Store, path: &Path, options: &PairOptions) -> Result<VotesImport, AppError> {
    let file = VotesFile::open(path, Some(store), options)?;
    let _lock = RunLock::take(store.path()).map_err(AppError::failed)?;
    let imported = store.write_blocking(move |db| file.import(db))?;
    store.update_estimates()?;
    Ok(imported)
}

/// What imports of the files, one after the other, would change in a project, or in a new one.
pub fn rehearse(
    paths: &[PathBuf],
    project: Option<&Store>,
    options: &PairOptions,
) -> Result<Vec<VotesImport>, AppError> {
    let files = paths
        .iter()
        .map(|path| VotesFile::open(path, project, options));
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
    add_read(db, file, dataset, |packer, ahead| {
        let known = texts_in(ahead.lookup());
        let votes = read_votes(votes, file, known).given_before(latest_ms());
        put_all(votes, packer, ahead)
    })
}

/// Imports the votes that `read` hands over.
fn add_read(
    db: &mut Db,
    file: &str,
    dataset: &str,
    read: impl FnOnce(TextPacker, &mut ReadAhead<ReadVote>) -> Result<(), StoreError> + Send,
) -> Result<VotesImport, StoreError> {
    let packer = db.reply_packer()?;
    let read = |ahead: &mut ReadAhead<ReadVote>| read(packer, ahead);
    let mut importer = VotesImporter::new(db, dataset, now_ms());
    read_ahead(db, read, |vote| importer.add(vote))??;
    let import = importer.finish()?;
    Ok(VotesImport {
        file: file.to_owned(),
        ..import
    })
}

/// Looks up the texts of queries in the project.
fn texts_in(lookup: Lookup<ReadVote>) -> impl Fn(&str) -> Result<Option<KnownTexts>, LookupError> {
    move |query| {
        let query = query.to_owned();
        let known = lookup.of(move |db| known_texts(db, &query));
        known.map_err(Into::into)
    }
}

/// Hands over all votes, and a problem for each line that is none.
fn put_all(
    votes: impl Iterator<Item = Result<ExternalVote, Problem>>,
    mut packer: TextPacker,
    ahead: &mut ReadAhead<ReadVote>,
) -> Result<(), StoreError> {
    for vote in votes {
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
    content: VotesContent,
    name: String,
    dataset: String,
}

enum VotesContent {
    /// Votes, or a table of votes.
    Own(InputReader),
    /// Choices in another format.
    Pairs(PairVotes),
}

impl VotesFile {
    fn open(path: &Path, project: Option<&Store>, options: &PairOptions) -> Result<Self, AppError> {
        Ok(Self {
            content: match read_pair_votes(path, project, options)? {
                Some(pairs) => VotesContent::Pairs(pairs),
                None => VotesContent::Own(open(path)?),
            },
            name: display_name(path),
            dataset: stem(path),
        })
    }

    fn import(self, db: &mut Db) -> Result<VotesImport, StoreError> {
        let (file, dataset) = (&self.name, &self.dataset);
        let pairs = match self.content {
            VotesContent::Own(reader) => return add(db, reader, file, dataset),
            VotesContent::Pairs(pairs) => pairs,
        };
        add_read(db, file, dataset, |packer, ahead| {
            let known = texts_in(ahead.lookup());
            let votes = GivenVotes::new(pairs.votes, file, known, latest_ms());
            put_all(votes, packer, ahead)
        })
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
