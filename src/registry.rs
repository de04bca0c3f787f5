//! The features of this build: what each adds to the core. No other file of the core names a
//! feature.

use crate::domain::ranking::{NamedOpinion, OpinionEffect, PriorOpinion};
use crate::store::corpus::QueryKey;
use crate::store::{Db, Result as StoreResult};

pub use crate::features::scale::app::project_scale;

/// Whether `--method` can refer to a reranker by this name.
pub use crate::features::methods::domain::reranking::is_free_reranker_name;

/// The source of predictions that the project has named, with its weight.
pub fn named_opinion(db: &Db) -> StoreResult<Option<NamedOpinion>> {
    db.named_student()
}

/// The predictions of the named source for a query.
pub fn prior_opinion(db: &Db, query: QueryKey) -> StoreResult<Option<PriorOpinion>> {
    db.student_opinion(query)
}

/// The weight of the named source in the fits of these queries.
pub fn opinion_effect(db: &Db, queries: &[QueryKey]) -> StoreResult<OpinionEffect> {
    db.student_effect(queries)
}
