//! Custom key bindings: `[keymap.SCREEN]` with commands and their keys. The commands and keys are
//! validated together with the key table.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use toml::Spanned;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct KeymapConfig(BTreeMap<String, BTreeMap<String, Spanned<KeyNames>>>);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum KeyNames {
    One(String),
    Several(Vec<String>),
}

/// One command's keys on one screen, as written in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundKeys {
    pub screen: String,
    pub command: String,
    pub keys: Vec<String>,
    /// The line in the file.
    pub line: usize,
}

impl KeymapConfig {
    /// All commands with their keys, in the order of the text that this was parsed from.
    pub fn bound(&self, text: &str) -> Vec<BoundKeys> {
        let line = |at: usize| 1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count();
        let mut bound = Vec::new();
        for (screen, commands) in &self.0 {
            for (command, keys) in commands {
                bound.push(BoundKeys {
                    screen: screen.clone(),
                    command: command.clone(),
                    keys: match keys.get_ref() {
                        KeyNames::One(key) => vec![key.clone()],
                        KeyNames::Several(keys) => keys.clone(),
                    },
                    line: line(keys.span().start),
                });
            }
        }
        bound.sort_by_key(|one| one.line);
        bound
    }
}
