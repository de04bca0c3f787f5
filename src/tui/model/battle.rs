//! State of the battle screen: the pair, its scroll positions, and the effect of the last verdict.

use crate::domain::battle::Pair;
use crate::tui::model::open_query::OpenQuery;

#[derive(Debug, Default)]
pub struct BattleState {
    pub a: usize,
    pub b: usize,
    /// First visible line of each text; if `None`, scrolled to show its best passage.
    pub scroll: [Option<usize>; 2],
    /// Whether both texts scroll together.
    pub together: bool,
    /// What scrolls: 0 for A, 1 for B (both if they scroll together), 2 for the reasoning.
    pub side: usize,
    /// Index of the judge whose reasoning is shown, among the pair's calls: battle by battle, in
    /// ensemble order.
    pub judge: usize,
    pub judge_scroll: usize,
    /// Whether the reasoning covers a part of the texts on a small screen.
    pub is_reading: bool,
    /// Whether the reasoning is shown as the judge wrote it, without renaming A and B.
    pub raw: bool,
    /// The ranking before the last verdict on this screen.
    pub before: Option<RankingBefore>,
    /// Whether names and scores of the two documents are hidden.
    pub blind: bool,
}

impl BattleState {
    /// Another pair, shown from its beginning, with the same scroll preferences.
    pub fn on(&self, a: usize, b: usize) -> Self {
        Self {
            a,
            b,
            together: self.together,
            ..Self::default()
        }
    }

    /// The pair, unless both are the same document.
    pub fn pair(&self) -> Option<Pair> {
        Pair::new(self.a, self.b)
    }
}

/// The ranking before the last change, used to show rank changes.
#[derive(Clone, Debug, PartialEq)]
pub struct RankingBefore {
    pub change: String,
    /// Whether the change was an undo.
    pub taken_back: bool,
    /// Whether the change replaced the person's earlier verdict on the pair.
    pub replaces: bool,
    /// By pool index.
    pub ranks: Vec<Option<usize>>,
    /// By pool index.
    pub scores: Vec<Option<f64>>,
}

impl RankingBefore {
    pub fn of(open: &OpenQuery, change: String) -> Self {
        Self {
            change,
            taken_back: false,
            replaces: false,
            ranks: open.ranks(),
            scores: open.scores(),
        }
    }
}
