//! Synchronizes an open project in the background.

use super::sync::Synced;
use super::team::day_began_ms;
use super::watch::{Pauses, Watch, WatchError};
use crate::client::now_ms;
use crate::features::remote::client::{Address, JobStatus, Lease, Participant};
use crate::features::remote::store::Item;
use crate::store::drafts::DecisionSubject;
use crate::store::{Store, StoreError};
use std::ops::ControlFlow;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout};

/// How often to count the changes that wait for a lost server.
const COUNT_EVERY: Duration = Duration::from_secs(2);

/// How often a lease is extended while its item is open.
const EXTEND_EVERY: Duration = Duration::from_secs(60);

/// How long the last changes, and the end of the leases, may each take to reach the server when the
/// project is closed.
const PARTING: Duration = Duration::from_millis(200);

/// The number of slots of an item that everyone is to judge: more than there are people.
pub const EVERYONE: i32 = i32::MAX;

/// What the person wants.
#[derive(Clone, Debug, PartialEq)]
pub enum Order {
    /// Synchronize at once.
    Synchronize,
    /// The person has another name from now on.
    Rename(String),
    /// Whether the jobs of the server are shown.
    ShowJobs(bool),
    /// The person has opened this, or nothing.
    Open(Option<OpenItem>),
}

/// What a person has open to decide on.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenItem {
    pub subject: DecisionSubject,
    /// Number of people who are to judge it, and may have it open at a time.
    pub slots: i32,
    /// Whether one person's decision is enough.
    pub is_alone: bool,
    /// The name of the screen.
    pub place: &'static str,
}

/// What a person has open, as a pair or document of this project, if it is in it.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldItem {
    pub lease: Lease,
    pub subject: Option<DecisionSubject>,
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
    /// What was opened is open at these people, and no more are wanted. Without people, others have
    /// judged it whose judgments may not be read yet.
    Taken(DecisionSubject, Vec<Lease>),
    /// This person has decided on what was opened since then.
    Decided(DecisionSubject, String),
}

/// The state of the project on the server.
#[derive(Debug, Default)]
pub struct Look {
    /// Number of changes that are not on the server yet.
    pub waiting: i64,
    /// Everyone who has taken part, the latest first.
    pub people: Vec<Participant>,
    /// What people have open, the oldest first.
    pub leases: Vec<HeldItem>,
    /// The jobs of the server, if they are shown and the person may read them.
    pub jobs: Option<Vec<JobStatus>>,
    /// What was exchanged, if there was anything new.
    pub synced: Option<Synced>,
    /// When the day began, in milliseconds since the Unix epoch.
    pub day_began_ms: i64,
}

/// A lease that the server was asked for.
#[derive(Debug)]
struct AskedLease {
    item: Item,
    /// When it was asked for or extended.
    since: Instant,
    /// Whether someone else had decided on it before, or everyone is to decide on it.
    was_decided: bool,
}

/// The synchronization of an open project.
pub struct Background {
    store: Store,
    url: Address,
    person: String,
    shows_jobs: bool,
    /// What the person has open.
    open: Option<OpenItem>,
    /// The lease of it, once the server was asked.
    asked: Option<AskedLease>,
    /// Whether the server may have leases of what is not open any more.
    has_left: bool,
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
            open: None,
            asked: None,
            has_left: true,
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
        // Leases of an earlier connection may have expired.
        (self.asked, self.has_left) = (None, true);
        loop {
            self.lease(&watch).await?;
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
                    Some(order) => {
                        self.take(order);
                        while let Ok(order) = self.orders.try_recv() {
                            self.take(order);
                        }
                    }
                    None => {
                        // What is not sent in time waits in the project, and leases expire.
                        self.part(watch).await;
                        return Ok(());
                    }
                },
                waited = watch.wait(&self.store) => waited?,
            }
        }
    }

    /// Sends the last changes and ends the leases, as far as the server answers in time.
    async fn part(&self, mut watch: Watch) {
        let mut tell = |_| {};
        let exchange = watch.exchange(&self.store, &self.person, &mut tell);
        drop(timeout(PARTING, exchange).await);
        drop(timeout(PARTING, watch.release(&self.person, None)).await);
    }

    /// Leases what is open, or extends the lease.
    async fn lease(&mut self, watch: &Watch) -> Result<(), WatchError> {
        let Some(open) = self.open.clone() else {
            return Ok(());
        };
        let is_fresh = |asked: &AskedLease| asked.since.elapsed() < EXTEND_EVERY;
        if self.asked.as_ref().is_some_and(is_fresh) {
            return Ok(());
        }
        let (subject, person) = (open.subject.clone(), self.person.clone());
        let found = self.store.read(move |db| {
            let Some(item) = db.shared_item(&subject)?.filter(Item::is_storable) else {
                return Ok(None);
            };
            let (decided, is_gold) = (db.judged_by(&subject, &person)?, db.is_gold(&subject)?);
            Ok(Some((item, decided, is_gold, db.judgment_reader()?)))
        });
        let Some((item, decided, is_gold, reader)) = found.await? else {
            return Ok(());
        };
        let slots = if is_gold { EVERYONE } else { open.slots };
        let held = watch.lease(&item, slots, &self.person, open.place).await?;
        let was_decided = match self.asked.take() {
            Some(asked) => asked.was_decided,
            None => {
                if !held {
                    let leases = watch.leases().await?.into_iter();
                    let others = leases.filter(|lease| {
                        lease.query == item.query
                            && lease.documents == item.documents
                            && lease.person != self.person
                    });
                    let others: Vec<Lease> = others.collect();
                    // For whoever reads all judgments, nothing but a lease counts, and that has just
                    // ended.
                    if !others.is_empty() || reader.is_some() {
                        self.tell(Event::Taken(open.subject, others)).await;
                    }
                }
                decided.is_some() || is_gold
            }
        };
        self.asked = Some(AskedLease {
            item,
            since: Instant::now(),
            was_decided,
        });
        Ok(())
    }

    /// Tells who has decided in the meantime on what is open, if one decision is enough.
    async fn tell_decided(&mut self) -> Result<(), WatchError> {
        let (Some(open), Some(asked)) = (&self.open, &mut self.asked) else {
            return Ok(());
        };
        if asked.was_decided || !open.is_alone {
            return Ok(());
        }
        let (subject, person) = (open.subject.clone(), self.person.clone());
        let decided = self.store.read(move |db| db.judged_by(&subject, &person));
        if let Some(by) = decided.await? {
            asked.was_decided = true;
            let subject = open.subject.clone();
            self.tell(Event::Decided(subject, by)).await;
        }
        Ok(())
    }

    async fn tell(&self, event: Event) {
        // If nobody listens any more, the next order is the last one.
        drop(self.events.send(event).await);
    }

    async fn look(&mut self, watch: &mut Watch) -> Result<Look, WatchError> {
        // A lease ends after the decision was sent. So, if the leases are read first, the decision
        // on an item that is not among them has arrived too.
        let leases = watch.leases().await?;
        let synced = watch
            .exchange(&self.store, &self.person, &mut |_| {})
            .await?;
        if self.has_left {
            let item = self.asked.as_ref().map(|asked| &asked.item);
            watch.release(&self.person, item).await?;
            self.has_left = false;
        }
        if synced.is_some() {
            self.tell_decided().await?;
        }
        let leases = self.store.read(|db| {
            let held = leases.into_iter().map(|lease| {
                let subject = db.subject_of(&lease.query, &lease.documents)?;
                Ok(HeldItem { lease, subject })
            });
            held.collect::<Result<Vec<_>, StoreError>>()
        });
        let leases = leases.await?;
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
            leases,
            jobs,
            synced,
            day_began_ms: day_began_ms(now_ms()),
        })
    }

    fn take(&mut self, order: Order) {
        match order {
            Order::Synchronize => {}
            Order::Rename(person) => {
                self.person = person;
                // The lease is under the old name.
                (self.asked, self.has_left) = (None, true);
            }
            Order::ShowJobs(shows) => self.shows_jobs = shows,
            Order::Open(open) => {
                self.open = open;
                self.has_left |= self.asked.take().is_some();
            }
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
