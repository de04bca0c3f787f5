//! The available color depths.

use std::str::FromStr;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ColorDepth {
    /// Only modifiers and glyphs.
    None,
    /// The terminal's own sixteen colors.
    #[default]
    Ansi16,
    /// The fixed cube of 256 colors.
    Ansi256,
    True,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown color depth {0:?}: expected none, 16, 256 or true")]
pub struct UnknownDepth(pub String);

impl FromStr for ColorDepth {
    type Err = UnknownDepth;

    fn from_str(text: &str) -> Result<Self, UnknownDepth> {
        match text {
            "none" | "0" => Ok(Self::None),
            "16" | "ansi" => Ok(Self::Ansi16),
            "256" => Ok(Self::Ansi256),
            "true" | "truecolor" | "24bit" => Ok(Self::True),
            _ => Err(UnknownDepth(text.into())),
        }
    }
}
