//! The keys of a duel, most important first.

use super::commands;
use crate::tui::keymap::Screen;
use crate::tui::keymap::binding::{Binding, ENTER, TAB, hidden, key, named, shown};
use crate::tui::keymap::command::Command as Do;
use crossterm::event::KeyCode;

#[rustfmt::skip]
pub(super) const KEYS: &[Binding] = &[
    shown(&[ENTER], Do::Open, "read"),
    shown(&[key(' ')], commands::CHOOSE_WHOLE, "choose"),
    shown(&[named(KeyCode::Backspace), named(KeyCode::Delete)], commands::REMOVE_CHOICE, "remove"),
    shown(&[key('0')], commands::NONE_SERVES, "none serves"),
    shown(&[key('a')], commands::PREFER_LEFT, "left"),
    shown(&[key('t')], commands::PREFER_NEITHER, "equal"),
    shown(&[key('b')], commands::PREFER_RIGHT, "right"),
    hidden(&[key('A')], commands::PREFER_LEFT_STRONGLY, "left by far"),
    hidden(&[key('B')], commands::PREFER_RIGHT_STRONGLY, "right by far"),
    shown(&[key('.')], commands::FINISH_TASK, "done"),
    shown(&[key('n')], commands::NEXT_TASK, "next"),
    hidden(&[key('N')], commands::PREVIOUS_TASK, "previous"),
    shown(&[TAB], Do::NextPane, "tasks"),
    shown(&[key('p')], commands::PAUSE_TASK, "pause"),
    shown(&[key('K')], Do::ShowTables, "result"),
    shown(&[key('X')], commands::NEW_DUEL, "new duel"),
    hidden(&[key('H')], Do::Guideline, "guideline"),
    hidden(&[key('1')], commands::PLACE_1, "document 1"),
    hidden(&[key('2')], commands::PLACE_2, "document 2"),
    hidden(&[key('3')], commands::PLACE_3, "document 3"),
    hidden(&[key('4')], commands::PLACE_4, "document 4"),
    hidden(&[key('5')], commands::PLACE_5, "document 5"),
    hidden(&[key('6')], commands::PLACE_6, "document 6"),
    hidden(&[key('7')], commands::PLACE_7, "document 7"),
    hidden(&[key('8')], commands::PLACE_8, "document 8"),
    hidden(&[key('9')], commands::PLACE_9, "document 9"),
];

/// Opens the latest duel.
#[rustfmt::skip]
pub(crate) const ADDED_KEYS: &[(Screen, Binding)] = &[
    (Screen::QUERIES, hidden(&[key('X')], commands::SHOW_DUEL, "duel")),
];
