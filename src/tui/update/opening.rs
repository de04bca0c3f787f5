//! Opens a document or a pair.

use crate::domain::battle::Pair;
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::screens::{Screen, battle, document, review};

impl Model {
    pub(crate) fn open_document(&mut self, document: usize) -> Vec<Effect> {
        document::update::open_document(self, document)
    }

    /// Opens a pair of documents, with or without a battle; opens its review if judges are to stay
    /// hidden.
    pub(crate) fn open_battle(&mut self, a: usize, b: usize) -> Vec<Effect> {
        let blind = self.options.judging.battle_blind && self.screen() != Screen::QUEUE;
        match Pair::new(a, b) {
            Some(pair) if blind => review::update::review_pair(self, pair),
            _ => battle::update::open_pair(self, a, b),
        }
    }
}
