//! Reads a measurement from the project, draws the next document, reports the result, and exports the
//! draws.

mod draw;
mod draw_rows;
mod read;
mod report;
mod slices;

pub use draw::{NextDocument, next_document};
pub use draw_rows::{DrawExport, log_entries, status};
pub use read::{MeasureRequest, read_measurement};
pub use report::{MeasureReport, MeasuredValue, ReportOptions, metric_words};
pub use slices::{MeasuredSlice, SlicedMeasurement, sliced};

#[cfg(test)]
mod tests;
