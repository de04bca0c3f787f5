//! Uniting two project files: a union of their rows, so that it can be repeated. The other file is never written to.

mod duels;
mod judges;
mod labels;

use crate::app::wording::counted;
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
    merger.students()?;
    let mut changed = Vec::new();
    for theirs in merger.queries()? {
        let Some(mut query) = merger.matched(&theirs)? else {
            continue;
        };
        merger.votes(&mut query)?;
        merger.verdicts_of(&mut query)?;
        merger.rerank_results(&query)?;
        merger.predictions(&mut query)?;
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
    duels::unite(&mut merger, other)?;
    merger.rerank_calls()?;
    merger.ledger()?;
    for import in other.imports()? {
        db.add_import(&import)?;
    }
    merger.merged.conflicts = db.conflicts(None)?.len();
    merger.merged.calls_pending = merger.calls_pending()?;
    Ok(merger.merged)
}

/// What should not go unsaid.
pub fn notes(merged: &MergeCounts) -> Vec<String> {
    let notes = [
        (
            merged.vote_clashes,
            "# votes differ from those of the same judge on the same battle here, which stay",
        ),
        (
            merged.gold_clashes,
            "# gold items have another answer here, which stays",
        ),
        (
            merged.label_clashes,
            "# documents are labelled otherwise here, and those labels stay",
        ),
        (
            merged.duels_left_out,
            "# duels have a query that is left out, and are left out with it",
        ),
        (
            merged.participants_left_out,
            "# participants of duels have other tasks there under the same name, and what they did there is left out",
        ),
        (
            merged.keep_their_judges,
            "other judges count there for # queries; here those count that counted before",
        ),
        (
            merged.calls_pending,
            "batches of the other file are still making # calls; fetch them there and merge again",
        ),
        (
            merged.conflicts,
            "people differ on # pairs of the project (overrule config project --final …)",
        ),
    ];
    let notes = notes.into_iter().filter(|(count, _)| *count > 0);
    notes
        .map(|(count, words)| words.replace('#', &count.to_string()))
        .collect()
}

/// What was taken over, or would be: everything that is not none; `None` where nothing is new.
pub fn taken_over(merged: &MergeCounts) -> Option<String> {
    let counts = [
        (merged.queries_added, "query"),
        (merged.documents_added, "document"),
        (merged.battles, "battle"),
        (merged.votes, "vote"),
        (merged.failures, "failed call"),
        (merged.verdicts, "verdict"),
        (merged.undos, "undo"),
        (merged.gold, "gold item"),
        (merged.labels, "label"),
        (merged.rankings, "ranking"),
        (merged.picks, "pick"),
        (merged.rulings, "ruling"),
        (merged.rerank_results, "order"),
        (merged.students, "student"),
        (merged.duels, "duel"),
        (merged.duel_events, "duel event"),
    ];
    let new = counts.into_iter().filter(|(count, _)| *count > 0);
    let new: Vec<String> = new.map(|(count, noun)| counted(count, noun)).collect();
    (!new.is_empty()).then(|| new.join(", "))
}
