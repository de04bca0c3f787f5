//! Programs that rank: one line of JSON in, one line out, from processes that live as long as they
//! answer.
//!
//! A process is asked one question at a time. Before it answers, it may ask the judges, and receives
//! a line with their reply each time. If it crashes, is late, or writes an invalid line, it is
//! killed, its query fails, and the next query gets a new process. No process starts before the user
//! has allowed it.

mod answer;
mod process;

use super::asked::AskedJudges;
use super::scores::RerankScores;
use crate::domain::hex::short_hex;
use crate::domain::permission::ProgramUse;
use crate::judge::call::{CallError, Exchange, FailureCause};
use crate::judge::ensemble::RerankerConfig;
use answer::{InvalidAnswerLine, ProgramLine};
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

/// Default timeout of a program for one query, without the time that judges take. The first one
/// includes the startup.
pub(super) const TIMEOUT: Duration = Duration::from_secs(60);
/// Maximum timeout that the user may set, in seconds: a day.
const LONGEST_S: f64 = 86_400.0;
/// Size of an answer in bytes, in addition to the IDs and numbers.
const ANSWER_BYTES: usize = 1 << 16;
/// Maximum size in bytes of a list of pairs that a program asks the judges about.
const PAIRS_BYTES: usize = 16 << 20;
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
    /// Whether it may ask the judges.
    pub(super) asks: bool,
    identity: String,
    /// Limits the number of concurrent processes.
    places: Semaphore,
    /// Processes waiting for a question.
    idle: Mutex<Vec<ProgramProcess>>,
}

/// Why a program has not ranked a query.
#[derive(Debug)]
enum ProgramFailure {
    Process(AskFailure),
    Late,
    /// It wrote this line.
    Invalid(InvalidAnswerLine, Vec<u8>),
    /// The judges that it asked make no more calls.
    Judges(CallError),
}

/// Waits for a process, and subtracts the time it takes from the time that is left.
async fn within<T>(
    left: &mut Duration,
    asked: impl Future<Output = Result<T, AskFailure>>,
) -> Result<T, ProgramFailure> {
    let started = Instant::now();
    let answered = tokio::time::timeout(*left, asked).await;
    *left = left.saturating_sub(started.elapsed());
    answered
        .map_err(|_| ProgramFailure::Late)?
        .map_err(ProgramFailure::Process)
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
            asks: config.asks,
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

    /// Ranks the documents; `judges` answer what the program asks meanwhile.
    pub(super) async fn score(
        &self,
        query: &str,
        ids: &[&str],
        texts: &[&str],
        judges: Option<&dyn AskedJudges>,
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
        let most = self.longest_line(ids);
        let mut left = self.timeout;
        let answered = self.converse(&question, ids, most, judges, &mut left).await;
        let exchange = Exchange {
            cost_usd: Some(0.0),
            latency: self.timeout - left,
            ..Exchange::default()
        };
        let (process, scores, places_only) = answered.map_err(|failure| {
            let mut error = self.error(failure, most);
            error.retry = crate::judge::Retry::Never;
            *error.exchange = exchange.clone();
            error
        })?;
        // Only now: output after an invalid answer would be taken for the next one.
        if let Some(process) = process {
            self.idle().push(process);
        }
        Ok(RerankScores {
            scores,
            places_only,
            exchange,
        })
    }

    /// Maximum size in bytes of a line about these documents: an answer names each once, and a
    /// question to the judges may list all pairs in both orders.
    fn longest_line(&self, ids: &[&str]) -> usize {
        let once: usize = ids.iter().map(|id| DOCUMENT_BYTES + 6 * id.len()).sum();
        let pairs = if self.asks {
            once.saturating_mul(2 * ids.len()).min(PAIRS_BYTES)
        } else {
            0
        };
        ANSWER_BYTES + once.max(pairs)
    }

    /// Asks a process, and passes its questions on to the judges until it answers with scores, or
    /// with an order. Also returns the process, if it can be asked again. `left` is the time that
    /// the program has left; the judges' time does not count.
    async fn converse(
        &self,
        question: &str,
        ids: &[&str],
        most: usize,
        judges: Option<&dyn AskedJudges>,
        left: &mut Duration,
    ) -> Result<(Option<ProgramProcess>, Vec<f64>, bool), ProgramFailure> {
        let first = self.ask(question.as_bytes(), most);
        let (mut process, mut line) = within(left, first).await?;
        let most_pairs = answer::most_pairs(ids.len());
        let mut pairs = 0;
        loop {
            let invalid = |why| ProgramFailure::Invalid(why, line.clone());
            let asked = match answer::read(&line, ids).map_err(invalid)? {
                ProgramLine::Ranked(scores, places_only) => {
                    return Ok((process, scores, places_only));
                }
                ProgramLine::Asks(asked) => asked,
            };
            let judges = judges.ok_or_else(|| invalid(InvalidAnswerLine::MayNotAsk))?;
            let asking = process.ok_or_else(|| invalid(InvalidAnswerLine::AskedUnread))?;
            pairs += asked.pairs.len();
            if pairs > most_pairs {
                return Err(invalid(InvalidAnswerLine::TooManyPairs {
                    most: most_pairs,
                    documents: ids.len(),
                }));
            }
            let replies = judges.ask(&asked.pairs).await;
            let reply = asked.reply(&replies.map_err(ProgramFailure::Judges)?);
            (process, line) = within(left, asking.ask(reply.as_bytes(), most)).await?;
        }
    }

    fn error(&self, failure: ProgramFailure, most: usize) -> CallError {
        let program = self.program.command.first().map_or("", String::as_str);
        let failed = |cause: FailureCause, message: String| CallError::new(cause, message);
        let with_line = |error: CallError, line: &[u8]| {
            let start = line.get(..ANSWER_BYTES).unwrap_or(line);
            error.with_raw(String::from_utf8_lossy(start).into_owned())
        };
        match failure {
            ProgramFailure::Process(AskFailure::NotStarted(why)) => {
                let message = format!("cannot start {program}: {why}; check command");
                failed(FailureCause::BadRequest, message).stopping()
            }
            ProgramFailure::Process(AskFailure::Ended(how)) => failed(
                FailureCause::Crashed,
                format!("{program} ended without an answer: {how}"),
            ),
            ProgramFailure::Process(AskFailure::TooLong) => failed(
                FailureCause::Malformed,
                format!("the answer of {program} is longer than {most} bytes"),
            ),
            ProgramFailure::Process(AskFailure::Unasked(line)) => {
                let message = format!(
                    "{program} wrote a line before it was asked, which could be taken for an \
                     answer; it must write one line for each \
                     question, and everything else to standard error"
                );
                with_line(failed(FailureCause::Malformed, message), &line)
            }
            ProgramFailure::Late => {
                let seconds = self.timeout.as_secs_f64();
                let message =
                    format!("{program} gave no answer within {seconds} s; timeout_s allows more");
                failed(FailureCause::TimedOut, message)
            }
            ProgramFailure::Invalid(why, line) => with_line(
                failed(FailureCause::Malformed, format!("{program}: {why}")),
                &line,
            ),
            ProgramFailure::Judges(error) => error,
        }
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
