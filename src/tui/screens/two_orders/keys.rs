//! The keys of the two orders, most important first.

use crate::tui::keymap::binding::{Binding, ENTER, TAB, hidden, key, shown};
use crate::tui::keymap::command::Command as Do;

#[rustfmt::skip]
pub(super) const KEYS: &[Binding] = &[
    shown(&[key('s')], Do::StartRun, "start"),
    shown(&[ENTER], Do::Open, "battle"),
    shown(&[key('o')], Do::FlipOrder, "order"),
    shown(&[TAB], Do::NextPane, "matrix"),
    shown(&[key('e')], Do::ExplainOrder, "why"),
    shown(&[key('>')], Do::Export, "picture"),
    hidden(&[key('d')], Do::RowDocument, "row doc"),
    hidden(&[key('D')], Do::ColumnDocument, "column doc"),
];
