//! What a judge is shown: the texts of a pool, two of its documents, or all of them.

use super::lexical::LexicalAnalysis;
use crate::domain::adjudication::PickRequest;
use std::sync::{Arc, OnceLock};

/// The texts of a pool, shared by all calls on it.
#[derive(Debug)]
pub struct PoolText {
    pub query: String,
    pub documents: Vec<Arc<str>>,
    analysis: OnceLock<LexicalAnalysis>,
}

impl PoolText {
    pub fn new(query: impl Into<String>, documents: Vec<Arc<str>>) -> Self {
        Self {
            query: query.into(),
            documents,
            analysis: OnceLock::new(),
        }
    }

    /// What the lexical measures find in the pool, worked out at the first request and kept.
    pub fn analysis(&self) -> &LexicalAnalysis {
        self.analysis
            .get_or_init(|| LexicalAnalysis::new(&self.query, &self.documents))
    }
}

#[derive(Clone, Debug)]
pub struct PresentedPair {
    pub pool: Arc<PoolText>,
    /// Pool index of the document presented as A.
    pub first: usize,
    /// Pool index of the document presented as B.
    pub second: usize,
}

impl PresentedPair {
    /// Text of the document presented as A, empty where the index is outside the pool.
    pub fn first_text(&self) -> &str {
        self.pool.documents.get(self.first).map_or("", |text| text)
    }

    /// Text of the document presented as B, empty where the index is outside the pool.
    pub fn second_text(&self) -> &str {
        self.pool.documents.get(self.second).map_or("", |text| text)
    }
}

/// A pool in the order in which a judge is shown it, and how many of its documents it is asked to pick.
#[derive(Clone, Debug)]
pub struct PresentedPool {
    /// The pool's texts, the first in slot 1.
    pub pool: Arc<PoolText>,
    /// How many.
    pub ask: PickRequest,
}
