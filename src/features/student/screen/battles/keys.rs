//! The keys of the battles of a student, most important first.

use crate::tui::keymap::binding::{Binding, ENTER, shown};
use crate::tui::keymap::command::Command as Do;

#[rustfmt::skip]
pub(super) const KEYS: &[Binding] = &[shown(&[ENTER], Do::Open, "battle")];
