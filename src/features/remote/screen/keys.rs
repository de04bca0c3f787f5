//! The keys of the team, most important first.

use super::commands;
use crate::tui::keymap::Screen;
use crate::tui::keymap::binding::{Binding, ENTER, hidden, key, shown};
use crate::tui::keymap::command::Command as Do;

#[rustfmt::skip]
pub(super) const KEYS: &[Binding] = &[
    shown(&[ENTER], Do::Open, "conflicts"),
    shown(&[key('v')], commands::SHOW_VERDICTS, "verdicts"),
    shown(&[key('S')], commands::SYNCHRONIZE, "sync now"),
];

/// Shows the team.
#[rustfmt::skip]
pub(crate) const ADDED_KEYS: &[(Screen, Binding)] = &[
    (Screen::QUERIES, hidden(&[key('"')], commands::SHOW_TEAM, "team")),
];
