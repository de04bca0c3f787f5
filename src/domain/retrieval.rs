//! First-stage retrieval: BM25 over an in-memory index, nearest vectors, fusion of rankings, and the pools that judges see.

mod analyser;
mod dense;
mod fold;
mod fusion;
mod ids;
mod index;
mod pool;
mod postings;
mod stopwords;

pub use analyser::Profile;
pub use dense::{Nearest, cosine, unit};
pub use fusion::{Fused, RRF_K, Ranked, reciprocal_rank_fusion};
pub use index::{Hit, Index};
pub use pool::{JudgingPool, Layout, Slot, Source, build_pool};
