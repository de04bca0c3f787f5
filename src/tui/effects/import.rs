//! Inspects and imports files in the background.

use super::Runner;
use crate::app::error::{AppError, invalid};
use crate::app::import::source::{bring_in, is_project, preview};
use crate::app::import::{ImportOptions, list_folder, typed_path};
use crate::app::input_files::ReadProgress;
use crate::app::new_project::{self, make_project};
use crate::tui::message::Msg;
use crate::tui::widgets::import_dialog::{ImportPurpose, Wanted};
use std::path::Path;
use std::time::Duration;

/// Interval between reports of the share read so far.
const TELL_EVERY: Duration = Duration::from_millis(200);

impl Runner {
    pub(super) fn look_at_files(&self, wanted: Wanted, generation: u64) {
        let (store, results) = (self.store.clone(), self.results.clone());
        let own = self.options.sample;
        tokio::task::spawn_blocking(move || {
            let msg = match wanted {
                Wanted::Folder(folder) => {
                    let listed = list_folder(&typed_path(&folder), store.path());
                    let listed = listed.map_err(|error| format!("{folder}: {error}"));
                    Msg::FolderListed(generation, listed)
                }
                Wanted::Check(path, purpose) => {
                    let options = ImportOptions::default();
                    let path = typed_path(&path);
                    let merge = purpose == ImportPurpose::Merge;
                    let found = match is_project(&path) {
                        false if merge => Err(not_a_project(&path)),
                        _ if own => new_project::preview(&path, &options),
                        _ => preview(&path, Some(&store), &options),
                    };
                    Msg::ImportChecked(generation, found.map_err(problems))
                }
            };
            drop(results.blocking_send(msg));
        });
    }

    /// Checks a file again and imports it, since it may have changed in the meantime.
    pub(super) fn import(&mut self, path: &str) {
        let store = self.store.clone();
        let annotator = self.options.annotator.clone();
        let seed = self.options.request.seed;
        let path = typed_path(path);
        self.read_in(Msg::Imported, move |options| {
            bring_in(&path, &store, options, (&annotator, seed))
        });
    }

    /// Creates a project from a file; the open project is not changed.
    pub(super) fn make_project(&mut self, source: &str, project: String) {
        let config = self.options.config.clone();
        let annotator = self.options.annotator.clone();
        let seed = self.options.request.seed;
        let source = typed_path(source);
        self.read_in(Msg::ProjectMade, move |options| {
            let path = typed_path(&project);
            make_project(&source, &path, &config, options, (&annotator, seed))?;
            Ok(project)
        });
    }

    /// Runs work that reads a file and reports the share read so far.
    fn read_in<T: Send + 'static>(
        &mut self,
        msg: fn(Result<T, Vec<String>>) -> Msg,
        work: impl FnOnce(&ImportOptions) -> Result<T, AppError> + Send + 'static,
    ) {
        let results = self.results.clone();
        let options = ImportOptions::default();
        let progress = options.progress.clone();
        let mut work = tokio::task::spawn_blocking(move || work(&options));
        let told = tokio::spawn(async move {
            let mut told = ReadProgress::share(&progress);
            let result = loop {
                tokio::select! {
                    result = &mut work => break result,
                    () = tokio::time::sleep(TELL_EVERY) => {
                        let share = progress.share();
                        if share != told {
                            told = share;
                            drop(results.send(Msg::ImportProgress(share)).await);
                        }
                    }
                }
            };
            let result = match result {
                Ok(result) => result.map_err(problems),
                Err(error) => Err(vec![error.to_string()]),
            };
            let wrong = result.as_ref().err().map(|lines| lines.join("; "));
            let told = results.send(msg(result)).await.is_ok();
            wrong.filter(|_| !told)
        });
        self.writes.push(told);
    }
}

/// Only a project can be merged.
fn not_a_project(path: &Path) -> AppError {
    if !path.exists() {
        return invalid!("{}: there is no such file", path.display());
    }
    invalid!(
        "{}: is not an Overrule project; to add a file of another kind, import it",
        path.display()
    )
}

/// An error as lines: each problem of a file with its line number, then the consequence.
fn problems(error: AppError) -> Vec<String> {
    match error {
        AppError::Problems(problems) => problems
            .first
            .iter()
            .map(ToString::to_string)
            .chain([problems.to_string()])
            .collect(),
        error => vec![error.to_string()],
    }
}
