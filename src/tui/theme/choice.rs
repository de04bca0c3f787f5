//! Whether colours are for a dark or a light ground.

use serde::{Deserialize, Serialize};

/// Whose ground the colours are made for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ThemeChoice {
    /// As the configuration says, which may be to ask the terminal.
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

    /// Whether the ground is light; `None` leaves it as it was at the start.
    pub fn light(self) -> Option<bool> {
        match self {
            Self::Configured => None,
            Self::Dark => Some(false),
            Self::Light => Some(true),
        }
    }
}
