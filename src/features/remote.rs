//! Work that many machines share through PostgreSQL.

pub mod app;
pub mod client;
pub mod command;
pub mod domain;
pub mod screen;
#[cfg(test)]
mod screens;
pub mod store;
