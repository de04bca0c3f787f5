//! The choice between colors for a dark and for a light background.

use serde::{Deserialize, Serialize};

/// The background that colors are chosen for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ThemeChoice {
    /// As configured, which may mean asking the terminal.
    #[default]
    Configured,
    Dark,
    Light,
}

impl ThemeChoice {
    pub const ALL: [Self; 3] = [Self::Configured, Self::Dark, Self::Light];

    pub fn name(self) -> &'static str {
        match self {
            Self::Configured => "as configured",
            Self::Dark => "dark",
            Self::Light => "light",
        }
    }

    /// Whether the background is light; `None` keeps the initial one.
    pub fn light(self) -> Option<bool> {
        match self {
            Self::Configured => None,
            Self::Dark => Some(false),
            Self::Light => Some(true),
        }
    }
}
