//! The keys of the list calls, most important first.

use super::commands;
use crate::tui::keymap::Screen;
use crate::tui::keymap::binding::{Binding, ENTER, TAB, hidden, key, named, shown};
use crate::tui::keymap::command::Command as Do;
use crossterm::event::KeyCode;

#[rustfmt::skip]
pub(super) const KEYS: &[Binding] = &[
    shown(&[key(' ')], commands::MARK_DOCUMENT, "mark A"),
    shown(&[named(KeyCode::Right), key('l')], Do::Right, "document"),
    shown(&[ENTER], Do::Open, "battle"),
    shown(&[key('Q')], Do::AskJudges, "ask judges"),
    shown(&[TAB], Do::NextPane, "next pane"),
    hidden(&[key('e')], Do::ExplainOrder, "why"),
];

/// Opens the list calls.
#[rustfmt::skip]
pub(crate) const ADDED_KEYS: &[(Screen, Binding)] = &[
    (Screen::MATRIX, hidden(&[key('\'')], commands::SHOW_LISTS, "lists")),
    (Screen::DOCUMENT, hidden(&[key('\'')], commands::SHOW_LISTS, "lists")),
    (Screen::BATTLE, hidden(&[key('\'')], commands::SHOW_LISTS, "lists")),
];
