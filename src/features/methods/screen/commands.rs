//! The commands of the comparison of methods.

use crate::tui::keymap::Command;

pub(crate) const RUN_METHOD: Command =
    Command::added("run-method", "Rerank with a method; priced first.");
pub(crate) const SHOW_METHODS: Command = Command::added(
    "show-methods",
    "Show reranking methods: quality, cost, wins and losses.",
);
pub(crate) const NEXT_TRUTH: Command = Command::added(
    "next-truth",
    "Measure methods against labels, rulings or judges.",
);
pub(crate) const SET_BASELINE: Command =
    Command::added("set-baseline", "Test the other methods against this one.");
pub(crate) const NEXT_DEPTH: Command = Command::added(
    "next-depth",
    "Choose how many documents of each ranking are measured.",
);
