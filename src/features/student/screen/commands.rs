//! The commands of students.

use crate::tui::keymap::Command;

pub(crate) const TRAIN_STUDENT: Command = Command::added(
    "train-student",
    "Train the built-in student; it makes no calls.",
);
pub(crate) const SHOW_STUDENT: Command = Command::added(
    "show-student",
    "Show how good a student of the ensemble is.",
);
pub(crate) const NEXT_STUDENT: Command = Command::added("next-student", "Show the next student.");
pub(crate) const NEXT_FIGURE: Command =
    Command::added("next-figure", "Show the next figure of the student.");
pub(crate) const PREVIOUS_FIGURE: Command = Command::added(
    "previous-figure",
    "Show the previous figure of the student.",
);
pub(crate) const NEXT_CHECKPOINT: Command =
    Command::added("next-checkpoint", "Show the student's next checkpoint.");
pub(crate) const PREVIOUS_CHECKPOINT: Command = Command::added(
    "previous-checkpoint",
    "Show the student's previous checkpoint.",
);
