//! Storing the project's settings, which changes every query's numbers.

use super::Runner;
use crate::app::settings::ProjectSettings;
use crate::tui::message::Msg;

impl Runner {
    pub(super) fn store_settings(&mut self, before: ProjectSettings, after: ProjectSettings) {
        let (store, results) = (self.store.clone(), self.results.clone());
        let told = tokio::spawn(async move {
            let stored = tokio::task::spawn_blocking(move || after.store(&store, &before)).await;
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
