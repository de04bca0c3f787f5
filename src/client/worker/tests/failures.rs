//! How a worker handles failures outside its control, and user commands meanwhile.

use super::*;
use crate::judge::MAX_ADAPTIONS;

#[tokio::test(start_paused = true)]
async fn pages_of_a_server_in_between_fail_nothing_once_it_is_known_to_be_away() {
    let server = Arc::new(SimulatedServer::new(|request| match request.since_start {
        since if since < seconds(20.0) => ServerFate::Page,
        _ => ServerFate::Answer(ms(50)),
    }));
    let played = play(&server, 40, WorkerSetup::new(1)).await;
    // Six failures in a row mark the server as down; from then on each question waits for it.
    assert_eq!((played.answered.len(), played.failed.len()), (34, 6));
    assert_eq!(played.stopped, None);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_hangs_on_a_dead_server_is_not_waited_for() {
    let server = Arc::new(SimulatedServer::new(|request| match request.number {
        0 => ServerFate::Silent,
        _ => ServerFate::Dead,
    }));
    let played = play(&server, 120, WorkerSetup::new(256)).await;
    assert!(played.stopped.is_some());
    assert!(played.took <= seconds(75.0), "{:?}", played.took);
    assert_eq!(played.assumed_usd, 0.5, "it may have been answered");
}

#[tokio::test(start_paused = true)]
async fn a_request_is_adapted_so_often_and_no_more() {
    for (times, answered) in [(1, 1), (MAX_ADAPTIONS, 1), (MAX_ADAPTIONS + 1, 0)] {
        let server = Arc::new(SimulatedServer::new(move |request| match request.before {
            before if before < times => ServerFate::Adapted,
            _ => ServerFate::Answer(ms(50)),
        }));
        let played = play(&server, 1, WorkerSetup::new(1)).await;
        let ended = (played.answered.len(), played.failed.len());
        assert_eq!(ended, (answered, 1 - answered), "{times} times");
        let requests = times.min(MAX_ADAPTIONS) + 1;
        assert_eq!(server.books().requests, requests, "{times} times");
    }
}

#[tokio::test(start_paused = true)]
async fn the_pace_that_a_person_sets_is_kept_to() {
    let setup = WorkerSetup::new(64);
    setup
        .control
        .send_modify(|control| control.pace = Some(10.0));
    let server = Arc::new(SimulatedServer::new(|_| ServerFate::Answer(ms(50))));
    let played = play(&server, 50, setup).await;
    assert_eq!(played.answered.len(), 50);
    assert!(played.took >= seconds(4.8), "{:?}", played.took);
    assert!(played.took <= seconds(5.2), "{:?}", played.took);
}
