//! Uniting two project files: a union of their rows, so that it can be repeated. The other file is never written to.

mod judges;
mod labels;

use crate::store::merge::{MatchedQuery, MergeCounts, Merger, Snapshot};
use crate::store::{Db, Result};

/// Takes over what another project has and this one has not. With `keep` false nothing is changed, and what would be is
/// reported.
pub fn merge(db: &mut Db, from: &Snapshot, keep: bool) -> Result<MergeCounts> {
    match keep {
        true => db.atomically(|db| unite(db, from.db()?)),
        false => db.rehearsed(|db| unite(db, from.db()?)),
    }
}

fn unite(db: &Db, other: &Db) -> Result<MergeCounts> {
    let mut merger = Merger::new(db, other);
    let mut changed = Vec::new();
    for theirs in merger.queries()? {
        let Some(mut query) = merger.matched(&theirs)? else {
            continue;
        };
        merger.votes(&mut query)?;
        merger.verdicts_of(&mut query)?;
        merger.rerank_results(&query)?;
        judges::unite(&mut merger, &mut query, &theirs)?;
        let MatchedQuery {
            ours, changed: new, ..
        } = query;
        if new {
            db.touch(ours)?;
            changed.push(ours);
        }
    }
    merger.weights()?;
    db.cache_changed(&changed)?;
    labels::unite(&mut merger, other)?;
    merger.rerank_calls()?;
    merger.ledger()?;
    for import in other.imports()? {
        db.add_import(&import)?;
    }
    merger.merged.conflicts = db.conflicts(None)?.len();
    merger.merged.calls_pending = merger.calls_pending()?;
    Ok(merger.merged)
}
