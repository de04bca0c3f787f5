//! A student of the ensemble: what it learns from, what it predicts of judged pairs, and how far that can be believed.

pub mod export;
mod judged_pairs;
mod pictures;
mod predictions;
mod report;
pub mod sample;
pub mod train;

pub use report::{StepReport, StudentReport, report_file};
