//! First-stage retrieval: BM25 over an in-memory index, nearest vectors, fusion of rankings, and the pools that judges see.

mod analyser;
mod nearest;
mod accents;
mod fusion;
mod packed_ids;
mod index;
mod pool;
mod postings;
mod stopwords;

pub use analyser::AnalysisProfile;
pub use nearest::{NearestDocuments, cosine, unit_vector};
pub use fusion::{FusedItem, RRF_K, StageRank, reciprocal_rank_fusion};
pub use index::{SearchHit, Bm25Index};
pub use pool::{JudgingPool, PoolLayout, PoolSlot, SlotSource, build_pool};
