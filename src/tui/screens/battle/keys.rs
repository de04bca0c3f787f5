//! The keys of the screen, most important first.

use crate::tui::keymap::binding::{Binding, TAB, hidden, key, shown};
use crate::tui::keymap::command::Command as Do;

#[rustfmt::skip]
pub(crate) const KEYS: &[Binding] = &[
    shown(&[key('a')], Do::JudgeA, "A better"),
    shown(&[key('b')], Do::JudgeB, "B better"),
    shown(&[key('t')], Do::JudgeTie, "tie"),
    shown(&[key('x')], Do::CannotTell, "can't tell"),
    hidden(&[key('A')], Do::JudgeAStrongly, "A by far"),
    hidden(&[key('B')], Do::JudgeBStrongly, "B by far"),
    shown(&[key('i')], Do::WriteNote, "reason"),
    shown(&[key('n')], Do::NextBattle, "next"),
    hidden(&[key('N')], Do::PreviousBattle, "previous"),
    shown(&[key('f')], Do::ToggleFullText, "full text"),
    shown(&[TAB], Do::NextReasoning, "judge"),
    hidden(&[key('w')], Do::ToggleRawReply, "raw reply"),
    hidden(&[key('s')], Do::ToggleScrollLock, "scroll lock"),
];
