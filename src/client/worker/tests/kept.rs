//! Tests what is bought, recorded and shared, and what must not be spent.

use super::*;

#[tokio::test]
async fn the_same_question_is_asked_once_and_its_answer_shared() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("p.db")).unwrap();
    for fails_first in [false, true] {
        let server = Arc::new(SimulatedServer::new(move |request| match request.number {
            0 if fails_first => ServerFate::Junk(Duration::ZERO),
            _ => ServerFate::Answer(Duration::ZERO),
        }));
        let setup = WorkerSetup {
            ledger: CallLedger::Project(store.clone()),
            key: |number| Some([number as u8 % 5; 32]),
            ..WorkerSetup::new(64)
        };
        let played = play(&server, 100, setup).await;
        let failed = usize::from(fails_first);
        assert_eq!(played.failed.len(), failed);
        assert_eq!((played.answered.len(), played.shared), (5, 95 - failed));
        // The failed call was asked once more, and then another one took its place.
        assert_eq!(server.books().requests, 5 + 2 * failed);
    }
}

#[tokio::test]
async fn a_question_that_was_answered_long_ago_is_not_bought_again() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("p.db")).unwrap();
    let server = Arc::new(SimulatedServer::new(|_| ServerFate::Answer(ms(5))));
    let setup = WorkerSetup {
        ledger: CallLedger::Project(store),
        key: |number| Some([number as u8 % 40; 32]),
        ..WorkerSetup::new(1)
    };
    let played = play(&server, 41, setup).await;
    assert_eq!((played.answered.len(), played.shared), (40, 1));
    assert_eq!(server.books().requests, 40);
}

#[tokio::test]
async fn what_nobody_waits_for_any_more_is_not_bought() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("p.db")).unwrap();
    let unwanted: Arc<Mutex<HashSet<usize>>> = Arc::default();
    let given_up = Arc::clone(&unwanted);
    let server = SimulatedServer::new(move |request| {
        if request.number == 3 {
            // All but two after the first three questions of each key, including one whose leader
            // is given up.
            lock(&given_up).extend((4..30).filter(|number| ![14, 25].contains(number)));
        }
        match (request.number, request.before) {
            (2, 0) => ServerFate::Broken(Duration::ZERO),
            _ => ServerFate::Answer(ms(20)),
        }
    });
    let server = Arc::new(SimulatedServer { unwanted, ..server });
    let setup = WorkerSetup {
        ledger: CallLedger::Project(store.clone()),
        key: |number| Some([number as u8 % 10; 32]),
        ..WorkerSetup::new(1)
    };
    let mut played = play(&server, 30, setup).await;
    played.answered.sort_unstable();
    assert_eq!(played.answered, [0, 1, 2, 3, 14, 25]);
    assert_eq!(server.books().requests, 7, "one was asked again");
    let spent = store.read(|db| db.spent()).await.unwrap();
    assert_eq!((spent[0].calls, spent[0].open_calls), (6, 0));
}

#[tokio::test]
async fn the_ledger_knows_of_each_call_that_was_sent_and_of_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.db");
    let store = Store::open(&path).unwrap();
    let setup = WorkerSetup {
        ledger: CallLedger::Project(store.clone()),
        ..WorkerSetup::new(1)
    };
    let control = Arc::clone(&setup.control);
    let look = rusqlite::Connection::open(&path).unwrap();
    let server = Arc::new(SimulatedServer::new(move |request| {
        let open = "SELECT count(*) FROM call WHERE ended_ms IS NULL";
        let open: usize = look.query_row(open, [], |row| row.get(0)).unwrap();
        assert!(open > 0, "sent before it was written down");
        if request.number == 5 {
            let control = Arc::clone(&control);
            tokio::spawn(async move {
                // By then, the next one has been recorded too.
                tokio::time::sleep(ms(30)).await;
                control.send_modify(RunControl::stop);
            });
        }
        ServerFate::Answer(ms(60))
    }));
    let played = play(&server, 100, setup).await;
    assert_eq!((played.answered.len(), played.failed.len()), (6, 0));
    let spent = store.read(|db| db.spent()).await.unwrap();
    assert_eq!((spent[0].calls, spent[0].open_calls), (6, 0));
    assert_eq!(spent[0].assumed_calls, 0);
}

#[tokio::test(start_paused = true)]
async fn a_question_that_is_asked_once_more_and_waits_for_money_is_not_lost() {
    let budget = Budget::new(Some(1.0), 0.0);
    let others = budget.clone();
    let server = Arc::new(SimulatedServer::new(move |request| match request.before {
        0 => {
            // Another service holds the rest of the money for a while.
            let reserved = others.reserve(0.5);
            tokio::spawn(async move {
                tokio::time::sleep(seconds(1.0)).await;
                drop(reserved);
            });
            ServerFate::Junk(ms(50))
        }
        _ => ServerFate::Answer(ms(50)),
    }));
    let setup = WorkerSetup {
        budget,
        key: |_| Some([1; 32]),
        ..WorkerSetup::new(4)
    };
    let played = play(&server, 1, setup).await;
    assert_eq!((played.answered.len(), played.budget_reached), (1, false));
    assert!(played.took >= seconds(1.0), "{:?}", played.took);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_cannot_be_shared_is_asked_for_again() {
    let server = Arc::new(SimulatedServer::new(|_| ServerFate::Answer(ms(50))));
    // Nothing is stored, so there is nothing to share.
    let setup = WorkerSetup {
        key: |_| Some([1; 32]),
        ..WorkerSetup::new(64)
    };
    let played = play(&server, 10, setup).await;
    assert_eq!((played.answered.len(), played.shared), (10, 0));
}

#[tokio::test(start_paused = true)]
async fn money_that_is_gone_is_told_and_what_came_is_kept() {
    let mut server = SimulatedServer::new(|_| ServerFate::Answer(ms(50)));
    server.cost = |_| Some(0.25);
    let server = Arc::new(server);
    let budget = Budget::new(Some(10.0), 0.0);
    let setup = WorkerSetup {
        budget: budget.clone(),
        ..WorkerSetup::new(64)
    };
    let played = play(&server, 500, setup).await;
    assert!(played.budget_reached);
    // 10 dollars minus the worst-case price of one more call.
    assert_eq!((played.answered.len(), played.known_usd), (39, 9.75));
    assert_eq!(budget.spent_usd(), 9.75);
}

/// The worst-case and the actual cost of each call of a judge.
fn fates() -> impl Strategy<Value = Vec<(u8, u8)>> {
    prop::collection::vec((0u8..6, 0u8..16), 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn spent_and_set_aside_never_pass_the_limit(
        fates in fates(),
        limit in 0u32..800,
        places in 1usize..40,
        priced in any::<bool>(),
        cancelled_ms in prop::option::of(0u64..3_000),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(async {
            // Sixteenths, so that sums are exact.
            let limit = f64::from(limit) / 16.0;
            let budget = Budget::new(Some(limit), 0.0);
            let setup = WorkerSetup::new(places);
    let control = Arc::clone(&setup.control);
            let setup = WorkerSetup {
                budget: budget.clone(),
                worst_usd: priced.then_some(1.0),
                ..setup
            };
            let server = || {
                let fates = fates.clone();
                let mut server = SimulatedServer::new(move |request| {
                    let (fate, time) = fates[(request.number + request.before) % fates.len()];
                    let time = ms(u64::from(time) * 100);
                    match fate {
                        0 => ServerFate::Junk(time),
                        1 => ServerFate::Refused(Some(time)),
                        2 => ServerFate::Panic,
                        3 => ServerFate::Broken(time),
                        _ => ServerFate::Answer(time),
                    }
                });
                server.budget = Some(budget.clone());
                // Some answers report no usage.
                server.cost = |number| (number % 3 > 0).then(|| (number % 16) as f64 / 16.0);
                Arc::new(server)
            };
            let servers = [server(), server(), server()];
            let plays = servers.iter().enumerate().map(|(judge_index, server)| {
                play(server, 40, WorkerSetup { judge_index, ..setup.clone() })
            });
            let steer = async {
                if let Some(after) = cancelled_ms {
                    tokio::time::sleep(ms(after)).await;
                    control.send_modify(|control| control.stop_within(ms(300)));
                }
            };
            let (played, ()) = tokio::join!(futures::future::join_all(plays), steer);
            let told: f64 = played.iter().map(|played| played.known_usd + played.assumed_usd).sum();
            assert_eq!(budget.spent_usd(), told, "every attempt is reported");
            if priced {
                assert!(told <= limit);
                assert!(servers.iter().all(|server| server.books().over_budget == 0));
            }
            assert!(!budget.is_waiting(), "all is given back");
        });
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_bills_more_than_expected_passes_the_budget_by_a_few_calls_only() {
    // Eight times the expected worst case; then the same from the hundredth call on.
    let later: fn(usize) -> Option<f64> = |number| Some(if number < 100 { 0.05 } else { 0.4 });
    for (cost, beyond) in [
        ((|_| Some(0.4)) as fn(usize) -> Option<f64>, 2.0),
        (later, 64.0),
    ] {
        let server = Arc::new(SimulatedServer {
            cost,
            ..SimulatedServer::new(|_| ServerFate::Answer(ms(500)))
        });
        let budget = Budget::new(Some(10.0), 0.0);
        let setup = WorkerSetup {
            worst_usd: Some(0.05),
            budget: budget.clone(),
            ..WorkerSetup::new(64)
        };
        let played = play(&server, 3_000, setup).await;
        assert!(played.budget_reached);
        let spent = budget.spent_usd();
        assert!(spent <= 10.0 + beyond * 0.4, "{spent}");
        assert!(spent >= 9.0, "{spent}");
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_budget_no_bill_is_waited_for() {
    for (limit, quick) in [(None, true), (Some(1e9), false)] {
        let server = Arc::new(SimulatedServer::new(|_| ServerFate::Answer(ms(500))));
        let setup = WorkerSetup {
            first: 64,
            budget: Budget::new(limit, 0.0),
            ..WorkerSetup::new(64)
        };
        let played = play(&server, 640, setup).await;
        assert_eq!(played.answered.len(), 640);
        // Ten waves; under a budget, the first ones are small.
        assert_eq!(played.took < seconds(6.0), quick, "{:?}", played.took);
        assert!(played.took < seconds(9.0), "{:?}", played.took);
    }
}
