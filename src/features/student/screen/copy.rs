//! The groups of a figure and their battles as tables for the clipboard.

use super::state::StudentState;
use crate::tui::clipboard::{ClipboardTable, number};

/// The groups of the figure on screen.
pub(super) fn groups(state: &StudentState) -> ClipboardTable {
    let columns = [
        "group",
        "battles",
        "expected",
        "observed",
        "observed_low",
        "observed_high",
    ];
    let rows = state.groups.iter().map(|group| {
        [
            group.name.clone(),
            group.rows.len().to_string(),
            number(group.expected, 4),
            number(group.observed, 4),
            number(group.interval.map(|(low, _)| low), 4),
            number(group.interval.map(|(_, high)| high), 4),
        ]
    });
    ClipboardTable::new("group", columns, rows)
}

/// The battles of the selected group.
pub(super) fn battles(state: &StudentState) -> ClipboardTable {
    let columns = ["query", "a", "b", "score", "p_a", "p_tie", "p_b"];
    let rows = (0..state.battles.len())
        .filter_map(|at| state.battle(at))
        .map(|battle| {
            let predicted = battle.predicted;
            let share = |value: f64| number(Some(value), 4);
            [
                battle.query.to_string(),
                battle.a.to_string(),
                battle.b.to_string(),
                share(battle.score),
                share(predicted.a()),
                share(predicted.tie()),
                share(predicted.b()),
            ]
        });
    ClipboardTable::new("battle", columns, rows)
}
