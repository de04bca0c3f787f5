//! Commands of the list, and on-demand computation of summaries.

use crate::store::corpus::QueryKey;
use crate::store::summary_cache::QuerySummary;
use crate::tui::keymap::Command;
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::model::queries::{QueryRow, QuerySort};
use crate::tui::navigation;
use crate::tui::screens::Screen;
use crate::tui::screens::run;
use crate::tui::screens::spec::Click;
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
                model.stack.push(Screen::Matrix);
                return model.open_query(key);
            }
        }
        _ => {
            let (count, page) = (model.queries.shown().len(), model.areas.page);
            let queries = &mut model.queries;
            queries.cursor = navigation::moved(queries.cursor, command, count, page);
        }
    }
    stale_summaries(model)
}

pub(super) fn returned(model: &mut Model) -> Vec<Effect> {
    model.battle.before = None;
    vec![Effect::List]
}

pub(super) fn click(model: &mut Model, _: u16, row: u16) -> Click {
    let clicked = model.areas.first + usize::from(row - model.areas.list.y);
    if clicked == model.queries.cursor {
        return Click::Open;
    }
    if clicked < model.queries.shown().len() {
        model.queries.cursor = clicked;
    }
    Click::Moved
}

pub(crate) fn listed(model: &mut Model, rows: Vec<QueryRow>) -> Vec<Effect> {
    let selected = model.queries.selected().map(|(info, _)| info.key);
    model.queries.rows = rows;
    let first = !model.queries.loaded;
    model.queries.asked.clear();
    model.queries.loaded = true;
    model.listing = false;
    let shown = model.queries.shown();
    if let (true, Some((query, _))) = (first, &model.return_to) {
        let place = shown
            .iter()
            .map(|row| &model.queries.rows[*row].0.id)
            .position(|id| id.as_str() == query);
        model.queries.cursor = place.unwrap_or(model.queries.cursor);
    }
    if let Some(key) = selected {
        // Rows added by other programs may come before it.
        let place = shown
            .iter()
            .map(|row| model.queries.rows[*row].0.key)
            .position(|shown| shown == key);
        model.queries.cursor = place.unwrap_or(model.queries.cursor);
    }
    let last = shown.len().saturating_sub(1);
    model.queries.cursor = model.queries.cursor.min(last);
    let mut effects = stale_summaries(model);
    if !model.run.running {
        effects.push(Effect::ReadScale(model.scale.ask()));
    }
    effects
}

pub(crate) fn summarised(
    model: &mut Model,
    summaries: Vec<(QueryKey, QuerySummary)>,
) -> Vec<Effect> {
    for (key, summary) in summaries {
        model.queries.asked.remove(&key);
        model.queries.put_summary(key, Some(summary));
    }
    if model.run.running {
        Vec::new()
    } else {
        stale_summaries(model)
    }
}

/// Requests a query's summary, which is stale.
pub(crate) fn summarise_anew(model: &mut Model, key: QueryKey) -> Vec<Effect> {
    model.queries.put_summary(key, None);
    vec![Effect::Summarise(vec![key])]
}

/// Requests the summaries of visible rows that are stale and have not been requested.
fn stale_summaries(model: &mut Model) -> Vec<Effect> {
    let page = model.areas.page.max(SUMMARIES);
    let queries = &mut model.queries;
    let first = queries.cursor.saturating_sub(page);
    let shown = queries.shown();
    let near = shown.iter().skip(first).take(2 * page);
    // Rows can be sorted by a number only if it is known.
    let others = match queries.sort {
        QuerySort::Import => [].iter(),
        _ => shown.iter(),
    };
    let mut wanted = HashSet::new();
    let stale: Vec<QueryKey> = near
        .chain(others)
        .filter(|index| wanted.insert(**index))
        .filter_map(|index| {
            let (info, summary) = queries.rows.get(*index)?;
            (summary.is_none() && !queries.asked.contains(&info.key)).then_some(info.key)
        })
        .take(SUMMARIES.saturating_sub(queries.asked.len()))
        .collect();
    queries.asked.extend(&stale);
    if stale.is_empty() {
        Vec::new()
    } else {
        vec![Effect::Summarise(stale)]
    }
}

#[cfg(test)]
mod tests {
    use crate::domain::corpus::QueryId;
    use crate::store::corpus::{QueryInfo, QueryKey};
    use crate::store::summary_cache::QuerySummary;
    use crate::tui::message::{Effect, Msg};
    use crate::tui::screens::Screen;
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
            if matches!(effect, Effect::ReadScale(_)) {
                continue;
            }
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
