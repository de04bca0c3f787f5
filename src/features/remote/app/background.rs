//! Synchronizes an open project in the background.

use super::sync::Synced;
use super::watch::{Pauses, Watch, WatchError};
use crate::features::remote::client::{Address, JobStatus, Participant};
use crate::store::Store;
use std::ops::ControlFlow;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

/// How often to count the changes that wait for a lost server.
const COUNT_EVERY: Duration = Duration::from_secs(2);

/// How long the last changes may take to reach the server when the project is closed.
const PARTING: Duration = Duration::from_millis(400);

/// What the person wants.
#[derive(Clone, Debug, PartialEq)]
pub enum Order {
    /// Synchronize at once.
    Synchronize,
    /// The person has another name from now on.
    Rename(String),
    /// Whether the jobs of the server are shown.
    ShowJobs(bool),
}

/// What has happened.
#[derive(Debug)]
pub enum Event {
    /// The server was looked at.
    Looked(Box<Look>),
    /// The server cannot be reached, or does not do what it should.
    Lost {
        why: String,
        /// Whether the server is only away for a while.
        is_temporary: bool,
        /// Number of changes that wait, if they can be counted.
        waiting: Option<i64>,
    },
    /// Another number of changes wait for the server.
    Waiting(i64),
}

/// The state of the project on the server.
#[derive(Debug, Default)]
pub struct Look {
    /// Number of changes that are not on the server yet.
    pub waiting: i64,
    /// Everyone who has taken part, the latest first.
    pub people: Vec<Participant>,
    /// The jobs of the server, if they are shown and the person may read them.
    pub jobs: Option<Vec<JobStatus>>,
    /// What was exchanged, if there was anything new.
    pub synced: Option<Synced>,
}

/// The synchronization of an open project.
pub struct Background {
    store: Store,
    url: Address,
    person: String,
    shows_jobs: bool,
    orders: mpsc::UnboundedReceiver<Order>,
    events: mpsc::Sender<Event>,
}

impl Background {
    /// Prepares the synchronization with a server.
    pub fn new(
        store: Store,
        url: Address,
        person: String,
        orders: mpsc::UnboundedReceiver<Order>,
        events: mpsc::Sender<Event>,
    ) -> Self {
        Self {
            store,
            url,
            person,
            shows_jobs: false,
            orders,
            events,
        }
    }

    /// Synchronizes until nobody gives orders any more. A lost server is tried again after a while.
    pub async fn run(mut self) {
        let mut pauses = Pauses::default();
        loop {
            let error = match Watch::open(&self.url, &self.store).await {
                Ok(watch) => match self.connected(watch, &mut pauses).await {
                    Ok(()) => return,
                    Err(error) => error,
                },
                Err(error) => error,
            };
            let event = Event::Lost {
                why: error.to_string(),
                is_temporary: error.is_temporary(),
                waiting: self.waiting().await,
            };
            if self.events.send(event).await.is_err() || self.pause(pauses.next()).await.is_break()
            {
                return;
            }
        }
    }

    /// Synchronizes through a connection until it is lost, or until nobody gives orders any more.
    async fn connected(&mut self, mut watch: Watch, pauses: &mut Pauses) -> Result<(), WatchError> {
        loop {
            let look = self.look(&mut watch).await?;
            *pauses = Pauses::default();
            if self
                .events
                .send(Event::Looked(Box::new(look)))
                .await
                .is_err()
            {
                return Ok(());
            }
            tokio::select! {
                order = self.orders.recv() => match order {
                    Some(order) => self.take(order),
                    None => {
                        // What is not sent in time waits in the project.
                        drop(timeout(PARTING, self.part(watch)).await);
                        return Ok(());
                    }
                },
                waited = watch.wait(&self.store) => waited?,
            }
        }
    }

    /// Sends the last changes.
    async fn part(&self, mut watch: Watch) -> Result<(), WatchError> {
        watch
            .exchange(&self.store, &self.person, &mut |_| {})
            .await?;
        Ok(())
    }

    async fn look(&self, watch: &mut Watch) -> Result<Look, WatchError> {
        let synced = watch
            .exchange(&self.store, &self.person, &mut |_| {})
            .await?;
        let jobs = match self.shows_jobs {
            true => watch.jobs().await.map(Some).or_else(|error| {
                // Whoever only judges need not be allowed to see them.
                if error.is_temporary() {
                    Err(error)
                } else {
                    Ok(None)
                }
            })?,
            false => None,
        };
        Ok(Look {
            people: watch.participants().await?,
            waiting: self.store.read(|db| db.unsynced_count()).await?,
            jobs,
            synced,
        })
    }

    fn take(&mut self, order: Order) {
        match order {
            Order::Synchronize => {}
            Order::Rename(person) => self.person = person,
            Order::ShowJobs(shows) => self.shows_jobs = shows,
        }
    }

    /// Waits before the server is tried again, unless the person wants to synchronize at once.
    async fn pause(&mut self, pause: Duration) -> ControlFlow<()> {
        let mut told = None;
        let mut end = std::pin::pin!(sleep(pause));
        loop {
            tokio::select! {
                () = &mut end => return ControlFlow::Continue(()),
                order = self.orders.recv() => match order {
                    None => return ControlFlow::Break(()),
                    Some(order) => {
                        let is_now = order == Order::Synchronize;
                        self.take(order);
                        if is_now {
                            return ControlFlow::Continue(());
                        }
                    }
                },
                () = sleep(COUNT_EVERY) => {
                    let Some(waiting) = self.waiting().await else {
                        continue;
                    };
                    if told.replace(waiting) != Some(waiting)
                        && self.events.send(Event::Waiting(waiting)).await.is_err()
                    {
                        return ControlFlow::Break(());
                    }
                }
            }
        }
    }

    /// Number of changes that are not on the server, if they can be counted.
    async fn waiting(&self) -> Option<i64> {
        self.store.read(|db| db.unsynced_count()).await.ok()
    }
}

#[cfg(test)]
mod tests;
