//! The keys of a passage, most important first.

use crate::tui::keymap::binding::{Binding, ENTER, hidden, key, named, shown};
use crate::tui::keymap::command::Command as Do;
use crossterm::event::KeyCode;

#[rustfmt::skip]
pub(super) const KEYS: &[Binding] = &[
    shown(&[ENTER], Do::Open, "this passage"),
    shown(&[key(' ')], Do::ChooseWhole, "whole text"),
    shown(&[named(KeyCode::Backspace), named(KeyCode::Delete)], Do::RemoveChoice, "remove"),
    shown(&[key('j')], Do::Down, "sentence"),
    shown(&[key('l')], Do::Right, "word more"),
    shown(&[key('h')], Do::Left, "word less"),
    shown(&[key(')')], Do::MoreSentences, "longer"),
    hidden(&[key('(')], Do::FewerSentences, "shorter"),
    shown(&[key('{')], Do::EarlierStart, "from earlier"),
    hidden(&[key('}')], Do::LaterStart, "from later"),
    shown(&[key('p')], Do::PauseTask, "pause"),
    hidden(&[key('H')], Do::Guideline, "guideline"),
];
