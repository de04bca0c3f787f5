//! Merges several rankings into one.

use std::collections::BTreeMap;

/// The constant of reciprocal rank fusion used in its paper.
pub const RRF_K: f64 = 60.0;

/// An item's position in one ranking.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StageRank {
    /// From 1.
    pub rank: usize,
    /// The ranking's own score, if any.
    pub score: Option<f64>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct FusedItem<T> {
    pub item: T,
    /// Σ 1 / (k + rank) over the rankings that contain it.
    pub score: f64,
    /// Its position in each ranking, in the order in which the rankings were given.
    pub stages: Vec<Option<StageRank>>,
}

/// Reciprocal rank fusion (Cormack, Clarke & Büttcher 2009) of rankings, each a list of items with
/// scores, best first.
///
/// Ties are broken by the rank in the first ranking, then in the second, and so on; an item that is
/// missing from a ranking comes after those in it. If a ranking contains an item twice, the first
/// position counts.
pub fn reciprocal_rank_fusion<T: Clone + Ord>(
    rankings: &[Vec<(T, Option<f64>)>],
    k: f64,
) -> Vec<FusedItem<T>> {
    let mut found: BTreeMap<&T, Vec<Option<StageRank>>> = BTreeMap::new();
    for (stage, ranking) in rankings.iter().enumerate() {
        for (above, (item, score)) in ranking.iter().enumerate() {
            let stages = found
                .entry(item)
                .or_insert_with(|| vec![None; rankings.len()]);
            if let Some(place @ None) = stages.get_mut(stage) {
                *place = Some(StageRank {
                    rank: above + 1,
                    score: *score,
                });
            }
        }
    }
    let mut fused: Vec<FusedItem<T>> = found
        .into_iter()
        .map(|(item, stages)| {
            let mut ranks: Vec<usize> = stages.iter().flatten().map(|place| place.rank).collect();
            // Sort, so that equal ranks in different rankings add up to the same bits.
            ranks.sort_unstable();
            let score = ranks.iter().map(|rank| 1.0 / (k + *rank as f64)).sum();
            FusedItem {
                item: item.clone(),
                score,
                stages,
            }
        })
        .collect();
    let ranks = |fused: &FusedItem<T>| -> Vec<usize> {
        let rank = |place: &Option<StageRank>| place.map_or(usize::MAX, |place| place.rank);
        fused.stages.iter().map(rank).collect()
    };
    fused.sort_by(|x, y| {
        y.score
            .total_cmp(&x.score)
            .then_with(|| ranks(x).cmp(&ranks(y)))
    });
    fused
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ranking(items: &[&'static str]) -> Vec<(&'static str, Option<f64>)> {
        items.iter().map(|item| (*item, None)).collect()
    }

    #[test]
    fn what_both_rankings_have_comes_first() {
        let bm25 = vec![("a", Some(9.0)), ("b", Some(7.0)), ("c", Some(1.0))];
        let fused = reciprocal_rank_fusion(&[bm25, ranking(&["c", "d", "a"])], RRF_K);
        let items: Vec<&str> = fused.iter().map(|fused| fused.item).collect();
        // a and c have the same ranks, so the first ranking decides, and likewise between b and d.
        assert_eq!(items, ["a", "c", "b", "d"]);
        assert_eq!(fused[0].score, 1.0 / 61.0 + 1.0 / 63.0);
        assert_eq!(fused[0].score.to_bits(), fused[1].score.to_bits());
        let place = |rank, score| Some(StageRank { rank, score });
        assert_eq!(fused[1].stages, [place(3, Some(1.0)), place(1, None)]);
        assert_eq!(fused[3].stages, [None, place(2, None)]);
        assert!(reciprocal_rank_fusion::<u8>(&[], RRF_K).is_empty());
    }

    proptest! {
        #[test]
        fn fusing_a_ranking_with_itself_changes_no_order(items in prop::collection::btree_set(0u8..50, 0..20), times in 1usize..4) {
            let ranking: Vec<(u8, Option<f64>)> = items.into_iter().rev().map(|item| (item, None)).collect();
            let fused = reciprocal_rank_fusion(&vec![ranking.clone(); times], RRF_K);
            prop_assert!(fused.iter().map(|fused| fused.item).eq(ranking.iter().map(|(item, _)| *item)));
        }
    }
}
