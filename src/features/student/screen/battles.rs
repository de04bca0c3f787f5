//! Student battles screen: the battles in a group of a student's figure, largest difference first.

mod update;
mod view;

use crate::tui::screens::spec::{Click, Copied, ScreenSpec};

pub(crate) const SPEC: ScreenSpec = ScreenSpec {
    chapter: "student",
    returned: |model| crate::features::student::screen::update::ask_again(model),
    copy: |model| match model.student.battle(model.student.battle_cursor) {
        Some(battle) => Copied::Text(format!("{}\t{}\t{}", battle.query, battle.a, battle.b)),
        None => Copied::Nothing,
    },
    click: |model, _, row| {
        let at = model.areas.first + usize::from(row.saturating_sub(model.areas.list.y));
        if at == model.student.battle_cursor {
            return Click::Open;
        }
        model.student.battle_cursor = at.min(model.student.battles.len().saturating_sub(1));
        Click::Moved
    },
    ..ScreenSpec::new(view::view, update::update)
};
