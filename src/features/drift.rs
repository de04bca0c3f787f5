//! Whether a judge still answers as it did, and whether a search system still ranks as it did.

pub mod app;
pub mod command;
pub mod domain;
pub mod merge;
pub mod store;
