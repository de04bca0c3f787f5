//! Overrule: a workbench for people who measure search.
//!
//! An ensemble of judges battles the candidate documents of a query pair by pair, a Bradley–Terry fit turns the
//! battles into zELO scores, and a person looks, doubts and overrules. The crate is layered; arrows point down only:
//!
//! ```text
//! cli, tui        what a person types and sees
//! app             use cases, one folder each, called by both alike
//! client          the one caller of paid services: limits, retries, budget, the ledger of calls
//! store           the SQLite project: rows only
//! embedding       texts to vectors, over the judges' providers or a model on this machine
//! judge           prompts, wire formats and replies of judges
//! config          overrule.toml
//! formats         files in and out
//! domain          the nouns and the pure science: no I/O, no clock, no async
//! ```

pub mod app;
pub mod cli;
pub mod client;
pub mod config;
pub mod domain;
pub mod embedding;
pub mod formats;
pub mod judge;
pub mod store;
pub mod tui;

#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
#[cfg(test)]
mod suites;
