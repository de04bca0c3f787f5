//! What the model asks for: queries, their texts and votes, summaries that are out of date.

use super::SUMMARIES;
use crate::domain::battle::Pair;
use crate::domain::sanitise;
use crate::store::corpus::QueryKey;
use crate::tui::model::{BattleScreen, Effect, Model, Screen};
use crate::tui::screens;
use crate::tui::widgets::toast::{Level, Toast};

impl Model {
    /// Shows a line for a few seconds.
    pub fn say(&mut self, level: Level, words: String) {
        self.toast = Some(Toast::new(
            level,
            sanitise::line(&words).into_owned(),
            self.now,
        ));
    }

    /// Asks for a query and forgets what was open.
    pub fn open_query(&mut self, key: QueryKey) -> Vec<Effect> {
        if self.open.as_ref().is_none_or(|open| open.info.key != key) {
            self.open = None;
            self.matrix.heat = Default::default();
            self.matrix.layer = Default::default();
            self.matrix.surprise = None;
            self.battle.before = None;
        }
        if let Some(open) = self.prefetched.take_if(|open| open.info.key == key) {
            self.generation += 1;
            return super::on_opened(self, self.generation, open);
        }
        self.ask_for(key)
    }

    /// Asks for the open query anew.
    pub fn reload(&mut self) -> Vec<Effect> {
        match self.open.as_ref().map(|open| open.info.key) {
            Some(key) => self.ask_for(key),
            None => Vec::new(),
        }
    }

    fn ask_for(&mut self, key: QueryKey) -> Vec<Effect> {
        self.generation += 1;
        self.loading = true;
        self.loaded = self.now;
        vec![Effect::Open(key, self.generation)]
    }

    /// Asks for what the present screen needs of the open query.
    pub(super) fn refresh(&mut self) -> Vec<Effect> {
        match self.screen() {
            Screen::Document => screens::document::enter(self),
            Screen::Battle | Screen::Review => screens::battle::enter(self),
            _ => Vec::new(),
        }
    }

    /// Goes to a document.
    pub fn open_document(&mut self, document: usize) -> Vec<Effect> {
        if self.document.document != document {
            self.document.cursor = 0;
        }
        self.document.document = document;
        self.document.scroll = 0;
        self.document.reading = false;
        self.document.expanded = false;
        self.stack.push(Screen::Document);
        screens::document::enter(self)
    }

    /// Goes to a pair of documents, fought or not, shown as A and B in the order in which the battle is stored.
    pub fn open_battle(&mut self, a: usize, b: usize) -> Vec<Effect> {
        if self.options.judging.battle_blind
            && self.screen() != Screen::Queue
            && let Some(pair) = Pair::new(a, b)
        {
            return screens::review::review_pair(self, pair);
        }
        let stored = self.open.as_ref().and_then(|open| {
            let pair = Pair::new(a, b)?;
            let index = *open.view.battles_of(pair).first()?;
            let battle = open.view.rows().battles.get(index)?.battle;
            Some((battle.a, battle.b))
        });
        let (a, b) = stored.unwrap_or((a.min(b), a.max(b)));
        self.battle = BattleScreen {
            a,
            b,
            together: self.battle.together,
            full: self.battle.full,
            ..Default::default()
        };
        self.stack.push(Screen::Battle);
        screens::battle::enter(self)
    }

    /// Asks for the summaries of visible rows that are out of date and have not been asked for.
    pub fn stale_summaries(&mut self) -> Vec<Effect> {
        let page = self.areas.page.max(SUMMARIES);
        let first = self.queries.cursor.saturating_sub(page);
        let stale: Vec<QueryKey> = self
            .shown_queries()
            .into_iter()
            .skip(first)
            .take(2 * page)
            .filter_map(|index| {
                let (info, summary) = self.queries.rows.get(index)?;
                (summary.is_none() && !self.queries.asked.contains(&info.key)).then_some(info.key)
            })
            .take(SUMMARIES.saturating_sub(self.queries.asked.len()))
            .collect();
        self.queries.asked.extend(&stale);
        if stale.is_empty() {
            Vec::new()
        } else {
            vec![Effect::Summarise(stale)]
        }
    }

    /// Marks a query's summary as out of date.
    pub(super) fn forget_summary(&mut self, key: QueryKey) -> Vec<Effect> {
        if let Some((_, summary)) = self
            .queries
            .rows
            .iter_mut()
            .find(|(info, _)| info.key == key)
        {
            *summary = None;
        }
        vec![Effect::Summarise(vec![key])]
    }
}

#[cfg(test)]
mod tests {
    use crate::domain::corpus::QueryId;
    use crate::store::corpus::{QueryInfo, QueryKey};
    use crate::store::summary_cache::QuerySummary;
    use crate::tui::model::{Effect, Msg, Screen};
    use crate::tui::screens::testing::model;
    use crate::tui::update::update;
    use std::collections::VecDeque;

    #[test]
    fn every_summary_is_asked_for_once_however_many_arrive_late() {
        let mut model = model(Screen::Queries);
        let row = |key| QueryInfo {
            key: QueryKey(key),
            id: QueryId::new(key.to_string()),
            text: "text".to_owned(),
            documents: 2,
        };
        let rows = (0..60).map(|key| (row(key), None)).collect();
        model.areas.page = 30;
        let now = model.now;
        let mut waiting: VecDeque<Effect> = update(&mut model, Msg::Listed(rows), now).into();
        let mut asked = Vec::new();
        while let Some(effect) = waiting.pop_front() {
            let Effect::Summarise(keys) = effect else {
                panic!("{effect:?}");
            };
            for key in keys {
                asked.push(key);
                let done = Msg::Summarised(vec![(key, QuerySummary::default())]);
                waiting.extend(update(&mut model, done, now));
            }
        }
        let all: Vec<QueryKey> = (0..60).map(QueryKey).collect();
        asked.sort();
        assert_eq!(asked, all);
    }
}
