//! The keys of the screen, most important first.

use crate::tui::keymap::binding::{Binding, key, shown};
use crate::tui::keymap::command::Command as Do;

#[rustfmt::skip]
pub(crate) const KEYS: &[Binding] = &[
    shown(&[key('s')], Do::StartRun, "start"),
    shown(&[key('x')], Do::StopRun, "stop"),
    shown(&[key('+'), key('=')], Do::MoreCalls, "more"),
    shown(&[key('-')], Do::FewerCalls, "fewer"),
    shown(&[key('b')], Do::SetBudget, "budget"),
    shown(&[key('n')], Do::NextJudge, "next judge"),
    shown(&[key('d')], Do::DropJudge, "drop judge"),
    shown(&[key(']')], Do::Faster, "faster"),
    shown(&[key('[')], Do::Slower, "slower"),
];
