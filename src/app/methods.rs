//! Reranking methods compared: each measured on the queries of a truth, beside the first stage and against a baseline.

mod artefact;
mod compare;
mod measure;
mod report;
mod self_preference;

pub use compare::compare_methods;
pub use measure::MethodsOptions;
pub use report::{MethodEntry, MethodsReport, ORIGINAL};
