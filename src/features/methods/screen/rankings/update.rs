//! Moving through the ranks, and opening the battle between the two documents at a rank.

use crate::domain::corpus::{DocId, QueryId};
use crate::tui::keymap::Command;
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::navigation::moved;
use crate::tui::screens::Screen;

/// Shows the rankings of a query side by side, with the cursor on the first rank at which they
/// differ.
pub(crate) fn show(model: &mut Model, query: QueryId) -> Vec<Effect> {
    let Some(key) = model.queries.identified(&query).map(|info| info.key) else {
        model.inform("the list of queries is still being read");
        return Vec::new();
    };
    model.methods_mut().query = Some(query);
    let differ = model
        .methods()
        .rankings()
        .and_then(|(one, other)| one.iter().zip(other).position(|(one, other)| one != other));
    model.methods_mut().rank_cursor = differ.unwrap_or(0);
    model.stack.push(Screen::RANKINGS);
    model.open_query(key)
}

pub(super) fn update(model: &mut Model, command: Command) -> Vec<Effect> {
    let Some((one, other)) = model.methods().rankings() else {
        return Vec::new();
    };
    let (count, at) = (one.len().max(other.len()), model.methods().rank_cursor);
    if command != Command::Open {
        model.methods_mut().rank_cursor = moved(at, command, count, model.areas.page);
        return Vec::new();
    }
    let pair = one.get(at).cloned().zip(other.get(at).cloned());
    let Some(open) = &model.open else {
        return Vec::new();
    };
    let place = |id: &DocId| {
        open.documents
            .iter()
            .position(|document| document.id == *id)
    };
    let places = pair.and_then(|(one, other)| Some((place(&one)?, place(&other)?)));
    match places {
        Some((one, other)) if one != other => model.open_battle(one, other),
        Some(_) => {
            model.inform("both rankings have the same document here");
            Vec::new()
        }
        None => {
            model.inform("choose a rank that both rankings have");
            Vec::new()
        }
    }
}
