//! Why a use case could not be carried out.

use crate::app::embeddings::EmbedError;
use crate::domain::metrics::EvaluationError;
use crate::formats::file::display_name;
use crate::formats::problem::Problem;
use crate::store::StoreError;
use std::error::Error;
use std::fmt::{self, Display};
use std::io;
use std::path::Path;

/// Why a use case could not be carried out. Callers tell apart what was asked for wrongly from what went wrong.
#[derive(Debug, thiserror::Error)]
pub enum AppError {
    /// What was asked for cannot be, or a file does not hold it; nothing was changed.
    #[error("{0}")]
    Invalid(String),
    /// A file has problems; nothing was changed.
    #[error("{0}")]
    Problems(FileProblems),
    /// Something that should have worked did not.
    #[error("{0}")]
    Failed(String),
    /// The project refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Embedding(#[from] EmbedError),
    /// A ranking cannot be measured.
    #[error(transparent)]
    Evaluation(#[from] EvaluationError),
    /// Reading or writing failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A table could not be written.
    #[error(transparent)]
    Csv(#[from] csv::Error),
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

impl AppError {
    /// Bad input, in the words of an error and of what caused it.
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

    /// What should have worked, in the words of an error.
    pub fn failed(error: impl Error) -> Self {
        Self::Failed(error.to_string())
    }

    /// A file that cannot be used, and why.
    pub fn file(path: &Path, why: impl Display) -> Self {
        Self::Invalid(format!("{}: {why}", display_name(path)))
    }

    /// Whether a file could not be written for want of room.
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

/// Whether input or output failed in this way somewhere below an error.
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

/// What is wrong with one file: the first problems in full, the others counted.
#[derive(Clone, Debug, Default)]
pub struct FileProblems {
    /// The file, as shown.
    pub file: String,
    pub first: Vec<Problem>,
    pub count: usize,
    consequence: &'static str,
}

impl FileProblems {
    /// Problems kept before the rest is only counted.
    const KEPT: usize = 50;

    /// None yet of `path`.
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

    /// What is not wrong; a problem is kept.
    pub fn keep<T>(&mut self, read: Result<T, Problem>) -> Option<T> {
        read.map_err(|problem| self.add(problem)).ok()
    }

    /// Refuses the file where there is a problem, and says what follows.
    pub fn refuse(self, consequence: &'static str) -> Result<(), AppError> {
        match self.count {
            0 => Ok(()),
            _ => Err(AppError::Problems(Self {
                consequence,
                ..self
            })),
        }
    }

    /// Refuses a file that is needed whole.
    pub fn refuse_any(self) -> Result<(), AppError> {
        self.refuse("nothing was done; correct the file")
    }
}

impl Display for FileProblems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = super::wording::counted(self.count, "problem");
        write!(f, "{}: {count}, {}", self.file, self.consequence)
    }
}

/// Bad input, in words as of `format!`.
macro_rules! invalid {
    ($($words:tt)*) => { $crate::app::error::AppError::Invalid(format!($($words)*)) };
}
pub(crate) use invalid;
