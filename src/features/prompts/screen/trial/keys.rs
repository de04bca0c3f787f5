//! The keys of a prompt trial, most important first.

use crate::features::prompts::screen::commands;
use crate::tui::keymap::binding::{Binding, ENTER, key, shown};
use crate::tui::keymap::command::Command as Do;

#[rustfmt::skip]
pub(super) const KEYS: &[Binding] = &[
    shown(&[ENTER], Do::Open, "reasonings"),
    shown(&[key('t')], commands::TRY_PROMPT, "ask"),
    shown(&[key('F')], commands::TEST_PROMPT, "final test"),
    shown(&[key('w')], commands::DECIDE_TRIAL, "what decides"),
    shown(&[key('=')], commands::USE_PROMPT, "use it"),
    shown(&[key('P')], commands::EDIT_PROMPT, "edit"),
    shown(&[key('L')], commands::SHOW_PROMPT_SET, "pairs"),
];
