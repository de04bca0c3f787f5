//! The keys of each screen, most important first.

use super::binding::{Binding, ENTER, TAB, hidden, key, shown};
use super::command::Command as Do;

#[rustfmt::skip]
pub(super) const QUERIES: &[Binding] = &[
    shown(&[ENTER], Do::Open, "matrix"),
    hidden(&[key('m')], Do::ShowMatrix, "matrix"),
    shown(&[key('s')], Do::StartRun, "start"),
    shown(&[key('o')], Do::SortQueries, "sort"),
    hidden(&[key('O')], Do::ReverseSort, "reverse"),
    shown(&[key('w')], Do::ShowQueue, "queue"),
    shown(&[key('J')], Do::ShowJudges, "judges"),
    shown(&[key('C')], Do::ShowAdjudication, "adjudicate"),
];

#[rustfmt::skip]
pub(super) const RUN: &[Binding] = &[
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

#[rustfmt::skip]
pub(super) const MATRIX: &[Binding] = &[
    shown(&[ENTER], Do::Open, "battle"),
    shown(&[key('e')], Do::ExplainOrder, "why"),
    shown(&[key('n')], Do::NextSurprise, "surprise"),
    hidden(&[key('N')], Do::PreviousSurprise, "previous"),
    shown(&[key('v')], Do::NextLayer, "layer"),
    hidden(&[key('V')], Do::PreviousLayer, "layer back"),
    shown(&[key('o')], Do::FlipOrder, "order"),
    shown(&[key('d')], Do::RowDocument, "row doc"),
    hidden(&[key('D')], Do::ColumnDocument, "column doc"),
    hidden(&[key('J')], Do::NextJudgeLayer, "judge"),
    shown(&[key('z')], Do::Zoom, "zoom"),
    shown(&[key('E')], Do::ToggleExpectations, "expected"),
    hidden(&[key('s')], Do::StartRun, "start"),
    hidden(&[key('T')], Do::ToggleTitles, "titles, ids"),
    shown(&[key('w')], Do::ShowQueue, "queue"),
    hidden(&[key('t')], Do::ShowCycles, "cycles"),
];

#[rustfmt::skip]
pub(super) const DOCUMENT: &[Binding] = &[
    shown(&[ENTER], Do::Open, "battle"),
    shown(&[key('e')], Do::ExpandReasoning, "reasoning"),
    shown(&[key('o')], Do::SortBattles, "sort"),
    shown(&[key('n')], Do::NextDocument, "next"),
    hidden(&[key('N')], Do::PreviousDocument, "previous"),
];

#[rustfmt::skip]
pub(super) const BATTLE: &[Binding] = &[
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
    hidden(&[key('e')], Do::ExplainOrder, "why"),
    hidden(&[key('w')], Do::ToggleRawReply, "raw reply"),
    hidden(&[key('s')], Do::ToggleScrollLock, "scroll lock"),
];

#[rustfmt::skip]
pub(super) const QUEUE: &[Binding] = &[
    shown(&[ENTER], Do::Open, "judge"),
    shown(&[key('o')], Do::NextPolicy, "order"),
    hidden(&[key('O')], Do::PreviousPolicy, "order back"),
    shown(&[key('m')], Do::WholeProject, "scope"),
    shown(&[key('d')], Do::Conflicts, "conflicts"),
    shown(&[key('v')], Do::Guideline, "guideline"),
];

#[rustfmt::skip]
pub(super) const REVIEW: &[Binding] = &[
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

#[rustfmt::skip]
pub(super) const JUDGES: &[Binding] = &[
    shown(&[ENTER], Do::Open, "its battles"),
    shown(&[key('d')], Do::DropJudge, "without it"),
    shown(&[key('w')], Do::ShowQueue, "queue"),
];

#[rustfmt::skip]
pub(super) const CYCLES: &[Binding] = &[
    shown(&[ENTER], Do::Open, "weakest"),
    shown(&[key('e')], Do::ExplainOrder, "why"),
    shown(&[key('w')], Do::ShowQueue, "queue"),
];

#[rustfmt::skip]
pub(super) const COMPARISON: &[Binding] = &[
    shown(&[ENTER], Do::Open, "battle"),
    shown(&[key('h')], Do::Left, "with A"),
    shown(&[key('l')], Do::Right, "with B"),
];

#[rustfmt::skip]
pub(super) const ADJUDICATION: &[Binding] = &[
    shown(&[ENTER], Do::Open, "rule"),
    shown(&[key('o')], Do::NextPolicy, "order"),
    hidden(&[key('O')], Do::PreviousPolicy, "order back"),
    shown(&[key('d')], Do::Conflicts, "other lists"),
    shown(&[key('t')], Do::ShowTables, "tables"),
    shown(&[TAB], Do::NextPane, "ranking"),
    shown(&[key('v')], Do::Guideline, "guideline"),
];

#[rustfmt::skip]
pub(super) const RULING: &[Binding] = &[
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
