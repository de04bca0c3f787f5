//! The keys of a review, most important first.

use crate::tui::keymap::binding::{Binding, ENTER, TAB, hidden, key, shown};
use crate::tui::keymap::command::Command as Do;

#[rustfmt::skip]
pub(super) const KEYS: &[Binding] = &[
    shown(&[ENTER], Do::Open, "keep, next"),
    hidden(&[key('a')], Do::JudgeA, "A better"),
    hidden(&[key('b')], Do::JudgeB, "B better"),
    hidden(&[key('t')], Do::JudgeTie, "tie"),
    hidden(&[key('x')], Do::CannotTell, "can't tell"),
    hidden(&[key('A')], Do::JudgeAStrongly, "A by far"),
    hidden(&[key('B')], Do::JudgeBStrongly, "B by far"),
    shown(&[key('Z')], Do::PutOff, "later"),
    shown(&[TAB], Do::NextReasoning, "judge"),
    shown(&[key('i')], Do::WriteNote, "reason"),
    shown(&[key('f')], Do::ToggleFullText, "text top"),
    shown(&[key('H')], Do::Guideline, "guideline"),
    hidden(&[key(';')], Do::EditGuideline, "edit it"),
    hidden(&[key('<')], Do::ChooseGuideline, "its file"),
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
    hidden(&[key('W')], Do::ToggleRawReply, "raw reply"),
    shown(&[key('K')], Do::ShowTables, "numbers"),
];
