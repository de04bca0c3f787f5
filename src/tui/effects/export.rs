//! Writes an export in the background.

use super::Runner;
use crate::app::error::AppError;
use crate::app::export::request::ExportRequest;
use crate::app::import::typed_path;
use crate::app::output_file::ProtectedFiles;
use crate::tui::message::Msg;
use crate::tui::widgets::export_dialog::ExportOrder;

impl Runner {
    /// Writes a file. An existing one is overwritten only with `overwrite`.
    pub(super) fn export(&mut self, order: ExportOrder, overwrite: bool) {
        let (store, results) = (self.store.clone(), self.results.clone());
        let configuration = self.options.configuration.clone();
        // Earlier decisions must be included.
        let written = self.store.write(|_| Ok(()));
        let told = tokio::spawn(async move {
            drop(written.await);
            let work = tokio::task::spawn_blocking(move || {
                let request = ExportRequest::new(order.export.clone());
                let path = typed_path(&order.path);
                let exists = request.files(&path).into_iter().find(|file| file.exists());
                if let Some(file) = exists.filter(|_| !overwrite) {
                    return Ok(Msg::ExportExists(order, file.display().to_string()));
                }
                let protected = ProtectedFiles {
                    project: store.path(),
                    configuration: configuration.as_deref(),
                };
                let mut notes = Vec::new();
                let mut tell = |note: &str| notes.push(note.to_owned());
                let files = request.write_file(&store, &path, protected, &mut tell)?;
                let files: Vec<String> = files
                    .iter()
                    .map(|file| file.display().to_string())
                    .collect();
                notes.insert(0, format!("wrote {}", files.join(" and ")));
                Ok::<_, AppError>(Msg::Exported(Ok(notes.join("; "))))
            });
            let msg = match work.await {
                Ok(Ok(msg)) => msg,
                Ok(Err(error)) => Msg::Exported(Err(error.to_string())),
                Err(error) => Msg::Exported(Err(error.to_string())),
            };
            let wrong = match &msg {
                Msg::Exported(Err(error)) => Some(error.clone()),
                _ => None,
            };
            let told = results.send(msg).await.is_ok();
            wrong.filter(|_| !told)
        });
        self.writes.push(told);
    }
}
