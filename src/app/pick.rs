//! Picks: judges asked which documents of a pool are relevant.

pub mod run;
