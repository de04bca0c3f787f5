//! Chooses the documents of two lists shown side by side, and of one list made from both.

use super::distinct::{RankedText, distinct_documents};
use super::{DuelDocument, DuelQuery, Side, Source};
use crate::domain::corpus::{DocId, QueryId};
use std::cmp::Reverse;

/// The first `top` distinct texts of each of two rankings, both best first, for the forms
/// [`super::DuelForm::Lists`] and [`super::DuelForm::Interleaved`].
pub fn tops(query: &QueryId, a: &[RankedText<'_>], b: &[RankedText<'_>], top: usize) -> DuelQuery {
    let high = |rank: Option<usize>| rank.filter(|rank| *rank <= top);
    let mut documents: Vec<DuelDocument> = distinct_documents(a, b)
        .into_iter()
        .filter_map(|one| {
            let (in_a, in_b) = (high(one.rank_a), high(one.rank_b));
            let source = match (in_a, in_b) {
                (None, None) => return None,
                (Some(in_a), Some(in_b)) if in_b < in_a => Source::TopOfB,
                (None, Some(_)) => Source::TopOfB,
                (Some(_), _) => Source::TopOfA,
            };
            Some(DuelDocument {
                document: one.id.clone(),
                source,
                rank_a: one.rank_a,
                rank_b: one.rank_b,
            })
        })
        .collect();
    documents.sort_by_key(|one| {
        let ranks = [one.rank_a, one.rank_b].into_iter().flatten();
        (
            ranks.clone().min(),
            Reverse(ranks.clone().count()),
            one.document.clone(),
        )
    });
    let short = |side: Side, name: &str| {
        let found = documents
            .iter()
            .filter_map(|one| rank(one, side))
            .filter(|rank| *rank <= top)
            .count();
        let plural = if found == 1 { "" } else { "s" };
        let reason = || {
            format!(
                "ranking {name} has only {found} document{plural} of different texts, not {top}"
            )
        };
        (found < top).then(reason)
    };
    let reasons = [short(Side::A, "A"), short(Side::B, "B")];
    let reasons: Vec<String> = reasons.into_iter().flatten().collect();
    DuelQuery {
        query: query.clone(),
        documents,
        depth: top,
        shortfall: reasons.join("; "),
    }
}

/// The documents of one ranking up to the query's depth, best first.
pub(super) fn list_of(query: &DuelQuery, side: Side) -> Vec<&DocId> {
    let documents = query.documents.iter().filter_map(|one| {
        let rank = rank(one, side).filter(|rank| *rank <= query.depth);
        Some((rank?, &one.document))
    });
    let mut documents: Vec<(usize, &DocId)> = documents.collect();
    documents.sort();
    documents.into_iter().map(|(_, id)| id).collect()
}

fn rank(document: &DuelDocument, side: Side) -> Option<usize> {
    match side {
        Side::A => document.rank_a,
        Side::B => document.rank_b,
    }
}
