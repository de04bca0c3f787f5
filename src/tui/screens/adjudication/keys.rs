//! The keys of the screen, most important first.

use crate::tui::keymap::binding::{Binding, ENTER, TAB, hidden, key, shown};
use crate::tui::keymap::command::Command as Do;

#[rustfmt::skip]
pub(crate) const KEYS: &[Binding] = &[
    shown(&[ENTER], Do::Open, "rule"),
    shown(&[key('o')], Do::NextPolicy, "order"),
    hidden(&[key('O')], Do::PreviousPolicy, "order back"),
    shown(&[key('d')], Do::Conflicts, "other lists"),
    shown(&[key('t')], Do::ShowTables, "tables"),
    shown(&[TAB], Do::NextPane, "ranking"),
    shown(&[key('v')], Do::Guideline, "guideline"),
];
