//! The keys of the comparison of methods, most important first.

use crate::tui::keymap::binding::{Binding, ENTER, TAB, key, shown};
use crate::tui::keymap::command::Command as Do;

#[rustfmt::skip]
pub(super) const KEYS: &[Binding] = &[
    shown(&[ENTER], Do::Open, "rankings"),
    shown(&[TAB], Do::NextPane, "queries"),
    shown(&[key('v')], Do::NextTruth, "truth"),
    shown(&[key('0')], Do::SetBaseline, "baseline"),
    shown(&[key('z')], Do::NextDepth, "depth"),
    shown(&[key('+'), key('=')], Do::RunMethod, "run a method"),
    shown(&[key('m')], Do::ShowMeasure, "measure"),
    shown(&[key('>')], Do::Export, "picture"),
];
