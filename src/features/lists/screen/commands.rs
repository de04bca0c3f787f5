//! The commands of list calls.

use crate::tui::keymap::Command;

pub(crate) const SHOW_LISTS: Command = Command::added(
    "show-lists",
    "Show the list calls of the query, with documents side by side.",
);
pub(crate) const MARK_DOCUMENT: Command = Command::added(
    "mark-document",
    "Mark the document as A of a pair, or remove the mark.",
);
