//! The pair that is shown, how it is scrolled, and what the last verdict changed.

use crate::domain::battle::Pair;
use crate::tui::model::open_query::OpenQuery;

#[derive(Debug, Default)]
pub struct BattleScreen {
    pub a: usize,
    pub b: usize,
    /// First line shown of each text; where none was chosen, the one from which its best passage is in sight.
    pub scroll: [Option<usize>; 2],
    /// Whether both texts scroll together.
    pub together: bool,
    /// What scrolls: 0 for A, 1 for B (both where they scroll together), 2 for the reasoning.
    pub side: usize,
    /// The judge whose reasoning is shown, by its place among the pair's calls: battle by battle, in ensemble order.
    pub judge: usize,
    pub judge_scroll: usize,
    /// The reasoning as the judge wrote it, not re-labelled.
    pub raw: bool,
    /// The ranking before the last verdict on this screen.
    pub before: Option<RankingBefore>,
    /// Whether names and scores of the two are hidden.
    pub blind: bool,
}

impl BattleScreen {
    /// Another pair, from its beginning; how the reader likes texts to scroll stays.
    pub fn on(&self, a: usize, b: usize) -> Self {
        Self {
            a,
            b,
            together: self.together,
            ..Self::default()
        }
    }

    /// The pair, unless both are one document.
    pub fn pair(&self) -> Option<Pair> {
        Pair::new(self.a, self.b)
    }
}

/// The ranking before the last change, to show how far everyone moved.
#[derive(Clone, Debug, PartialEq)]
pub struct RankingBefore {
    pub change: String,
    /// Whether the change is that a verdict was taken back.
    pub taken_back: bool,
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
            ranks: open.ranks(),
            scores: open.scores(),
        }
    }
}
