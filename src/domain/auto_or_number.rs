//! Settings that are either a number or chosen from the data.

use serde::{Deserialize, Serialize};

/// The value for a setting chosen from the data.
pub const AUTO: &str = "auto";

/// How such a setting is written in a file: as a number, or as a string, which is [`AUTO`] or the
/// number.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum AutoOrNumber {
    Number(f64),
    Word(String),
}

/// A text that is neither [`AUTO`] nor an allowed number.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {AUTO} or {expected}, not {found}")]
pub struct NeitherAutoNorNumber {
    /// The allowed numbers.
    pub expected: String,
    pub found: String,
}
