//! The list calls of a query that count because their judges have qualified.

use super::answered::{AnsweredList, answered_lists};
use super::qualify::is_qualified;
use crate::domain::corpus::{DocId, QueryId};
use crate::features::lists::domain::ListKind;
use crate::features::lists::store::StoredQualification;
use crate::store::{Db, Result};
use std::collections::{BTreeSet, HashMap};

/// A list whose answer counts.
pub(super) struct CountedList {
    /// Its number among the lists of the query, from 1.
    pub(super) number: usize,
    pub(super) list: AnsweredList,
    pub(super) kind: ListKind,
    /// Pool indexes, best first.
    pub(super) order: Vec<usize>,
}

/// The lists of a query that count because their judges have qualified.
pub(super) struct CountedLists {
    pub(super) lists: Vec<CountedList>,
    /// Number of answered lists of judges that have not qualified.
    pub(super) unqualified: usize,
}

impl CountedLists {
    /// `documents` are those of the pool, in its order.
    pub(super) fn read(
        db: &Db,
        query: &QueryId,
        documents: &[DocId],
        qualifications: &[StoredQualification],
    ) -> Result<Self> {
        let places: HashMap<&DocId, usize> = documents.iter().zip(0..).collect();
        let place = |name: &DocId| places.get(name).copied();
        let mut found = Self {
            lists: Vec::new(),
            unqualified: 0,
        };
        // The same call is one answer, however often it was planned.
        let mut seen = BTreeSet::new();
        for (list, number) in answered_lists(db, Some(query))?.into_iter().zip(1..) {
            let (Some(kind), Some(order)) = (list.kind, list.order()) else {
                continue;
            };
            let order: Option<Vec<usize>> = order.into_iter().map(place).collect();
            let Some(order) = order.filter(|_| !list.is_probe() && seen.insert(list.list.key))
            else {
                continue;
            };
            if is_qualified(qualifications, &list.list.identity, kind) {
                found.lists.push(CountedList {
                    number,
                    list,
                    kind,
                    order,
                });
            } else {
                found.unqualified += 1;
            }
        }
        Ok(found)
    }
}
