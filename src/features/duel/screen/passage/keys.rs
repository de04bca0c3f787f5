//! The keys of a passage, most important first.

use crate::features::duel::screen::commands;
use crate::tui::keymap::binding::{Binding, ENTER, hidden, key, named, shown};
use crate::tui::keymap::command::Command as Do;
use crossterm::event::KeyCode;

#[rustfmt::skip]
pub(super) const KEYS: &[Binding] = &[
    shown(&[ENTER], Do::Open, "this passage"),
    shown(&[key(' ')], commands::CHOOSE_WHOLE, "whole text"),
    shown(&[named(KeyCode::Backspace), named(KeyCode::Delete)], commands::REMOVE_CHOICE, "remove"),
    shown(&[key('j')], Do::Down, "sentence"),
    shown(&[key('l')], Do::Right, "word more"),
    shown(&[key('h')], Do::Left, "word less"),
    shown(&[key(')')], commands::MORE_SENTENCES, "longer"),
    hidden(&[key('(')], commands::FEWER_SENTENCES, "shorter"),
    shown(&[key('{')], commands::EARLIER_START, "from earlier"),
    hidden(&[key('}')], commands::LATER_START, "from later"),
    shown(&[key('p')], commands::PAUSE_TASK, "pause"),
    hidden(&[key('H')], Do::Guideline, "guideline"),
];
