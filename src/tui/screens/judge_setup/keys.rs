//! The keys of judge set-up, most important first.

use crate::tui::keymap::binding::{Binding, ENTER, TAB, key, shown};
use crate::tui::keymap::command::Command as Do;

#[rustfmt::skip]
pub(super) const KEYS: &[Binding] = &[
    shown(&[key(' ')], Do::ChooseJudge, "choose"),
    shown(&[key('t')], Do::TestJudge, "test"),
    shown(&[key('S')], Do::SaveJudges, "save"),
    shown(&[ENTER], Do::Open, "name"),
    shown(&[key(';')], Do::EditJudge, "settings"),
    shown(&[TAB], Do::NextPrompt, "prompt"),
    shown(&[key('+'), key('=')], Do::MoreCalls, "more calls"),
    shown(&[key('-')], Do::FewerCalls, "fewer calls"),
    shown(&[key('$')], Do::SetBudget, "budget"),
];
