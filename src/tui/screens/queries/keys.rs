//! The keys of the list of queries, most important first.

use crate::tui::keymap::binding::{Binding, ENTER, hidden, key, shown};
use crate::tui::keymap::command::Command as Do;

#[rustfmt::skip]
pub(super) const KEYS: &[Binding] = &[
    shown(&[ENTER], Do::Open, "matrix"),
    hidden(&[key('m')], Do::ShowMatrix, "matrix"),
    shown(&[key('s')], Do::StartRun, "start"),
    shown(&[key('o')], Do::SortQueries, "sort"),
    hidden(&[key('O')], Do::ReverseSort, "reverse"),
    shown(&[key('w')], Do::ShowQueue, "queue"),
    shown(&[key('J')], Do::ShowJudges, "judges"),
    hidden(&[key('+')], Do::SetUpJudges, "set up"),
    shown(&[key('C')], Do::ShowAdjudication, "adjudicate"),
    shown(&[key('i')], Do::Import, "import"),
    hidden(&[key('&')], Do::Merge, "merge"),
    hidden(&[key('I')], Do::BuildPools, "pools"),
    hidden(&[key('*')], Do::Pick, "picks"),
    hidden(&[key('>')], Do::Export, "export"),
    hidden(&[key('!')], Do::ShowLog, "log"),
    hidden(&[key(',')], Do::Settings, "settings"),
];
