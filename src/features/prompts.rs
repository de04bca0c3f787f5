//! Versions of judges' prompts, and trials of them.

pub mod app;
pub mod command;
pub mod domain;
pub mod merge;
pub(crate) mod screen;
pub mod store;
