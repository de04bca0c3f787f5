//! A service that answers questions of reranking methods: a judge of the ensemble, or a reranker.

use crate::domain::document_cut::DocumentCut;
use crate::judge::Judge;
use crate::judge::reranker::Reranker;
use std::sync::Arc;

/// A service with its own queue of calls.
#[derive(Clone, Debug)]
pub(super) enum RerankService {
    Judge(Arc<dyn Judge>),
    Reranker(Arc<Reranker>),
}

impl RerankService {
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Judge(judge) => &judge.spec().name,
            Self::Reranker(reranker) => reranker.name(),
        }
    }

    pub(super) fn judge(&self) -> Option<Arc<dyn Judge>> {
        match self {
            Self::Judge(judge) => Some(Arc::clone(judge)),
            Self::Reranker(_) => None,
        }
    }

    pub(super) fn reranker(&self) -> Option<Arc<Reranker>> {
        match self {
            Self::Judge(_) => None,
            Self::Reranker(reranker) => Some(Arc::clone(reranker)),
        }
    }

    /// How much of a document it is shown at most; `None` for all of it.
    pub(super) fn document_cut(&self) -> Option<DocumentCut> {
        match self {
            Self::Judge(judge) => judge.document_cut(),
            Self::Reranker(reranker) => reranker.document_cut(),
        }
    }

    /// Whether it is a reranker whose calls may cost money.
    pub(super) fn is_paid_reranker(&self) -> bool {
        matches!(self, Self::Reranker(reranker) if reranker.is_paid())
    }

    /// Whether it is a reranker whose worst-case cost per call is unknown.
    pub(super) fn is_unpriced_reranker(&self) -> bool {
        matches!(self, Self::Reranker(reranker) if reranker.worst("", &[]).1.is_none())
    }

    /// Whether its calls leave this process and may cost money.
    pub(super) fn is_remote(&self) -> bool {
        match self {
            Self::Judge(judge) => !judge.spec().is_offline(),
            Self::Reranker(reranker) => reranker.is_remote(),
        }
    }
}
