//! Determines when a verdict or a ruling may be given: with its texts visible, and with no text
//! input open.

use crate::tui::key_gate::{PAUSE, Use};
use crate::tui::keymap::{self, Command, Scope};
use crate::tui::model::{Model, Overlay};
use crossterm::event::KeyEvent;

/// Why no verdict can be given now; `None` in the verdict state.
pub(crate) fn obstacle(model: &Model) -> Option<&'static str> {
    if !model.overlays.is_empty() {
        return Some("close the open window first; then the verdict keys work");
    }
    if model.search.is_some() {
        return Some("end the search first; then the verdict keys work");
    }
    if follows_line(model) {
        return Some("no verdict: the key was pressed right after typing; press it again");
    }
    model.behavior().obstacle(model)
}

/// Whether a line was accepted, or more was sent after it, too recently for a key to be meant for
/// the screen.
pub(crate) fn follows_line(model: &Model) -> bool {
    let recent = |typed| model.now.saturating_duration_since(typed) < PAUSE;
    model.typed.is_some_and(recent)
}

/// The effect that a key would have now.
pub(in crate::tui) fn use_of(model: &Model, key: KeyEvent) -> Use {
    let overlay = model.overlays.last();
    if overlay.is_some_and(Overlay::is_typed_into) {
        return Use::Typed;
    }
    let behavior = model.behavior();
    let decided = |command: Command| {
        behavior.decides(command) || matches!(command, Command::Undo | Command::Redo)
    };
    let scope = Scope::Screen(model.screen());
    if overlay.is_none() && keymap::resolve(scope, key).is_some_and(decided) {
        Use::Decides
    } else if matches!(overlay, Some(Overlay::Confirm(..)))
        || scope
            .own()
            .iter()
            .any(|binding| behavior.decides(binding.command))
    {
        Use::AmongVerdicts
    } else {
        Use::Other
    }
}
