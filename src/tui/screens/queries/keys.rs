//! The keys of the screen, most important first.

use crate::tui::keymap::binding::{Binding, ENTER, hidden, key, shown};
use crate::tui::keymap::command::Command as Do;

#[rustfmt::skip]
pub(crate) const KEYS: &[Binding] = &[
    shown(&[ENTER], Do::Open, "matrix"),
    hidden(&[key('m')], Do::ShowMatrix, "matrix"),
    shown(&[key('s')], Do::StartRun, "start"),
    shown(&[key('o')], Do::SortQueries, "sort"),
    shown(&[key('w')], Do::ShowQueue, "queue"),
    shown(&[key('J')], Do::ShowJudges, "judges"),
    shown(&[key('C')], Do::ShowAdjudication, "adjudicate"),
];
