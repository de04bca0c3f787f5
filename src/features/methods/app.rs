//! Compares reranking methods: each is evaluated on the queries of a truth, along with the first
//! stage, and tested against a baseline.

mod artifact;
mod compare;
mod judged_rankings;
mod log;
mod measure;
mod offered;
mod pictures;
mod priced_questions;
mod report;
pub mod rerank;
mod self_preference;
#[cfg(feature = "remote")]
mod shared_rankings;
mod slices;
mod summary;
mod truncation;

pub use super::domain::ORIGINAL;
pub use compare::compare_methods;
pub use judged_rankings::judged_rankings;
pub use log::log_entries;
pub use measure::MethodsOptions;
pub use offered::METHOD_OFFER;
#[cfg(test)]
pub use offered::OFFERED;
pub(crate) use pictures::{PlottedMethod, letter};
pub use priced_questions::PricedQuestions;
pub use report::{MethodEntry, MethodsReport};
#[cfg(feature = "remote")]
pub use shared_rankings::SharedRankings;
pub use slices::SlicedMethods;
pub use summary::shown_name;
