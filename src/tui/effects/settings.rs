//! Stores the project's settings, which changes every query's numbers.

use super::Runner;
use crate::app::error::AppError;
use crate::app::settings::ProjectSettings;
use crate::domain::ranking::StudentWeight;
use crate::domain::sanitise;
use crate::features::student::app::naming::name_student;
use crate::tui::message::Msg;
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl Runner {
    /// Estimating the weight of a student may require fitting many queries, so it runs in the
    /// background.
    pub(super) fn name_student(&mut self, choice: Option<(String, StudentWeight)>) {
        let (store, results) = (self.store.clone(), self.results.clone());
        let namings = Arc::clone(&self.namings);
        let naming = namings.fetch_add(1, Ordering::Relaxed) + 1;
        let wanted = move || namings.load(Ordering::Relaxed) == naming;
        let still = wanted.clone();
        let told = tokio::spawn(async move {
            let named = tokio::task::spawn_blocking(move || {
                let named = name_student(&store, choice, wanted)?;
                Ok::<_, AppError>(named.zip(store.read_blocking(|db| db.student_words())?))
            });
            let named = named.await;
            if !still() {
                return None;
            }
            let named = match named {
                Ok(named) => named.map_err(|error| error.to_string()),
                Err(error) => Err(error.to_string()),
            };
            let wrong = named.as_ref().err();
            let wrong = wrong.map(|error| format!("the student was not named: {error}"));
            let msg = match (named, &wrong) {
                (Ok(None), _) => Msg::StudentNamed("no student counts in this project".to_owned()),
                (Ok(Some((named, counts))), _) => {
                    Msg::StudentNamed(format!("student {}: {counts}", sanitise::line(&named.name)))
                }
                (Err(error), wrong) => Msg::Failed(wrong.clone().unwrap_or(error)),
            };
            let told = results.send(msg).await.is_ok();
            wrong.filter(|_| !told)
        });
        self.writes.push(told);
    }

    pub(super) fn store_settings(&mut self, before: ProjectSettings, after: ProjectSettings) {
        let (store, results) = (self.store.clone(), self.results.clone());
        let annotator = self.options.annotator.clone();
        let told = tokio::spawn(async move {
            let stored =
                tokio::task::spawn_blocking(move || after.store(&store, &before, &annotator)).await;
            let wrong = match stored {
                Ok(Ok(())) => None,
                Ok(Err(error)) => Some(error.to_string()),
                Err(error) => Some(error.to_string()),
            };
            let wrong = wrong.map(|error| format!("the settings were not stored: {error}"));
            let msg = wrong.clone().map_or(Msg::SettingsStored, Msg::Failed);
            let told = results.send(msg).await.is_ok();
            wrong.filter(|_| !told)
        });
        self.writes.push(told);
    }
}
