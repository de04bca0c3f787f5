//! Rerankers as they are configured.
