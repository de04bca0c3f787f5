//! Errors of the application layer.

use crate::app::embeddings::EmbedError;
use crate::domain::metrics::EvaluationError;
use crate::formats::file::display_name;
use crate::formats::problem::Problem;
use crate::store::StoreError;
use std::error::Error;
use std::fmt::{self, Display};
use std::io;
use std::path::Path;

/// An error of the application layer. Callers distinguish invalid requests from failures.
#[derive(Debug, thiserror::Error)]
pub enum AppError {
    /// The request is invalid, or a file lacks what was requested; nothing was changed.
    #[error("{0}")]
    Invalid(String),
    /// A file has problems; nothing was changed.
    #[error("{0}")]
    Problems(FileProblems),
    /// Something that should have worked failed.
    #[error("{0}")]
    Failed(String),
    /// An error of the project store.
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Embedding(#[from] EmbedError),
    /// A ranking cannot be evaluated.
    #[error(transparent)]
    Evaluation(#[from] EvaluationError),
    /// Reading or writing failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Writing a table failed.
    #[error(transparent)]
    Csv(#[from] csv::Error),
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

impl AppError {
    /// Converts an error and its causes to an invalid-request error.
    pub fn invalid(error: impl Error + 'static) -> Self {
        let causes = std::iter::successors(Some(&error as &(dyn Error + 'static)), |&error| {
            error.source()
        });
        Self::Invalid(
            causes
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(": "),
        )
    }

    /// Converts an error to a failure.
    pub fn failed(error: impl Error) -> Self {
        Self::Failed(error.to_string())
    }

    /// A file that cannot be used, and why.
    pub fn file(path: &Path, why: impl Display) -> Self {
        Self::Invalid(format!("{}: {why}", display_name(path)))
    }

    /// Whether a file could not be written because the disk is full.
    pub fn is_disk_full(&self) -> bool {
        let error: &(dyn Error + 'static) = match self {
            Self::Store(error) => error,
            Self::Embedding(error) => error,
            Self::Io(error) => error,
            Self::Csv(error) => error,
            Self::Json(error) => error,
            _ => return false,
        };
        is_io_error(error, io::ErrorKind::StorageFull)
    }
}

/// Whether an I/O error of this kind is among the causes of an error.
pub fn is_io_error(error: &(dyn Error + 'static), kind: io::ErrorKind) -> bool {
    std::iter::successors(Some(error), |&error| error.source()).any(|cause| {
        let io = cause.downcast_ref::<io::Error>().map(io::Error::kind);
        let csv = cause
            .downcast_ref::<csv::Error>()
            .and_then(|error| match error.kind() {
                csv::ErrorKind::Io(error) => Some(error.kind()),
                _ => None,
            });
        let json = cause.downcast_ref::<serde_json::Error>();
        let json = json.and_then(serde_json::Error::io_error_kind);
        [io, csv, json].contains(&Some(kind))
    })
}

/// The problems of one file: the first ones in full, the others counted.
#[derive(Clone, Debug, Default)]
pub struct FileProblems {
    /// The file name as displayed.
    pub file: String,
    pub first: Vec<Problem>,
    pub count: usize,
    consequence: &'static str,
}

impl FileProblems {
    /// Maximum number of problems kept in full; the rest are only counted.
    const KEPT: usize = 50;

    /// No problems yet for `path`.
    pub fn of(path: &Path) -> Self {
        Self {
            file: display_name(path),
            ..Self::default()
        }
    }

    pub fn add(&mut self, problem: Problem) {
        self.count += 1;
        if self.first.len() < Self::KEPT {
            self.first.push(problem);
        }
    }

    /// Returns the value if it is valid; a problem is recorded.
    pub fn keep<T>(&mut self, read: Result<T, Problem>) -> Option<T> {
        read.map_err(|problem| self.add(problem)).ok()
    }

    /// Rejects the file if there is a problem, stating the consequence.
    pub fn refuse(self, consequence: &'static str) -> Result<(), AppError> {
        match self.count {
            0 => Ok(()),
            _ => Err(AppError::Problems(Self {
                consequence,
                ..self
            })),
        }
    }

    /// Rejects a file that must be complete.
    pub fn refuse_any(self) -> Result<(), AppError> {
        self.refuse("nothing was done; correct the file")
    }
}

impl Display for FileProblems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = super::text_format::counted(self.count, "problem");
        write!(f, "{}: {count}, {}", self.file, self.consequence)
    }
}

/// An invalid-request error with a message as in `format!`.
macro_rules! invalid {
    ($($words:tt)*) => { $crate::app::error::AppError::Invalid(format!($($words)*)) };
}
pub(crate) use invalid;
