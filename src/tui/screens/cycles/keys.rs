//! The keys of the cycles, most important first.

use crate::tui::keymap::binding::{Binding, ENTER, key, shown};
use crate::tui::keymap::command::Command as Do;

#[rustfmt::skip]
pub(super) const KEYS: &[Binding] = &[
    shown(&[key('s')], Do::StartRun, "start"),
    shown(&[ENTER], Do::Open, "weakest"),
    shown(&[key('e')], Do::ExplainOrder, "why"),
    shown(&[key('w')], Do::ShowQueue, "queue"),
];
