//! The registry that maps each screen to its behavior.

use super::spec::ScreenSpec;
use super::{
    Screen, adjudication, battle, comparison, cycles, document, judges, matrix, passage, queries,
    queue, rankings, review, ruling, run,
};
use crate::features::duel::screen as duel;
use crate::features::methods::screen as methods;
use crate::features::student::screen as student;
use crate::features::student::screen::battles as student_battles;

pub(crate) fn spec(screen: Screen) -> ScreenSpec {
    match screen {
        Screen::Queries => queries::SPEC,
        Screen::Run => run::SPEC,
        Screen::Matrix => matrix::SPEC,
        Screen::Document => document::SPEC,
        Screen::Battle => battle::SPEC,
        Screen::Queue => queue::SPEC,
        Screen::Review => review::SPEC,
        Screen::Judges => judges::SPEC,
        Screen::Methods => methods::SPEC,
        Screen::Rankings => rankings::SPEC,
        Screen::Student => student::SPEC,
        Screen::StudentBattles => student_battles::SPEC,
        Screen::Cycles => cycles::SPEC,
        Screen::Comparison => comparison::SPEC,
        Screen::Adjudication => adjudication::SPEC,
        Screen::Ruling => ruling::SPEC,
        Screen::Duel => duel::SPEC,
        Screen::Passage => passage::SPEC,
    }
}
