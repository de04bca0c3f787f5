//! Chooses the pairs of a judge, asks it about them with manipulated texts, and reports which
//! manipulations turn its answers.

mod answers;
mod log;
mod pairs;
mod probing;
mod report;

pub use log::log_entries;
pub use probing::{Battery, BatteryEstimate, BatteryWish, prepare_battery};
pub use report::{BatteryReport, read_report, sentences};
