//! Students: models that predict the outcome of battles from text features, distilled from votes.

pub mod app;
pub mod command;
pub mod domain;
pub mod formats;
#[cfg(test)]
mod golden;
pub mod merge;
pub mod screen;
#[cfg(test)]
mod screens;
pub mod store;
