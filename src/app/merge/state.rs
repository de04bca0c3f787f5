//! The states of queries and of parts of a project that copies of it exchange: small projects
//! without texts.

use super::{judges, labels};
use crate::app::settings::ProjectSettings;
use crate::registry;
use crate::store::corpus::QueryKey;
use crate::store::merge::{
    MatchedQuery, MergeCounts, MergePart, Merger, OtherQuery, Snapshot, empty_project, packed,
};
use crate::store::{Db, Result, StoreError};

/// Packs everything about a query but the texts of its documents and what people judged.
pub fn pack_query(db: &Db, query: QueryKey) -> Result<Vec<u8>> {
    let piece = empty_project()?;
    let mut merger = Merger::new(&piece, db).without_texts();
    for part in registry::MERGES_FIRST {
        (part.merge)(&mut merger)?;
    }
    let theirs = merger.query(query)?;
    let matched = merger.matched(&theirs)?;
    let mut matched =
        matched.ok_or_else(|| StoreError::Internal("an empty project has a query".to_owned()))?;
    rows(&mut merger, &mut matched, &theirs)?;
    packed(piece)
}

/// Queries that are not exchanged, each with the reason.
pub type Refused = [(String, String)];

/// Packs a part of the project without the rows of refused queries.
pub fn pack_part(db: &Db, part: &MergePart, refused: &Refused) -> Result<Vec<u8>> {
    let piece = empty_project()?;
    let mut merger = Merger::new(&piece, db).without_texts();
    merger.merged.refused = refused.to_vec();
    if part.is_about_queries {
        for query in merger.queries()? {
            merger.outline(&query)?;
        }
    }
    merge(&mut merger, part)?;
    if has_settings(part) {
        let settings = ProjectSettings::read(db)?;
        settings.replace(&piece, &ProjectSettings::read(&piece)?)?;
    }
    packed(piece)
}

/// Whether the project's settings are exchanged with a part: the one with the log of their changes.
fn has_settings(part: &MergePart) -> bool {
    part.tables.contains(&"setting_change")
}

/// Takes over the settings that were changed later in another copy.
fn merge_settings(db: &Db, theirs: &Db) -> Result<usize> {
    let before = ProjectSettings::read(db)?;
    let changes = [db.setting_changes()?, theirs.setting_changes()?];
    let [ours_changed, theirs_changed] = &changes;
    let theirs = ProjectSettings::read(theirs)?;
    let after = before.with_later(&theirs, [ours_changed, theirs_changed])?;
    after.replace(db, &before)?;
    Ok(after.changes_from(&before).len())
}

/// Copies the rows that a project lacks from the state of a query. Its texts must be stored. To be
/// called in a transaction.
///
/// # Errors
/// The state is about another query.
pub fn merge_query(db: &Db, piece: &Snapshot, name: &str) -> Result<MergeCounts> {
    let mut merger = Merger::new(db, piece.db()).of_server();
    for part in registry::MERGES_FIRST {
        (part.merge)(&mut merger)?;
    }
    for theirs in merger.queries()? {
        theirs.check_name(name)?;
        let Some(mut query) = merger.matched(&theirs)? else {
            continue;
        };
        rows(&mut merger, &mut query, &theirs)?;
        if query.changed {
            db.touch(query.ours)?;
            db.need_estimates()?;
        }
    }
    Ok(merger.merged)
}

/// Copies the rows that a project lacks from the state of a part, except those of refused queries.
pub fn merge_part(
    db: &Db,
    piece: &Snapshot,
    part: &MergePart,
    refused: &Refused,
) -> Result<MergeCounts> {
    let mut merger = Merger::new(db, piece.db()).of_server();
    merger.merged.refused = refused.to_vec();
    if has_settings(part) {
        merger.merged.settings += merge_settings(db, piece.db())?;
    }
    merge(&mut merger, part)?;
    merger.merged.refused.clear();
    Ok(merger.merged)
}

/// Merges a part. The ledger refers to runs, whose votes are in the states of queries.
fn merge(merger: &mut Merger<'_>, part: &MergePart) -> Result<()> {
    if part.tables.contains(&"run") {
        merger.runs()?;
    }
    (part.merge)(merger)
}

/// Copies the rows of a query other than what people judged.
fn rows(merger: &mut Merger<'_>, query: &mut MatchedQuery, theirs: &OtherQuery) -> Result<()> {
    merger.votes(query)?;
    merger.gold(query)?;
    merger.candidates(query)?;
    for merge in registry::MERGES_OF_QUERY {
        merge(merger, query)?;
    }
    let picks = merger.other.picks_of(QueryKey(query.theirs))?;
    labels::picks(merger, picks)?;
    judges::unite(merger, query, theirs)?;
    merger.weights()
}

/// Copies showings, verdicts, rulings and their undos about queries that are known here.
pub fn merge_judgments(db: &Db, judgments: &Db) -> Result<MergeCounts> {
    let mut merger = Merger::new(db, judgments).of_known();
    for theirs in merger.queries()? {
        let Some(mut query) = merger.matched(&theirs)? else {
            continue;
        };
        merger.assignments(&mut query)?;
        merger.verdicts_of(&mut query)?;
        if query.changed {
            db.touch(query.ours)?;
            db.need_estimates()?;
        }
    }
    labels::rulings(&mut merger)?;
    Ok(merger.merged)
}
