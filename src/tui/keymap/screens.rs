//! The keys of each screen, most important first.

use super::binding::{Binding, ENTER, TAB, hidden, key, named, shown};
use super::command::Command as Do;
use crossterm::event::KeyCode;

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
    hidden(&[key('R')], Do::ShowMethods, "methods"),
    hidden(&[key('Y')], Do::ShowStudent, "student"),
    hidden(&[key('X')], Do::ShowDuel, "duel"),
    shown(&[key('i')], Do::Import, "import"),
    hidden(&[key('&')], Do::Merge, "merge"),
    hidden(&[key('I')], Do::BuildPools, "pools"),
    hidden(&[key('*')], Do::Pick, "picks"),
    hidden(&[key('@')], Do::Anchors, "anchors"),
    hidden(&[key('#')], Do::Links, "links"),
    hidden(&[key('>')], Do::Export, "export"),
    hidden(&[key('!')], Do::ShowLog, "log"),
    hidden(&[key(',')], Do::Settings, "settings"),
];

#[rustfmt::skip]
pub(super) const RUN: &[Binding] = &[
    shown(&[key('s')], Do::StartRun, "start"),
    shown(&[key('S')], Do::StopRun, "stop"),
    shown(&[key('+'), key('=')], Do::MoreCalls, "more"),
    shown(&[key('-')], Do::FewerCalls, "fewer"),
    shown(&[key('$')], Do::SetBudget, "budget"),
    shown(&[TAB], Do::NextJudge, "next judge"),
    shown(&[key('X')], Do::DropJudge, "drop judge"),
    shown(&[key(']')], Do::Faster, "faster"),
    shown(&[key('[')], Do::Slower, "slower"),
    hidden(&[key('K')], Do::ShowTables, "numbers"),
];

#[rustfmt::skip]
pub(super) const MATRIX: &[Binding] = &[
    shown(&[key('s')], Do::StartRun, "start"),
    shown(&[ENTER], Do::Open, "battle"),
    shown(&[key('e')], Do::ExplainOrder, "why"),
    shown(&[key('n')], Do::NextSurprise, "surprise"),
    hidden(&[key('N')], Do::PreviousSurprise, "previous"),
    shown(&[key('v')], Do::NextLayer, "layer"),
    hidden(&[key('V')], Do::PreviousLayer, "layer back"),
    shown(&[key('o')], Do::FlipOrder, "order"),
    shown(&[key('d')], Do::RowDocument, "row doc"),
    hidden(&[key('D')], Do::ColumnDocument, "column doc"),
    hidden(&[TAB], Do::NextJudgeLayer, "judge"),
    shown(&[key('z')], Do::Zoom, "zoom"),
    shown(&[key('E')], Do::ToggleExpectations, "expected"),
    hidden(&[key('Q')], Do::AskJudges, "ask judges"),
    hidden(&[key('T')], Do::ToggleTitles, "titles, ids"),
    shown(&[key('w')], Do::ShowQueue, "queue"),
    hidden(&[key('L')], Do::ShowCycles, "cycles"),
    hidden(&[key('K')], Do::ShowTables, "numbers"),
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
    shown(&[key('f')], Do::ToggleFullText, "text top"),
    shown(&[TAB], Do::NextReasoning, "judge"),
    hidden(&[key('e')], Do::ExplainOrder, "why"),
    hidden(&[key('Q')], Do::AskJudges, "ask judges"),
    hidden(&[key('W')], Do::ToggleRawReply, "raw reply"),
    hidden(&[key('|')], Do::ToggleScrollLock, "scroll lock"),
];

#[rustfmt::skip]
pub(super) const QUEUE: &[Binding] = &[
    shown(&[ENTER], Do::Open, "judge"),
    shown(&[key('o')], Do::NextPolicy, "order"),
    hidden(&[key('O')], Do::PreviousPolicy, "order back"),
    shown(&[key('P')], Do::WholeProject, "scope"),
    shown(&[key('F')], Do::Conflicts, "conflicts"),
    shown(&[key('H')], Do::Guideline, "guideline"),
];

#[rustfmt::skip]
pub(super) const REVIEW: &[Binding] = &[
    shown(&[ENTER], Do::Open, "keep, next"),
    shown(&[key('a')], Do::JudgeA, "A better"),
    shown(&[key('b')], Do::JudgeB, "B better"),
    shown(&[key('t')], Do::JudgeTie, "tie"),
    shown(&[key('x')], Do::CannotTell, "can't tell"),
    hidden(&[key('A')], Do::JudgeAStrongly, "A by far"),
    hidden(&[key('B')], Do::JudgeBStrongly, "B by far"),
    shown(&[key('Z')], Do::PutOff, "later"),
    shown(&[key('i')], Do::WriteNote, "reason"),
    shown(&[key('f')], Do::ToggleFullText, "text top"),
    shown(&[key('H')], Do::Guideline, "guideline"),
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
    hidden(&[key('W')], Do::ToggleRawReply, "raw reply"),
];

#[rustfmt::skip]
pub(super) const JUDGES: &[Binding] = &[
    shown(&[ENTER], Do::Open, "its battles"),
    shown(&[key('X')], Do::WithoutJudge, "without it"),
    shown(&[key('w')], Do::ShowQueue, "queue"),
    shown(&[key('K')], Do::ShowTables, "numbers"),
    hidden(&[key('Y')], Do::ShowStudent, "student"),
];

#[rustfmt::skip]
pub(super) const METHODS: &[Binding] = &[
    shown(&[ENTER], Do::Open, "rankings"),
    shown(&[TAB], Do::NextPane, "queries"),
    shown(&[key('v')], Do::NextTruth, "truth"),
    shown(&[key('0')], Do::SetBaseline, "baseline"),
    shown(&[key('z')], Do::NextDepth, "depth"),
];

#[rustfmt::skip]
pub(super) const RANKINGS: &[Binding] = &[shown(&[ENTER], Do::Open, "battle")];

#[rustfmt::skip]
pub(super) const STUDENT: &[Binding] = &[
    shown(&[ENTER], Do::Open, "its battles"),
    shown(&[key('v')], Do::NextFigure, "figure"),
    hidden(&[key('V')], Do::PreviousFigure, "figure back"),
    shown(&[key('n')], Do::NextCheckpoint, "checkpoint"),
    hidden(&[key('N')], Do::PreviousCheckpoint, "previous"),
    shown(&[TAB], Do::NextStudent, "student"),
    shown(&[key('K')], Do::ShowTables, "numbers"),
];

#[rustfmt::skip]
pub(super) const STUDENT_BATTLES: &[Binding] = &[shown(&[ENTER], Do::Open, "battle")];

#[rustfmt::skip]
pub(super) const CYCLES: &[Binding] = &[
    shown(&[ENTER], Do::Open, "weakest"),
    shown(&[key('e')], Do::ExplainOrder, "why"),
    shown(&[key('w')], Do::ShowQueue, "queue"),
];

#[rustfmt::skip]
pub(super) const COMPARISON: &[Binding] = &[
    shown(&[ENTER], Do::Open, "battle"),
    shown(&[key('Q')], Do::AskJudges, "ask judges"),
    shown(&[key('h')], Do::Left, "with A"),
    shown(&[key('l')], Do::Right, "with B"),
];

#[rustfmt::skip]
pub(super) const ADJUDICATION: &[Binding] = &[
    shown(&[ENTER], Do::Open, "rule"),
    shown(&[key('o')], Do::NextPolicy, "order"),
    hidden(&[key('O')], Do::PreviousPolicy, "order back"),
    shown(&[key('F')], Do::Conflicts, "other lists"),
    shown(&[key('K')], Do::ShowTables, "tables"),
    shown(&[TAB], Do::NextPane, "ranking"),
    shown(&[key('>')], Do::Export, "export"),
    shown(&[key('*')], Do::Pick, "picks"),
    shown(&[key('H')], Do::Guideline, "guideline"),
];

#[rustfmt::skip]
pub(super) const RULING: &[Binding] = &[
    shown(&[ENTER], Do::Open, "keep, next"),
    shown(&[key('a')], Do::RuleRelevant, "relevant"),
    shown(&[key('t')], Do::RulePartially, "partially"),
    shown(&[key('b')], Do::RuleNot, "not"),
    shown(&[key('x')], Do::RuleCannotTell, "can't tell"),
    shown(&[key('Z')], Do::PutOff, "later"),
    shown(&[key('i')], Do::WriteNote, "reason"),
    shown(&[key('f')], Do::ToggleFullText, "text top"),
    shown(&[key('H')], Do::Guideline, "guideline"),
    hidden(&[key('4')], Do::FaultJudgeWrong, "judge wrong"),
    hidden(&[key('5')], Do::FaultBoth, "both"),
    hidden(&[key('6')], Do::FaultQuery, "query"),
    hidden(&[key('7')], Do::FaultLabelWrong, "label wrong"),
    hidden(&[key('8')], Do::FaultLabelMissing, "missing"),
    hidden(&[key('K')], Do::ShowTables, "who said"),
    hidden(&[key('n')], Do::NextDocument, "next"),
    hidden(&[key('N')], Do::PreviousDocument, "previous"),
];

#[rustfmt::skip]
pub(super) const DUEL: &[Binding] = &[
    shown(&[ENTER], Do::Open, "read"),
    shown(&[key(' ')], Do::ChooseWhole, "choose"),
    shown(&[named(KeyCode::Backspace), named(KeyCode::Delete)], Do::RemoveChoice, "remove"),
    shown(&[key('0')], Do::NoneServes, "none serves"),
    shown(&[key('a')], Do::PreferLeft, "left"),
    shown(&[key('t')], Do::PreferNeither, "equal"),
    shown(&[key('b')], Do::PreferRight, "right"),
    hidden(&[key('A')], Do::PreferLeftStrongly, "left by far"),
    hidden(&[key('B')], Do::PreferRightStrongly, "right by far"),
    shown(&[key('.')], Do::FinishTask, "done"),
    shown(&[key('n')], Do::NextTask, "next"),
    hidden(&[key('N')], Do::PreviousTask, "previous"),
    shown(&[TAB], Do::NextPane, "tasks"),
    shown(&[key('p')], Do::PauseTask, "pause"),
    shown(&[key('K')], Do::ShowTables, "result"),
    shown(&[key('X')], Do::NewDuel, "new duel"),
    hidden(&[key('H')], Do::Guideline, "guideline"),
    hidden(&[key('1')], Do::Place1, "document 1"),
    hidden(&[key('2')], Do::Place2, "document 2"),
    hidden(&[key('3')], Do::Place3, "document 3"),
    hidden(&[key('4')], Do::Place4, "document 4"),
    hidden(&[key('5')], Do::Place5, "document 5"),
    hidden(&[key('6')], Do::Place6, "document 6"),
    hidden(&[key('7')], Do::Place7, "document 7"),
    hidden(&[key('8')], Do::Place8, "document 8"),
    hidden(&[key('9')], Do::Place9, "document 9"),
];

#[rustfmt::skip]
pub(super) const PASSAGE: &[Binding] = &[
    shown(&[ENTER], Do::Open, "this passage"),
    shown(&[key(' ')], Do::ChooseWhole, "whole text"),
    shown(&[named(KeyCode::Backspace), named(KeyCode::Delete)], Do::RemoveChoice, "remove"),
    shown(&[key('j')], Do::Down, "sentence"),
    shown(&[key('l')], Do::Right, "word more"),
    shown(&[key('h')], Do::Left, "word less"),
    shown(&[key(')')], Do::MoreSentences, "longer"),
    hidden(&[key('(')], Do::FewerSentences, "shorter"),
    shown(&[key('{')], Do::EarlierStart, "from earlier"),
    hidden(&[key('}')], Do::LaterStart, "from later"),
    shown(&[key('p')], Do::PauseTask, "pause"),
    hidden(&[key('H')], Do::Guideline, "guideline"),
];
