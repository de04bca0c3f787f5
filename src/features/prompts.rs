//! Versions of judges' prompts, and trials of them.

pub mod app;
pub mod command;
pub mod domain;
pub mod merge;
pub mod store;
