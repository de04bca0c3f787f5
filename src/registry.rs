//! The features of this build: what each adds to the core. No other file of the core names a
//! feature.

pub use crate::features::scale::app::project_scale;

/// Whether `--method` can refer to a reranker by this name.
pub use crate::features::methods::domain::reranking::is_free_reranker_name;
