//! Tests of open projects: see `tests/service/remote.rs` for those on a real server.

use super::*;
use crate::app::project::{Sample, open_sample};
use crate::config::Config;
use crate::domain::battle::Pair;
use crate::domain::verdict::{Decision, GoldItem};
use crate::features::remote::app::sync::share;
use crate::features::remote::client::{Cursor, Server};
use crate::features::remote::store::Shared;
use crate::store::Db;
use crate::store::corpus::QueryKey;
use crate::store::verdicts::NewVerdict;
use tempfile::TempDir;
use tokio::task::JoinHandle;
use uuid::Uuid;

/// A copy of a project that is open.
struct Desk {
    store: Store,
    orders: mpsc::UnboundedSender<Order>,
    events: mpsc::Receiver<Event>,
    task: JoinHandle<()>,
}

impl Desk {
    fn open(store: Store, url: &str, person: &str) -> Self {
        let (orders, taken) = mpsc::unbounded_channel();
        let (told, events) = mpsc::channel(64);
        let url = Address::parse(url).unwrap();
        let background = Background::new(store.clone(), url, person.to_owned(), taken, told);
        let task = tokio::spawn(background.run());
        Self {
            store,
            orders,
            events,
            task,
        }
    }

    /// Waits for an event.
    async fn until<T>(&mut self, mut wanted: impl FnMut(Event) -> Option<T>) -> T {
        let found = async {
            loop {
                let event = self.events.recv().await.unwrap();
                if let Some(found) = wanted(event) {
                    return found;
                }
            }
        };
        timeout(Duration::from_secs(60), found).await.unwrap()
    }

    /// Waits until the server is found to be in a state.
    async fn until_look(&mut self, mut wanted: impl FnMut(&Look) -> bool) {
        self.until(|event| match event {
            Event::Looked(look) => wanted(&look).then_some(()),
            _ => None,
        })
        .await;
    }

    async fn judge(&self, b: usize, person: &'static str) {
        let verdict = NewVerdict {
            created_ms: 1,
            ..NewVerdict::open(QueryKey(1), 0, b, Decision::A, person)
        };
        let given = self.store.write(move |db| db.add_verdict(&verdict));
        given.await.unwrap();
    }

    async fn close(self) {
        drop(self.orders);
        self.task.await.unwrap();
    }
}

async fn sample(folder: &TempDir, name: &str) -> Store {
    let path = folder.path().join(name);
    let opened = move || open_sample(&path, &Config::default(), Sample::Scifact);
    let opened = tokio::task::spawn_blocking(opened).await;
    opened.unwrap().unwrap()
}

/// Two copies of a project on the test server; `None` without one.
async fn team(folder: &TempDir) -> Option<(String, [Store; 2])> {
    let url = std::env::var("OVERRULE_TEST_POSTGRES").ok()?;
    let mut server = Server::connect(&Address::parse(&url).unwrap())
        .await
        .unwrap();
    server.prepare().await.unwrap();
    let name = Uuid::now_v7().to_string();
    let copies = [sample(folder, "a.db").await, sample(folder, "b.db").await];
    for copy in &copies {
        share(&server, copy, &name).await.unwrap();
    }
    Some((url, copies))
}

fn verdicts_received(event: Event) -> Option<usize> {
    match event {
        Event::Looked(look) => {
            let verdicts = look.synced?.received.verdicts;
            (verdicts > 0).then_some(verdicts)
        }
        _ => None,
    }
}

#[tokio::test]
async fn without_the_server_changes_are_counted_and_closing_does_not_wait() {
    let folder = tempfile::tempdir().unwrap();
    let store = sample(&folder, "a.db").await;
    let shared = Shared {
        project: Uuid::now_v7(),
        copy: Uuid::now_v7(),
        file: None,
        reached: Cursor::start().0,
        reader: None,
    };
    store.write(move |db| db.share(&shared)).await.unwrap();
    let all = store.read(|db| db.unsynced_count()).await.unwrap();
    let mut desk = Desk::open(store, "postgres://ada@127.0.0.1:1/search", "ada");
    let lost = desk.until(|event| match event {
        Event::Lost {
            is_temporary,
            waiting,
            ..
        } => Some((is_temporary, waiting)),
        _ => None,
    });
    assert_eq!(lost.await, (true, Some(all)));
    desk.judge(1, "ada").await;
    let waiting = desk.until(|event| match event {
        Event::Waiting(waiting) => Some(waiting),
        _ => None,
    });
    // The query has changed too, which was counted before.
    assert_eq!(waiting.await, all + 1);
    desk.close().await;
}

#[tokio::test]
async fn a_verdict_reaches_the_others_at_once_and_also_the_last_one() {
    let folder = tempfile::tempdir().unwrap();
    let Some((url, [a, b])) = team(&folder).await else {
        return;
    };
    let mut ada = Desk::open(a, &url, "ada");
    ada.until_look(|look| look.waiting == 0).await;
    let mut bob = Desk::open(b, &url, "bob");
    bob.until_look(|look| look.people.len() == 2 && look.waiting == 0)
        .await;
    bob.judge(1, "bob").await;
    assert_eq!(ada.until(verdicts_received).await, 1);
    bob.judge(2, "bob").await;
    bob.close().await;
    assert_eq!(ada.until(verdicts_received).await, 1);
    ada.close().await;
}

fn names(leases: &[HeldItem]) -> Vec<&str> {
    leases.iter().map(|held| &*held.lease.person).collect()
}

fn first_pair() -> Option<DecisionSubject> {
    Pair::new(0, 1).map(|pair| DecisionSubject::Pair(QueryKey(1), pair))
}

fn opened(subject: Option<DecisionSubject>) -> Order {
    Order::Open(subject.map(|subject| OpenItem {
        subject,
        slots: 1,
        is_alone: true,
        place: "review",
    }))
}

#[tokio::test]
async fn a_gold_pair_is_for_everyone() {
    let folder = tempfile::tempdir().unwrap();
    let Some((url, copies)) = team(&folder).await else {
        return;
    };
    for copy in &copies {
        let add = |db: &mut Db| {
            let item = GoldItem {
                a: 0,
                b: 1,
                decision: Decision::A,
                note: None,
            };
            db.add_gold(QueryKey(1), &item, false)
        };
        copy.write(add).await.unwrap();
    }
    let [a, b] = copies;
    let (mut ada, mut bob) = (Desk::open(a, &url, "ada"), Desk::open(b, &url, "bob"));
    ada.orders.send(opened(first_pair())).unwrap();
    ada.until_look(|look| names(&look.leases) == ["ada"]).await;
    bob.orders.send(opened(first_pair())).unwrap();
    bob.until(|event| match event {
        Event::Taken(..) => panic!("nobody is to be kept from it"),
        Event::Looked(look) => (names(&look.leases) == ["ada", "bob"]).then_some(()),
        _ => None,
    })
    .await;
    ada.close().await;
    bob.close().await;
}

#[tokio::test]
async fn what_is_open_is_told_to_the_others_until_the_verdict_has_arrived() {
    let folder = tempfile::tempdir().unwrap();
    let Some((url, [a, b])) = team(&folder).await else {
        return;
    };
    let pair = first_pair();
    let open = opened(pair.clone());
    let mut ada = Desk::open(a, &url, "ada");
    ada.until_look(|look| look.waiting == 0).await;
    let mut bob = Desk::open(b, &url, "bob");
    bob.until_look(|look| look.waiting == 0).await;
    ada.orders.send(open.clone()).unwrap();
    bob.until_look(|look| names(&look.leases) == ["ada"] && look.leases[0].subject == pair)
        .await;
    bob.orders.send(open.clone()).unwrap();
    let taken = bob.until(|event| match event {
        Event::Taken(subject, by) => Some((Some(subject), by)),
        _ => None,
    });
    let (subject, by) = taken.await;
    assert_eq!((subject, &*by[0].person), (pair.clone(), "ada"));

    ada.judge(1, "ada").await;
    ada.orders.send(Order::Open(None)).unwrap();
    let mut is_decided = false;
    let ended = bob.until(|event| match event {
        Event::Decided(subject, by) => {
            is_decided = Some(subject) == pair && by == "ada";
            None
        }
        Event::Looked(look) => look.leases.is_empty().then_some(()),
        _ => None,
    });
    ended.await;
    assert!(is_decided);

    // A second opinion can be given, and a program that is closed has nothing open.
    bob.orders.send(Order::Open(None)).unwrap();
    bob.orders.send(open).unwrap();
    ada.until_look(|look| names(&look.leases) == ["bob"]).await;
    bob.judge(1, "bob").await;
    bob.close().await;
    let mut received = 0;
    ada.until(|event| {
        let Event::Looked(look) = event else {
            return None;
        };
        let synced = look.synced.as_ref();
        received += synced.map_or(0, |synced| synced.received.verdicts);
        look.leases.is_empty().then_some(())
    })
    .await;
    assert_eq!(received, 1);
    ada.close().await;
}
