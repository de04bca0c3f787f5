//! First-stage retrieval: BM25 over an in-memory index, nearest vectors, fusion of rankings, and
//! the pools shown to judges.

mod accents;
mod analyzer;
mod fusion;
mod index;
mod nearest;
mod packed_ids;
mod pool;
mod postings;
mod stopwords;

pub use analyzer::AnalysisProfile;
pub use fusion::{FusedItem, RRF_K, StageRank, reciprocal_rank_fusion};
pub use index::Bm25Index;
pub use nearest::{NearestDocuments, unit_vector};
pub use pool::{JudgingPool, PoolLayout, PoolSlot, SlotSource, build_pool};
