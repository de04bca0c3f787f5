//! Commands of the list, and on-demand computation of summaries.

use super::preview;
use crate::domain::corpus::QueryId;
use crate::store::corpus::QueryKey;
use crate::store::summary_cache::QuerySummary;
use crate::tui::keymap::Command;
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::model::queries::{QueryRow, QuerySort};
use crate::tui::navigation;
use crate::tui::screens::Screen;
use crate::tui::screens::run;
use std::collections::HashSet;

const SUMMARIES: usize = 16;

pub(super) fn update(model: &mut Model, command: Command) -> Vec<Effect> {
    match command {
        Command::SortQueries => {
            model.queries.sort = navigation::cycled(&QuerySort::ALL, model.queries.sort, true);
            model.queries.reversed = false;
            model.queries.cursor = 0;
        }
        Command::ReverseSort => {
            model.queries.reversed = !model.queries.reversed;
            model.queries.cursor = 0;
        }
        Command::StartRun => return run::update::start(model, None),
        Command::Open | Command::ShowMatrix => {
            if let Some(key) = model.queries.selected().map(|(info, _)| info.key) {
                model.stack.push(Screen::MATRIX);
                return model.open_query(key);
            }
        }
        _ => {
            let (count, page) = (model.queries.shown().len(), model.areas.page);
            let queries = &mut model.queries;
            queries.cursor = navigation::moved(queries.cursor, command, count, page);
        }
    }
    moved(model)
}

/// Another row may be selected, or other rows may be visible.
pub(super) fn moved(model: &mut Model) -> Vec<Effect> {
    let mut effects = stale_summaries(model);
    effects.extend(preview::read(model));
    effects
}

pub(super) fn returned(model: &mut Model) -> Vec<Effect> {
    model.battle.before = None;
    let mut effects = vec![model.list()];
    effects.extend(preview::read(model));
    effects
}

pub(crate) fn listed(model: &mut Model, rows: Vec<QueryRow>) -> Vec<Effect> {
    let selected = model.queries.selected().map(|(info, _)| info.key);
    model.queries.set_rows(rows);
    let first = !model.queries.loaded;
    model.queries.asked.clear();
    model.queries.loaded = true;
    let remembered = model.return_to.as_ref().filter(|_| first);
    let remembered = remembered.and_then(|(query, _)| {
        let id = QueryId::new(query.as_str());
        model.queries.identified(&id).map(|info| info.key)
    });
    // Rows added by other programs may come before the selected one.
    if let Some(key) = selected.or(remembered) {
        model.queries.select(key);
    }
    let last = model.queries.shown().len().saturating_sub(1);
    model.queries.cursor = model.queries.cursor.min(last);
    let mut effects = stale_summaries(model);
    effects.extend(preview::read_anew(model));
    if !model.run.running {
        effects.push(model.read_scale());
    }
    effects
}

/// Shows a summary; `None` if it is superseded.
pub(crate) fn summarized(
    model: &mut Model,
    key: QueryKey,
    summary: Option<QuerySummary>,
) -> Vec<Effect> {
    model.queries.asked.remove(&key);
    if summary.is_some() {
        model.queries.put_summary(key, summary);
    }
    if model.run.running {
        Vec::new()
    } else {
        stale_summaries(model)
    }
}

/// Requests the summaries of visible rows that are stale and have not been requested.
fn stale_summaries(model: &mut Model) -> Vec<Effect> {
    let page = model.areas.page.max(SUMMARIES);
    let queries = &model.queries;
    let first = queries.cursor.saturating_sub(page);
    let (shown, unknown) = (queries.shown(), queries.unknown());
    let near = shown
        .iter()
        .skip(first)
        .take(2 * page)
        .filter(|row| unknown.contains(*row));
    // Rows can be sorted by a number only if it is known.
    let is_sorted = queries.sort != QuerySort::Import;
    let others = is_sorted.then_some(&*unknown).into_iter().flatten();
    let mut wanted = HashSet::new();
    let stale: Vec<QueryKey> = near
        .chain(others)
        .filter(|row| wanted.insert(**row))
        .filter_map(|row| Some(queries.rows().get(*row)?.0.key))
        .filter(|key| !queries.asked.contains(key))
        .take(SUMMARIES.saturating_sub(queries.asked.len()))
        .collect();
    drop((shown, unknown));
    model.queries.asked.extend(&stale);
    if stale.is_empty() {
        Vec::new()
    } else {
        vec![model.summarize(stale)]
    }
}

#[cfg(test)]
mod tests {
    use crate::domain::corpus::QueryId;
    use crate::store::corpus::{QueryInfo, QueryKey};
    use crate::store::summary_cache::QuerySummary;
    use crate::tui::job::only;
    use crate::tui::message::Effect;
    use crate::tui::screens::Screen;
    use crate::tui::screens::testing::model;
    use crate::tui::update::requests::queries::{Prefetch, ReadScale, Summarize};
    use std::collections::VecDeque;

    #[test]
    fn every_summary_is_asked_for_once_however_many_arrive_late() {
        let mut model = model(Screen::QUERIES);
        let row = |key| QueryInfo {
            key: QueryKey(key),
            id: QueryId::new(key.to_string()),
            text: "text".to_owned(),
            documents: 2,
        };
        let rows: Vec<_> = (0..60).map(|key| (row(key), None)).collect();
        model.areas.page = 30;
        let mut waiting: VecDeque<Effect> = super::listed(&mut model, rows).into();
        let mut asked = Vec::new();
        while let Some(effect) = waiting.pop_front() {
            let effects = [effect];
            if only::<ReadScale>(&effects).is_some() || only::<Prefetch>(&effects).is_some() {
                continue;
            }
            let Some(Summarize { keys, .. }) = only(&effects) else {
                panic!("{effects:?}");
            };
            for key in keys {
                asked.push(*key);
                let summary = Some(QuerySummary::default());
                waiting.extend(super::summarized(&mut model, *key, summary));
            }
        }
        let all: Vec<QueryKey> = (0..60).map(QueryKey).collect();
        asked.sort();
        assert_eq!(asked, all);
    }
}
