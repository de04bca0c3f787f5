//! Reads a measurement from the project, draws the next document, and reports the result.

mod draw;
mod read;
mod report;

pub use draw::{NextDocument, next_document};
pub use read::{MeasureRequest, read_measurement};
pub use report::{MeasureReport, MeasuredValue, ReportOptions, metric_words};

#[cfg(test)]
mod tests;
