//! The keys of the slices, most important first.

use crate::tui::keymap::binding::{Binding, ENTER, TAB, key, shown};
use crate::tui::keymap::command::Command as Do;

#[rustfmt::skip]
pub(super) const KEYS: &[Binding] = &[
    shown(&[ENTER], Do::Open, "only these"),
    shown(&[key(' ')], Do::ColorSlices, "color rows"),
    shown(&[TAB], Do::NextPane, "next field"),
];
