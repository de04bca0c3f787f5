//! Merges two project files: a union of their rows, so that it can be repeated. The other file is
//! never written to.

mod judges;
mod labels;
#[cfg(feature = "remote")]
mod picks;
#[cfg(feature = "remote")]
mod piece;
#[cfg(feature = "remote")]
pub mod state;

#[cfg(feature = "remote")]
pub use picks::SHARED_PICKS;
#[cfg(feature = "remote")]
pub use piece::{PieceTerms, merge_piece, merge_rounds};

use crate::app::text_format::counted;
use crate::client::now_ms;
use crate::domain::sanitize;
use crate::registry;
use crate::store::merge::{
    AddedCount, CountedRows, MatchedQuery, MergeCounts, MergePart, Merger, Snapshot,
};
use crate::store::{Db, Result, Store};

/// What the core merges that belongs to no query.
pub(crate) const PARTS: &[MergePart] = &[
    MergePart {
        name: "labels",
        tables: &["label"],
        is_about_queries: false,
        merge: labels::labels,
    },
    MergePart {
        name: "rankings",
        tables: &["ranking", "ranked"],
        is_about_queries: false,
        merge: labels::rankings,
    },
    MergePart {
        name: "ledger",
        tables: &["call", "run"],
        is_about_queries: false,
        merge: |merger| merger.ledger(),
    },
    MergePart {
        name: "log",
        tables: &["import", "setting_change"],
        is_about_queries: false,
        merge: log,
    },
];

fn log(merger: &mut Merger<'_>) -> Result<()> {
    for import in merger.other.imports()? {
        merger.db.add_import(&import)?;
    }
    for change in merger.other.setting_changes()? {
        merger.db.add_setting_change(&change)?;
    }
    Ok(())
}

/// Copies everything that this project lacks from another one. With `keep` false, only reports what
/// would be copied.
pub fn merge(db: &mut Db, from: &Snapshot, keep: bool) -> Result<MergeCounts> {
    if keep {
        db.atomically(|db| unite(db, from.db()))
    } else {
        db.rehearsed(|db| unite(db, from.db()))
    }
}

/// Merges another project, or reports what would be merged, and then updates the estimates.
pub fn merge_into(store: &Store, from: Snapshot, keep: bool) -> Result<MergeCounts> {
    let merged = merge_rows(store, from, keep)?;
    if keep {
        finish_merges(store)?;
    }
    Ok(merged)
}

/// The same, for the first of several projects: [`finish_merges`] updates the estimates after the
/// last one.
pub fn merge_rows(store: &Store, from: Snapshot, keep: bool) -> Result<MergeCounts> {
    store.write_blocking(move |db| merge(db, &from, keep))
}

/// Computes what follows from merged rows.
pub fn finish_merges(store: &Store) -> Result<()> {
    store.update_estimates()?;
    registry::after_merge(store)
}

fn unite(db: &Db, other: &Db) -> Result<MergeCounts> {
    let mut merger = Merger::new(db, other);
    for part in registry::MERGES_FIRST {
        (part.merge)(&mut merger)?;
    }
    let (mut any_changed, mut matched) = (false, Vec::new());
    for theirs in merger.queries()? {
        let Some(mut query) = merger.matched(&theirs)? else {
            continue;
        };
        merger.votes(&mut query)?;
        merger.annotations(&mut query)?;
        merger.candidates(&query)?;
        for merge in registry::MERGES_OF_QUERY {
            merge(&mut merger, &mut query)?;
        }
        judges::unite(&mut merger, &mut query, &theirs)?;
        let MatchedQuery {
            ours, changed: new, ..
        } = query;
        matched.push(ours);
        if new {
            db.touch(ours)?;
            any_changed = true;
        }
    }
    merger.weights()?;
    if any_changed {
        db.need_estimates()?;
    }
    for part in PARTS {
        (part.merge)(&mut merger)?;
    }
    labels::picks(&mut merger, other.picks()?)?;
    labels::rulings(&mut merger)?;
    for part in registry::MERGES_LAST {
        (part.merge)(&mut merger)?;
    }
    merger.batches(&matched)?;
    // Decisions from the future must not take precedence over new ones.
    db.order_before(now_ms())?;
    merger.merged.conflicts = db.conflicts(None)?.len();
    merger.merged.calls_pending = merger.calls_pending()?;
    Ok(merger.merged)
}

/// What features count, in the order shown.
pub fn added_counts() -> impl Iterator<Item = &'static AddedCount> {
    registry::MERGE_COUNTS.iter().copied().flatten()
}

/// Warnings about the merge.
pub fn notes(merged: &MergeCounts) -> Vec<String> {
    let notes = [
        (
            merged.vote_clashes,
            "vote",
            "the same judge voted differently on the same pair here; this project's vote stays",
        ),
        (
            merged.votes_set_aside,
            "vote",
            "another copy's answer to the same question reached the server first and counts; this \
             project's answer is kept as a duplicate",
        ),
        (
            merged.metadata_clashes,
            "document",
            "the title or other metadata differ there; those of this project stay (import the \
             dataset again to replace them)",
        ),
        (
            merged.gold_clashes,
            "gold item",
            "the known answer differs here; this project's answer stays",
        ),
        (
            merged.label_clashes,
            "label",
            "the document is labeled differently here; this project's label stays",
        ),
        (
            merged.keep_their_judges,
            "query",
            "different judges count there; in this project, the same judges count as before",
        ),
        (
            merged.calls_pending,
            "call",
            "still being made by batches of the other file; fetch them there and merge again",
        ),
        (
            merged.conflicts,
            "pair",
            "people differ (`overrule config project --final …`)",
        ),
    ];
    let namesakes = merged.namesakes.iter().map(|(name, pairs)| {
        format!(
            "{}: {} judged one way here and another way there; if these are two people, one of \
             them should use another name (`--annotator`, or `annotator` in the configuration)",
            sanitize::line(name),
            counted(*pairs, "pair")
        )
    });
    let of_features = added_counts().filter_map(|of| match of.rows {
        CountedRows::Skipped(why) => Some((merged.counted(of), of.noun, why)),
        CountedRows::New | CountedRows::Detail => None,
    });
    notes
        .into_iter()
        .chain(of_features)
        .filter(|(count, ..)| *count > 0)
        .map(|(count, noun, words)| format!("{}: {words}", counted(count, noun)))
        .chain(namesakes)
        .collect()
}

/// Describes what was or would be copied, omitting zeros; `None` if nothing is new.
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
        (merged.settings, "setting"),
    ];
    let of_features = added_counts()
        .filter(|of| of.rows == CountedRows::New)
        .map(|of| (merged.counted(of), of.noun));
    let new: Vec<String> = counts
        .into_iter()
        .chain(of_features)
        .filter(|(count, _)| *count > 0)
        .map(|(count, noun)| counted(count, noun))
        .collect();
    (!new.is_empty()).then(|| new.join(", "))
}
