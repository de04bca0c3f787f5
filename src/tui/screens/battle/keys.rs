//! The keys of a battle, most important first.

use crate::tui::keymap::binding::{Binding, TAB, hidden, key, shown};
use crate::tui::keymap::command::Command as Do;

#[rustfmt::skip]
pub(super) const KEYS: &[Binding] = &[
    hidden(&[key('a')], Do::JudgeA, "A better"),
    hidden(&[key('b')], Do::JudgeB, "B better"),
    hidden(&[key('t')], Do::JudgeTie, "tie"),
    hidden(&[key('x')], Do::CannotTell, "can't tell"),
    hidden(&[key('A')], Do::JudgeAStrongly, "A by far"),
    hidden(&[key('B')], Do::JudgeBStrongly, "B by far"),
    shown(&[TAB], Do::NextReasoning, "judge"),
    shown(&[key('i')], Do::WriteNote, "reason"),
    shown(&[key('n')], Do::NextBattle, "next"),
    hidden(&[key('N')], Do::PreviousBattle, "previous"),
    shown(&[key('K')], Do::ShowTables, "numbers"),
    shown(&[key('f')], Do::ToggleFullText, "text top"),
    hidden(&[key('e')], Do::ExplainOrder, "why"),
    hidden(&[key('Q')], Do::AskJudges, "ask judges"),
    hidden(&[key('W')], Do::ToggleRawReply, "raw reply"),
    hidden(&[key('|')], Do::ToggleScrollLock, "scroll lock"),
];
