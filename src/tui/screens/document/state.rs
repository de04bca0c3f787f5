//! State of the document screen: the document, and the order of its battles.

use crate::domain::battle::{BattleId, Pair};
use crate::tui::model::Model;
use crate::tui::model::open_query::OpenQuery;

/// Sort order of a document's battles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BattleSort {
    #[default]
    Surprise,
    Opponent,
    Planned,
}

impl BattleSort {
    pub const ALL: [Self; 3] = [Self::Surprise, Self::Opponent, Self::Planned];

    pub fn describe(self) -> &'static str {
        match self {
            Self::Surprise => "most surprising first",
            Self::Opponent => "by the opponent's rank",
            Self::Planned => "as planned",
        }
    }
}

#[derive(Debug, Default)]
pub struct DocumentState {
    /// Pool index.
    pub document: usize,
    /// The battle under the cursor; the first one if it is not shown.
    pub chosen: Option<BattleId>,
    pub sort: BattleSort,
    /// Whether the reasoning fills the screen.
    pub expanded: bool,
    /// Whether keys scroll the text instead of moving through the battles.
    pub reading: bool,
    /// First visible line of the text or the reasoning; if `None`, that of the search result.
    pub scroll: Option<usize>,
}

impl Model {
    pub(crate) fn document(&self) -> &DocumentState {
        self.state()
    }

    pub(crate) fn document_mut(&mut self) -> &mut DocumentState {
        self.state_mut()
    }

    /// Position of the battle under the cursor among the document screen's battles.
    pub(crate) fn document_cursor(&self) -> usize {
        let is_chosen = |index: &usize| {
            let open = self.open.as_ref();
            let battle = open.and_then(|open| open.battle(*index));
            battle.map(|battle| battle.id) == self.document().chosen
        };
        self.document_battles()
            .iter()
            .position(is_chosen)
            .unwrap_or(0)
    }

    /// Moves the cursor of the document screen to one of its battles.
    pub(crate) fn choose_battle(&mut self, index: Option<usize>) {
        let battle = index.and_then(|index| self.open.as_ref()?.battle(index));
        self.document_mut().chosen = battle.map(|battle| battle.id);
    }

    /// Indices of the document screen's battles in display order.
    pub(crate) fn document_battles(&self) -> Vec<usize> {
        let open = self.open.as_ref();
        open.map_or(Vec::new(), |open| self.document().battles(open))
    }
}

impl DocumentState {
    /// Indices of the document's battles in display order.
    pub fn battles(&self, open: &OpenQuery) -> Vec<usize> {
        let mut battles = open.view.battles_with(self.document);
        match self.sort {
            BattleSort::Planned => {}
            BattleSort::Opponent => battles.sort_by_key(|index| {
                let other = opponent(open, *index, self.document);
                let standing = other.and_then(|other| open.standing(other));
                standing.map_or(usize::MAX, |standing| standing.rank)
            }),
            BattleSort::Surprise => open.sort_by_surprise(&mut battles),
        }
        battles
    }
}

/// The other document of a battle.
pub fn opponent(open: &OpenQuery, index: usize, document: usize) -> Option<usize> {
    let battle = open.battle(index)?;
    Pair::new(battle.a, battle.b)?.other(document)
}
