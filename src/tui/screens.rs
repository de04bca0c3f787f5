//! The screens, with one folder each.

pub(crate) mod additions;
pub(crate) mod adjudication;
pub(crate) mod battle;
pub(crate) mod behavior;
pub(crate) mod comparison;
pub(crate) mod cycles;
pub(crate) mod decisions;
pub(crate) mod document;
pub(crate) mod judge_setup;
pub(crate) mod judges;
pub(crate) mod matrix;
mod on_screen;
pub(crate) mod queries;
pub(crate) mod queue;
pub(crate) mod review;
pub(crate) mod ruling;
pub(crate) mod run;
pub(crate) mod slices;
#[cfg(test)]
pub(crate) mod testing;
pub(crate) mod two_orders;

pub use super::keymap::Screen;
