//! Settings that are a number, or left to the data.

use serde::{Deserialize, Serialize};

/// The word for what is left to the data.
pub const AUTO: &str = "auto";

/// How such a setting stands in a file: as its number, or as a word, which is [`AUTO`] or the number again.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum AutoOrNumber {
    Number(f64),
    Word(String),
}
