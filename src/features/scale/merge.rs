//! Links of the other file and their answers.

use crate::store::Result;
use crate::store::merge::{AddedCount, MergePart, Merger};

const ANSWERS: AddedCount = AddedCount::new("link_answers", "link answer");

/// What is merged that belongs to no query.
pub(crate) const PART: MergePart = MergePart {
    name: "links",
    tables: &["link", "link_answer"],
    is_about_queries: false,
    merge: links,
};

pub(crate) const COUNTS: &[AddedCount] = &[ANSWERS];

/// Copies links and the judges' answers. They refer to queries and documents by name, so nothing
/// needs matching.
fn links(merger: &mut Merger<'_>) -> Result<()> {
    for link in merger.other.links()? {
        merger.db.add_link(&link)?;
        for answer in &link.answers {
            let new = merger.db.add_link_answer(&link.uid, answer)?;
            merger.merged.count(&ANSWERS, new);
        }
    }
    Ok(())
}
