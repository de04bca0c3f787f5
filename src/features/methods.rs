//! Reranking methods: their questions, calls and orders, and the comparison of methods.

pub mod app;
pub mod command;
pub mod domain;
#[cfg(test)]
mod golden;
pub mod merge;
pub mod store;
