//! List calls: one call shows several documents, and the judge answers their order.

pub mod app;
pub mod command;
pub mod domain;
#[cfg(test)]
mod golden;
pub mod merge;
pub mod screen;
#[cfg(test)]
mod screens;
pub mod store;
