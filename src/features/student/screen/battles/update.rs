//! Moving through the battles of a group, and opening one.

use crate::tui::keymap::Command;
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::navigation::moved;

pub(super) fn update(model: &mut Model, command: Command) -> Vec<Effect> {
    let (count, at) = (model.student().battles.len(), model.student().battle_cursor);
    if command != Command::Open {
        model.student_mut().battle_cursor = moved(at, command, count, model.areas.page);
        return Vec::new();
    }
    let Some((query, pair)) = model
        .student()
        .battle(at)
        .map(|battle| (battle.query.clone(), battle.pair))
    else {
        return Vec::new();
    };
    let Some(key) = model.queries.identified(&query).map(|info| info.key) else {
        model.inform("the list of queries is still being read");
        return Vec::new();
    };
    let mut effects = model.open_query(key);
    effects.extend(model.open_battle(pair.low(), pair.high()));
    effects
}
