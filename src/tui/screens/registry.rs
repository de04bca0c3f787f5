//! The registry that maps each screen to its behavior.

use super::spec::ScreenSpec;
use super::{
    Screen, adjudication, battle, comparison, cycles, document, duel, judges, matrix, methods,
    passage, queries, queue, rankings, review, ruling, run, student, student_battles,
};

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
