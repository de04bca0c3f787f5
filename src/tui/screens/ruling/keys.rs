//! The keys of a ruling, most important first.

use crate::tui::keymap::binding::{Binding, ENTER, hidden, key, shown};
use crate::tui::keymap::command::Command as Do;

#[rustfmt::skip]
pub(super) const KEYS: &[Binding] = &[
    shown(&[ENTER], Do::Open, "keep, next"),
    shown(&[key('a')], Do::RuleRelevant, "relevant"),
    shown(&[key('t')], Do::RulePartially, "partially"),
    shown(&[key('b')], Do::RuleNot, "not"),
    shown(&[key('x')], Do::RuleCannotTell, "can't tell"),
    shown(&[key('Z')], Do::PutOff, "later"),
    shown(&[key('i')], Do::WriteNote, "reason"),
    shown(&[key('f')], Do::ToggleFullText, "text top"),
    shown(&[key('H')], Do::Guideline, "guideline"),
    hidden(&[key(';')], Do::EditGuideline, "edit it"),
    hidden(&[key('<')], Do::ChooseGuideline, "its file"),
    hidden(&[key('4')], Do::FaultJudgeWrong, "judge wrong"),
    hidden(&[key('5')], Do::FaultBoth, "both"),
    hidden(&[key('6')], Do::FaultQuery, "query"),
    hidden(&[key('7')], Do::FaultLabelWrong, "label wrong"),
    hidden(&[key('8')], Do::FaultLabelMissing, "missing"),
    hidden(&[key('K')], Do::ShowTables, "who said"),
    hidden(&[key('n')], Do::NextDocument, "next"),
    hidden(&[key('N')], Do::PreviousDocument, "previous"),
];
