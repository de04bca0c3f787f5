//! Imports queries with their documents from zBench's JSON lines.

use super::file_content::{FileContent, recognize};
use super::imported::PoolsImport;
use super::preview::PoolCounts;
use crate::app::error::{AppError, FileProblems, invalid};
use crate::app::input_files::{ReadProgress, display_name, open, open_counted, stem};
use crate::domain::corpus::{DocId, Pool, QueryId};
use crate::domain::sampling::Shard;
use crate::domain::sanitize;
use crate::formats::dataset;
use crate::formats::problem::Problem;
use crate::store::corpus::QueryKey;
use crate::store::{Db, Store, StoreError};
use std::collections::HashSet;
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;
use std::thread;

/// The consequence if invalid lines are not to be skipped.
pub const REFUSED: &str =
    "nothing imported; correct the file, or skip invalid parts with --skip-bad";

/// Maximum number of pools that are parsed ahead of the writer.
const PARSED_AHEAD: usize = 4;

/// A dataset that was read completely and is valid, except for lines to be skipped.
#[derive(Debug)]
pub struct CheckedDataset {
    path: PathBuf,
    /// The queries of the file, in its order.
    queries: Vec<QueryId>,
    /// The requested queries; all if empty.
    only: Vec<String>,
    /// The shard that the queries must belong to.
    shard: Option<Shard>,
    /// The problems of skipped lines.
    pub problems: FileProblems,
}

/// Checks a complete dataset, for use cases that take one as input.
pub fn check(path: &Path, skip_bad: bool) -> Result<CheckedDataset, AppError> {
    if path.is_dir() {
        let path = path.display();
        return Err(invalid!(
            "{path}: is a folder, not a dataset; `overrule pool build --beir {path}` builds pools \
             from a benchmark's folder"
        ));
    }
    // A file that is not recognized is reported as a dataset with an invalid line.
    if let Ok(other) = recognize(path, None)
        && !matches!(
            other,
            FileContent::Dataset | FileContent::Requests | FileContent::MtebSet
        )
    {
        return Err(invalid!(
            "{}: holds {}, not a dataset; use `overrule import`",
            path.display(),
            other.describe()
        ));
    }
    let mut queries = Vec::new();
    let note = |pool: &Pool| queries.push(pool.query.id.clone());
    let (problems, _) = check_lines(path, &ReadProgress::default(), note)?;
    if !skip_bad {
        problems.clone().refuse(REFUSED)?;
    }
    Ok(CheckedDataset {
        path: path.to_owned(),
        queries,
        only: Vec::new(),
        shard: None,
        problems,
    })
}

impl CheckedDataset {
    /// Restricts the dataset to these queries; an empty list keeps all.
    ///
    /// # Errors
    /// One of the queries does not exist.
    pub fn with_queries(self, only: &[String]) -> Result<Self, AppError> {
        if !only.is_empty() {
            let known: HashSet<&str> = self.query_ids().collect();
            if let Some(name) = only.iter().find(|name| !known.contains(name.as_str())) {
                let (name, path) = (sanitize::line(name), self.path.display());
                return Err(invalid!("--query: {path} has no query {name:?}"));
            }
        }
        let mut seen = HashSet::new();
        let only = only.iter().filter(|name| seen.insert(name.as_str()));
        Ok(Self {
            only: only.cloned().collect(),
            ..self
        })
    }

    /// Restricts the dataset to the queries of a shard.
    pub fn with_shard(self, shard: Option<Shard>) -> Self {
        Self { shard, ..self }
    }

    /// Imports the whole dataset into the project, or the queries of its shard; the returned keys
    /// are those of the requested queries.
    pub fn import(&self, store: &Store) -> Result<PoolsImport, AppError> {
        let (progress, shard) = (ReadProgress::default(), self.shard);
        let mut imported = import(store, &self.path, &progress, None, shard)?;
        if !self.only.is_empty() {
            let only = self.only.clone();
            imported.keys = store.read_blocking(move |db| {
                let found = only.iter().map(|name| db.known_query(name));
                let found = found.collect::<Result<Vec<_>, _>>()?;
                Ok(found.into_iter().flatten().collect())
            })?;
        }
        Ok(imported)
    }

    /// Rejects queries that are in the project with a different text or different documents.
    ///
    /// # Errors
    /// One of the queries is there with a different text or different documents.
    pub fn refuse_edited(&self, store: &Store) -> Result<(), AppError> {
        for pool in self.pools()? {
            store.read_blocking(move |db| db.check_pool(&pool))?;
        }
        Ok(())
    }

    /// The keys of the requested queries, if the project has all of their documents; changes
    /// nothing.
    ///
    /// # Errors
    /// Part of the dataset is not in the project; the message begins with `what`, which requires
    /// it.
    pub fn keys(&self, store: &Store, what: &str) -> Result<Vec<QueryKey>, AppError> {
        let mut keys = Vec::new();
        for pool in self.pools()? {
            let name = sanitize::line(pool.query.id.as_str()).into_owned();
            let of_project = store.read_blocking(move |db| {
                let Some(key) = db.known_query(pool.query.id.as_str())? else {
                    return Ok(None);
                };
                let documents = db.documents(key)?;
                let known: HashSet<&DocId> =
                    documents.iter().map(|document| &document.id).collect();
                let mut wanted = pool.documents.iter();
                Ok(wanted
                    .all(|document| known.contains(&document.id))
                    .then_some(key))
            })?;
            keys.push(of_project.ok_or_else(|| {
                let path = self.path.display();
                invalid!(
                    "{what}: query {name:?} of {path} is missing from the project or different \
                     there; import the file first (`overrule import {path}` makes no calls)"
                )
            })?);
        }
        Ok(keys)
    }

    /// The identifiers of the requested queries, in the order of the file.
    pub fn query_ids(&self) -> impl Iterator<Item = &str> {
        let ids = self.queries.iter().map(QueryId::as_str);
        ids.filter(|id| is_requested(id, self.shard, &self.only))
    }

    /// The requested queries with their documents.
    pub fn pools(&self) -> Result<impl Iterator<Item = Pool> + use<>, AppError> {
        let records = dataset::read_pools(open(&self.path)?, &display_name(&self.path));
        let (only, shard) = (self.only.clone(), self.shard);
        let wanted = move |pool: &Pool| is_requested(pool.query.id.as_str(), shard, &only);
        Ok(records.filter_map(Result::ok).filter(wanted))
    }
}

fn is_requested(id: &str, shard: Option<Shard>, only: &[String]) -> bool {
    let of_shard = shard.is_none_or(|shard| shard.contains(id));
    of_shard && (only.is_empty() || only.iter().any(|name| name == id))
}

/// The problems of a dataset, line by line, and the size of the valid part, each pool of which is
/// passed to `each`.
pub(super) fn check_lines(
    path: &Path,
    progress: &ReadProgress,
    mut each: impl FnMut(&Pool),
) -> Result<(FileProblems, PoolCounts), AppError> {
    let mut problems = FileProblems::of(path);
    let mut counts = PoolCounts::default();
    let mut any = false;
    for pool in dataset::read_pools(open_counted(path, progress)?, &display_name(path)) {
        any = true;
        if let Some(pool) = problems.keep(pool) {
            each(&pool);
            counts.documents += pool.documents.len();
            counts.queries.insert(pool.query.id);
        }
    }
    if any {
        Ok((problems, counts))
    } else {
        Err(AppError::file(
            path,
            "contains no query; expected one JSON object per line",
        ))
    }
}

/// Imports a file, or the queries of a shard, in one transaction; lines are parsed on another thread
/// while earlier ones are compared or stored. `keep_known` is a reason to change no query of the
/// project.
pub(super) fn import(
    store: &Store,
    path: &Path,
    progress: &ReadProgress,
    keep_known: Option<String>,
    shard: Option<Shard>,
) -> Result<PoolsImport, AppError> {
    let reader = open_counted(path, progress)?;
    let (name, dataset) = (display_name(path), stem(path));
    let (send, parsed) = sync_channel(PARSED_AHEAD);
    let file = name.clone();
    let parse = move || {
        for pool in dataset::read_pools(reader, &file) {
            // After an error, nobody receives any more.
            if send.send(Some(pool)).is_err() {
                return;
            }
        }
        drop(send.send(None));
    };
    thread::Builder::new()
        .name("parsing".to_owned())
        .spawn(parse)
        .map_err(AppError::failed)?;
    Ok(store.write_blocking(move |db| {
        let mut is_whole = false;
        let pools = std::iter::from_fn(|| {
            let pool = parsed.recv().ok()?;
            is_whole = pool.is_none();
            pool
        });
        let imported = add_pools(db, pools, &name, &dataset, shard)?;
        if !is_whole {
            let what = format!("{name}: reading it ended unexpectedly");
            return Err(StoreError::Internal(what));
        }
        imported.check_known(keep_known.as_deref())?;
        Ok(imported)
    })?)
}

/// Adds the content of a reader of the file `name` as the dataset with that name.
pub fn add(
    db: &mut Db,
    reader: impl BufRead,
    name: &str,
    dataset: &str,
) -> Result<PoolsImport, StoreError> {
    let pools = dataset::read_pools(reader, name);
    add_pools(db, pools, name, dataset, None)
}

fn add_pools(
    db: &mut Db,
    pools: impl Iterator<Item = Result<Pool, Problem>>,
    name: &str,
    dataset: &str,
    shard: Option<Shard>,
) -> Result<PoolsImport, StoreError> {
    let mut import = PoolsImport {
        file: name.to_owned(),
        ..PoolsImport::default()
    };
    let mut bad_lines = HashSet::new();
    for pool in pools {
        let pool = match pool {
            Ok(pool) => pool,
            Err(problem) => {
                bad_lines.insert(problem.line);
                continue;
            }
        };
        if shard.is_some_and(|shard| !shard.contains(pool.query.id.as_str())) {
            continue;
        }
        import.add(db.add_pool(&pool, dataset)?, &pool);
    }
    import.skipped = bad_lines.len();
    Ok(import)
}
