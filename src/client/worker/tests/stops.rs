//! Servers that are dead, silent or away, and user commands to a worker.

use super::*;

#[tokio::test(start_paused = true)]
async fn a_dead_server_stops_the_worker_within_its_time_and_with_few_requests() {
    for fate in [ServerFate::Dead, ServerFate::Broken(ms(20))] {
        // Each of three judges on one server starts with a third of the window.
        for (first, requests) in [(FIRST / 3, 40), (FIRST, FIRST + 20)] {
            let server = Arc::new(SimulatedServer::new(move |_| fate));
            let setup = WorkerSetup {
                first,
                ..WorkerSetup::new(256)
            };
            let played = play(&server, 120, setup).await;
            let why = played.stopped.unwrap();
            let words = match fate {
                ServerFate::Dead => "cannot connect",
                _ => "it broke",
            };
            assert!(why.contains(words), "{why}");
            assert!(played.took <= seconds(75.0), "{:?}", played.took);
            assert!(played.took >= seconds(60.0), "{:?}", played.took);
            assert_eq!(played.answered.len() + played.failed.len(), 0);
            let books = server.books();
            assert!(books.requests <= requests, "{} requests", books.requests);
            assert_eq!((played.assumed_usd, played.known_usd), (0.0, 0.0));
            assert_eq!(played.away.first(), Some(&false), "nobody waits for it");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn silence_stops_the_worker_and_what_is_in_flight_is_charged() {
    for after in [0, 100] {
        let server = Arc::new(SimulatedServer::new(move |request| {
            if request.number < after {
                ServerFate::Answer(ms(50))
            } else {
                ServerFate::Silent
            }
        }));
        let played = play(&server, 500, WorkerSetup::new(64)).await;
        let why = played.stopped.unwrap();
        assert!(why.contains("no answer to any of 64 calls"), "{why}");
        assert_eq!(played.answered.len(), after);
        assert!(played.took >= seconds(60.0), "{:?}", played.took);
        assert!(played.took <= seconds(62.0), "{:?}", played.took);
        assert_eq!(played.assumed_usd, 32.0, "64 calls of half a dollar");
        assert_eq!(server.books().in_flight, 0);
    }
}

#[tokio::test(start_paused = true)]
async fn an_outage_is_waited_for_and_nothing_fails() {
    for fate in [
        ServerFate::Dead,
        ServerFate::Broken(ms(20)),
        ServerFate::Refused(Some(seconds(1.0))),
    ] {
        let server = Arc::new(SimulatedServer::new(move |request| {
            match request.since_start.as_secs_f64() {
                5.0..35.0 => fate,
                _ => ServerFate::Answer(lognormal(request, 1.5, 0.5)),
            }
        }));
        let played = play(&server, 3_000, WorkerSetup::new(256)).await;
        assert_eq!(played.answered.len(), 3_000, "{fate:?}");
        assert_eq!(played.stopped, None, "{fate:?}");
        // Without the outage it takes about 22 s.
        assert!(played.took <= seconds(75.0), "{fate:?}: {:?}", played.took);
    }
}

#[tokio::test(start_paused = true)]
async fn junk_alone_stops_the_worker() {
    let server = Arc::new(SimulatedServer::new(|_| ServerFate::Junk(ms(50))));
    let played = play(&server, 500, WorkerSetup::new(1)).await;
    let why = played.stopped.unwrap();
    assert!(why.contains("25 calls in a row"), "{why}");
    assert_eq!(server.books().requests, 25);
    assert!((played.known_usd - 0.025).abs() < 1e-9, "each is paid for");
    // A few answers in between keep the service running.
    let server = Arc::new(SimulatedServer::new(|request| match request.number % 10 {
        0 => ServerFate::Answer(ms(50)),
        _ => ServerFate::Junk(ms(50)),
    }));
    let played = play(&server, 100, WorkerSetup::new(1)).await;
    assert_eq!(played.stopped, None);
    assert_eq!((played.answered.len(), played.failed.len()), (10, 90));
    assert_eq!(server.books().requests, 190, "each is asked once more");
}

/// Three hundred questions, a hundred about each case.
fn hundreds(number: usize) -> Option<CaseId> {
    Some(CaseId(number as i64 / 100))
}

#[tokio::test(start_paused = true)]
async fn a_case_that_keeps_failing_is_skipped_and_the_others_are_asked() {
    for fate in [
        ServerFate::Wrong,
        ServerFate::Junk(ms(50)),
        ServerFate::Broken(ms(50)),
    ] {
        for places in [1, 2, 64] {
            let server = Arc::new(SimulatedServer::new(move |request| {
                match request.number / 100 {
                    0 => fate,
                    _ => ServerFate::Answer(ms(50)),
                }
            }));
            let setup = WorkerSetup {
                case: hundreds,
                ..WorkerSetup::new(places)
            };
            let played = play(&server, 300, setup).await;
            assert_eq!(played.stopped, None, "{fate:?}");
            assert_eq!(played.skipped, [0], "{fate:?}");
            assert_eq!(played.answered.len(), 200, "{fate:?}");
            assert!(played.failed.len() < 25 + places, "{fate:?}");
        }
    }
    // All failures are the judge's fault.
    let server = Arc::new(SimulatedServer::new(|_| ServerFate::Wrong));
    let setup = WorkerSetup {
        case: hundreds,
        ..WorkerSetup::new(1)
    };
    let played = play(&server, 300, setup).await;
    assert!(
        played
            .stopped
            .is_some_and(|why| why.contains("25 calls in a row"))
    );
    assert_eq!((played.skipped, played.failed.len()), (vec![0, 1], 75));
}

#[tokio::test(start_paused = true)]
async fn a_case_is_reported_as_skipped_once_its_calls_in_flight_have_ended() {
    let server = Arc::new(SimulatedServer::new(|request| match request.number {
        3 => ServerFate::Answer(seconds(9.0)),
        0..100 => ServerFate::Wrong,
        _ => ServerFate::Answer(ms(50)),
    }));
    let setup = WorkerSetup {
        case: hundreds,
        ..WorkerSetup::new(8)
    };
    let played = play(&server, 300, setup).await;
    assert_eq!(played.skipped, [0]);
    // The others did not wait for it.
    assert_eq!(played.answered.last(), Some(&3));
    assert_eq!(played.answered.len(), 201);
    assert!(played.skipped_at >= seconds(9.0), "{:?}", played.skipped_at);
    assert!(played.failed.len() < 25 + 8, "{}", played.failed.len());
}

#[tokio::test(start_paused = true)]
async fn a_call_that_panics_has_failed_and_the_others_go_on() {
    let server = Arc::new(SimulatedServer::new(|request| match request.number {
        7 => ServerFate::Panic,
        _ => ServerFate::Answer(ms(50)),
    }));
    let played = play(&server, 100, WorkerSetup::new(64)).await;
    assert_eq!((played.answered.len(), played.stopped), (99, None));
    let (number, error, charge) = &played.failed[0];
    assert_eq!((*number, error.cause), (7, FailureCause::Crashed));
    assert!(error.message.contains("of all things"));
    assert_eq!(
        *charge,
        Charge::Assumed(0.5),
        "nobody knows how far it came"
    );
}

#[tokio::test(start_paused = true)]
async fn a_cancel_keeps_what_comes_in_time_and_charges_the_rest() {
    let setup = WorkerSetup::new(64);
    let control = Arc::clone(&setup.control);
    let server = Arc::new(SimulatedServer::new(|request| match request.number % 4 {
        0 => ServerFate::Answer(seconds(40.0)),
        _ => ServerFate::Answer(seconds(10.0)),
    }));
    let steer = async {
        tokio::time::sleep(seconds(1.0)).await;
        control.send_modify(|control| control.stop_within(seconds(15.0)));
    };
    let (played, ()) = tokio::join!(play(&server, 500, setup), steer);
    assert_eq!((played.answered.len(), server.books().requests), (48, 64));
    assert_eq!((played.assumed_usd, played.again), (8.0, 16));
    assert!(
        played.failed.is_empty(),
        "what was left is owed, not failed"
    );
    assert!(played.took <= seconds(16.1), "{:?}", played.took);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_worker_makes_no_calls_until_it_is_taken_back() {
    let setup = WorkerSetup::new(64);
    let control = Arc::clone(&setup.control);
    let server = Arc::new(SimulatedServer::new(|_| ServerFate::Answer(ms(50))));
    let steer = async {
        tokio::time::sleep(ms(220)).await;
        control.send_modify(|control| control.dropped.toggle(0));
        tokio::time::sleep(seconds(100.0)).await;
        control.send_modify(|control| control.dropped.toggle(0));
    };
    let (played, ()) = tokio::join!(play(&server, 3_000, setup), steer);
    assert_eq!(played.answered.len(), 3_000);
    assert_eq!((played.away, played.back), (vec![true], 1));
    let between = ms(225)..seconds(100.2);
    let begun = server.books().begun;
    assert_eq!(begun.iter().filter(|at| between.contains(*at)).count(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_worker_sets_no_money_aside() {
    let setup = WorkerSetup::new(8);
    let control = Arc::clone(&setup.control);
    let budget = Budget::new(Some(100.0), 0.0);
    let setup = WorkerSetup {
        budget: budget.clone(),
        ..setup
    };
    let server = Arc::new(SimulatedServer::new(|_| ServerFate::Answer(seconds(1.0))));
    let steer = async {
        tokio::time::sleep(ms(1_500)).await;
        assert!(budget.is_waiting());
        control.send_modify(|control| control.dropped.toggle(0));
        tokio::time::sleep(seconds(5.0)).await;
        assert!(!budget.is_waiting(), "others would wait for it");
        control.send_modify(|control| control.dropped.toggle(0));
    };
    let (played, ()) = tokio::join!(play(&server, 40, setup), steer);
    assert_eq!((played.answered.len(), played.budget_reached), (40, false));
    assert_eq!(server.books().requests, 40, "nothing was asked twice");
}

#[tokio::test(start_paused = true)]
async fn a_pause_begins_nothing() {
    let setup = WorkerSetup::new(8);
    let control = Arc::clone(&setup.control);
    let server = Arc::new(SimulatedServer::new(|_| ServerFate::Answer(seconds(1.0))));
    let steer = async {
        tokio::time::sleep(ms(500)).await;
        control.send_modify(|control| control.paused = true);
        tokio::time::sleep(seconds(500.0)).await;
        assert_eq!(server.books().requests, 8);
        control.send_modify(|control| control.paused = false);
    };
    let (played, ()) = tokio::join!(play(&server, 40, setup), steer);
    assert_eq!((played.answered.len(), played.stopped), (40, None));
}
