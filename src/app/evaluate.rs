//! Evaluates rankings against labels or with zBench's metrics, and compares them query by query.

mod against_labels;
mod report;
mod slices;
mod zbench;

pub use against_labels::{Comparand, EvaluationOptions, TruthInput, evaluate_run};
pub use report::{EvaluationReport, MetricRow};
pub use slices::{NO_VALUE, SliceField, SlicedMetric, SlicedReport, SlicedRow};
pub use zbench::evaluate_zbench;
