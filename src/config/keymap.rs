//! Keys bound otherwise by the user: `[keymap.SCREEN]` with commands and their keys. What they mean is checked where the
//! key table is.

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

/// One command's keys on one screen, as they were written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundKeys {
    pub screen: String,
    pub command: String,
    pub keys: Vec<String>,
    /// The line of the file.
    pub line: usize,
}

impl KeymapConfig {
    /// Every command with its keys, in the order of the text that this was read from.
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
