//! The team and the header of a shared project, at three sizes.

use crate::domain::corpus::DocId;
use crate::domain::priority::DrawReason;
use crate::domain::verdict::Decision;
use crate::features::remote::app::background::{EVERYONE, Event, HeldItem, Look, Order};
use crate::features::remote::app::team::day_began_ms;
use crate::features::remote::client::{JobStatus, Lease, Participant, WorkerStatus};
use crate::features::remote::screen::state::happened;
use crate::store::corpus::QueryKey;
use crate::store::verdicts::NewVerdict;
use crate::suites::screens::bench::{Bench, styled};
use crate::suites::screens::{SIZES, name, snapshot};
use crate::tui::message::Msg;
use crate::tui::model::{Model, Subject};
use crate::tui::screens::Screen;
use std::time::Duration;
use tokio::sync::mpsc;
use uuid::Uuid;

/// A lease of a pair or document of the project.
fn held(person: &str, subject: Subject) -> HeldItem {
    HeldItem {
        lease: Lease {
            person: person.to_owned(),
            query: "scifact-641".to_owned(),
            documents: Vec::new(),
            place: "review".to_owned(),
            held_s: 130.0,
        },
        subject: Some(subject),
    }
}

/// A judged project in which three people gave verdicts.
fn judged(columns: u16, rows: u16) -> Bench {
    let bench = Bench::judged(columns, rows);
    let given = bench.store.write_blocking(|db| {
        for (person, pairs) in [("lee", 0..5), ("dana", 0..4), ("eve\u{1b}[31m", 3..6)] {
            for (query, b) in pairs.map(|at| (1 + at / 3, 1 + at % 3)) {
                let is_odd = person == "dana" && b == 2;
                let decision = if is_odd { Decision::B } else { Decision::A };
                let query = QueryKey(query as i64);
                db.add_verdict(&NewVerdict {
                    created_ms: 1,
                    ..NewVerdict::open(query, 0, b, decision, person)
                })?;
            }
        }
        Ok(())
    });
    given.unwrap();
    bench
}

/// Lets something happen to the open project.
fn tell(bench: &mut Bench, event: Event) {
    let effects = happened(&mut bench.model, event);
    assert!(effects.is_empty());
    bench.tell(Msg::Tick);
}

fn share(bench: &mut Bench) -> mpsc::UnboundedReceiver<Order> {
    let (orders, taken) = mpsc::unbounded_channel();
    bench.model.team_mut().begin(orders);
    taken
}

fn participant(person: &str, silent_s: f64) -> Participant {
    Participant {
        person: person.to_owned(),
        waiting: 0,
        silent_s,
    }
}

fn look() -> Look {
    let worker = |name: &str, done, silent_s| WorkerStatus {
        id: Uuid::nil(),
        name: name.to_owned(),
        votes: 3_100,
        failures: 0,
        spent: 1_200_000,
        reserved: 4_000_000,
        leased: 4,
        done,
        has_ended: false,
        silent_s,
        worked_s: 600.0,
    };
    Look {
        waiting: 0,
        people: vec![
            participant("ana", 1.0),
            participant("lee", 3.0),
            participant("dana", 176_400.0),
            participant("kim", 20.0),
        ],
        jobs: Some(vec![JobStatus {
            name: "scifact".to_owned(),
            done: 112,
            leased: 8,
            waiting: 12,
            open_rounds: 0,
            budget: Some(40_000_000),
            reserved: 8_000_000,
            spent: 2_400_000,
            elapsed_s: 600.0,
            workers: vec![worker("node-03", 112, 2.0), worker("node\u{9b}4", 7, 300.0)],
        }]),
        leases: vec![held("lee", Subject::Document(QueryKey(1), DocId::new("d")))],
        synced: None,
        day_began_ms: day_began_ms(0),
    }
}

fn looked() -> Event {
    Event::Looked(Box::new(look()))
}

#[test]
fn the_team_at_every_size() {
    let mut bench = judged(80, 24);
    let _orders = share(&mut bench);
    tell(&mut bench, looked());
    bench.press("\"");
    assert_eq!(bench.model.screen(), Screen::TEAM);
    bench.press("down");
    bench.snapshots("team");
    let shot = bench.shot();
    assert!(!shot.contains('\u{1b}') && !shot.contains('\u{9b}'));
}

#[test]
fn the_judgments_of_a_day_are_counted_again_when_the_next_one_begins() {
    const DAY_MS: i64 = 86_400_000;
    let mut bench = judged(80, 24);
    let _orders = share(&mut bench);
    bench.press("\"");
    tell(&mut bench, looked());
    let next = Look {
        day_began_ms: day_began_ms(2 * DAY_MS),
        ..look()
    };
    let effects = happened(&mut bench.model, Event::Looked(Box::new(next)));
    assert_eq!(effects.len(), 1);
}

#[test]
fn without_the_server_the_team_shows_what_the_project_knows() {
    let mut bench = judged(80, 24);
    let _orders = share(&mut bench);
    let lost = Event::Lost {
        why: "db.example.org:5432/search: connection refused".to_owned(),
        is_temporary: true,
        waiting: Some(12),
    };
    tell(&mut bench, looked());
    tell(&mut bench, lost);
    bench.press("\"");
    bench.snapshots("team-offline");
    tell(&mut bench, Event::Waiting(1));
    let shot = bench.shot();
    assert!(shot.contains("server offline · 1 change waiting"), "{shot}");
}

#[test]
fn a_project_that_is_not_shared_has_a_team_too() {
    let mut bench = judged(80, 24);
    bench.press("\"");
    let shot = bench.shot();
    assert!(shot.contains("overrule remote add"), "{shot}");
    assert!(shot.contains("lee") && !shot.contains("synced"), "{shot}");
    assert!(!shot.contains("sync now"), "{shot}");
}

#[test]
fn verdicts_on_pairs_that_the_reader_has_not_judged_are_hidden() {
    let mut bench = judged(120, 40);
    let own = bench.store.write_blocking(|db| {
        db.add_verdict(&NewVerdict::open(QueryKey(1), 1, 0, Decision::Tie, "ana"))
    });
    own.unwrap();
    bench.press("\" down down down v");
    let shot = bench.shot();
    for words in [
        "lee: ",
        "you: about equal",
        "4 verdicts on pairs that you have not judged",
    ] {
        assert!(shot.contains(words), "{words}: {shot}");
    }
}

#[test]
fn the_header_never_claims_more_than_is_known() {
    let header = |model: &Model, columns: usize| {
        let (words, _) = model.team().words(model.now).unwrap();
        words
            .into_iter()
            .find(|words| words.chars().count() <= columns)
    };
    let mut bench = judged(120, 40);
    assert!(bench.model.team().words(bench.model.now).is_none());
    let _orders = share(&mut bench);
    let said = |bench: &Bench| header(&bench.model, 100).unwrap_or_default();
    assert_eq!(said(&bench), "connecting to the server");
    tell(&mut bench, looked());
    let now = "synced just now · 0 changes waiting · 3 people here";
    assert_eq!(said(&bench), now);
    assert_eq!(header(&bench.model, 30).as_deref(), Some("synced · 3 here"));
    assert_eq!(header(&bench.model, 10).as_deref(), Some(""));
    // The server hangs.
    let before = bench.model.now;
    bench.model.now = before + Duration::from_secs(75);
    assert!(said(&bench).starts_with("synced 1 min 15 s ago"));
    bench.model.now = before;
    let lost = |waiting, is_temporary| Event::Lost {
        why: "gone".to_owned(),
        is_temporary,
        waiting,
    };
    tell(&mut bench, lost(Some(12), true));
    assert_eq!(said(&bench), "server offline · 12 changes waiting");
    tell(&mut bench, lost(None, false));
    assert_eq!(said(&bench), "not synced · 12 changes waiting");
    assert!(bench.model.toast.take().is_some());
    tell(&mut bench, lost(None, false));
    assert!(bench.model.toast.is_none(), "said once");
}

/// The pair at this place of the queue.
fn queued(bench: &Bench, at: usize) -> Subject {
    let item = bench.model.queue.items[at];
    Subject::Pair(item.query, item.pair)
}

fn with_leases(leases: Vec<HeldItem>) -> Event {
    Event::Looked(Box::new(Look { leases, ..look() }))
}

/// What the server was told to be open.
fn told_open(orders: &mut mpsc::UnboundedReceiver<Order>) -> Vec<Option<Subject>> {
    std::iter::from_fn(|| orders.try_recv().ok())
        .filter_map(|order| match order {
            Order::Open(open) => Some(open.map(|open| open.subject)),
            _ => None,
        })
        .collect()
}

#[test]
fn a_pair_that_another_person_has_open_is_skipped_and_can_be_judged() {
    let mut bench = judged(80, 24);
    let mut orders = share(&mut bench);
    bench.press("w");
    let pairs: Vec<Subject> = (0..4).map(|at| queued(&bench, at)).collect();
    let leases = || {
        let lee = held("lee", pairs[1].clone());
        vec![
            lee,
            held("kim", pairs[2].clone()),
            held("ana", pairs[2].clone()),
        ]
    };
    tell(&mut bench, with_leases(leases()));
    bench.snapshots("queue-taken");

    bench.press("enter");
    assert_eq!(told_open(&mut orders), [Some(pairs[0].clone())]);
    // The pair of the person's own lease is not skipped.
    bench.press("n");
    assert_eq!(bench.model.subject(), Some(pairs[2].clone()));
    bench.press("N");
    assert_eq!(bench.model.subject(), Some(pairs[0].clone()));
    bench.press("esc");
    let told = told_open(&mut orders);
    assert_eq!(told.last(), Some(&None), "{told:?}");

    // It is opened from the list on purpose.
    bench.press("down enter");
    assert_eq!(bench.model.subject(), Some(pairs[1].clone()));
    let decided = Event::Decided(pairs[0].clone(), "lee".to_owned());
    assert!(happened(&mut bench.model, decided).is_empty());
    assert!(bench.model.toast.is_none(), "it is not open any more");
    // A screen on top does not close the pair.
    told_open(&mut orders);
    bench.press("a : t e a m enter");
    assert_eq!(bench.model.screen(), Screen::TEAM);
    bench.model.typed = None;
    bench.press("esc");
    assert_eq!(told_open(&mut orders), []);
    assert_eq!(bench.model.saving, 0);
    let given = bench.store.read_blocking(|db| db.standing_verdicts(None));
    let own = given
        .unwrap()
        .into_iter()
        .filter(|of| of.verdict.annotator == "ana");
    assert_eq!(own.count(), 1, "a second opinion");

    // The next pair after the verdict is free too.
    tell(&mut bench, with_leases(vec![held("lee", pairs[2].clone())]));
    bench.press("enter");
    assert_ne!(bench.model.subject(), Some(pairs[2].clone()));
}

#[test]
fn one_line_says_who_has_a_pair_open() {
    for size in SIZES {
        let mut bench = judged(size.0, size.1);
        let _orders = share(&mut bench);
        tell(&mut bench, looked());
        bench.press("w enter");
        let pair = queued(&bench, 0);
        let lease = held("lee\u{1b}[7m", pair.clone()).lease;
        happened(&mut bench.model, Event::Taken(pair.clone(), vec![lease]));
        snapshot(name("review-taken", size), styled(&bench.draw()));
        // The server does not tell an annotator who has judged it.
        happened(&mut bench.model, Event::Taken(pair, Vec::new()));
        let toast = bench.model.toast.as_ref().unwrap();
        let words = "enough people have judged this pair, or are judging it; n: next";
        assert_eq!(toast.text, words);
    }
}

#[test]
fn a_random_draw_is_for_everyone() {
    for (draw, slots) in [
        (DrawReason::Priority, 1),
        (DrawReason::Control { of: 9 }, EVERYONE),
    ] {
        let mut bench = judged(120, 40);
        let mut orders = share(&mut bench);
        tell(&mut bench, looked());
        bench.press("w");
        for item in &mut bench.model.queue.items {
            item.draw = draw;
        }
        bench.press("enter");
        let mut orders = std::iter::from_fn(|| orders.try_recv().ok());
        let open = orders.find_map(|order| match order {
            Order::Open(open) => open,
            _ => None,
        });
        assert_eq!(open.map(|open| open.slots), Some(slots));
    }
}
