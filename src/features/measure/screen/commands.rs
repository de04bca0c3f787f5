//! The commands of a measurement.

use crate::tui::keymap::Command;

pub(crate) const SHOW_MEASURE: Command = Command::added(
    "show-measure",
    "Measure a method against the baseline, with few rulings.",
);
pub(crate) const NEXT_METRIC: Command = Command::added("next-metric", "Measure the next metric.");
pub(crate) const NEXT_MARGIN: Command = Command::added(
    "next-margin",
    "Choose the largest difference that counts as equal.",
);
