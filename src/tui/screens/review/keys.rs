//! The keys of the screen, most important first.

use crate::tui::keymap::binding::{Binding, ENTER, TAB, hidden, key, shown};
use crate::tui::keymap::command::Command as Do;

#[rustfmt::skip]
pub(crate) const KEYS: &[Binding] = &[
    shown(&[key('a')], Do::JudgeA, "A better"),
    shown(&[key('b')], Do::JudgeB, "B better"),
    shown(&[key('t')], Do::JudgeTie, "tie"),
    shown(&[key('x')], Do::CannotTell, "can't tell"),
    shown(&[ENTER], Do::Open, "keep, next"),
    hidden(&[key('A')], Do::JudgeAStrongly, "A by far"),
    hidden(&[key('B')], Do::JudgeBStrongly, "B by far"),
    shown(&[key('s')], Do::PutOff, "later"),
    shown(&[key('i')], Do::WriteNote, "reason"),
    shown(&[key('f')], Do::ToggleFullText, "full text"),
    shown(&[key('v')], Do::Guideline, "guideline"),
    hidden(&[key('n')], Do::NextBattle, "next"),
    hidden(&[key('N')], Do::PreviousBattle, "previous"),
    hidden(&[key('1')], Do::Guess, "a guess"),
    hidden(&[key('2')], Do::FairlySure, "fairly sure"),
    hidden(&[key('3')], Do::Sure, "sure"),
    hidden(&[key('4')], Do::CauseJudge, "judges wrong"),
    hidden(&[key('5')], Do::CauseDefensible, "both"),
    hidden(&[key('6')], Do::CauseQuery, "query"),
    hidden(&[key('7')], Do::CauseGuideline, "guideline"),
    hidden(&[key('8')], Do::CauseDocument, "document"),
    hidden(&[key('9')], Do::CauseOther, "other"),
    hidden(&[TAB], Do::NextReasoning, "judge"),
    hidden(&[key('w')], Do::ToggleRawReply, "raw reply"),
];
