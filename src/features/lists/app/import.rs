//! Imports list calls of another copy of the project. Every line is checked against the texts of
//! this one, and either the whole file is stored or nothing.

mod judge_names;

use super::list_judge::{ListJudge, shown_texts};
use super::list_line::{InvalidLine, ListLine, read_lists};
use crate::app::error::{AppError, FileProblems};
use crate::app::input_files::{display_name, open};
use crate::app::run_lock::RunLock;
use crate::app::text_format::counted;
use crate::client::now_ms;
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::sanitize;
use crate::features::lists::store::StoredList;
use crate::formats::problem::{Problem, quoted};
use crate::judge::{MetadataFields, text_hash};
use crate::store::imports::ImportRow;
use crate::store::{Db, Store, StoreError};
use judge_names::JudgeNames;
use serde::Serialize;
use std::collections::HashSet;
use std::fmt;
use std::path::Path;
use thiserror::Error;

/// How far clocks may differ.
const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

/// Result of importing list calls.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ListImport {
    /// The file name as displayed.
    pub file: String,
    /// List calls of the file.
    pub lists: usize,
    /// List calls that the project lacked.
    pub lists_added: usize,
    /// Calls made for these lists, failed ones included. The same call may be the answer to several
    /// lists.
    pub calls: usize,
    /// Calls that the project lacked.
    pub calls_added: usize,
}

/// Why a line is refused.
#[derive(Debug, Error)]
enum RefusedLine {
    #[error(transparent)]
    Invalid(#[from] InvalidLine),
    #[error(
        "spec: this version of overrule has no prompt with this hash for this form of answer and \
         metadata; export the lists with the same version"
    )]
    Prompt,
    #[error("identity: does not match spec; the line was changed, so export the lists again")]
    Identity,
    #[error("query: the project has no query {}; import its dataset first", quoted(.0.as_str()))]
    Query(QueryId),
    #[error("query_sha256: query {} has another text in this project; {COPIES}", quoted(.0.as_str()))]
    QueryText(QueryId),
    #[error("shown: document {} is not in the pool of the query; import its dataset first", quoted(.0.as_str()))]
    Document(DocId),
    #[error("document_sha256: document {} has another text in this project; {COPIES}", quoted(.0.as_str()))]
    DocumentText(DocId),
    #[error(
        "key: does not match this project: the metadata of a document differs, or the line was \
         changed; export the lists again, and import them only into copies of the project"
    )]
    Key,
    #[error("uid: the project or an earlier line has another list call with this uid; {CONFLICT}")]
    OtherList,
    #[error(
        "calls[{0}].uid: the project or an earlier line has another call with this uid; {CONFLICT}"
    )]
    OtherCall(usize),
    #[error(transparent)]
    Store(#[from] StoreError),
}

const COPIES: &str = "import lists only into copies of the project that exported them";

const CONFLICT: &str = "one of them was changed, so export the lists again";

/// List calls that are being imported.
struct Importer<'a> {
    db: &'a Db,
    names: JudgeNames,
    /// The latest valid time.
    latest_ms: i64,
    lists: HashSet<String>,
    calls: HashSet<[u8; 16]>,
    lists_added: usize,
    calls_added: usize,
}

/// Imports list calls and logs it in the name of `annotator`; with `dry_run`, only reports the
/// result. Calls that the project has stay as they are.
///
/// # Errors
/// A line is not valid, does not fit the texts of the project, or contradicts a stored call.
pub fn import_lists(
    store: &Store,
    path: &Path,
    annotator: &str,
    dry_run: bool,
) -> Result<ListImport, AppError> {
    let file = display_name(path);
    let mut lines = read_lists(open(path)?, &file);
    let mut problems = FileProblems::of(path);
    // A run must not buy an answer that is being imported.
    let lock = (!dry_run).then(|| RunLock::take(store.path()));
    let _lock = lock.transpose().map_err(AppError::failed)?;
    let annotator = annotator.to_owned();
    let (import, problems) = store.write_blocking(move |db| {
        db.kept_if(|db| {
            let mut importer = Importer::new(db)?;
            while let Some(line) = lines.next() {
                let Some(line) = problems.keep(line) else {
                    continue;
                };
                match importer.add(line) {
                    Ok(()) => {}
                    Err(RefusedLine::Store(error)) => return Err(error),
                    Err(why) => {
                        problems.add(Problem::new(&file, Some(lines.line()), why));
                    }
                }
            }
            let import = importer.import(file);
            if import.lists_added + import.calls_added > 0 {
                db.list_answers_changed(None)?;
                db.add_import(&ImportRow::new(&annotator, &import.to_string(), now_ms()))?;
            }
            let is_kept = !dry_run && problems.count == 0;
            Ok(((import, problems), is_kept))
        })
    })?;
    problems.refuse_any()?;
    if import.lists == 0 {
        let what = "contains no list calls; expected a file of `overrule export lists`";
        return Err(AppError::file(path, what));
    }
    Ok(import)
}

impl<'a> Importer<'a> {
    fn new(db: &'a Db) -> Result<Self, StoreError> {
        Ok(Self {
            db,
            names: JudgeNames::read(db)?,
            latest_ms: now_ms() + DAY_MS,
            lists: HashSet::new(),
            calls: HashSet::new(),
            lists_added: 0,
            calls_added: 0,
        })
    }

    fn add(&mut self, line: ListLine) -> Result<(), RefusedLine> {
        let db = self.db;
        let list = checked(db, &line, self.latest_ms)?;
        let is_new = match db.list_call(&list.uid)? {
            None => {
                let name = self.names.free_name(db, &line, &list)?;
                db.add_list_call(&list.of_judge(name))?
            }
            Some(known) if known == list.of_judge(&known.judge) => false,
            Some(_) => return Err(RefusedLine::OtherList),
        };
        self.lists_added += usize::from(is_new);
        for (at, call) in line.calls.into_iter().enumerate() {
            let call = call.call(list.key, &line.spec.name);
            match db.rerank_call(&call.uid)? {
                None => {
                    db.add_rerank_call(&call)?;
                    self.calls_added += 1;
                }
                Some(known) if known == call => {}
                Some(_) => return Err(RefusedLine::OtherCall(at)),
            }
            self.calls.insert(call.uid);
        }
        self.lists.insert(list.uid);
        Ok(())
    }

    fn import(self, file: String) -> ListImport {
        ListImport {
            file,
            lists: self.lists.len(),
            lists_added: self.lists_added,
            calls: self.calls.len(),
            calls_added: self.calls_added,
        }
    }
}

/// The list call of a line, if its hashes are those of its judge and of the texts of the project.
fn checked(db: &Db, line: &ListLine, latest_ms: i64) -> Result<StoredList, RefusedLine> {
    let form = line.check(latest_ms)?;
    let fields = match line.metadata.as_deref() {
        Some(text) => Some(MetadataFields::of_canonical(text).ok_or(RefusedLine::Prompt)?),
        None => None,
    };
    let judge = ListJudge::new(&line.spec, fields.as_ref(), form)
        .filter(|judge| judge.spec == line.spec)
        .ok_or(RefusedLine::Prompt)?;
    if judge.identity() != line.identity.0 {
        return Err(RefusedLine::Identity);
    }
    let Some(query) = db.known_query(line.query.as_str())? else {
        return Err(RefusedLine::Query(line.query.clone()));
    };
    let shown = shown_texts(db, query, &line.shown)?.map_err(RefusedLine::Document)?;
    if text_hash(&shown.query) != line.query_sha256.0 {
        return Err(RefusedLine::QueryText(line.query.clone()));
    }
    let mut texts = shown.documents.iter().zip(&line.document_sha256);
    let other = texts.position(|(text, hash)| text_hash(text) != hash.0);
    if let Some(document) = other.and_then(|at| line.shown.get(at)) {
        return Err(RefusedLine::DocumentText(document.clone()));
    }
    if judge.key(shown) != line.key.0 {
        return Err(RefusedLine::Key);
    }
    Ok(line.list(form))
}

impl fmt::Display for ListImport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {}, {} new; {} made for them, {} new",
            sanitize::line(&self.file),
            counted(self.lists, "list call"),
            self.lists_added,
            counted(self.calls, "call"),
            self.calls_added
        )
    }
}

#[cfg(test)]
mod tests;
