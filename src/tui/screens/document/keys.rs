//! The keys of a document, most important first.

use crate::tui::keymap::binding::{Binding, ENTER, hidden, key, shown};
use crate::tui::keymap::command::Command as Do;

#[rustfmt::skip]
pub(super) const KEYS: &[Binding] = &[
    shown(&[key('s')], Do::StartRun, "start"),
    shown(&[ENTER], Do::Open, "battle"),
    shown(&[key('e')], Do::ExpandReasoning, "reasoning"),
    shown(&[key('o')], Do::SortBattles, "sort"),
    shown(&[key('n')], Do::NextDocument, "next"),
    hidden(&[key('N')], Do::PreviousDocument, "previous"),
];
