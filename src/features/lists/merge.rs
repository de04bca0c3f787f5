//! List calls and qualifications of the other file. Their answers are calls, which are merged as such.

use crate::store::Result;
use crate::store::merge::{AddedCount, MergePart, Merger};

const LISTS: AddedCount = AddedCount::new("list_calls", "list call");

const QUALIFICATIONS: AddedCount =
    AddedCount::detail("list_qualifications", "qualification for list calls");

const COUNTINGS: AddedCount =
    AddedCount::detail("list_countings", "decision on whether list calls count");

/// What is merged that belongs to no query.
pub(crate) const PART: MergePart = MergePart {
    name: "lists",
    tables: &["list_call", "list_qualification", "list_counting"],
    is_about_queries: false,
    merge: lists,
};

pub(crate) const COUNTS: &[AddedCount] = &[LISTS, QUALIFICATIONS, COUNTINGS];

/// Copies list calls, qualifications and decisions. They refer to queries and documents by name, so
/// nothing needs matching.
fn lists(merger: &mut Merger<'_>) -> Result<()> {
    for list in merger.other.list_calls(None)? {
        let is_new = merger.db.add_list_call(&list)?;
        merger.merged.count(&LISTS, usize::from(is_new));
    }
    let (mut has_changed, mut has_decision) = (false, false);
    for of in merger.other.list_qualifications()? {
        let is_new = merger.db.add_list_qualification(&of)?;
        has_changed |= is_new;
        merger.merged.count(&QUALIFICATIONS, usize::from(is_new));
    }
    for of in merger.other.list_countings()? {
        let is_new = merger.db.add_list_counting(&of)?;
        has_decision |= is_new;
        merger.merged.count(&COUNTINGS, usize::from(is_new));
    }
    if has_decision {
        // Tastes apply to queries without lists, too.
        merger.db.touch_all()?;
    } else if has_changed {
        merger.db.touch_queries_with_lists()?;
    }
    Ok(())
}
