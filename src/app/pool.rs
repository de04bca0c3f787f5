//! Pools: the candidates of each query.

pub mod embeddings;
