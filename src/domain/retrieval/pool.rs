//! The K documents of a query that are shown to a judge: all labeled relevant, filled up from the
//! first stage.

use crate::domain::corpus::{DocId, QueryId};
use crate::domain::sampling::SeededRng;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap};
use strum::{EnumString, IntoStaticStr};

/// The order of the documents in a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PoolLayout {
    /// Positives first, by ID; then the rest by first-stage rank. The slot reveals the label
    /// (science.md § Adjudication and pools).
    Original,
    /// Shuffled, differently for each query.
    Shuffled { seed: u64 },
}

#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    EnumString,
    IntoStaticStr,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum SlotSource {
    /// Labeled relevant and found by the first stage.
    LabelFound,
    /// Labeled relevant but not found by the first stage.
    LabelMissed,
    /// Found by the first stage but not labeled relevant.
    Fill,
}

impl SlotSource {
    /// Its name in files and tables.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolSlot {
    pub document: DocId,
    /// Whether it is labeled relevant.
    pub positive: bool,
    /// Its rank in the first stage from 1, if it was found there.
    pub rank: Option<usize>,
}

impl PoolSlot {
    pub fn source(&self) -> SlotSource {
        match (self.positive, self.rank) {
            (true, Some(_)) => SlotSource::LabelFound,
            (true, None) => SlotSource::LabelMissed,
            (false, _) => SlotSource::Fill,
        }
    }
}

/// The documents shown to a judge for one query; slots are numbered from 1 when shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgingPool {
    pub query: QueryId,
    pub slots: Vec<PoolSlot>,
    /// How the documents are ordered.
    pub layout: PoolLayout,
}

impl JudgingPool {
    /// Number of documents labeled relevant.
    pub fn positives(&self) -> usize {
        self.slots.iter().filter(|slot| slot.positive).count()
    }
}

/// All `positives` of a query, filled up to `depth` documents with the first of `ranking` (best
/// first) that are not positive.
///
/// If there are more than `depth` positives, all are kept; a short ranking gives a short pool. The
/// order of the positives does not matter; repeated IDs count once.
pub fn build_pool(
    query: &QueryId,
    positives: &[DocId],
    ranking: &[DocId],
    depth: usize,
    layout: PoolLayout,
) -> JudgingPool {
    let mut ranks: HashMap<&DocId, usize> = HashMap::new();
    let mut found: Vec<&DocId> = Vec::new();
    for (above, document) in ranking.iter().enumerate() {
        ranks.entry(document).or_insert_with(|| {
            found.push(document);
            above + 1
        });
    }
    let positives: BTreeSet<&DocId> = positives.iter().collect();
    let fill = depth.saturating_sub(positives.len());
    let fill = found
        .into_iter()
        .filter(|document| !positives.contains(document))
        .take(fill);
    let mut slots: Vec<PoolSlot> = positives
        .iter()
        .copied()
        .chain(fill)
        .map(|document| PoolSlot {
            document: document.clone(),
            positive: positives.contains(document),
            rank: ranks.get(document).copied(),
        })
        .collect();
    if let PoolLayout::Shuffled { seed } = layout {
        SeededRng::new(seed, &["pool", query.as_str()]).shuffle(&mut slots);
    }
    JudgingPool {
        query: query.clone(),
        slots,
        layout,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ids(names: &[&str]) -> Vec<DocId> {
        names.iter().map(|name| DocId::new(*name)).collect()
    }

    fn shown(pool: &JudgingPool) -> Vec<(&str, SlotSource)> {
        pool.slots
            .iter()
            .map(|slot| (slot.document.as_str(), slot.source()))
            .collect()
    }

    #[test]
    fn the_original_layout_puts_positives_first() {
        let query = QueryId::new("q");
        let pool = |positives: &[&str], depth| {
            build_pool(
                &query,
                &ids(positives),
                &ids(&["7", "9", "8", "7", "6"]),
                depth,
                PoolLayout::Original,
            )
        };
        use SlotSource::{Fill, LabelFound, LabelMissed};
        assert_eq!(
            shown(&pool(&["9", "10"], 4)),
            [
                ("10", LabelMissed),
                ("9", LabelFound),
                ("7", Fill),
                ("8", Fill)
            ]
        );
        assert_eq!(pool(&["9", "10"], 4).slots[1].rank, Some(2));
        assert_eq!(
            shown(&pool(&["b", "a"], 1)),
            [("a", LabelMissed), ("b", LabelMissed)]
        );
        assert_eq!(pool(&[], 10).slots.len(), 4);
    }

    proptest! {
        #[test]
        fn shuffling_moves_documents_and_changes_none(
            seed: u64,
            positives in prop::collection::vec(0u8..20, 0..4),
            ranking in prop::collection::vec(0u8..20, 0..20),
            depth in 0usize..12,
        ) {
            let ids = |numbers: &[u8]| numbers.iter().map(|n| DocId::new(n.to_string())).collect::<Vec<_>>();
            let build = |positives: &[DocId], layout| {
                build_pool(&QueryId::new("q"), positives, &ids(&ranking), depth, layout)
            };
            let labels = ids(&positives);
            let shuffled = build(&labels, PoolLayout::Shuffled { seed });
            let reversed: Vec<DocId> = labels.iter().rev().cloned().collect();
            prop_assert_eq!(&shuffled, &build(&reversed, PoolLayout::Shuffled { seed }));
            let by_id = |mut slots: Vec<PoolSlot>| {
                slots.sort_by(|x, y| x.document.cmp(&y.document));
                slots
            };
            prop_assert_eq!(by_id(shuffled.slots), by_id(build(&labels, PoolLayout::Original).slots));
        }
    }
}
