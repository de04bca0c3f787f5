//! The keys of adjudication, most important first.

use crate::tui::keymap::binding::{Binding, ENTER, TAB, hidden, key, shown};
use crate::tui::keymap::command::Command as Do;

#[rustfmt::skip]
pub(super) const KEYS: &[Binding] = &[
    shown(&[ENTER], Do::Open, "rule"),
    shown(&[key('o')], Do::NextPolicy, "order"),
    hidden(&[key('O')], Do::PreviousPolicy, "order back"),
    shown(&[key('F')], Do::Conflicts, "other lists"),
    shown(&[key('K')], Do::ShowTables, "tables"),
    shown(&[TAB], Do::NextPane, "ranking"),
    shown(&[key('>')], Do::Export, "export"),
    shown(&[key('*')], Do::Pick, "picks"),
    shown(&[key('H')], Do::Guideline, "guideline"),
    hidden(&[key(';')], Do::EditGuideline, "edit it"),
    hidden(&[key('i')], Do::Import, "import"),
    hidden(&[key('I')], Do::BuildPools, "pools"),
];
