//! Agents: a server that shows them the project, and the verdicts that they propose.

pub mod app;
#[cfg(feature = "mcp")]
pub mod command;
pub mod merge;
pub mod store;
