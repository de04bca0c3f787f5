//! The destination of a command from the palette.

use crate::tui::keymap::{Command, Screen};

/// A screen that the workbench is going to, and the command to run there. Screens on the way may
/// have to load their data first; a key press cancels it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Destination {
    pub screen: Screen,
    pub command: Option<Command>,
    /// The screen from which the next one was opened last.
    pub left: Option<Screen>,
}
