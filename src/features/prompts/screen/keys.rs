//! The keys of the prompt, most important first.

use crate::tui::keymap::binding::{Binding, ENTER, TAB, key, shown};
use crate::tui::keymap::command::Command as Do;

#[rustfmt::skip]
pub(super) const KEYS: &[Binding] = &[
    shown(&[key('t')], Do::TryPrompt, "try"),
    shown(&[ENTER], Do::Open, "edit here"),
    shown(&[key('P')], Do::EditPrompt, "edit"),
    shown(&[key('=')], Do::UsePrompt, "use it"),
    shown(&[key('L')], Do::ShowPromptSet, "pairs"),
    shown(&[TAB], Do::NextPane, "next pane"),
];
