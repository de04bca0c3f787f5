//! The keys of the queue, most important first.

use crate::tui::keymap::binding::{Binding, ENTER, hidden, key, shown};
use crate::tui::keymap::command::Command as Do;

#[rustfmt::skip]
pub(super) const KEYS: &[Binding] = &[
    shown(&[key('s')], Do::StartRun, "start"),
    shown(&[ENTER], Do::Open, "judge"),
    shown(&[key('o')], Do::NextPolicy, "order"),
    hidden(&[key('O')], Do::PreviousPolicy, "order back"),
    shown(&[key('P')], Do::WholeProject, "scope"),
    shown(&[key('F')], Do::Conflicts, "conflicts"),
    shown(&[key('_')], Do::Accept, "accept"),
    shown(&[key('H')], Do::Guideline, "guideline"),
    hidden(&[key(';')], Do::EditGuideline, "edit it"),
];
