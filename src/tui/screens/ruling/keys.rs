//! The keys of the screen, most important first.

use crate::tui::keymap::binding::{Binding, ENTER, hidden, key, shown};
use crate::tui::keymap::command::Command as Do;

#[rustfmt::skip]
pub(crate) const KEYS: &[Binding] = &[
    shown(&[key('1')], Do::RuleRelevant, "relevant"),
    hidden(&[key('2')], Do::RulePartially, "partially"),
    shown(&[key('3')], Do::RuleNot, "not"),
    hidden(&[key('4'), key('x')], Do::RuleCannotTell, "can't tell"),
    shown(&[ENTER], Do::Open, "keep, next"),
    shown(&[key('s')], Do::PutOff, "later"),
    shown(&[key('i')], Do::WriteNote, "reason"),
    shown(&[key('f')], Do::ToggleFullText, "top, passage"),
    shown(&[key('v')], Do::Guideline, "guideline"),
    hidden(&[key('5')], Do::FaultLabelWrong, "label wrong"),
    hidden(&[key('6')], Do::FaultLabelMissing, "missing"),
    hidden(&[key('7')], Do::FaultJudgeWrong, "judge wrong"),
    hidden(&[key('8')], Do::FaultBoth, "both"),
    hidden(&[key('9')], Do::FaultQuery, "query"),
    hidden(&[key('n')], Do::NextDocument, "next"),
    hidden(&[key('N')], Do::PreviousDocument, "previous"),
];
