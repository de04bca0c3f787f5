//! The keys of a prompt trial, most important first.

use crate::tui::keymap::binding::{Binding, ENTER, key, shown};
use crate::tui::keymap::command::Command as Do;

#[rustfmt::skip]
pub(super) const KEYS: &[Binding] = &[
    shown(&[ENTER], Do::Open, "reasonings"),
    shown(&[key('t')], Do::TryPrompt, "ask"),
    shown(&[key('F')], Do::TestPrompt, "final test"),
    shown(&[key('w')], Do::DecideTrial, "what decides"),
    shown(&[key('=')], Do::UsePrompt, "use it"),
    shown(&[key('P')], Do::EditPrompt, "edit"),
    shown(&[key('L')], Do::ShowPromptSet, "pairs"),
];
