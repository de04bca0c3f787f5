//! Features: each in one folder, with its domain code, rows, use cases, screen and commands, in the
//! same layers as the core. A feature uses the core; the core names features only in
//! `registry.rs`.

pub mod accept;
pub mod battery;
pub mod drift;
pub mod duel;
pub mod gate;
pub mod lab;
pub mod lists;
pub mod mcp;
pub mod measure;
pub mod methods;
pub mod prompts;
#[cfg(feature = "remote")]
pub mod remote;
pub mod report;
pub mod scale;
pub mod student;
