//! The keys of a student, most important first.

use super::commands;
use crate::tui::keymap::Screen;
use crate::tui::keymap::binding::{Binding, ENTER, TAB, hidden, key, shown};
use crate::tui::keymap::command::Command as Do;

#[rustfmt::skip]
pub(super) const KEYS: &[Binding] = &[
    shown(&[ENTER], Do::Open, "its battles"),
    shown(&[key('v')], commands::NEXT_FIGURE, "figure"),
    hidden(&[key('V')], commands::PREVIOUS_FIGURE, "figure back"),
    shown(&[key('n')], commands::NEXT_CHECKPOINT, "checkpoint"),
    hidden(&[key('N')], commands::PREVIOUS_CHECKPOINT, "previous"),
    shown(&[TAB], commands::NEXT_STUDENT, "student"),
    shown(&[key('+'), key('=')], commands::TRAIN_STUDENT, "train"),
    shown(&[key('K')], Do::ShowTables, "numbers"),
    shown(&[key('>')], Do::Export, "picture"),
];

/// Opens the student.
#[rustfmt::skip]
pub(crate) const ADDED_KEYS: &[(Screen, Binding)] = &[
    (Screen::QUERIES, hidden(&[key('Y')], commands::SHOW_STUDENT, "student")),
    (Screen::JUDGES, hidden(&[key('Y')], commands::SHOW_STUDENT, "student")),
];
