//! Detects that another program has changed the project.

use super::Runner;
use crate::store::Store;
use crate::tui::message::Msg;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use tokio::sync::mpsc;

/// Interval between checks of the files' timestamps.
const EVERY: Duration = Duration::from_secs(2);

/// Size and modification time of the project's file and of its log.
type FileStamps = [Option<(u64, SystemTime)>; 2];

fn stamps(files: &[PathBuf; 2]) -> FileStamps {
    files.each_ref().map(|file| {
        let found = std::fs::metadata(file).ok()?;
        Some((found.len(), found.modified().ok()?))
    })
}

/// The project's file and its log.
fn files(project: &Path) -> [PathBuf; 2] {
    let mut log = project.as_os_str().to_owned();
    log.push("-wal");
    [project.to_owned(), log.into()]
}

impl Runner {
    /// Sends a message whenever another program has changed the project, until nobody receives. A
    /// read-only project is not watched.
    pub(super) fn watch(&self) {
        let (store, results) = (self.bench.store().clone(), self.results.clone());
        tokio::spawn(async move {
            if let Ok(version) = store.foreign_version().await {
                watch(&store, version, &results, EVERY).await;
            }
        });
    }
}

async fn watch(store: &Store, mut version: i64, results: &mpsc::Sender<Msg>, every: Duration) {
    let files = files(store.path());
    let mut seen = FileStamps::default();
    while !results.is_closed() {
        let looked_at = files.clone();
        // A folder on a network can make this wait.
        let Ok(now) = tokio::task::spawn_blocking(move || stamps(&looked_at)).await else {
            return;
        };
        // Fails while another program writes; the next check detects the change.
        if now != seen
            && let Ok(found) = store.foreign_version().await
        {
            seen = now;
            if std::mem::replace(&mut version, found) != found
                && results.send(Msg::ChangedElsewhere).await.is_err()
            {
                return;
            }
        }
        tokio::time::sleep(every).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn changes_of_other_programs_are_told_and_those_of_this_one_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("project.db");
        let (here, elsewhere) = (Store::open(&path).unwrap(), Store::open(&path).unwrap());
        let (results, mut told) = mpsc::channel(8);
        let change =
            |store: &Store, text: &'static str| store.write(move |db| db.set_guideline(Some(text)));
        let version = here.foreign_version().await.unwrap();
        change(&here, "ours").await.unwrap();
        assert_eq!(here.foreign_version().await.unwrap(), version);
        change(&elsewhere, "theirs").await.unwrap();
        let watching = tokio::spawn(async move {
            watch(&here, version, &results, Duration::from_millis(1)).await;
        });
        assert!(matches!(told.recv().await, Some(Msg::ChangedElsewhere)));
        drop(told);
        watching.await.unwrap();
    }
}
