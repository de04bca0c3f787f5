//! The keys of the comparison of two documents, most important first.

use crate::tui::keymap::binding::{Binding, ENTER, key, shown};
use crate::tui::keymap::command::Command as Do;

#[rustfmt::skip]
pub(super) const KEYS: &[Binding] = &[
    shown(&[ENTER], Do::Open, "battle"),
    shown(&[key('Q')], Do::AskJudges, "ask judges"),
    shown(&[key('h')], Do::Left, "with A"),
    shown(&[key('l')], Do::Right, "with B"),
];
