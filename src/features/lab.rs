//! Experiments on simulated queries: samplers, methods, students, duels and overrules.

pub mod app;
pub mod command;
pub mod domain;
