//! Requests of the model to the project, and opening a document or a pair.

use super::results;
use crate::domain::battle::Pair;
use crate::store::corpus::QueryKey;
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::screens::{Screen, battle, document, review};

impl Model {
    /// Requests a query and closes the open one.
    pub(crate) fn open_query(&mut self, key: QueryKey) -> Vec<Effect> {
        if self.open.as_ref().is_none_or(|open| open.info.key != key) {
            self.open = None;
            self.matrix.heat = Default::default();
            self.matrix.layer = Default::default();
            self.matrix.surprise = None;
            self.battle.before = None;
        }
        if let Some(open) = self.prefetched.take_if(|open| open.info.key == key) {
            self.generation += 1;
            return results::opened(self, self.generation, open);
        }
        self.ask_for(key)
    }

    pub(crate) fn reload(&mut self) -> Vec<Effect> {
        match self.open.as_ref().map(|open| open.info.key) {
            Some(key) => self.ask_for(key),
            None => Vec::new(),
        }
    }

    /// A verdict was given: pending answers were computed without it and must not be shown.
    pub(crate) fn overtake(&mut self) {
        self.generation += 1;
        self.loading = false;
    }

    fn ask_for(&mut self, key: QueryKey) -> Vec<Effect> {
        self.generation += 1;
        self.loading = true;
        self.loaded = self.now;
        vec![Effect::Open(key, self.generation)]
    }

    pub(crate) fn open_document(&mut self, document: usize) -> Vec<Effect> {
        document::update::open_document(self, document)
    }

    /// Opens a pair of documents, with or without a battle; opens its review if judges are to stay
    /// hidden.
    pub(crate) fn open_battle(&mut self, a: usize, b: usize) -> Vec<Effect> {
        let blind = self.options.judging.battle_blind && self.screen() != Screen::Queue;
        match Pair::new(a, b) {
            Some(pair) if blind => review::update::review_pair(self, pair),
            _ => battle::update::open_pair(self, a, b),
        }
    }
}
