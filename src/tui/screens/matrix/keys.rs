//! The keys of the matrix, most important first.

use crate::tui::keymap::binding::{Binding, ENTER, TAB, hidden, key, shown};
use crate::tui::keymap::command::Command as Do;

#[rustfmt::skip]
pub(super) const KEYS: &[Binding] = &[
    shown(&[key('s')], Do::StartRun, "start"),
    shown(&[ENTER], Do::Open, "battle"),
    shown(&[key('e')], Do::ExplainOrder, "why"),
    shown(&[key('n')], Do::NextSurprise, "surprise"),
    hidden(&[key('N')], Do::PreviousSurprise, "previous"),
    shown(&[key('v')], Do::NextLayer, "layer"),
    hidden(&[key('V')], Do::PreviousLayer, "layer back"),
    shown(&[key('o')], Do::FlipOrder, "order"),
    shown(&[key('O')], Do::CompareOrders, "two orders"),
    shown(&[key('d')], Do::RowDocument, "row doc"),
    hidden(&[key('D')], Do::ColumnDocument, "column doc"),
    hidden(&[TAB], Do::NextJudgeLayer, "judge"),
    shown(&[key('z')], Do::Zoom, "zoom"),
    shown(&[key('E')], Do::ToggleExpectations, "expected"),
    hidden(&[key('Q')], Do::AskJudges, "ask judges"),
    hidden(&[key('T')], Do::ToggleTitles, "titles, ids"),
    shown(&[key('w')], Do::ShowQueue, "queue"),
    hidden(&[key('>')], Do::Export, "picture"),
    hidden(&[key('L')], Do::ShowCycles, "cycles"),
    hidden(&[key('%')], Do::ShowSlices, "slices"),
    hidden(&[key('K')], Do::ShowTables, "numbers"),
];
