//! The keys of a student, most important first.

use crate::tui::keymap::binding::{Binding, ENTER, TAB, hidden, key, shown};
use crate::tui::keymap::command::Command as Do;

#[rustfmt::skip]
pub(super) const KEYS: &[Binding] = &[
    shown(&[ENTER], Do::Open, "its battles"),
    shown(&[key('v')], Do::NextFigure, "figure"),
    hidden(&[key('V')], Do::PreviousFigure, "figure back"),
    shown(&[key('n')], Do::NextCheckpoint, "checkpoint"),
    hidden(&[key('N')], Do::PreviousCheckpoint, "previous"),
    shown(&[TAB], Do::NextStudent, "student"),
    shown(&[key('+'), key('=')], Do::TrainStudent, "train"),
    shown(&[key('K')], Do::ShowTables, "numbers"),
    shown(&[key('>')], Do::Export, "picture"),
];
