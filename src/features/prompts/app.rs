//! Lists, finds and adds versions of prompts, and tries them on the regression set.

mod log;
pub mod replacement;
mod set;
pub mod trial;
mod versions;

pub use log::log_entries;
pub use set::RegressionSet;
pub use versions::{NewVersion, add_version, find_version, versions};
