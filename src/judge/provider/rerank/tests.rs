//! The wire formats of rerank services.
