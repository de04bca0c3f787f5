//! Keys that a command prints, for tokens that expire, such as those of cloud accounts.
//!
//! The commands are in the user's own configuration, never in a project's `overrule.toml`.

use super::service::KeyHeader;
use crate::domain::permission::command_line;
use crate::domain::sanitise;
use crate::judge::call::{CallError, FailureCause};
use reqwest::header::HeaderMap;
use secrecy::{ExposeSecret as _, SecretString};
use std::collections::BTreeMap;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::process::Command;

/// How long a token is used before the command is run again. The tools of clouds return a token
/// that is valid for at least five minutes.
const FRESH: Duration = Duration::from_secs(240);
/// How long a command may take.
const PATIENCE: Duration = Duration::from_secs(60);
/// Number of latest tokens that are removed from responses.
const REMEMBERED: usize = 16;

/// The user's commands for keys.
#[derive(Clone, Debug, Default)]
pub struct KeyCommands(Vec<Arc<KeyCommand>>);

impl KeyCommands {
    /// `commands` maps variables to the commands that print their values.
    pub fn new(commands: &BTreeMap<String, Vec<String>>) -> Self {
        let command = |(variable, command): (&String, &Vec<String>)| {
            Arc::new(KeyCommand {
                variable: variable.clone(),
                command: command.clone(),
                current: tokio::sync::Mutex::default(),
                issued: Mutex::default(),
            })
        };
        Self(commands.iter().map(command).collect())
    }

    pub(crate) fn get(&self, variable: &str) -> Option<&Arc<KeyCommand>> {
        self.0.iter().find(|command| command.variable == variable)
    }
}

/// A command that prints a key.
pub(crate) struct KeyCommand {
    /// The variable whose value it prints.
    variable: String,
    command: Vec<String>,
    current: tokio::sync::Mutex<Option<Token>>,
    /// The latest tokens.
    issued: Mutex<Vec<SecretString>>,
}

#[derive(Clone)]
struct Token {
    text: SecretString,
    since: Instant,
}

impl std::fmt::Debug for KeyCommand {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeyCommand")
            .field("variable", &self.variable)
            .field("command", &self.command)
            .finish_non_exhaustive()
    }
}

impl KeyCommand {
    pub(crate) fn words(&self) -> &[String] {
        &self.command
    }

    pub(crate) fn issued(&self) -> Vec<SecretString> {
        self.issued
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// The current token; runs the command if there is none or if it is old. Concurrent calls wait
    /// for one run.
    async fn token(&self) -> Result<SecretString, CallError> {
        let mut current = self.current.lock().await;
        if let Some(token) = current
            .as_ref()
            .filter(|token| token.since.elapsed() < FRESH)
        {
            return Ok(token.text.clone());
        }
        let token = self.run().await?;
        *current = Some(token.clone());
        Ok(token.text)
    }

    /// Another token, after a server rejected `used`; `None` if the command prints the same one.
    async fn renewed(&self, used: &SecretString) -> Result<Option<SecretString>, CallError> {
        let differs = |token: &Token| token.text.expose_secret() != used.expose_secret();
        let mut current = self.current.lock().await;
        // Another call may have renewed it already.
        if let Some(token) = current.as_ref().filter(|token| differs(token)) {
            return Ok(Some(token.text.clone()));
        }
        let token = self.run().await?;
        let differs = differs(&token);
        *current = Some(token.clone());
        Ok(differs.then_some(token.text))
    }

    async fn run(&self) -> Result<Token, CallError> {
        let output = self.output().await.map_err(|why| {
            let message = format!(
                "the key_command of {} (`{}`) {why}; correct it in your configuration",
                sanitise::line(&self.variable),
                command_line(&self.command)
            );
            CallError::new(FailureCause::Unauthorised, message).stopping()
        })?;
        let text = SecretString::from(output);
        let mut issued = self.issued.lock().unwrap_or_else(PoisonError::into_inner);
        issued.push(text.clone());
        let old = issued.len().saturating_sub(REMEMBERED);
        issued.drain(..old);
        Ok(Token {
            text,
            since: Instant::now(),
        })
    }

    async fn output(&self) -> Result<String, String> {
        let (program, arguments) = self.command.split_first().ok_or("is empty")?;
        let mut command = Command::new(program);
        // Not in the folder of a project: some programs load files of the current folder.
        if let Some(folders) = directories::BaseDirs::new() {
            command.current_dir(folders.home_dir());
        }
        let output = command
            .args(arguments)
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output();
        let output = tokio::time::timeout(PATIENCE, output)
            .await
            .map_err(|_| format!("took longer than {} seconds", PATIENCE.as_secs()))?
            .map_err(|error| format!("did not start: {error}"))?;
        if !output.status.success() {
            let complaint = String::from_utf8_lossy(&output.stderr);
            let last = complaint.lines().rfind(|line| !line.trim().is_empty());
            let words = sanitise::line(last.unwrap_or("it wrote no message"));
            return Err(format!("failed ({}): {words}", output.status));
        }
        let text = String::from_utf8(output.stdout).unwrap_or_default();
        let key = text.trim();
        if key.is_empty() || key.contains(char::is_whitespace) {
            return Err("did not print a key and nothing else".to_owned());
        }
        Ok(key.to_owned())
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
        self.command.token().await
    }

    pub(crate) async fn renewed(
        &self,
        used: &SecretString,
    ) -> Result<Option<SecretString>, CallError> {
        self.command.renewed(used).await
    }

    /// `headers` with a token.
    pub(crate) fn add_to(
        &self,
        headers: &HeaderMap,
        token: &SecretString,
    ) -> Result<HeaderMap, CallError> {
        let mut headers = headers.clone();
        super::address::secret(&mut headers, self.header, token)
            .map_err(|why| CallError::new(FailureCause::Unauthorised, why).stopping())?;
        Ok(headers)
    }
}
