//! Tests on a real server: see `tests/service/remote.rs`.

use super::{
    Address, Cursor, Job, Judgment, Lessee, NewUnit, Seat, Server, ServerError, SharedProject,
    State, Unit, WorkerReport,
};
use crate::features::remote::store::Item;
use crate::store::merge::Piece;
use std::collections::HashSet;
use std::slice;
use std::time::Duration;
use uuid::Uuid;

fn address() -> Option<Address> {
    let url = std::env::var("OVERRULE_TEST_POSTGRES").ok()?;
    Some(Address::parse(&url).unwrap())
}

async fn server(address: &Address) -> Server {
    let mut server = Server::connect(address).await.unwrap();
    server.prepare().await.unwrap();
    server.check().await.unwrap();
    server
}

/// A new job with this many units.
async fn job(server: &mut Server, units: usize, budget: Option<i64>) -> Job {
    let name = Uuid::now_v7().to_string();
    let units: Vec<NewUnit> = (0..units)
        .map(|at| NewUnit {
            part: Some(0),
            ..NewUnit::whole(format!("q{at}"))
        })
        .collect();
    server
        .create_job(&name, "{}", budget, &units)
        .await
        .unwrap();
    server.job(&name).await.unwrap().unwrap()
}

async fn worker(server: &Server, job: &Job) -> Seat {
    let joined = server.join(job, Uuid::now_v7(), "test").await;
    joined.unwrap().0
}

fn piece(bytes: &[u8]) -> Piece {
    Piece {
        votes: 1,
        failures: 0,
        bytes: bytes.to_vec(),
    }
}

#[tokio::test]
async fn a_unit_is_leased_to_one_worker_until_its_lease_expires() {
    let Some(address) = address() else { return };
    let mut server = server(&address).await;
    let job = job(&mut server, 40, None).await;
    let mut workers = Vec::new();
    for _ in 0..8 {
        let own = Server::connect(&address).await.unwrap();
        workers.push((own, worker(&server, &job).await));
    }
    let leased = workers
        .iter()
        .map(|(server, seat)| async { server.lease(seat, 600.0, 4, &[]).await.unwrap() });
    let leased: Vec<_> = futures::future::join_all(leased).await;
    assert!(leased.iter().all(|units| units.len() == 4));
    let ids: HashSet<i32> = leased.iter().flatten().map(|unit| unit.id).collect();
    assert_eq!(ids.len(), 32);

    let late = worker(&server, &job).await;
    let rest = server.lease(&late, -1.0, 100, &[]).await.unwrap();
    assert_eq!(rest.len(), 8);
    // Expired at once, so another worker gets them, and this one no longer has them.
    let other = worker(&server, &job).await;
    assert_eq!(server.lease(&other, 600.0, 100, &[]).await.unwrap(), rest);
    assert_eq!(server.renew(&late, 600.0).await.unwrap(), []);
    assert_eq!(server.renew(&other, 600.0).await.unwrap(), rest);
    // A worker that leaves frees its units.
    server.leave(&other).await.unwrap();
    assert_eq!(server.lease(&late, 600.0, 100, &[]).await.unwrap(), rest);
    assert_eq!(server.unfinished(&job).await.unwrap(), 40);
}

#[tokio::test]
async fn a_unit_that_two_workers_have_put_aside_keeps_neither_waiting() {
    let Some(address) = address() else { return };
    let mut server = server(&address).await;
    let job = job(&mut server, 2, None).await;
    let seats = [worker(&server, &job).await, worker(&server, &job).await];
    let mut aside = [Vec::new(), Vec::new()];
    for _ in 0..2 {
        for (seat, aside) in seats.iter().zip(&mut aside) {
            let units = server.lease(seat, 600.0, 1, aside).await.unwrap();
            let [unit] = &units[..] else {
                panic!("{units:?}");
            };
            aside.push(unit.id);
        }
        for (seat, aside) in seats.iter().zip(&aside) {
            server.give_back(seat, aside).await.unwrap();
        }
    }
    for (seat, aside) in seats.iter().zip(&aside) {
        assert_eq!(server.lease(seat, 600.0, 9, aside).await.unwrap(), []);
        assert_eq!(server.renew(seat, 600.0).await.unwrap(), []);
        let rest = server.rest(&job, aside).await.unwrap();
        assert_eq!((rest.unfinished, rest.not_aside), (2, 0));
    }
    // A unit of another worker is not given back.
    let late = worker(&server, &job).await;
    let leased = server.lease(&late, 600.0, 9, &[]).await.unwrap();
    assert_eq!(leased.len(), 2);
    server.give_back(&seats[0], &aside[0]).await.unwrap();
    assert_eq!(server.renew(&late, 600.0).await.unwrap(), leased);
}

#[tokio::test]
async fn only_one_process_works_as_a_worker() {
    let Some(address) = address() else { return };
    let mut server = server(&address).await;
    let job = job(&mut server, 2, Some(100)).await;
    let first = worker(&server, &job).await;
    assert_eq!(server.lease(&first, 600.0, 1, &[]).await.unwrap().len(), 1);
    let (second, _) = server.join(&job, first.worker, "copy").await.unwrap();
    let is_replaced = |error| matches!(error, ServerError::Replaced(_));
    assert!(server.renew(&first, 600.0).await.is_err_and(is_replaced));
    assert!(server.reserve(&first, 1).await.is_err_and(is_replaced));
    let report = WorkerReport::default();
    let pushed = server
        .push(&first, &[(1, piece(b"x"))], &[1], report, 60.0)
        .await;
    assert!(pushed.is_err_and(is_replaced));
    assert_eq!(server.lease(&first, 600.0, 9, &[]).await.unwrap(), []);
    server.give_back(&first, &[1, 2]).await.unwrap();
    assert!(server.leave(&first).await.is_err_and(is_replaced));
    assert_eq!(server.renew(&second, 600.0).await.unwrap().len(), 1);
    // A worker that was released cannot go on.
    assert_eq!(server.reserve(&second, 70).await.unwrap(), 70);
    let released = server.release(job.id, second.worker).await.unwrap();
    assert_eq!(released, (70, 1));
    assert!(server.renew(&second, 600.0).await.is_err_and(is_replaced));
}

/// A new job in rounds with one query.
async fn job_in_rounds(server: &mut Server) -> Job {
    let name = Uuid::now_v7().to_string();
    let unit = NewUnit::first_round("q".to_owned());
    server.create_job(&name, "{}", None, &[unit]).await.unwrap();
    server.job(&name).await.unwrap().unwrap()
}

/// Stores a planned round.
async fn add_round(
    (server, seat): (&mut Server, &Seat),
    unit: &Unit,
    text: &str,
    parts: i32,
) -> bool {
    let (round, plan) = (unit.round.unwrap(), piece(text.as_bytes()));
    let added = server.add_round(seat, unit, round, &plan, parts);
    added.await.unwrap()
}

#[tokio::test]
async fn a_job_about_whole_queries_ends_without_rounds() {
    let Some(address) = address() else { return };
    let mut server = server(&address).await;
    let name = Uuid::now_v7().to_string();
    // Longer than an index of PostgreSQL allows.
    let queries = ["q".to_owned(), "long ".repeat(2_000)];
    let units = queries.map(NewUnit::whole);
    server.create_job(&name, "{}", None, &units).await.unwrap();
    let job = server.job(&name).await.unwrap().unwrap();
    let (seat, _) = server.join(&job, Uuid::now_v7(), "w").await.unwrap();
    let units = server.lease(&seat, 60.0, 9, &[]).await.unwrap();
    let done: Vec<i32> = units.iter().map(|unit| unit.id).collect();
    let pushed = server.push(&seat, &[], &done, WorkerReport::default(), 60.0);
    assert_eq!(pushed.await.unwrap(), []);
    assert_eq!(server.unfinished(&job).await.unwrap(), 0);
}

#[tokio::test]
async fn the_last_of_many_workers_plans_the_next_round_once() {
    let Some(address) = address() else { return };
    let mut server = server(&address).await;
    let job = job_in_rounds(&mut server).await;
    let seat = worker(&server, &job).await;
    let mut workers = Vec::new();
    for _ in 0..8 {
        let own = Server::connect(&address).await.unwrap();
        workers.push((own, worker(&server, &job).await));
    }
    let mut planning = server.lease(&seat, 600.0, 9, &[]).await.unwrap();
    for round in 0..6 {
        let [unit] = &planning[..] else {
            panic!("{planning:?}");
        };
        assert!(unit.is_planning() && unit.round == Some(round));
        assert!(add_round((&mut server, &seat), unit, "plan", 16).await);
        let ended = workers.iter_mut().map(|(server, seat)| async {
            let mut next = Vec::new();
            for _ in 0..2 {
                let units = server.lease(seat, 600.0, 1, &[]).await.unwrap();
                assert_eq!(units[0].round, Some(round));
                let report = WorkerReport::default();
                let done = [units[0].id];
                let pushed = server.push(seat, &[], &done, report, -1.0).await;
                next.extend(pushed.unwrap());
            }
            next
        });
        // Exactly one of them. Its lease expires at once, so that another worker plans the round.
        let ended: Vec<_> = futures::future::join_all(ended).await.concat();
        planning = server.lease(&seat, 600.0, 9, &[]).await.unwrap();
        assert_eq!(ended, planning);
        assert_eq!(server.unfinished(&job).await.unwrap(), 1);
    }
    // A worker that was too late plans nothing.
    let unit = &planning[0];
    let (other, late) = &mut workers[0];
    assert!(!add_round((other, late), unit, "late", 3).await);
    let status = server.status().await.unwrap();
    let status = status
        .iter()
        .find(|one| one.workers.iter().any(|of| of.id == seat.worker));
    let status = status.unwrap();
    assert_eq!((status.done, status.open_rounds), (6 * 16, 1));
    // Without further units, the query is done.
    assert!(add_round((&mut server, &seat), unit, "", 0).await);
    assert_eq!(server.unfinished(&job).await.unwrap(), 0);
    assert_eq!(
        server.lease(&late.clone(), 600.0, 9, &[]).await.unwrap(),
        []
    );
}

#[tokio::test]
async fn whoever_works_on_a_round_gets_its_plan_and_the_planner_all_answers() {
    let Some(address) = address() else { return };
    let mut server = server(&address).await;
    let job = job_in_rounds(&mut server).await;
    let (one, two) = (worker(&server, &job).await, worker(&server, &job).await);
    let bodies = |pieces: Vec<super::StoredPiece>| -> Vec<(Vec<u8>, bool)> {
        let pieces = pieces.into_iter();
        pieces.map(|piece| (piece.body, piece.has_rounds)).collect()
    };
    let [first] = &server.lease(&one, 600.0, 9, &[]).await.unwrap()[..] else {
        panic!("a job in rounds begins with planning");
    };
    assert!(add_round((&mut server, &one), first, "plan 0", 2).await);
    let mine = server
        .lease(&one, 600.0, 1, &[])
        .await
        .unwrap()
        .remove(0)
        .id;
    let theirs = server
        .lease(&two, 600.0, 1, &[])
        .await
        .unwrap()
        .remove(0)
        .id;
    let plan = (b"plan 0".to_vec(), true);
    for (seat, unit) in [(&one, mine), (&two, theirs)] {
        let pieces = server.pieces_of_others(seat, &[unit]).await.unwrap();
        assert_eq!(bodies(pieces), slice::from_ref(&plan));
    }
    let report = WorkerReport::default();
    let pieces = [(theirs, piece(b"theirs"))];
    server
        .push(&two, &pieces, &[theirs], report, 600.0)
        .await
        .unwrap();
    let pieces = [(mine, piece(b"mine"))];
    let next = server.push(&one, &pieces, &[mine], report, 600.0).await;
    let next = next.unwrap();
    let all = server.pieces_of_rounds(&one, "q", 0).await.unwrap();
    let answers = [b"theirs".to_vec(), b"mine".to_vec()].map(|body| (body, false));
    assert_eq!(bodies(all), [&[plan][..], &answers].concat());
    assert!(add_round((&mut server, &one), &next[0], "plan 1", 1).await);
    let unit = server
        .lease(&two, 600.0, 1, &[])
        .await
        .unwrap()
        .remove(0)
        .id;
    let pieces = server.pieces_of_others(&two, &[unit]).await.unwrap();
    let plan = (b"plan 1".to_vec(), true);
    assert_eq!(bodies(pieces), slice::from_ref(&plan));
    let later = server.pieces_of_rounds(&two, "q", 1).await.unwrap();
    assert_eq!(bodies(later), [plan]);
}

#[tokio::test]
async fn reservations_never_exceed_the_budget() {
    let Some(address) = address() else { return };
    let mut server = server(&address).await;
    let job = job(&mut server, 1, Some(1_000)).await;
    let mut workers = Vec::new();
    for _ in 0..8 {
        let seat = worker(&server, &job).await;
        workers.push((Server::connect(&address).await.unwrap(), seat));
    }
    let reserved = workers.iter_mut().map(|(server, seat)| async {
        let mut sum = 0;
        for _ in 0..5 {
            sum += server.reserve(seat, 70).await.unwrap();
        }
        sum
    });
    let reserved: Vec<i64> = futures::future::join_all(reserved).await;
    assert_eq!(reserved.iter().sum::<i64>(), 1_000);
    // Which worker gets how much depends on their speed.
    let (at, most) = (0..8)
        .map(|at| (at, reserved[at]))
        .max_by_key(|(_, usd)| *usd)
        .unwrap();
    let (rich, seat) = &mut workers[at];
    assert_eq!(rich.reserve(seat, 1).await.unwrap(), 0);
    assert!(!server.set_budget(&job, Some(999)).await.unwrap());
    // The money that a worker has not spent is returned when it ends.
    let report = WorkerReport {
        spent: 30,
        ..WorkerReport::default()
    };
    rich.push(seat, &[], &[], report, 60.0).await.unwrap();
    rich.leave(seat).await.unwrap();
    let next = worker(&server, &job).await;
    let granted = server.reserve(&next, 1_000).await.unwrap();
    assert_eq!(granted, most - 30);
    assert!(server.set_budget(&job, None).await.unwrap());
    assert!(!server.set_budget(&job, Some(5_000)).await.unwrap());
}

#[tokio::test]
async fn a_piece_that_commits_late_is_not_skipped() {
    let Some(address) = address() else { return };
    let mut server = server(&address).await;
    let job = job(&mut server, 2, None).await;
    let (early, late) = (worker(&server, &job).await, worker(&server, &job).await);
    let mut slow = Server::connect(&address).await.unwrap();
    let open = slow.client.transaction().await.unwrap();
    open.execute(
        "INSERT INTO overrule.piece (job, unit, worker, votes, failures, body)
         VALUES ($1, 1, $2, 1, 0, 'late')",
        &[&job.id, &late.worker],
    )
    .await
    .unwrap();
    let pieces = [(2, piece(b"early"))];
    let report = WorkerReport::default();
    server
        .push(&early, &pieces, &[2], report, 60.0)
        .await
        .unwrap();

    let start = Cursor::start();
    let before = server.horizon().await.unwrap();
    let first = server.pieces(&job, (&start, &before), None, 10).await;
    // The later transaction has committed, and waits for the earlier one.
    assert_eq!(first.unwrap(), []);
    open.commit().await.unwrap();
    let (both, reached) = read(&server, &job, &before, 2).await;
    assert_eq!(both, [b"late".as_slice(), b"early"]);
    // A piece without new answers keeps its place.
    server
        .push(&early, &pieces, &[2], report, 60.0)
        .await
        .unwrap();
    let longer = Piece {
        votes: 2,
        ..piece(b"longer")
    };
    let pieces = [(2, longer)];
    server
        .push(&early, &pieces, &[2], report, 60.0)
        .await
        .unwrap();
    let (changed, _) = read(&server, &job, &reached, 1).await;
    assert_eq!(changed, [b"longer"]);
    assert_eq!(server.unfinished(&job).await.unwrap(), 1);
}

/// Reads pieces one by one until there are this many, since transactions of other tests may hold
/// them back.
async fn read(server: &Server, job: &Job, start: &Cursor, pieces: usize) -> (Vec<Vec<u8>>, Cursor) {
    for _ in 0..10_000 {
        let before = server.horizon().await.unwrap();
        let mut found = Vec::new();
        let mut after = None;
        loop {
            let page = server
                .pieces(job, (start, &before), after.as_ref(), 1)
                .await;
            let Some(one) = page.unwrap().pop() else {
                break;
            };
            found.push(one.body.clone());
            after = Some(one);
        }
        if found.len() == pieces {
            return (found, before);
        }
    }
    panic!("pieces are held back for too long");
}

/// A new shared project.
async fn project(server: &Server) -> SharedProject {
    server.share(&Uuid::now_v7().to_string()).await.unwrap()
}

fn judgment() -> Judgment {
    Judgment {
        uid: Uuid::now_v7().to_string(),
        kind: "verdict".to_owned(),
        person: "lee".to_owned(),
        query: "q".to_owned(),
        item: b"item".to_vec(),
        form: 1,
        body: b"body".to_vec(),
    }
}

/// Whether a connection is told about a change within a while.
async fn is_told(listener: &mut Server, project: &SharedProject, within: Duration) -> bool {
    let noticed = listener.noticed(project);
    tokio::time::timeout(within, noticed).await.is_ok()
}

#[tokio::test]
async fn others_are_told_about_new_rows_at_once_and_the_writer_is_not() {
    let Some(address) = address() else { return };
    let (mut here, mut there) = (server(&address).await, server(&address).await);
    let (mine, other) = (project(&here).await, project(&here).await);
    for listener in [&mut here, &mut there] {
        listener.listen().await.unwrap();
    }
    let (soon, never) = (Duration::from_secs(10), Duration::from_millis(50));
    let copy = Uuid::now_v7();
    for about in [&other, &mine] {
        here.store_judgments(about, copy, &[judgment(), judgment()])
            .await
            .unwrap();
    }
    assert!(is_told(&mut there, &mine, soon).await);
    assert!(!is_told(&mut there, &mine, never).await, "told once");
    assert!(!is_told(&mut here, &mine, never).await, "its own rows");
    let state = State {
        kind: "query".to_owned(),
        subject: "q".to_owned(),
        version: 0,
        place: 1,
        body: b"body".to_vec(),
    };
    here.store_states(&mine, copy, &[state]).await.unwrap();
    assert!(is_told(&mut there, &mine, soon).await);
}

fn item(name: &str) -> Item {
    Item {
        hash: name.as_bytes().to_vec(),
        query: "q".to_owned(),
        documents: vec!["d1".to_owned(), name.to_owned()],
    }
}

/// A person with a copy of the project.
#[derive(Clone)]
struct Person(&'static str, Uuid);

impl Person {
    fn new(name: &'static str) -> Self {
        Self(name, Uuid::now_v7())
    }

    fn lessee(&self) -> Lessee<'_> {
        Lessee {
            copy: self.1,
            person: self.0,
        }
    }

    async fn leases(&self, server: &Server, of: &SharedProject, item: &Item, slots: i32) -> bool {
        server
            .lease_item(of, item, slots, self.lessee(), "review")
            .await
            .unwrap()
    }
}

/// The names of those who have leases.
async fn holders(server: &Server, project: &SharedProject) -> Vec<String> {
    let leases = server.leases(project).await.unwrap();
    leases.into_iter().map(|lease| lease.person).collect()
}

#[tokio::test]
async fn an_item_is_leased_to_one_person_until_the_lease_ends_or_expires() {
    let Some(address) = address() else { return };
    let server = server(&address).await;
    let project = project(&server).await;
    let (ada, bob) = (Person::new("ada"), Person::new("bob"));
    let (first, second) = (item("x"), item("y"));
    assert!(ada.leases(&server, &project, &first, 1).await);
    assert!(!bob.leases(&server, &project, &first, 1).await);
    // The own lease is extended, from another copy too.
    assert!(ada.leases(&server, &project, &first, 1).await);
    assert!(
        Person::new("ada")
            .leases(&server, &project, &first, 1)
            .await
    );
    assert_eq!(holders(&server, &project).await, ["ada"]);
    assert!(bob.leases(&server, &project, &second, 1).await);
    // The lease of a program that has died expires, whoever held it.
    let expire = "UPDATE overrule.lease SET until = now() - interval '1 second' WHERE item = $1";
    server.client.execute(expire, &[&first.hash]).await.unwrap();
    assert_eq!(holders(&server, &project).await, ["bob"]);
    assert!(bob.leases(&server, &project, &first, 1).await);
    assert!(!ada.leases(&server, &project, &first, 1).await);
    // Another item is opened: the first one is free.
    let except = Some(&second);
    server
        .release_items(&project, bob.lessee(), except)
        .await
        .unwrap();
    assert!(ada.leases(&server, &project, &first, 1).await);
    server
        .release_items(&project, ada.lessee(), None)
        .await
        .unwrap();
    assert_eq!(holders(&server, &project).await, ["bob"]);
}

#[tokio::test]
async fn a_lease_ends_with_the_last_copy_in_which_the_person_has_the_item_open() {
    let Some(address) = address() else { return };
    let server = server(&address).await;
    let project = project(&server).await;
    let (desk, laptop, bob) = (Person::new("ada"), Person::new("ada"), Person::new("bob"));
    let item = item("x");
    for copy in [&desk, &laptop] {
        assert!(copy.leases(&server, &project, &item, 1).await);
    }
    let close = async |copy: &Person| {
        let closed = server.release_items(&project, copy.lessee(), None);
        closed.await.unwrap();
    };
    close(&laptop).await;
    assert_eq!(holders(&server, &project).await, ["ada"]);
    assert!(!bob.leases(&server, &project, &item, 1).await);
    close(&desk).await;
    assert!(bob.leases(&server, &project, &item, 1).await);
}

#[tokio::test]
async fn as_many_people_as_slots_get_an_item_at_the_same_time() {
    const PEOPLE: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let Some(address) = address() else { return };
    let mut servers = Vec::new();
    for _ in PEOPLE {
        servers.push(server(&address).await);
    }
    let project = project(&servers[0]).await;
    for slots in 1..=3 {
        let item = item(&slots.to_string());
        let people = PEOPLE.map(Person::new);
        let asked = servers
            .iter()
            .zip(&people)
            .map(|(server, person)| person.leases(server, &project, &item, slots));
        let held = futures::future::join_all(asked).await;
        let held = held.into_iter().filter(|held| *held).count();
        assert_eq!(held, slots as usize);
    }
}

#[tokio::test]
async fn leases_are_told_to_the_others() {
    let Some(address) = address() else { return };
    let (here, mut there) = (server(&address).await, server(&address).await);
    let project = project(&here).await;
    there.listen().await.unwrap();
    let (soon, never) = (Duration::from_secs(10), Duration::from_millis(50));
    let ada = Person::new("ada");
    assert!(ada.leases(&here, &project, &item("x"), 1).await);
    assert!(is_told(&mut there, &project, soon).await);
    assert!(ada.leases(&here, &project, &item("x"), 1).await);
    assert!(!is_told(&mut there, &project, never).await, "an extension");
    here.release_items(&project, ada.lessee(), None)
        .await
        .unwrap();
    assert!(is_told(&mut there, &project, soon).await);
}
