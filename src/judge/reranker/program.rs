//! Programs that rank: one line of JSON in, one line out, from processes that live as long as they
//! answer.
//!
//! A process is asked one question at a time. If it crashes, is late, or writes an invalid answer,
//! it is killed, its query fails, and the next query gets a new process. No process starts before
//! the user has allowed it.

mod answer;
mod process;

use super::scores::RerankScores;
use crate::domain::hex::short_hex;
use crate::domain::permission::ProgramUse;
use crate::judge::call::{CallError, Exchange, FailureCause};
use crate::judge::ensemble::RerankerConfig;
use process::{AskFailure, ProgramProcess};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, UNIX_EPOCH};
use tokio::sync::Semaphore;
use tokio::time::Instant;

/// Default timeout of a program for one query. The first one includes the startup.
pub(super) const TIMEOUT: Duration = Duration::from_secs(60);
/// Maximum timeout that the user may set, in seconds: a day.
const LONGEST_S: f64 = 86_400.0;
/// Size of an answer in bytes, in addition to the IDs and numbers.
const ANSWER_BYTES: usize = 1 << 16;
/// Number of bytes of a file named in a command that are read to identify it.
const CONTENT_BYTES: u64 = 4 << 20;
/// Size of an answer in bytes per document, in addition to its ID.
const DOCUMENT_BYTES: usize = 64;

#[derive(Debug)]
pub(super) struct ProgramReranker {
    name: String,
    program: ProgramUse,
    permitted: AtomicBool,
    timeout: Duration,
    identity: String,
    /// Limits the number of concurrent processes.
    places: Semaphore,
    /// Processes waiting for a question.
    idle: Mutex<Vec<ProgramProcess>>,
}

/// Why a program cannot be used as a reranker.
#[derive(Debug, thiserror::Error)]
pub(super) enum InvalidProgram {
    #[error("timeout_s = {0}: expected seconds above 0, {LONGEST_S} at most")]
    Timeout(f64),
    #[error("command names no program; write it as [\"python3\", \"mine.py\"]")]
    NoCommand,
    #[error("{}: {why}", path.display())]
    Folder { path: PathBuf, why: std::io::Error },
}

impl ProgramReranker {
    pub(super) fn new(
        config: &RerankerConfig,
        folder: &Path,
        processes: usize,
    ) -> Result<Self, InvalidProgram> {
        let timeout = match config.timeout_s {
            None => TIMEOUT,
            Some(seconds) if seconds > 0.0 && seconds <= LONGEST_S => {
                Duration::from_secs_f64(seconds)
            }
            Some(seconds) => {
                return Err(InvalidProgram::Timeout(seconds));
            }
        };
        if config.command.first().is_none_or(String::is_empty) {
            return Err(InvalidProgram::NoCommand);
        }
        Ok(Self {
            name: config.name.clone(),
            program: ProgramUse {
                // Permission is given for the resolved path, whatever links lead to it.
                folder: folder
                    .canonicalize()
                    .map_err(|why| InvalidProgram::Folder {
                        path: folder.to_owned(),
                        why,
                    })?,
                command: config.command.clone(),
            },
            permitted: AtomicBool::new(false),
            timeout,
            identity: identity(config, folder),
            places: Semaphore::new(processes.min(Semaphore::MAX_PERMITS)),
            idle: Mutex::default(),
        })
    }

    pub(super) fn identity(&self) -> String {
        self.identity.clone()
    }

    pub(super) fn used(&self) -> &ProgramUse {
        &self.program
    }

    pub(super) fn permit(&self) {
        self.permitted.store(true, Ordering::Relaxed);
    }

    fn idle(&self) -> MutexGuard<'_, Vec<ProgramProcess>> {
        // The data is consistent even after a panic: processes are only added and removed.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) async fn score(
        &self,
        query: &str,
        ids: &[&str],
        texts: &[&str],
    ) -> Result<RerankScores, CallError> {
        let Ok(_place) = self.places.acquire().await else {
            return Err(CallError::new(
                FailureCause::Crashed,
                "the program is no longer asked",
            ));
        };
        let documents: Vec<_> = ids
            .iter()
            .zip(texts)
            .map(|(id, text)| json!({"id": id, "text": text}))
            .collect();
        let question = json!({"query": query, "documents": documents}).to_string();
        let most = ids.iter().map(|id| DOCUMENT_BYTES + 6 * id.len());
        let most = ANSWER_BYTES + most.sum::<usize>();
        let started = Instant::now();
        let asked = tokio::time::timeout(self.timeout, self.ask(question.as_bytes(), most)).await;
        let exchange = Exchange {
            cost_usd: Some(0.0),
            latency: started.elapsed(),
            ..Exchange::default()
        };
        let failed = |cause: FailureCause, message: String| {
            let mut error = CallError::new(cause, message);
            error.retry = crate::judge::Retry::Never;
            *error.exchange = exchange.clone();
            error
        };
        let program = self.program.command.first().map_or("", String::as_str);
        let (process, answer) = match asked {
            Ok(Ok(answered)) => answered,
            Ok(Err(AskFailure::NotStarted(why))) => {
                let message = format!("cannot start {program}: {why}; check command");
                return Err(failed(FailureCause::BadRequest, message).stopping());
            }
            Ok(Err(AskFailure::Ended(how))) => {
                let message = format!("{program} ended without an answer: {how}");
                return Err(failed(FailureCause::Crashed, message));
            }
            Ok(Err(AskFailure::TooLong)) => {
                let message = format!("the answer of {program} is longer than {most} bytes");
                return Err(failed(FailureCause::Malformed, message));
            }
            Ok(Err(AskFailure::Unasked(line))) => {
                let message = format!(
                    "{program} wrote a line before it was asked, which could be taken for an \
                     answer; it must write one line for each \
                     question, and everything else to standard error"
                );
                let raw = String::from_utf8_lossy(&line).into_owned();
                return Err(failed(FailureCause::Malformed, message).with_raw(raw));
            }
            Err(_) => {
                let seconds = self.timeout.as_secs_f64();
                let message =
                    format!("{program} gave no answer within {seconds} s; timeout_s allows more");
                return Err(failed(FailureCause::TimedOut, message));
            }
        };
        let read = answer::read(&answer, ids);
        let (scores, places_only) = read.map_err(|why| {
            let raw = String::from_utf8_lossy(&answer).into_owned();
            failed(FailureCause::Malformed, format!("{program}: {why}")).with_raw(raw)
        })?;
        // Only now: output after an invalid answer would be taken for the next one.
        if let Some(process) = process {
            self.idle().push(process);
        }
        Ok(RerankScores {
            scores,
            places_only,
            exchange,
            truncated: 0,
        })
    }

    /// The line that a process answers, and the process if it can be asked again.
    async fn ask(
        &self,
        question: &[u8],
        most: usize,
    ) -> Result<(Option<ProgramProcess>, Vec<u8>), AskFailure> {
        let mut waiting = self.idle().pop();
        let running = waiting.as_mut().is_some_and(ProgramProcess::is_running);
        if let Some(process) = waiting.filter(|_| running) {
            match process.ask(question, most).await {
                // It ended after its last answer, like a program that answers only once.
                Err(AskFailure::Ended(_)) => {}
                other => return other,
            }
        }
        if !self.permitted.load(Ordering::Relaxed) {
            return Err(AskFailure::NotStarted("it is not allowed".to_owned()));
        }
        let process = ProgramProcess::start(&self.name, &self.program)?;
        process.ask(question, most).await
    }
}

/// The command and the files that it names, because a modified program is a different one. A small
/// file is identified by its content, a large one, such as a model, by its size and modification
/// time.
fn identity(config: &RerankerConfig, folder: &Path) -> String {
    let mut hash = Sha256::new();
    for word in &config.command {
        hash.update((word.len() as u64).to_le_bytes());
        hash.update(word.as_bytes());
        let path = folder.join(word);
        let Some(found) = std::fs::metadata(&path).ok().filter(Metadata::is_file) else {
            continue;
        };
        if found.len() > CONTENT_BYTES {
            let changed = found.modified().ok();
            let changed = changed.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
            hash.update(found.len().to_le_bytes());
            hash.update(changed.unwrap_or_default().as_nanos().to_le_bytes());
        } else if let Ok(content) = std::fs::read(&path) {
            hash.update((content.len() as u64).to_le_bytes());
            hash.update(content);
        }
    }
    let hash = short_hex(&hash.finalize());
    format!("program {hash} {:?}", config.max_document_chars)
}
