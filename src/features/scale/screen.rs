//! The questions of the common scale in the workbench.

pub(crate) mod commands;

use crate::tui::keymap::Screen;
use crate::tui::keymap::binding::{Binding, hidden, key};

/// The keys that show the price of these questions and ask them.
#[rustfmt::skip]
pub(crate) const ADDED_KEYS: &[(Screen, Binding)] = &[
    (Screen::QUERIES, hidden(&[key('@')], commands::ASK_ANCHORS, "anchors")),
    (Screen::QUERIES, hidden(&[key('#')], commands::ASK_LINKS, "links")),
];
