//! Writes what is known about a project as one page to share: HTML or Markdown.

pub mod app;
pub mod command;
pub mod domain;
pub mod formats;
