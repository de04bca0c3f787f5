//! Reranking: methods order the candidates of queries with judges, reranking services, programs or
//! existing runs. Paid answers are stored in the project before they count, and are never bought
//! twice.

mod asked_targets;
mod candidates;
pub mod estimate;
mod judge_panel;
pub mod links;
pub mod list_judge;
mod open_candidates;
pub mod pair_judge;
mod plan;
mod prepare;
mod prepared_method;
mod query_run;
mod question;
pub mod replay;
pub mod run;
mod service;
#[cfg(feature = "remote")]
mod shared_plan;
pub mod single_question;
mod truncated;

pub use candidates::CandidateShuffle;
pub use plan::{CandidateSource, LongDocuments, RerankPlan, RerankScope};
pub use prepare::{MethodChoice, PreparedRun, prepare, prepare_anchors};
