//! Chooses the pairs of a judge, asks it about them again, and reports whether it has changed.

mod check;
mod log;
mod pairs;
mod rankings;
mod report;
mod rounds;
mod run_notes;

pub use check::{CheckEstimate, CheckWish, DriftCheck, prepare_check};
pub use log::log_entries;
pub use report::{CheckedRound, DriftReport, read_report, sentences};
pub(crate) use report::{evidence_words, interval_words};
pub use run_notes::run_notes;
