//! Requests in a project's `overrule.toml` that need the user's permission, and the user's answers.

use super::sanitize;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;

/// An API key from an environment variable that is sent to a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyUse {
    pub variable: String,
    /// Scheme, host and port.
    pub server: String,
}

/// A program that is started in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramUse {
    /// The folder's path with links resolved.
    pub folder: PathBuf,
    pub command: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PermissionRequest {
    Key(KeyUse),
    Program(ProgramUse),
}

/// The answers given so far. A later answer to the same request replaces an earlier one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Permissions {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    keys: Vec<KeyAnswer>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    programs: Vec<ProgramAnswer>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyAnswer {
    variable: String,
    server: String,
    allow: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProgramAnswer {
    folder: PathBuf,
    command: Vec<String>,
    allow: bool,
}

impl Permissions {
    /// The answer to a request; `None` if there is none.
    pub fn answer(&self, request: &PermissionRequest) -> Option<bool> {
        match request {
            PermissionRequest::Key(KeyUse { variable, server }) => {
                let mut latest_first = self.keys.iter().rev();
                latest_first
                    .find(|answer| answer.variable == *variable && answer.server == *server)
                    .map(|answer| answer.allow)
            }
            PermissionRequest::Program(ProgramUse { folder, command }) => {
                let mut latest_first = self.programs.iter().rev();
                latest_first
                    .find(|answer| answer.folder == *folder && answer.command == *command)
                    .map(|answer| answer.allow)
            }
        }
    }

    pub fn add(&mut self, request: PermissionRequest, allow: bool) {
        match request {
            PermissionRequest::Key(KeyUse { variable, server }) => self.keys.push(KeyAnswer {
                variable,
                server,
                allow,
            }),
            PermissionRequest::Program(ProgramUse { folder, command }) => {
                self.programs.push(ProgramAnswer {
                    folder,
                    command,
                    allow,
                });
            }
        }
    }
}

impl fmt::Display for PermissionRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(key) => key.fmt(f),
            Self::Program(program) => program.fmt(f),
        }
    }
}

impl fmt::Display for KeyUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let open = if self.server.starts_with("http:") {
            ", unencrypted"
        } else {
            ""
        };
        let variable = sanitize::line(&self.variable);
        write!(f, "send the key in {variable} to {}{open}", self.server)
    }
}

impl fmt::Display for ProgramUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let folder = self.folder.display().to_string();
        let (command, folder) = (command_line(&self.command), sanitize::line(&folder));
        write!(f, "run `{command}` in {folder}")
    }
}

/// A command as it would be typed, on one line and safe to print.
pub fn command_line(words: &[String]) -> String {
    let typed = words.iter().map(|word| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@+=,%".contains(c);
        if !word.is_empty() && word.chars().all(plain) {
            word.clone()
        } else {
            format!("'{}'", sanitize::line(word).replace('\'', r"'\''"))
        }
    });
    typed.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(server: &str) -> PermissionRequest {
        PermissionRequest::Key(KeyUse {
            variable: "MY_KEY".to_owned(),
            server: server.to_owned(),
        })
    }

    fn program(folder: &str, command: &[&str]) -> PermissionRequest {
        PermissionRequest::Program(ProgramUse {
            folder: folder.into(),
            command: command.iter().map(|&word| word.to_owned()).collect(),
        })
    }

    #[test]
    fn an_answer_is_about_one_combination_and_the_latest_counts() {
        let mut known = Permissions::default();
        let asked = [
            key("https://gw.example.com"),
            program("/a", &["python3", "mine.py"]),
        ];
        for request in &asked {
            assert_eq!(known.answer(request), None);
            known.add(request.clone(), false);
            assert_eq!(known.answer(request), Some(false));
            known.add(request.clone(), true);
            assert_eq!(known.answer(request), Some(true));
        }
        for other in [
            key("http://gw.example.com"),
            key("https://gw.example.com:8443"),
            program("/b", &["python3", "mine.py"]),
            program("/a", &["python3", "mine.py", "--fast"]),
            program("/a", &["python3 mine.py"]),
        ] {
            assert_eq!(known.answer(&other), None, "{other}");
        }
    }

    #[test]
    fn a_request_is_told_on_one_line_without_hidden_characters() {
        assert_eq!(
            key("http://gpu.lan:8000").to_string(),
            "send the key in MY_KEY to http://gpu.lan:8000, unencrypted"
        );
        let told = program("/a\u{202e}b", &["sh", "-c", "echo 'x'\n\u{1b}[2J", ""]).to_string();
        assert_eq!(told, r"run `sh -c 'echo '\''x'\'' ␛[2J' ''` in /a·b");
    }
}
