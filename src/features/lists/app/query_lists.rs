//! The list calls of a query, each with whether it counts in the scores of the project.

use super::answered::{AnsweredList, ListOutcome, answered_lists};
use super::counting::counted_answers;
use super::qualify::is_qualified;
use crate::domain::number_words::fixed;
use crate::store::corpus::QueryKey;
use crate::store::{Db, Result};
use std::collections::BTreeMap;

/// A list call of a query.
#[derive(Clone, Debug)]
pub struct QueryList {
    /// Its number among the lists of the query, from 1.
    pub number: usize,
    pub call: AnsweredList,
    /// Pool indexes in the order shown; `None` for a document that is not in the pool.
    pub documents: Vec<Option<usize>>,
    pub counting: ListCounting,
}

/// Whether a list counts in the scores of the project.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ListCounting {
    /// It counts; the weight of each pair in battles.
    Counts(f64),
    /// It has no answer, or a malformed one.
    NoAnswer,
    Probe,
    /// Its judge has not qualified.
    Unqualified,
    /// The project does not count lists.
    Off,
    /// A document is not in the pool.
    UnknownDocument,
    /// An identical call counts.
    Repeated,
    /// The project has no weight for lists of this size and form.
    NoWeight,
}

impl QueryList {
    /// What the answer says about the document shown at a place, such as `ranked 2nd`; `None`
    /// without an answer.
    pub fn place_words(&self, shown: usize) -> Option<String> {
        Some(self.call.kind?.place_words(self.place_of(shown)?))
    }

    /// Of the documents shown at two places, the place of the better one; `None` if the answer does
    /// not decide between them.
    pub fn better_of(&self, one: usize, other: usize) -> Option<usize> {
        let kind = self.call.kind?;
        let (first, second) = (self.place_of(one)?, self.place_of(other)?);
        if kind.decides(first, second) {
            Some(one)
        } else {
            kind.decides(second, first).then_some(other)
        }
    }

    /// The place in the answer of the document shown at a place.
    fn place_of(&self, shown: usize) -> Option<usize> {
        match &self.call.outcome {
            ListOutcome::Answered(order) => order.iter().position(|at| *at == shown),
            ListOutcome::Outstanding | ListOutcome::InBatch | ListOutcome::Malformed(_) => None,
        }
    }
}

impl ListCounting {
    /// Whether it counts, with the reason if it does not; empty without an answer.
    pub fn words(self) -> String {
        let why = match self {
            Self::Counts(weight) => {
                return format!("counts, each pair as {} battles", fixed(weight, 2));
            }
            Self::NoAnswer => return String::new(),
            Self::Probe => "it is a probe",
            Self::Unqualified => "its judge has not qualified",
            Self::Off => "see `overrule lists count`",
            Self::UnknownDocument => "a document is not in the pool",
            Self::Repeated => "an identical call counts",
            Self::NoWeight => "lists like it have no weight; run `overrule lists count` again",
        };
        format!("does not count: {why}")
    }
}

/// The list calls of a query, in the order in which they were planned.
pub fn query_lists(db: &Db, query: QueryKey) -> Result<Vec<QueryList>> {
    let pool = db.document_ids(query)?;
    let calls = answered_lists(db, Some(&db.query(query)?.id))?;
    let qualifications = db.list_qualifications()?;
    let counted = counted_answers(db, query)?;
    let weights: BTreeMap<&str, f64> = counted
        .iter()
        .flat_map(|counted| &counted.answers)
        .filter_map(|answer| Some((answer.uid.as_str(), answer.pairs.first()?.weight)))
        .collect();
    let has_weight = |call: &AnsweredList| weights.get(call.list.uid.as_str()).copied();
    let counted_keys: Vec<[u8; 32]> = calls
        .iter()
        .filter(|call| has_weight(call).is_some())
        .map(|call| call.list.key)
        .collect();
    let of_call = |(call, number): (AnsweredList, usize)| {
        let shown = call.list.shown.iter();
        let documents: Vec<Option<usize>> = shown
            .map(|name| pool.iter().position(|known| known == name))
            .collect();
        let qualifies = |kind| is_qualified(&qualifications, &call.list.identity, kind);
        let counting = match has_weight(&call) {
            Some(weight) => ListCounting::Counts(weight),
            None if call.order().is_none() => ListCounting::NoAnswer,
            None if call.is_probe() => ListCounting::Probe,
            None if !call.kind.is_some_and(qualifies) => ListCounting::Unqualified,
            None if counted.is_none() => ListCounting::Off,
            None if documents.contains(&None) => ListCounting::UnknownDocument,
            None if counted_keys.contains(&call.list.key) => ListCounting::Repeated,
            None => ListCounting::NoWeight,
        };
        QueryList {
            number,
            call,
            documents,
            counting,
        }
    };
    Ok(calls.into_iter().zip(1..).map(of_call).collect())
}
