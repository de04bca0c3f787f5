//! The keys of the screen, most important first.

use crate::tui::keymap::binding::{Binding, ENTER, key, shown};
use crate::tui::keymap::command::Command as Do;

#[rustfmt::skip]
pub(crate) const KEYS: &[Binding] = &[
    shown(&[ENTER], Do::Open, "weakest"),
    shown(&[key('w')], Do::ShowQueue, "queue"),
];
