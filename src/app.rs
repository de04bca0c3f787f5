//! Use cases, a folder each, called by the commands and the workbench alike and free of terminals: data in, data out,
//! progress by callback.

pub mod choose_judges;
pub mod error;
pub mod export;
pub mod import;
pub mod input_files;
pub mod intervals;
pub mod output_file;
pub mod pool;
pub mod project;
pub mod review;
pub mod wording;
