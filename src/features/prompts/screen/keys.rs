//! The keys of the prompt, most important first.

use super::commands;
use crate::tui::keymap::Screen;
use crate::tui::keymap::binding::{Binding, ENTER, TAB, key, shown};
use crate::tui::keymap::command::Command as Do;

#[rustfmt::skip]
pub(super) const KEYS: &[Binding] = &[
    shown(&[key('t')], commands::TRY_PROMPT, "try"),
    shown(&[ENTER], Do::Open, "edit here"),
    shown(&[key('P')], commands::EDIT_PROMPT, "edit"),
    shown(&[key('=')], commands::USE_PROMPT, "use it"),
    shown(&[key('L')], commands::SHOW_PROMPT_SET, "pairs"),
    shown(&[TAB], Do::NextPane, "next pane"),
];

/// Opens the prompt of a judge.
#[rustfmt::skip]
pub(crate) const ADDED_KEYS: &[(Screen, Binding)] = &[
    (Screen::JUDGES, shown(&[key('P')], commands::EDIT_PROMPT, "prompt")),
];
