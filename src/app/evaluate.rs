//! Rankings measured, against labels or as zBench does, and compared query by query.

mod against_labels;
mod report;
mod zbench;

pub use against_labels::{Comparand, EvaluationOptions, TruthInput, evaluate_run};
pub use report::{EvaluationReport, MetricRow};
pub use zbench::evaluate_zbench;
