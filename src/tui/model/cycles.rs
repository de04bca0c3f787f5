//! The cycles of the open query, and the one under the cursor.

use crate::domain::battle::Pair;
use crate::domain::priority::{CyclicTriad, cyclic_triads, decided_pairs, decided_pairs_of_judge};
use crate::domain::vote::JudgeId;
use crate::tui::model::open_query::OpenQuery;

#[derive(Debug, Default)]
pub struct CyclesScreen {
    pub cursor: usize,
}

/// A cycle, of the ensemble or of one judge.
pub(crate) struct CycleRow {
    pub(crate) judge: Option<(usize, JudgeId)>,
    pub(crate) triad: CyclicTriad,
}

pub(crate) fn rows(open: &OpenQuery) -> Vec<CycleRow> {
    let of = |judge, triads: Vec<CyclicTriad>| {
        triads
            .into_iter()
            .map(move |triad| CycleRow { judge, triad })
    };
    let mut rows: Vec<CycleRow> = of(None, cyclic_triads(&decided_pairs(&open.view))).collect();
    for (index, (judge, _)) in open.judges.iter().enumerate() {
        let triads = cyclic_triads(&decided_pairs_of_judge(&open.view, *judge));
        rows.extend(of(Some((index, *judge)), triads));
    }
    rows
}

/// The three pairs of a triad, the weakest first.
pub(crate) fn pairs(triad: &CyclicTriad) -> Vec<Pair> {
    let [x, y, z] = triad.documents;
    let mut pairs: Vec<Pair> = [(x, y), (y, z), (x, z)]
        .into_iter()
        .filter_map(|(x, y)| Pair::new(x, y))
        .collect();
    pairs.sort_by_key(|pair| *pair != triad.weakest);
    pairs
}
