//! A lasting connection through which a project is synchronized whenever something is new.

use super::sync::{SyncProgress, Synced, opened, sync};
use crate::app::error::AppError;
use crate::features::remote::client::{
    Address, Cursor, JobStatus, Lease, Lessee, Participant, Server, ServerError, SharedProject,
};
use crate::features::remote::store::Item;
use crate::store::{Store, StoreError};
use std::pin::pin;
use std::time::Duration;
use tokio::time::{Instant, sleep, sleep_until};
use uuid::Uuid;

/// How often to look at the server if it tells nothing.
const LOOK_EVERY: Duration = Duration::from_secs(15);

/// How often to look for changes in the project itself.
const LOOK_HERE_EVERY: Duration = Duration::from_secs(2);

/// Minimum time between two looks at the server, however often it tells something.
const LOOK_AFTER: Duration = Duration::from_secs(1);

/// How often to tell the server that the person is present.
const SEEN_EVERY: Duration = Duration::from_secs(60);

/// Since when a person who was not heard of counts as absent, in seconds.
pub const ABSENT_S: f64 = 120.0;

/// How long one request may take before the server counts as lost.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long to wait before a lost server is tried again: at first, and at most.
const RETRY: (Duration, Duration) = (Duration::from_secs(3), Duration::from_secs(60));

/// The growing pauses between attempts to reach a lost server.
#[derive(Debug)]
pub struct Pauses(Duration);

impl Default for Pauses {
    fn default() -> Self {
        Self(RETRY.0)
    }
}

impl Pauses {
    /// The next pause.
    pub fn next(&mut self) -> Duration {
        let next = (self.0 * 2).min(RETRY.1);
        std::mem::replace(&mut self.0, next)
    }
}

/// Why a project cannot be synchronized now.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    #[error(transparent)]
    Server(#[from] ServerError),
    #[error(transparent)]
    App(#[from] AppError),
}

impl From<StoreError> for WatchError {
    fn from(error: StoreError) -> Self {
        Self::App(error.into())
    }
}

impl From<WatchError> for AppError {
    fn from(error: WatchError) -> Self {
        match error {
            WatchError::Server(error) => error.into(),
            WatchError::App(error) => error,
        }
    }
}

impl WatchError {
    /// Whether the server is only away for a while.
    pub fn is_temporary(&self) -> bool {
        matches!(self, Self::Server(error) if error.is_temporary())
    }
}

/// A connection to the server of a shared project.
#[derive(Debug)]
pub struct Watch {
    server: Server,
    project: SharedProject,
    /// This file among the copies of the project.
    copy: Uuid,
    /// When the server was last told that the person is present.
    seen: Option<Instant>,
    /// When the server was last looked at.
    looked: Instant,
    /// Whether it has told about something since.
    is_noticed: bool,
    /// Number of changes that were left after the last synchronization.
    left: i64,
    /// When what was left out is tried again.
    again: Option<Instant>,
}

impl Watch {
    /// Connects.
    ///
    /// # Errors
    /// The server cannot be reached or refuses the user, or the project is not shared there.
    pub async fn open(url: &Address, store: &Store) -> Result<Self, WatchError> {
        let mut server = Server::connect(url).await?.with_patience(PATIENCE);
        server.check().await?;
        let (project, shared) = opened(&server, store).await?;
        server.listen().await?;
        Ok(Self {
            server,
            project,
            copy: shared.copy,
            seen: None,
            looked: Instant::now(),
            is_noticed: false,
            left: 0,
            again: None,
        })
    }

    /// The host, port and database.
    pub fn name(&self) -> &str {
        self.server.name()
    }

    /// Exchanges what is new here and on the server; `None` if there is nothing. `person` is shown
    /// to the others as present.
    ///
    /// # Errors
    /// The server cannot be reached, or rows of a newer version are on it.
    pub async fn exchange(
        &mut self,
        store: &Store,
        person: &str,
        told: &mut (dyn FnMut(SyncProgress) + Send),
    ) -> Result<Option<Synced>, WatchError> {
        let is_noticed = std::mem::take(&mut self.is_noticed);
        self.looked = Instant::now();
        let found = store.read(|db| Ok((db.shared()?, db.unsynced_count()?)));
        let (shared, waiting) = found.await?;
        let Some(shared) = shared else {
            return Ok(None);
        };
        self.copy = shared.copy;
        let reached = Cursor(shared.reached);
        let (news, horizon) = self
            .server
            .news(&self.project, shared.copy, &reached)
            .await?;
        let is_due = self.seen.is_none()
            || waiting > self.left
            || self.again.is_some_and(|again| again <= self.looked);
        // Rows that were left out are news at every look, and need not be read again so often.
        let is_new = news && (is_noticed || self.again.is_none());
        let is_new = is_new || horizon.is_before(&reached);
        if is_due || is_new {
            let synced = sync(&mut self.server, store, person, false, told).await?;
            self.seen = Some(Instant::now());
            self.left = synced.waiting;
            self.again = (!synced.is_complete()).then(|| Instant::now() + RETRY.1);
            return Ok(Some(synced));
        }
        if self.seen.is_none_or(|seen| seen.elapsed() >= SEEN_EVERY) {
            self.server
                .take_part(&self.project, shared.copy, person, waiting)
                .await?;
            self.seen = Some(Instant::now());
        }
        Ok(None)
    }

    /// Everyone who has taken part, the latest first.
    ///
    /// # Errors
    /// The server cannot be reached.
    pub async fn participants(&self) -> Result<Vec<Participant>, ServerError> {
        self.server.participants(&self.project).await
    }

    /// What people have open, the oldest first.
    ///
    /// # Errors
    /// The server cannot be reached.
    pub async fn leases(&self) -> Result<Vec<Lease>, ServerError> {
        self.server.leases(&self.project).await
    }

    /// Leases an item for a person, or extends the lease; `slots` people may have one each. Returns
    /// whether the person has it now. `place` is shown to the others.
    ///
    /// # Errors
    /// The server cannot be reached.
    pub async fn lease(
        &self,
        item: &Item,
        slots: i32,
        person: &str,
        place: &str,
    ) -> Result<bool, ServerError> {
        let by = self.lessee(person);
        self.server
            .lease_item(&self.project, item, slots, by, place)
            .await
    }

    /// Ends all leases of a person, except for one item.
    ///
    /// # Errors
    /// The server cannot be reached.
    pub async fn release(&self, person: &str, except: Option<&Item>) -> Result<(), ServerError> {
        let by = self.lessee(person);
        self.server.release_items(&self.project, by, except).await
    }

    fn lessee<'a>(&self, person: &'a str) -> Lessee<'a> {
        Lessee {
            copy: self.copy,
            person,
        }
    }

    /// The jobs of the server.
    ///
    /// # Errors
    /// The server cannot be reached, or the person may not read them.
    pub async fn jobs(&self) -> Result<Vec<JobStatus>, ServerError> {
        self.server.status().await
    }

    /// Waits until others have changed something, something was changed here, or it is time to look
    /// again. Can be canceled and called again.
    ///
    /// # Errors
    /// The connection was lost.
    pub async fn wait(&mut self, store: &Store) -> Result<(), WatchError> {
        let mut look = pin!(sleep_until(self.looked + LOOK_EVERY));
        while !self.is_noticed {
            tokio::select! {
                noticed = self.server.noticed(&self.project) => {
                    noticed?;
                    self.is_noticed = true;
                }
                () = &mut look => return Ok(()),
                () = sleep(LOOK_HERE_EVERY) => {
                    if store.read(|db| db.unsynced_count()).await? > self.left {
                        return Ok(());
                    }
                }
            }
        }
        sleep_until(self.looked + LOOK_AFTER).await;
        Ok(())
    }
}

/// The distinct names of those who are present, in order.
pub fn present(people: &[Participant]) -> Vec<&str> {
    let present = people.iter().filter(|one| one.silent_s < ABSENT_S);
    let mut names: Vec<&str> = present.map(|one| one.person.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_up_to_a_minute() {
        let mut pauses = Pauses::default();
        let seconds = [(); 7].map(|()| pauses.next().as_secs());
        assert_eq!(seconds, [3, 6, 12, 24, 48, 60, 60]);
    }

    #[test]
    fn a_person_with_two_copies_is_present_once() {
        let one = |person: &str, silent_s| Participant {
            person: person.to_owned(),
            waiting: 0,
            silent_s,
        };
        let people = [
            one("lee", 3.0),
            one("ana", 5.0),
            one("lee", 90.0),
            one("dana", 900.0),
        ];
        assert_eq!(present(&people), ["ana", "lee"]);
    }
}
