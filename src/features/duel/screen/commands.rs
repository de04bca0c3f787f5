//! The commands of a duel.

use crate::tui::keymap::Command;

pub(crate) const NEW_DUEL: Command = Command::change(
    "new-duel",
    "Make a new duel of two rankings of the project.",
);
pub(crate) const SHOW_DUEL: Command = Command::added(
    "show-duel",
    "Open the latest duel: two rankings, compared blind.",
);
pub(crate) const CHOOSE_WHOLE: Command =
    Command::decision("choose-whole", "Choose the document as a whole.");
pub(crate) const REMOVE_CHOICE: Command =
    Command::decision("remove-choice", "Remove the choice of the document.");
pub(crate) const NONE_SERVES: Command = Command::decision(
    "none-serves",
    "Answer: none of the documents serves the query.",
);
pub(crate) const FINISH_TASK: Command =
    Command::decision("finish-task", "Finish the task and go to the next one.");
pub(crate) const NEXT_TASK: Command = Command::added("next-task", "Go to the next task.");
pub(crate) const PREVIOUS_TASK: Command =
    Command::added("previous-task", "Go to the previous task.");
pub(crate) const PAUSE_TASK: Command = Command::added(
    "pause-task",
    "Hide the task and stop its clock, or resume it.",
);
pub(crate) const PREFER_LEFT: Command =
    Command::decision("prefer-left", "Answer: the left list is better.");
pub(crate) const PREFER_LEFT_STRONGLY: Command = Command::decision(
    "prefer-left-strongly",
    "Answer: the left list is much better.",
);
pub(crate) const PREFER_NEITHER: Command =
    Command::decision("prefer-neither", "Answer: the lists are equally good.");
pub(crate) const PREFER_RIGHT: Command =
    Command::decision("prefer-right", "Answer: the right list is better.");
pub(crate) const PREFER_RIGHT_STRONGLY: Command = Command::decision(
    "prefer-right-strongly",
    "Answer: the right list is much better.",
);
pub(crate) const PLACE_1: Command = Command::added("place-one", "Go to the first document.");
pub(crate) const PLACE_2: Command = Command::added("place-two", "Go to the second document.");
pub(crate) const PLACE_3: Command = Command::added("place-three", "Go to the third document.");
pub(crate) const PLACE_4: Command = Command::added("place-four", "Go to the fourth document.");
pub(crate) const PLACE_5: Command = Command::added("place-five", "Go to the fifth document.");
pub(crate) const PLACE_6: Command = Command::added("place-six", "Go to the sixth document.");
pub(crate) const PLACE_7: Command = Command::added("place-seven", "Go to the seventh document.");
pub(crate) const PLACE_8: Command = Command::added("place-eight", "Go to the eighth document.");
pub(crate) const PLACE_9: Command = Command::added("place-nine", "Go to the ninth document.");
pub(crate) const MORE_SENTENCES: Command =
    Command::added("more-sentences", "Mark one more sentence.");
pub(crate) const FEWER_SENTENCES: Command =
    Command::added("fewer-sentences", "Mark one sentence fewer.");
pub(crate) const EARLIER_START: Command =
    Command::added("earlier-start", "Start the mark one word earlier.");
pub(crate) const LATER_START: Command =
    Command::added("later-start", "Start the mark one word later.");
