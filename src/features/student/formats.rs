//! features / student / formats.

pub mod page;
pub mod sample;
pub mod svg;
