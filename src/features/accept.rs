//! Decides which battles need no person, with a guaranteed share of errors.

pub mod app;
pub mod command;
pub mod domain;
pub mod merge;
pub mod store;
