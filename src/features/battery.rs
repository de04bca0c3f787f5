//! Asks a judge about pairs with manipulated texts, and says which manipulations turn its answers.

pub mod app;
pub(crate) mod command;
pub mod domain;
pub(crate) mod merge;
pub mod store;
