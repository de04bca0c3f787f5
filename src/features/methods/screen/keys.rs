//! The keys of the comparison of methods, most important first.

use super::commands;
use crate::tui::keymap::Screen;
use crate::tui::keymap::binding::{Binding, ENTER, TAB, hidden, key, shown};
use crate::tui::keymap::command::Command as Do;

#[rustfmt::skip]
pub(super) const KEYS: &[Binding] = &[
    shown(&[ENTER], Do::Open, "rankings"),
    shown(&[TAB], Do::NextPane, "queries"),
    shown(&[key('v')], commands::NEXT_TRUTH, "truth"),
    shown(&[key('0')], commands::SET_BASELINE, "baseline"),
    shown(&[key('z')], commands::NEXT_DEPTH, "depth"),
    shown(&[key('+'), key('=')], commands::RUN_METHOD, "run a method"),
    shown(&[key('>')], Do::Export, "picture"),
];

/// Opens the comparison.
#[rustfmt::skip]
pub(crate) const ADDED_KEYS: &[(Screen, Binding)] = &[
    (Screen::QUERIES, hidden(&[key('R')], commands::SHOW_METHODS, "methods")),
];
