//! Asks the user, once for each combination, whether `overrule.toml` may send a key to a server or
//! run a program.

use crate::config::{ConfigError, remember};
use crate::domain::permission::{PermissionRequest, Permissions};
use crate::domain::sanitize;
use crate::judge::ensemble::FILE;
use std::cell::RefCell;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Answers permission requests.
pub trait Consent: fmt::Debug {
    /// Whether the user allows what the judge, embedder or reranker `asked_by` needs.
    fn allows(&self, request: &PermissionRequest, asked_by: &str) -> bool;
}

/// Answers as the user's configuration does, and asks nobody.
impl Consent for Permissions {
    fn allows(&self, request: &PermissionRequest, _: &str) -> bool {
        self.answer(request) == Some(true)
    }
}

/// Asks the user, unless the configuration file already has the answer.
pub struct AskedUser {
    /// The file that stores answers; `None` if the system has no place for a configuration file.
    file: Option<PathBuf>,
    /// The answers in the file, and those of this process.
    known: Mutex<Permissions>,
    /// `None` if nobody can be asked.
    dialog: Option<Box<dyn Dialog>>,
}

/// Asks a person.
pub trait Dialog: Send + Sync {
    /// Whether the person allows it; `None` if the answer must not be stored.
    fn ask(&self, question: &str) -> Option<bool>;

    fn tell(&self, words: &str);
}

impl fmt::Debug for AskedUser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AskedUser")
            .field("file", &self.file)
            .finish_non_exhaustive()
    }
}

impl Consent for AskedUser {
    fn allows(&self, request: &PermissionRequest, asked_by: &str) -> bool {
        self.answer(request)
            .unwrap_or_else(|| self.ask(request, asked_by))
    }
}

impl AskedUser {
    pub fn new(known: Permissions, file: Option<PathBuf>, dialog: Option<Box<dyn Dialog>>) -> Self {
        Self {
            file,
            known: Mutex::new(known),
            dialog,
        }
    }

    fn known(&self) -> MutexGuard<'_, Permissions> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn answer(&self, request: &PermissionRequest) -> Option<bool> {
        self.known().answer(request)
    }

    /// Whether someone can be asked.
    pub fn is_there(&self) -> bool {
        self.dialog.is_some()
    }

    /// Asks for permission, regardless of earlier answers; without anyone to ask, it is denied this
    /// time.
    pub fn ask(&self, request: &PermissionRequest, asked_by: &str) -> bool {
        let Some(dialog) = &self.dialog else {
            return false;
        };
        let place = self.file.as_ref();
        let place = place.map_or(String::new(), |file| format!(" in {}", file.display()));
        let answer = dialog.ask(&format!(
            "{FILE} asks to {request} (for {}).\nAllow it? y: yes, n: no; the answer is \
             kept{place}. Enter alone: not this time.",
            sanitize::line(asked_by)
        ));
        let Some(allow) = answer else {
            self.known().add(request.clone(), false);
            return false;
        };
        if let Err(why) = self.keep(request, allow) {
            dialog.tell(&format!("the answer counts for this command only: {why}"));
        }
        allow
    }

    /// Stores an answer in the configuration file.
    ///
    /// # Errors
    /// It can be stored only for this process.
    pub fn keep(&self, request: &PermissionRequest, allow: bool) -> Result<(), PermissionNotKept> {
        self.known().add(request.clone(), allow);
        let file = self.file.as_ref().ok_or(PermissionNotKept::NoFolder)?;
        Ok(remember(file, request.clone(), allow)?)
    }
}

/// Why a permission counts for this process only.
#[derive(Debug, thiserror::Error)]
pub enum PermissionNotKept {
    #[error("there is no folder for a configuration file; name one with --config")]
    NoFolder,
    #[error(transparent)]
    Config(#[from] ConfigError),
}

/// Records the requests. It allows them, so the judges that it is given for must not be called.
#[derive(Debug, Default)]
pub(super) struct RecordedRequests(RefCell<Vec<(String, PermissionRequest)>>);

impl RecordedRequests {
    /// The requests in the order in which they arrived, each once, with the names of those that
    /// need it.
    pub(super) fn into_inner(self) -> Vec<(String, PermissionRequest)> {
        self.0.into_inner()
    }
}

impl Consent for RecordedRequests {
    fn allows(&self, request: &PermissionRequest, asked_by: &str) -> bool {
        let mut recorded = self.0.borrow_mut();
        match recorded.iter_mut().find(|(_, known)| known == request) {
            Some((names, _)) => *names += &format!(", {asked_by}"),
            None => recorded.push((asked_by.to_owned(), request.clone())),
        }
        true
    }
}
