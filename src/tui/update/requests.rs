//! Requests to the project on behalf of several screens, as methods of the model.

pub(crate) mod files;
pub(crate) mod pages;
pub(crate) mod queries;
pub(crate) mod runs;
pub(crate) mod servers;
pub(crate) mod settings;
pub(crate) mod verdicts;
