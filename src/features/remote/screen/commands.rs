//! The commands of the team.

use crate::tui::keymap::Command;

pub(crate) const SHOW_TEAM: Command = Command::added(
    "team",
    "Show the people and machines that share the project.",
);
pub(crate) const SHOW_VERDICTS: Command = Command::added(
    "person-verdicts",
    "Show a person's verdicts on pairs that you have judged too.",
);
pub(crate) const SYNCHRONIZE: Command =
    Command::added("sync", "Exchange new rows with the server at once.");
