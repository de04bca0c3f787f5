//! Lists, finds and adds versions of prompts, and tries them on the regression set.

mod log;
mod preview;
pub mod replacement;
mod set;
mod set_texts;
mod stored_answers;
pub mod suggestion;
pub mod trial;
pub mod trial_questions;
mod versions;
mod voting_judge;

pub use log::log_entries;
pub use preview::{RequestPreview, request_preview};
pub use set::RegressionSet;
pub use stored_answers::{OrderedAnswers, StoredAnswers, comparable_answers, stored_answers};
pub use versions::{NewVersion, add_version, find_version, versions};
