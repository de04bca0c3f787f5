//! The keys of a measurement, most important first.

use crate::tui::keymap::binding::{Binding, key, shown};
use crate::tui::keymap::command::Command as Do;

#[rustfmt::skip]
pub(super) const KEYS: &[Binding] = &[
    shown(&[key('a')], Do::RuleRelevant, "relevant"),
    shown(&[key('t')], Do::RulePartially, "partially"),
    shown(&[key('b')], Do::RuleNot, "not"),
    shown(&[key('x')], Do::RuleCannotTell, "can't tell"),
    shown(&[key('v')], Do::NextMetric, "metric"),
    shown(&[key('m')], Do::NextMargin, "margin"),
    shown(&[key('f')], Do::ToggleFullText, "text top"),
    shown(&[key('R')], Do::ShowMethods, "methods"),
];
