//! The screens, with one folder each.

pub(crate) mod adjudication;
pub(crate) mod battle;
pub(crate) mod comparison;
pub(crate) mod cycles;
pub(crate) mod document;
pub(crate) mod judges;
pub(crate) mod matrix;
pub(crate) mod passage;
pub(crate) mod queries;
pub(crate) mod queue;
pub(crate) mod rankings;
pub(crate) mod registry;
pub(crate) mod review;
pub(crate) mod ruling;
pub(crate) mod run;
pub(crate) mod spec;
#[cfg(test)]
pub(crate) mod testing;

pub use super::keymap::Screen;
