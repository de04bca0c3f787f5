//! Reranking: methods put the candidates of queries in order, by way of judges, rerank services, programs, or runs that are
//! there already. Answers that were paid for are in the project before they count, and are never asked for twice.

mod candidates;
pub mod estimate;
pub mod links;
mod open_candidates;
mod plan;
mod prepare;
mod prepared_method;
mod query_run;
mod question;
pub mod run;
mod service;

pub use plan::{CandidateSource, RerankPlan, RerankScope};
pub use prepare::{MethodChoice, PreparedRun, prepare, prepare_anchors};
