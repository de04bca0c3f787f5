//! The keys of the judges, most important first.

use crate::tui::keymap::binding::{Binding, ENTER, key, shown};
use crate::tui::keymap::command::Command as Do;

#[rustfmt::skip]
pub(super) const KEYS: &[Binding] = &[
    shown(&[key('s')], Do::StartRun, "start"),
    shown(&[ENTER], Do::Open, "differences"),
    shown(&[key('X')], Do::WithoutJudge, "without it"),
    shown(&[key('w')], Do::ShowQueue, "queue"),
    shown(&[key('K')], Do::ShowTables, "numbers"),
    shown(&[key('+')], Do::SetUpJudges, "set up"),
];
