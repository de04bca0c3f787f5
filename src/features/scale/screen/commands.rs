//! The questions of the common scale.

use crate::tui::keymap::Command;

pub(crate) const ASK_ANCHORS: Command = Command::added(
    "anchors",
    "Have a judge grade documents, for one scale; priced first.",
);
pub(crate) const ASK_LINKS: Command = Command::added(
    "links",
    "Have judges compare documents of two queries; priced first.",
);
