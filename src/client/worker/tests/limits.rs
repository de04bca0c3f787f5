//! Limits and refusals: respecting, detecting and waiting for them.

use super::*;
use crate::judge::MAX_CHARGED;

#[tokio::test(start_paused = true)]
async fn a_limit_of_a_minute_is_kept_to_and_nothing_fails() {
    type Latency = fn(&ServerRequest) -> Duration;
    let latencies: [(&str, Latency); 4] = [
        ("5 ms", |_| ms(5)),
        ("50 ms", |request| {
            ms(45 + (10.0 * draw(request, "jitter")) as u64)
        }),
        ("500 ms", |request| {
            ms(450 + (100.0 * draw(request, "jitter")) as u64)
        }),
        ("lognormal", |request| lognormal(request, 1.5, 0.5)),
    ];
    for (name, latency) in latencies {
        for names_wait in [true, false] {
            let mut limit = ServerLimit::new(60.0, 120.0);
            let server = Arc::new(SimulatedServer::new(move |request| {
                if limit.take(request.since_start) {
                    ServerFate::Answer(latency(request))
                } else {
                    ServerFate::Refused(names_wait.then(|| limit.next()))
                }
            }));
            let played = play(&server, 240, WorkerSetup::new(256)).await;
            let books = server.books();
            let what = format!(
                "{name}, Retry-After {names_wait}: {} of {} refused, {:?}",
                books.refused, books.requests, played.took
            );
            assert_eq!(
                (played.answered.len(), played.failed.len()),
                (240, 0),
                "{what}"
            );
            assert!(books.refused * 100 <= books.requests * 15, "{what}");
            assert!(played.took <= seconds(135.0), "{what}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn sporadic_refusals_cost_little() {
    for (share, names_wait, at_most) in [
        (0.05, true, 4.0),
        (0.05, false, 4.0),
        (0.2, true, 12.0),
        (0.2, false, 12.0),
    ] {
        let server = Arc::new(SimulatedServer::new(move |request| {
            if draw(request, "refused") < share {
                ServerFate::Refused(names_wait.then_some(seconds(1.0)))
            } else {
                ServerFate::Answer(ms(50))
            }
        }));
        let played = play(&server, 3_000, WorkerSetup::new(256)).await;
        assert_eq!((played.answered.len(), played.failed.len()), (3_000, 0));
        assert!(
            played.took <= seconds(at_most),
            "{share} refused, Retry-After {names_wait}: {:?}",
            played.took
        );
    }
}

#[tokio::test(start_paused = true)]
async fn all_places_are_used_at_the_speed_of_real_models() {
    for median_s in [1.5, 4.0] {
        for workers in [3, 1] {
            let (calls, places) = (3_000 / workers, 450 / workers);
            let server = |worker: usize| {
                let rule = move |request: &ServerRequest| {
                    let number = worker * 10_000 + request.number;
                    ServerFate::Answer(lognormal(
                        &ServerRequest { number, ..*request },
                        median_s,
                        0.5,
                    ))
                };
                Arc::new(SimulatedServer::new(rule))
            };
            let start = Instant::now();
            let servers: Vec<_> = (0..workers).map(server).collect();
            let plays = servers
                .iter()
                .map(|server| play(server, calls, WorkerSetup::new(places)));
            let played = futures::future::join_all(plays).await;
            assert!(played.iter().all(|played| played.answered.len() == calls));
            let mean_s = median_s * (0.5f64 * 0.5 / 2.0).exp();
            let slowest = servers.iter().map(|server| server.books().slowest).max();
            let ideal = seconds(3_000.0 * mean_s / 450.0);
            let bound = ideal.mul_f64(1.25) + slowest.unwrap() / 2;
            let took = start.elapsed();
            assert!(
                took <= bound,
                "{median_s} s, {workers}: {took:?} > {bound:?}"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn large_runs_use_all_slots_before_slow_models_answer() {
    for (expected, at_most_s) in [(1_200, 1.5), (0, 4.5)] {
        let server = Arc::new(SimulatedServer::new(|_| ServerFate::Answer(seconds(4.0))));
        let setup = WorkerSetup {
            first: 36,
            expected,
            ..WorkerSetup::new(150)
        };
        let played = play(&server, 1_200, setup).await;
        assert_eq!(played.answered.len(), 1_200);
        let books = server.books();
        let full = books.begun[149];
        assert!(full <= seconds(at_most_s), "{expected}: {full:?}");
        assert!(full >= seconds(at_most_s - 0.6), "{expected}: {full:?}");
        assert_eq!(books.most_in_flight, 150);
    }
}

#[tokio::test(start_paused = true)]
async fn sporadic_refusals_cost_little_in_large_runs_at_the_speed_of_real_models() {
    for share in [0.05, 0.2] {
        let server = Arc::new(SimulatedServer::new(move |request| {
            if draw(request, "refused") < share {
                ServerFate::Refused(Some(seconds(1.0)))
            } else {
                ServerFate::Answer(seconds(4.0))
            }
        }));
        let setup = WorkerSetup {
            expected: 3_000,
            ..WorkerSetup::new(150)
        };
        let played = play(&server, 3_000, setup).await;
        assert_eq!((played.answered.len(), played.failed.len()), (3_000, 0));
        // The bound: 20 rounds of 4 s.
        assert!(
            played.took <= seconds(1.1 * 80.0),
            "{share}: {:?}",
            played.took
        );
    }
}

#[tokio::test(start_paused = true)]
async fn limits_told_in_headers_are_used_up_without_refusals_or_stops() {
    // Calls, limit per minute, burst, latency in ms.
    for (calls, per_minute, burst, latency) in [
        (900, 600.0, 600.0, 50),
        (900, 600.0, 600.0, 1_000),
        (400, 600.0, 100.0, 50),
        (400, 600.0, 100.0, 1_000),
    ] {
        let mut limit = ServerLimit::new(per_minute, burst);
        let server = Arc::new(SimulatedServer::telling(move |request| {
            let fate = if limit.take(request.since_start) {
                ServerFate::Answer(ms(latency))
            } else {
                ServerFate::Refused(None)
            };
            (fate, limit.told())
        }));
        let setup = WorkerSetup {
            expected: calls,
            ..WorkerSetup::new(256)
        };
        let played = play(&server, calls, setup).await;
        let books = server.books();
        let ideal_s = (calls as f64 - burst) / (per_minute / 60.0) + latency as f64 / 1e3;
        let what = format!(
            "{calls} at {latency} ms, burst {burst}: {:?} of {ideal_s} s, {} refused",
            played.took, books.refused
        );
        assert_eq!(played.answered.len(), calls, "{what}");
        assert_eq!(books.refused, 0, "{what}");
        assert!(played.took <= seconds(1.1 * ideal_s), "{what}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_refusal_uses_up_attempts_only_while_nobody_is_answered() {
    // One call is refused thirty times while the others are answered.
    let server = Arc::new(SimulatedServer::new(|request| match request.number {
        3 if request.before < 30 => ServerFate::Refused(Some(seconds(1.0))),
        _ => ServerFate::Answer(ms(500)),
    }));
    let played = play(&server, 1_000, WorkerSetup::new(4)).await;
    assert_eq!((played.answered.len(), played.failed.len()), (1_000, 0));
    assert_eq!(server.books().asked[&3], 31);
    // No call is answered.
    let server = Arc::new(SimulatedServer::new(|_| ServerFate::Refused(None)));
    let played = play(&server, 1, WorkerSetup::new(4)).await;
    assert_eq!((played.answered.len(), played.failed.len()), (0, 1));
    assert_eq!(server.books().asked[&0], ATTEMPTS as usize);
}

#[tokio::test(start_paused = true)]
async fn a_refused_call_waits_for_as_long_as_it_was_told_to() {
    let server = Arc::new(SimulatedServer::new(|request| {
        match (request.number, request.before) {
            (3, 0) => ServerFate::Refused(Some(seconds(30.0))),
            _ => ServerFate::Answer(ms(50)),
        }
    }));
    let played = play(&server, 100, WorkerSetup::new(4)).await;
    assert_eq!((played.answered.len(), played.again), (100, 1));
    // At most one second more, so that calls do not all return at once.
    assert!(played.took >= seconds(30.0), "{:?}", played.took);
    assert!(played.took <= seconds(31.2), "{:?}", played.took);
}

#[tokio::test(start_paused = true)]
async fn a_question_is_charged_five_times_at_most() {
    // Every attempt is late, or the first answer cannot be read and all that follow are late.
    for first in [ServerFate::Late(ms(10)), ServerFate::Junk(ms(10))] {
        let server = Arc::new(SimulatedServer::new(move |request| {
            if request.before == 0 {
                first
            } else {
                ServerFate::Late(ms(10))
            }
        }));
        let played = play(&server, 1, WorkerSetup::new(4)).await;
        assert_eq!((played.answered.len(), played.failed.len()), (0, 1));
        assert_eq!(server.books().asked[&0], MAX_CHARGED as usize);
        let most = f64::from(MAX_CHARGED) * 0.5;
        assert!(played.known_usd + played.assumed_usd <= most, "{first:?}");
    }
    // What is not charged does not count.
    let server = Arc::new(SimulatedServer::new(|request| {
        if request.before < 6 {
            ServerFate::Broken(ms(10))
        } else {
            ServerFate::Answer(ms(10))
        }
    }));
    let played = play(&server, 1, WorkerSetup::new(4)).await;
    assert_eq!((played.answered.len(), played.assumed_usd), (1, 0.0));
}
