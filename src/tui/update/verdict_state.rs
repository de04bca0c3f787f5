//! Determines when a verdict or a ruling may be given: with its texts visible, and with no text
//! input open.

use crate::tui::keymap::Command;
use crate::tui::model::Model;
use crate::tui::screens::Screen;
use crate::tui::screens::registry::spec;
use std::time::Duration;

/// Keys that follow the end of a prompt this closely were meant for it: a pasted line that the
/// terminal sent as keys.
pub(crate) const AFTER_TYPING: Duration = Duration::from_millis(150);

/// Whether a command decides something on a screen: the key that opens an item elsewhere chooses
/// the passage on the passage screen.
pub(crate) fn decides(screen: Screen, command: Command) -> bool {
    command.decides() || screen == Screen::Passage && command == Command::Open
}

/// Why no verdict can be given now; `None` in the verdict state.
pub(crate) fn obstacle(model: &Model) -> Option<&'static str> {
    if !model.overlays.is_empty() {
        return Some("close the open window first; then the verdict keys work");
    }
    if model.search.is_some() {
        return Some("end the search first; then the verdict keys work");
    }
    let just_typed = |typed| model.now.duration_since(typed) < AFTER_TYPING;
    if model.typed.is_some_and(just_typed) {
        return Some("no verdict: the key was pressed right after typing; press it again");
    }
    (spec(model.screen()).obstacle)(model)
}
