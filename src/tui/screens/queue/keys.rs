//! The keys of the screen, most important first.

use crate::tui::keymap::binding::{Binding, ENTER, hidden, key, shown};
use crate::tui::keymap::command::Command as Do;

#[rustfmt::skip]
pub(crate) const KEYS: &[Binding] = &[
    shown(&[ENTER], Do::Open, "judge"),
    shown(&[key('o')], Do::NextPolicy, "order"),
    hidden(&[key('O')], Do::PreviousPolicy, "order back"),
    shown(&[key('m')], Do::WholeProject, "scope"),
    shown(&[key('d')], Do::Conflicts, "conflicts"),
    shown(&[key('v')], Do::Guideline, "guideline"),
];
