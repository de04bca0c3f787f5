//! Looking at files and importing them, beside everything else.

use super::Runner;
use crate::app::error::AppError;
use crate::app::import::source::{bring_in, preview};
use crate::app::import::{ImportOptions, list_folder, typed_path};
use crate::app::input_files::ReadProgress;
use crate::tui::message::Msg;
use crate::tui::widgets::import_dialog::Wanted;
use std::time::Duration;

/// How often the share that has been read is told.
const TELL_EVERY: Duration = Duration::from_millis(200);

impl Runner {
    pub(super) fn look_at_files(&self, wanted: Wanted, generation: u64) {
        let (store, results) = (self.store.clone(), self.results.clone());
        tokio::task::spawn_blocking(move || {
            let msg = match wanted {
                Wanted::Folder(folder) => {
                    let listed = list_folder(&typed_path(&folder), store.path());
                    let listed = listed.map_err(|error| format!("{folder}: {error}"));
                    Msg::FolderListed(generation, listed)
                }
                Wanted::Check(path) => {
                    let options = ImportOptions::default();
                    let path = typed_path(&path);
                    let found = preview(&path, &store, &options);
                    Msg::ImportChecked(generation, found.map_err(problems))
                }
            };
            drop(results.blocking_send(msg));
        });
    }

    /// Checks a file again and imports it, whatever has become of it since it was looked at.
    pub(super) fn import(&mut self, path: &str) {
        let (store, results) = (self.store.clone(), self.results.clone());
        let annotator = self.options.annotator.clone();
        let seed = self.options.request.seed;
        let path = typed_path(path);
        let options = ImportOptions::default();
        let progress = options.progress.clone();
        let mut work = tokio::task::spawn_blocking(move || {
            bring_in(&path, &store, &options, (&annotator, seed))
        });
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
            let told = results.send(Msg::Imported(result)).await.is_ok();
            wrong.filter(|_| !told)
        });
        self.writes.push(told);
    }
}

/// An error as lines: each problem of a file with its line, then what follows.
fn problems(error: AppError) -> Vec<String> {
    match error {
        AppError::Problems(problems) => {
            let lines = problems.first.iter().map(ToString::to_string);
            lines.chain([problems.to_string()]).collect()
        }
        error => vec![error.to_string()],
    }
}
