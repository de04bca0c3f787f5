//! The context and result types of commands, and their exit codes.

use super::argument::ArgumentError;
use crate::app::choose_judges::JudgeConfiguration;
use crate::app::error::AppError;
use crate::app::output_file::{ProtectedFiles, is_standard_output};
use crate::app::permissions::AskedUser;
use crate::app::project;
use crate::config::{Config, ConfigError};
use crate::domain::annotator_name::annotator_name;
use crate::store::{Store, StoreError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Default path of the project.
pub(super) const DEFAULT_PROJECT: &str = "overrule.db";

/// An error with its exit code.
#[derive(Debug)]
pub(crate) struct CommandFailure {
    pub(crate) code: u8,
    pub(crate) error: Option<anyhow::Error>,
}

impl CommandFailure {
    /// Invalid usage or input: exit code 2.
    pub(crate) fn usage(error: impl Into<anyhow::Error>) -> Self {
        Self {
            code: 2,
            error: Some(error.into()),
        }
    }

    /// Done but incomplete, already explained on stderr: exit code 3.
    pub(crate) fn incomplete() -> Self {
        Self {
            code: 3,
            error: None,
        }
    }

    /// Done, with a negative result that is already printed: exit code 1.
    pub(crate) fn negative() -> Self {
        Self {
            code: 1,
            error: None,
        }
    }

    /// Interrupted: exit code 130.
    pub(crate) fn interrupted() -> Self {
        Self {
            code: 130,
            error: None,
        }
    }

    pub(crate) fn is_interruption(&self) -> bool {
        self.code == 130
    }
}

/// A usage error with a message as in `format!`.
macro_rules! usage {
    ($($words:tt)*) => { $crate::cli::command::CommandFailure::usage(anyhow::anyhow!($($words)*)) };
}
pub(crate) use usage;

impl<E: Into<anyhow::Error>> From<E> for CommandFailure {
    fn from(error: E) -> Self {
        let error = match error.into().downcast::<AppError>() {
            Ok(AppError::Store(error)) => error.into(),
            Ok(AppError::Io(error)) => error.into(),
            Ok(AppError::Csv(error)) => error.into(),
            Ok(AppError::Json(error)) => error.into(),
            Ok(error) => anyhow::Error::from(error),
            Err(error) => error,
        };
        let invalid = matches!(
            error.downcast_ref(),
            Some(AppError::Invalid(_) | AppError::Problems(_))
        );
        let refused = matches!(
            error.downcast_ref(),
            Some(
                StoreError::NotFound(_)
                    | StoreError::Conflict(_)
                    | StoreError::NotAProject { .. }
                    | StoreError::Newer { .. }
                    | StoreError::Outdated { .. }
                    | StoreError::Linked { .. }
                    | StoreError::ReadOnly { .. }
                    | StoreError::Unreadable { .. }
                    | StoreError::Incomplete { .. }
            )
        );
        let misconfigured = error.downcast_ref::<ConfigError>().is_some();
        Self {
            code: if invalid || refused || misconfigured {
                2
            } else {
                1
            },
            error: Some(error),
        }
    }
}

/// The result of a command.
pub(crate) type CommandResult = Result<(), CommandFailure>;

/// The context of a command.
#[derive(Clone, Debug)]
pub(crate) struct CommandContext {
    /// Value of `--project`.
    pub(crate) named_project: Option<PathBuf>,
    /// Value of `--annotator`.
    pub(crate) named_annotator: Option<String>,
    /// Whether the project must not be changed.
    pub(crate) is_reading: bool,
    pub(crate) config: Config,
    pub(crate) config_file: Option<PathBuf>,
    pub(crate) consent: Arc<AskedUser>,
}

/// Whether the standard output is one of the files that the command writes.
static STDOUT_IS_A_FILE: AtomicBool = AtomicBool::new(false);

/// Whether the standard output is used for a file, so that everything else goes to the standard
/// error.
pub(super) fn stdout_is_a_file() -> bool {
    STDOUT_IS_A_FILE.load(Ordering::Relaxed)
}

/// The first of these options that is set.
pub(crate) fn option_set<'a>(options: &[(bool, &'a str)]) -> Option<&'a str> {
    options.iter().find(|(set, _)| *set).map(|(_, name)| *name)
}

/// Parses an annotator's name on the command line, normalizing its spelling.
pub(crate) fn annotator(text: &str) -> Result<String, ArgumentError> {
    annotator_name(text).ok_or(ArgumentError::BlankName)
}

impl CommandContext {
    pub(crate) fn project(&self) -> &Path {
        self.named_project
            .as_deref()
            .unwrap_or(Path::new(DEFAULT_PROJECT))
    }

    /// Whether there is a project, or may be one; if that is unknown, opening it reports why. An
    /// empty file does not count.
    pub(crate) fn has_project(&self) -> bool {
        let is_empty = std::fs::metadata(self.project()).is_ok_and(|found| found.len() == 0);
        Store::may_exist(self.project()) && !is_empty
    }

    /// The person who gives verdicts.
    pub(crate) fn annotator(&self) -> String {
        self.named_annotator
            .clone()
            .unwrap_or_else(|| self.config.annotator())
    }

    pub(crate) fn open(&self) -> Result<Store, CommandFailure> {
        if self.is_reading && self.has_project() {
            return Ok(Store::open_unchanged(self.project())?);
        }
        Ok(Store::open_existing(self.project())?)
    }

    /// Opens the project, creating it with the configured rating settings if there is none.
    pub(crate) fn open_or_create(&self) -> Result<Store, CommandFailure> {
        Ok(project::open_or_create(self.project(), &self.config)?)
    }

    /// The configuration of judges and keys. Asks the user for permission if needed.
    pub(crate) fn judges(&self, insecure_http: bool) -> JudgeConfiguration<'_> {
        JudgeConfiguration {
            project: self.project(),
            config: &self.config,
            insecure_http,
            consent: &*self.consent,
        }
    }

    /// As [`Self::judges`], using only permissions that the user has already given.
    pub(crate) fn judges_without_asking(&self, insecure_http: bool) -> JudgeConfiguration<'_> {
        JudgeConfiguration {
            consent: &self.config.permissions,
            ..self.judges(insecure_http)
        }
    }

    /// Rejects output files that must not be written. `-` is the standard output, which accepts
    /// only one file, and nothing else that an option (`printing`) prints there; the command's
    /// messages then go to the standard error.
    pub(crate) fn check_targets<'a>(
        &self,
        paths: impl IntoIterator<Item = &'a Path>,
        inputs: &[(&str, &Path)],
        printing: Option<&str>,
    ) -> CommandResult {
        let protected = ProtectedFiles {
            project: self.project(),
            configuration: self.config_file.as_deref(),
        };
        let mut on_stdout = false;
        for path in paths {
            if !is_standard_output(path) {
                protected.check_target(path, inputs)?;
                continue;
            }
            if on_stdout {
                return Err(usage!(
                    "-: is given for two files; only one can go to the standard output"
                ));
            }
            if let Some(option) = printing {
                return Err(usage!(
                    "-: the output of {option} goes to the standard output too; name a file, or \
                     omit {option}"
                ));
            }
            on_stdout = true;
            STDOUT_IS_A_FILE.store(true, Ordering::Relaxed);
        }
        Ok(())
    }
}
