//! Decides whether a judge may replace another one, on pairs that people decided.

pub mod app;
pub mod command;
