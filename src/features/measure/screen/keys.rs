//! The keys of a measurement, most important first.

use super::commands;
use crate::features::methods::screen::commands::SHOW_METHODS;
use crate::tui::keymap::Screen;
use crate::tui::keymap::binding::{Binding, key, shown};
use crate::tui::keymap::command::Command as Do;

#[rustfmt::skip]
pub(super) const KEYS: &[Binding] = &[
    shown(&[key('a')], Do::RuleRelevant, "relevant"),
    shown(&[key('t')], Do::RulePartially, "partially"),
    shown(&[key('b')], Do::RuleNot, "not"),
    shown(&[key('x')], Do::RuleCannotTell, "can't tell"),
    shown(&[key('v')], commands::NEXT_METRIC, "metric"),
    shown(&[key('m')], commands::NEXT_MARGIN, "margin"),
    shown(&[key('f')], Do::ToggleFullText, "text top"),
    shown(&[key('R')], SHOW_METHODS, "methods"),
];

/// Measures a method.
#[rustfmt::skip]
pub(crate) const ADDED_KEYS: &[(Screen, Binding)] = &[
    (Screen::METHODS, shown(&[key('m')], commands::SHOW_MEASURE, "measure")),
];
