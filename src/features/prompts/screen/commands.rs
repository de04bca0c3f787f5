//! The commands of prompts and their trials.

use crate::tui::keymap::Command;

pub(crate) const EDIT_PROMPT: Command =
    Command::added("edit-prompt", "Edit a copy of the judge's prompt.");
pub(crate) const TRY_PROMPT: Command = Command::added(
    "try-prompt",
    "Try the prompt on decided pairs; priced first.",
);
pub(crate) const TEST_PROMPT: Command = Command::added(
    "test-prompt",
    "Test the finished prompt on held-out pairs; asks first.",
);
pub(crate) const USE_PROMPT: Command = Command::added(
    "use-prompt",
    "Use the prompt for the judge or a copy; asks first.",
);
pub(crate) const DECIDE_TRIAL: Command = Command::added(
    "decide-trial",
    "Judge the pairs that would decide the trial, blind.",
);
pub(crate) const SHOW_PROMPT_SET: Command = Command::added(
    "show-prompt-set",
    "List the pairs on which prompts are tuned and tested.",
);
