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
