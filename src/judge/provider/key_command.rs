//! Keys that a command prints, for tokens that expire, such as those of cloud accounts.
//!
//! The commands are in the user's own configuration, never in a project's `overrule.toml`.

use super::service::KeyHeader;
use crate::domain::sanitize;
use crate::judge::call::{CallError, FailureCause};
use crate::judge::process_group::ProcessGroup;
use reqwest::header::HeaderMap;
use secrecy::{ExposeSecret as _, SecretString};
use std::collections::BTreeMap;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::process::Command;

/// How long a token is used before the command is run again. The tokens that gcloud and az print
/// are valid for at least five minutes.
const FRESH: Duration = Duration::from_secs(240);
/// How long a command may take.
const PATIENCE: Duration = Duration::from_secs(60);
/// Number of latest tokens that are removed from responses.
const REMEMBERED: usize = 16;
/// Maximum number of characters of a command's own error message that are shown.
const SHOWN: usize = 300;

/// The user's commands for keys.
#[derive(Clone, Debug, Default)]
pub struct KeyCommands(BTreeMap<String, Arc<KeyCommand>>);

impl KeyCommands {
    /// `commands` maps variables to the commands that print their values.
    pub fn new(commands: &BTreeMap<String, Vec<String>>) -> Self {
        let command = |(variable, words): (&String, &Vec<String>)| {
            let (program, arguments) = words.split_first()?;
            let command = KeyCommand {
                variable: variable.clone(),
                program: program.clone(),
                arguments: arguments.to_vec(),
                latest: tokio::sync::Mutex::default(),
                issued: Mutex::default(),
            };
            Some((variable.clone(), Arc::new(command)))
        };
        Self(commands.iter().filter_map(command).collect())
    }

    pub(crate) fn get(&self, variable: &str) -> Option<&Arc<KeyCommand>> {
        self.0.get(variable)
    }
}

/// A command that prints a key.
pub(crate) struct KeyCommand {
    /// The variable whose value it prints.
    variable: String,
    program: String,
    arguments: Vec<String>,
    /// Locked while the command runs, so that concurrent calls wait for one run.
    latest: tokio::sync::Mutex<Option<FinishedRun>>,
    /// The latest tokens.
    issued: Mutex<Vec<SecretString>>,
}

struct FinishedRun {
    at: Instant,
    result: Result<SecretString, CallError>,
}

/// Why a command printed no key. The message follows the name of the command.
#[derive(Debug, thiserror::Error)]
enum KeyCommandError {
    #[error("cannot run without a home folder")]
    NoHome,
    #[error("did not start: {0}")]
    NotStarted(std::io::Error),
    #[error("took longer than {} seconds", PATIENCE.as_secs())]
    TooLong,
    #[error("failed ({status}): {message}")]
    Failed { status: ExitStatus, message: String },
    #[error("did not print a key and nothing else")]
    NotAKey,
}

impl std::fmt::Debug for KeyCommand {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeyCommand")
            .field("variable", &self.variable)
            .finish_non_exhaustive()
    }
}

impl KeyCommand {
    /// Program and arguments.
    pub(crate) fn words(&self) -> impl Iterator<Item = &str> {
        let arguments = self.arguments.iter().map(String::as_str);
        std::iter::once(self.program.as_str()).chain(arguments)
    }

    pub(crate) fn issued(&self) -> Vec<SecretString> {
        self.issued
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// The current token, or another one if a server has rejected the token `rejected`. It may be
    /// the same if the command prints the same one again.
    async fn token(&self, rejected: Option<&SecretString>) -> Result<SecretString, CallError> {
        let asked = Instant::now();
        let mut latest = self.latest.lock().await;
        let old = match &*latest {
            // The command ran while this call was waiting.
            Some(run) if run.at >= asked => return run.result.clone(),
            Some(FinishedRun { at, result }) => {
                let token = result.as_ref().ok();
                let is_usable = |token: &&SecretString| match rejected {
                    Some(rejected) => !is_same(token, rejected),
                    None => at.elapsed() < FRESH,
                };
                if let Some(token) = token.filter(is_usable) {
                    return Ok(token.clone());
                }
                token.filter(|_| rejected.is_none()).cloned()
            }
            None => None,
        };
        // If the command fails, the old token may still be valid, and the server decides.
        let result = self.run().await.or_else(|error| old.ok_or(error));
        *latest = Some(FinishedRun {
            at: Instant::now(),
            result: result.clone(),
        });
        result
    }

    async fn run(&self) -> Result<SecretString, CallError> {
        let token = self.output().await.map_err(|why| {
            // Arguments may contain secrets, and failures are stored in the project.
            let (variable, program) = (&self.variable, &self.program);
            let message = format!("the key_command of {variable} ({program}) {why}");
            let message = sanitize::line(&message).into_owned();
            CallError::new(FailureCause::Unauthorized, message).stopping()
        })?;
        let mut issued = self.issued.lock().unwrap_or_else(PoisonError::into_inner);
        issued.push(token.clone());
        let old = issued.len().saturating_sub(REMEMBERED);
        issued.drain(..old);
        Ok(token)
    }

    async fn output(&self) -> Result<SecretString, KeyCommandError> {
        // Not in the folder of a project: some programs load files of the current folder.
        let folders = directories::BaseDirs::new().ok_or(KeyCommandError::NoHome)?;
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .current_dir(folders.home_dir())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let (group, child) =
            ProcessGroup::spawn(&mut command).map_err(KeyCommandError::NotStarted)?;
        let output = tokio::time::timeout(PATIENCE, child.wait_with_output())
            .await
            .map_err(|_| KeyCommandError::TooLong)?
            .map_err(KeyCommandError::NotStarted)?;
        group.release();
        if !output.status.success() {
            let complaint = String::from_utf8_lossy(&output.stderr);
            let last = complaint.lines().rfind(|line| !line.trim().is_empty());
            let message = last.unwrap_or("it wrote no message");
            return Err(KeyCommandError::Failed {
                status: output.status,
                message: message.trim().chars().take(SHOWN).collect(),
            });
        }
        String::from_utf8(output.stdout)
            .ok()
            .map(|text| text.trim().to_owned())
            .filter(|key| !key.is_empty() && !key.contains(char::is_whitespace))
            .map(SecretString::from)
            .ok_or(KeyCommandError::NotAKey)
    }
}

/// A key that is renewed by a command, with the header that carries it.
#[derive(Clone, Debug)]
pub(crate) struct RenewableKey {
    pub(crate) header: KeyHeader,
    pub(crate) command: Arc<KeyCommand>,
}

impl RenewableKey {
    pub(crate) async fn token(&self) -> Result<SecretString, CallError> {
        self.command.token(None).await
    }

    /// Another token, after a server rejected `used`; `None` if the command prints the same one.
    pub(crate) async fn renewed(
        &self,
        used: &SecretString,
    ) -> Result<Option<SecretString>, CallError> {
        let token = self.command.token(Some(used)).await?;
        Ok(Some(token).filter(|token| !is_same(token, used)))
    }

    /// `headers` with a token.
    pub(crate) fn add_to(
        &self,
        headers: &HeaderMap,
        token: &SecretString,
    ) -> Result<HeaderMap, CallError> {
        let mut headers = headers.clone();
        super::address::secret(&mut headers, self.header, token).map_err(|why| {
            CallError::new(FailureCause::Unauthorized, why.to_string()).stopping()
        })?;
        Ok(headers)
    }
}

fn is_same(token: &SecretString, other: &SecretString) -> bool {
    token.expose_secret() == other.expose_secret()
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use futures::future::join_all;
    use std::path::Path;

    fn shell(script: &str) -> Arc<KeyCommand> {
        let words = ["sh", "-c", script].map(str::to_owned).to_vec();
        let commands = KeyCommands::new(&BTreeMap::from([("A_TOKEN".to_owned(), words)]));
        Arc::clone(commands.get("A_TOKEN").unwrap())
    }

    /// A command that counts its runs in `folder` and then does this.
    fn counted(folder: &Path, then: &str) -> Arc<KeyCommand> {
        let file = folder.join("runs");
        shell(&format!(
            "echo x >> {file:?}; n=$(wc -l < {file:?} | tr -d ' '); {then}"
        ))
    }

    fn runs(folder: &Path) -> usize {
        std::fs::read_to_string(folder.join("runs"))
            .unwrap()
            .lines()
            .count()
    }

    #[tokio::test]
    async fn concurrent_calls_share_a_run() {
        let folder = tempfile::tempdir().unwrap();
        let command = counted(folder.path(), "echo token-$n");
        for token in join_all((0..8).map(|_| command.token(None))).await {
            assert_eq!(token.unwrap().expose_secret(), "token-1");
        }
        let used = SecretString::from("token-1");
        for token in join_all((0..8).map(|_| command.token(Some(&used)))).await {
            assert_eq!(token.unwrap().expose_secret(), "token-2");
        }
        // A call that was sent with the first token and rejected late.
        let late = command.token(Some(&used)).await.unwrap();
        assert_eq!(late.expose_secret(), "token-2");
        assert_eq!(runs(folder.path()), 2);
    }

    #[tokio::test]
    async fn concurrent_calls_share_a_failure_and_an_unchanged_token() {
        let folder = tempfile::tempdir().unwrap();
        let command = counted(folder.path(), "exit 1");
        for token in join_all((0..8).map(|_| command.token(None))).await {
            assert!(token.unwrap_err().stops_judge);
        }
        assert_eq!(runs(folder.path()), 1);
        command.token(None).await.unwrap_err();
        assert_eq!(runs(folder.path()), 2);

        let folder = tempfile::tempdir().unwrap();
        let command = counted(folder.path(), "echo the-token");
        let used = command.token(None).await.unwrap();
        for token in join_all((0..8).map(|_| command.token(Some(&used)))).await {
            assert!(is_same(&token.unwrap(), &used));
        }
        assert_eq!(runs(folder.path()), 2);
    }

    #[tokio::test]
    async fn an_old_token_is_used_until_a_server_rejects_it_if_the_command_fails() {
        let folder = tempfile::tempdir().unwrap();
        let command = counted(folder.path(), "test $n = 1 && echo token-$n");
        let token = command.token(None).await.unwrap();
        command.latest.lock().await.as_mut().unwrap().at -= FRESH;
        assert!(is_same(&command.token(None).await.unwrap(), &token));
        assert_eq!(runs(folder.path()), 2);
        command.token(Some(&token)).await.unwrap_err();
        assert_eq!(runs(folder.path()), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn a_command_that_hangs_is_ended() {
        let error = shell("sleep 600").token(None).await.unwrap_err();
        assert!(error.message.contains("longer than 60 seconds"), "{error}");
    }

    #[tokio::test]
    async fn a_failure_shows_neither_arguments_nor_a_long_message() {
        let command = shell("secret=hunter2; printf '%01000d' 0 >&2; exit 1");
        let error = command.token(None).await.unwrap_err().message;
        assert!(error.contains("A_TOKEN (sh) failed"), "{error}");
        assert!(!error.contains("hunter2") && error.len() < 400, "{error}");
    }
}
