//! State of the cycles screen: the cycles of the open query, and the selected one.

use crate::domain::battle::Pair;
use crate::domain::priority::{
    CyclicTriad, DecidedPair, cyclic_triads, decided_pairs, decided_pairs_of_judge,
};
use crate::domain::vote::JudgeId;
use crate::tui::model::Model;
use crate::tui::model::open_query::OpenQuery;
use std::collections::HashMap;

#[derive(Debug, Default)]
pub(crate) struct CyclesState {
    cursor: usize,
    /// The cycle under the cursor: its judge, or `None` for the ensemble, and its documents.
    chosen: Option<(Option<JudgeId>, [usize; 3])>,
}

impl CyclesState {
    /// Position of the cycle under the cursor; if it is no longer one, of the next one.
    pub(super) fn place(&self, rows: &[CycleRow]) -> usize {
        rows.iter()
            .position(|row| Some(row.named()) == self.chosen)
            .unwrap_or(self.cursor.min(rows.len().saturating_sub(1)))
    }

    pub(super) fn choose(&mut self, at: usize, rows: &[CycleRow]) {
        self.cursor = at;
        self.chosen = rows.get(at).map(CycleRow::named);
    }
}

impl Model {
    pub(super) fn cycles(&self) -> &CyclesState {
        self.state()
    }

    pub(super) fn cycles_mut(&mut self) -> &mut CyclesState {
        self.state_mut()
    }
}

/// A cycle of the ensemble or of one judge.
pub(super) struct CycleRow {
    pub(super) judge: Option<(usize, JudgeId)>,
    pub(super) triad: CyclicTriad,
    /// Its three pairs in the direction of the cycle, where each loser is the winner of the next
    /// pair; the weakest pair comes first.
    pub(super) edges: Vec<DecidedPair>,
}

impl CycleRow {
    fn named(&self) -> (Option<JudgeId>, [usize; 3]) {
        (self.judge.map(|(_, judge)| judge), self.triad.documents)
    }

    /// Winner and loser of the weakest pair.
    pub(super) fn weakest(&self) -> (usize, usize) {
        let pair = self.triad.weakest;
        self.edges
            .first()
            .map_or((pair.low(), pair.high()), |edge| (edge.winner, edge.loser))
    }
}

pub(super) fn rows(open: &OpenQuery) -> Vec<CycleRow> {
    let mut rows = of(None, &decided_pairs(&open.view));
    for (index, (judge, _)) in open.judges.iter().enumerate() {
        let decided = decided_pairs_of_judge(&open.view, *judge);
        rows.extend(of(Some((index, *judge)), &decided));
    }
    rows
}

fn of(judge: Option<(usize, JudgeId)>, decided: &[DecidedPair]) -> Vec<CycleRow> {
    let edges: HashMap<(usize, usize), DecidedPair> = decided
        .iter()
        .map(|edge| ((edge.winner, edge.loser), *edge))
        .collect();
    let row = |triad: CyclicTriad| {
        let [x, y, z] = triad.documents;
        let ways = [[(x, y), (y, z), (z, x)], [(y, x), (x, z), (z, y)]];
        let found = ways.into_iter().find_map(|way| {
            let found: Option<Vec<_>> = way.iter().map(|edge| edges.get(edge).copied()).collect();
            found
        });
        let mut found = found.unwrap_or_default();
        let weakest = found
            .iter()
            .position(|edge| Pair::new(edge.winner, edge.loser) == Some(triad.weakest));
        found.rotate_left(weakest.unwrap_or(0));
        CycleRow {
            judge,
            triad,
            edges: found,
        }
    };
    cyclic_triads(decided).into_iter().map(row).collect()
}
