//! Gold pairs (with a known answer): importing them from a file, and how people do on them.

use crate::app::error::{AppError, invalid};
use crate::app::input_files::{display_name, open};
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::verdict::{GoldItem, GoldScore};
use crate::formats::gold::{GoldLine, read_gold};
use crate::formats::problem::Problem;
use crate::store::gold::GoldAdded;
use crate::store::{Db, Result, Store, StoreError};
use std::collections::HashSet;
use std::path::Path;

/// The result of importing a file of gold items. If there are problems, nothing was stored.
#[derive(Debug, Default)]
pub struct GoldImport {
    pub new: usize,
    pub same: usize,
    pub replaced: usize,
    /// In file order.
    pub problems: Vec<Problem>,
}

/// Imports a whole file or nothing. With `replace`, its answers replace different existing ones; a
/// dry run only counts.
pub fn import_gold(
    store: &Store,
    path: &Path,
    replace: bool,
    dry_run: bool,
) -> std::result::Result<GoldImport, AppError> {
    let name = display_name(path);
    let (items, problems) = read_gold(open(path)?, &name);
    if items.is_empty() && problems.is_empty() {
        return Err(invalid!(
            "{name}: is empty; expected query, a, b and decision on each line"
        ));
    }
    let keep = problems.is_empty() && !dry_run;
    let work = move |db: &mut Db| -> Result<GoldImport> {
        let mut tried = GoldImport::default();
        let kept = db.atomically(|db| {
            tried = add(db, &items, &name, replace)?;
            if tried.problems.is_empty() && keep {
                Ok(())
            } else {
                Err(StoreError::Conflict(NOT_KEPT.to_owned()))
            }
        });
        match kept {
            Err(StoreError::Conflict(why)) if why == NOT_KEPT => Ok(tried),
            kept => kept.map(|()| tried),
        }
    };
    let mut import = store.write_blocking(work)?;
    import.problems.splice(0..0, problems);
    import.problems.sort_by_key(|problem| problem.line);
    Ok(import)
}

/// Marks a transaction that was rolled back on purpose.
const NOT_KEPT: &str = "not kept";

fn add(db: &Db, items: &[GoldLine], file: &str, replace: bool) -> Result<GoldImport> {
    let mut import = GoldImport::default();
    // Within one file, nothing is replaced.
    let mut own = HashSet::new();
    for line in items {
        let problem = |what: &str| Problem::new(file, Some(line.line), what);
        let found = db.find_query(line.query.as_str()).and_then(|query| {
            let a = db.find_document(query, line.a.as_str())?;
            Ok((query, a, db.find_document(query, line.b.as_str())?))
        });
        let (query, a, b) = match found {
            Ok(found) => found,
            Err(StoreError::NotFound(what)) => {
                import.problems.push(problem(&what));
                continue;
            }
            Err(error) => return Err(error),
        };
        let item = GoldItem {
            a,
            b,
            decision: line.decision,
            note: line.note.clone(),
        };
        let first = own.insert((query, a.min(b), a.max(b)));
        match db.add_gold(query, &item, replace && first)? {
            GoldAdded::New => import.new += 1,
            GoldAdded::Same => import.same += 1,
            GoldAdded::Replaced => import.replaced += 1,
            GoldAdded::Contradicts(other) => {
                let remedy = if first {
                    "use --replace to overwrite it"
                } else {
                    "keep one of the two lines"
                };
                import.problems.push(problem(&format!(
                    "the pair's known answer is {other}, not {}; {remedy}",
                    line.decision
                )));
            }
        }
    }
    Ok(import)
}

/// A gold item with the names of its query and documents.
#[derive(Debug)]
pub struct NamedGoldItem {
    pub query: QueryId,
    pub a: Option<DocId>,
    pub b: Option<DocId>,
    pub item: GoldItem,
}

/// All gold items, and each annotator's results on them.
#[derive(Debug)]
pub struct GoldReport {
    pub items: Vec<NamedGoldItem>,
    pub people: Vec<(String, GoldScore)>,
}

impl GoldReport {
    pub fn read(db: &Db) -> Result<Self> {
        let mut items = Vec::new();
        let mut documents = Vec::new();
        let mut last = None;
        for (key, item) in db.gold(None)? {
            if last != Some(key) {
                documents = db.documents(key)?;
                last = Some(key);
            }
            let name = |at: usize| documents.get(at).map(|document| document.id.clone());
            items.push(NamedGoldItem {
                query: db.query(key)?.id,
                a: name(item.a),
                b: name(item.b),
                item,
            });
        }
        Ok(Self {
            items,
            people: db.gold_scores()?,
        })
    }
}
