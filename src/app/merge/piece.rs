//! Merges pieces of projects.

use super::judges;
use crate::judge::JudgeSpec;
use crate::registry;
use crate::store::merge::{MergeCounts, Merger, SharedAnswers, Snapshot, Terms};
use crate::store::{Db, Result};

/// What a piece may contain.
#[derive(Clone, Copy)]
pub enum PieceTerms<'a> {
    /// Votes and failures of these judges about the query with this name.
    Query {
        name: &'a str,
        judges: &'a [JudgeSpec],
    },
    /// The answers of a command about the query with this name that the terms of the work include.
    Answers {
        name: &'a str,
        of: &'static SharedAnswers,
        terms: &'a Terms,
    },
    /// The cost of calls that led to no vote and no failure.
    Ledger,
}

/// Copies the rounds of the query with this name from a piece. Returns also its last round, unless
/// the project has this round with other calls, or cannot take the piece. To be called in a
/// transaction.
///
/// # Errors
/// The piece is about another query.
pub fn merge_rounds(
    db: &Db,
    piece: &Snapshot,
    name: &str,
    judges: &[JudgeSpec],
) -> Result<(MergeCounts, Option<usize>)> {
    let mut merger = Merger::new(db, piece.db()).of_piece(judges);
    let mut last = None;
    for theirs in merger.queries()? {
        theirs.check_name(name)?;
        let Some(mut query) = merger.matched(&theirs)? else {
            continue;
        };
        last = merger.rounds(&mut query)?;
        if query.changed {
            db.touch(query.ours)?;
        }
    }
    Ok((merger.merged, last))
}

/// Copies the rows that a project lacks from a piece of another one. A query that the project does
/// not have, or that has other texts there, is refused; votes of other judges are ignored. To be
/// called in a transaction.
///
/// # Errors
/// The piece is about another query.
pub fn merge_piece(db: &Db, piece: &Snapshot, terms: PieceTerms<'_>) -> Result<MergeCounts> {
    let (name, judges) = match terms {
        PieceTerms::Query { name, judges } => (name, judges),
        PieceTerms::Answers { name, of, terms } => {
            return merge_answers(db, piece, name, of, terms);
        }
        PieceTerms::Ledger => {
            let mut merger = Merger::new(db, piece.db());
            merger.ledger()?;
            return Ok(merger.merged);
        }
    };
    let mut merger = Merger::new(db, piece.db()).of_piece(judges);
    registry::merge_prompts(&mut merger)?;
    for theirs in merger.queries()? {
        theirs.check_name(name)?;
        let Some(mut query) = merger.matched(&theirs)? else {
            continue;
        };
        merger.votes(&mut query)?;
        let members = theirs.ensemble.map(|id| merger.other_ensemble(id));
        let members = members.transpose()?.unwrap_or_default();
        if members.iter().all(|judge| judges.contains(judge)) {
            judges::unite(&mut merger, &mut query, &theirs)?;
        }
        if query.changed {
            db.touch(query.ours)?;
            db.need_estimates()?;
        }
    }
    Ok(merger.merged)
}

fn merge_answers(
    db: &Db,
    piece: &Snapshot,
    name: &str,
    of: &SharedAnswers,
    terms: &Terms,
) -> Result<MergeCounts> {
    let mut merger = Merger::new(db, piece.db()).of_known();
    for theirs in merger.queries()? {
        theirs.check_name(name)?;
        if let Some(mut query) = merger.matched(&theirs)? {
            (of.merge)(&mut merger, &mut query, terms)?;
        }
    }
    Ok(merger.merged)
}
