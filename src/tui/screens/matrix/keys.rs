//! The keys of the screen, most important first.

use crate::tui::keymap::binding::{Binding, ENTER, hidden, key, shown};
use crate::tui::keymap::command::Command as Do;

#[rustfmt::skip]
pub(crate) const KEYS: &[Binding] = &[
    shown(&[ENTER], Do::Open, "battle"),
    shown(&[key('n')], Do::NextSurprise, "surprise"),
    hidden(&[key('N')], Do::PreviousSurprise, "previous"),
    shown(&[key('v')], Do::NextLayer, "layer"),
    hidden(&[key('V')], Do::PreviousLayer, "layer back"),
    shown(&[key('o')], Do::FlipOrder, "order"),
    shown(&[key('d')], Do::RowDocument, "row doc"),
    hidden(&[key('D')], Do::ColumnDocument, "column doc"),
    hidden(&[key('J')], Do::NextJudgeLayer, "judge"),
    shown(&[key('z')], Do::Zoom, "zoom"),
    shown(&[key('w')], Do::ShowQueue, "queue"),
    hidden(&[key('t')], Do::ShowCycles, "cycles"),
];
