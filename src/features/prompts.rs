//! Versions of the prompts that judges are asked with.

pub mod app;
pub mod command;
pub mod domain;
pub mod merge;
pub mod store;
