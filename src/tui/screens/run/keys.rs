//! The keys of the run, most important first.

use crate::tui::keymap::binding::{Binding, TAB, hidden, key, shown};
use crate::tui::keymap::command::Command as Do;

#[rustfmt::skip]
pub(super) const KEYS: &[Binding] = &[
    shown(&[key('s')], Do::StartRun, "start"),
    shown(&[key('S')], Do::StopRun, "stop"),
    shown(&[key('Q')], Do::Batches, "batches"),
    shown(&[key('+'), key('=')], Do::MoreCalls, "more"),
    shown(&[key('-')], Do::FewerCalls, "fewer"),
    shown(&[key('$')], Do::SetBudget, "budget"),
    shown(&[TAB], Do::NextJudge, "next judge"),
    shown(&[key('X')], Do::DropJudge, "drop judge"),
    shown(&[key(']')], Do::Faster, "faster"),
    shown(&[key('[')], Do::Slower, "slower"),
    hidden(&[key('K')], Do::ShowTables, "numbers"),
];
