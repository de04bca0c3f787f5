//! For any sequence of plans: no answer counts for two battles, nobody is asked twice about a pair
//! in the same order, and an estimate equals the number of calls made.

use super::bench::{Bench, bench};
use super::scripted::{Act, Scripted, scripted, spoiled};
use crate::app::annotate::estimate::CostEstimate;
use crate::app::annotate::pair_question::PricedQuestion;
use crate::app::annotate::{RunHandle, RunRequest};
use crate::client::RunControl;
use crate::domain::battle::Pair;
use crate::domain::sampling::PROBED_PAIRS;
use crate::judge::{FailureCause, Judge, JudgeEnsemble};
use crate::store::outstanding::CallSelection;
use proptest::prelude::*;
use rusqlite::Connection;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Pools small enough for pairs to be repeated, and together large enough for a probe.
const SIZES: [usize; 3] = [9, 13, 12];

/// A command of a user.
#[derive(Clone, Debug)]
enum Step {
    Plan {
        seed: u64,
        cycles: usize,
        depth: Option<usize>,
        probe: bool,
        retry: bool,
        one_query: bool,
    },
    Rounds {
        strategy: &'static str,
        seed: u64,
    },
    Pair {
        query: usize,
        pair: (usize, usize),
    },
}

fn step() -> impl Strategy<Value = Step> {
    let plan = (
        0u64..4,
        1usize..9,
        prop::option::of(3usize..8),
        any::<(bool, bool, bool)>(),
    );
    prop_oneof![
        4 => plan.prop_map(|(seed, cycles, depth, (probe, retry, one_query))| Step::Plan {
            seed, cycles, depth, probe, retry, one_query,
        }),
        2 => (0usize..4, 0u64..3).prop_map(|(at, seed)| Step::Rounds {
            strategy: ["swiss:2", "cycles+rotate:3", "eig:3", "top+escalate:2"][at],
            seed,
        }),
        1 => (0usize..3, (0usize..5, 0usize..5)).prop_map(|(query, pair)| Step::Pair { query, pair }),
    ]
}

/// Two judges, the second of which fails in some battles of its first plans, with their numbers of
/// calls.
fn judges(fails: bool) -> (JudgeEnsemble, [Arc<AtomicUsize>; 2]) {
    let judges: [Scripted; 2] = [
        scripted("ada", |_, _| Act::Answer),
        scripted("ben", move |case, _| {
            if fails && spoiled(case) {
                Act::Fail(FailureCause::Server)
            } else {
                Act::Answer
            }
        }),
    ];
    let calls = judges.each_ref().map(|judge| Arc::clone(&judge.calls));
    let shared = judges.map(|judge| Arc::new(judge) as Arc<dyn Judge>);
    (shared.into_iter().collect(), calls)
}

impl Step {
    fn request(&self, bench: &Bench, judges: &JudgeEnsemble) -> Option<(RunRequest, CostEstimate)> {
        let request = match self {
            Self::Plan {
                seed,
                cycles,
                depth,
                probe,
                retry,
                one_query,
            } => RunRequest {
                queries: one_query.then(|| vec![bench.keys[0]]),
                seed: *seed,
                cycles: *cycles,
                depth: *depth,
                probe: if *probe { PROBED_PAIRS } else { 0 },
                selection: if *retry {
                    CallSelection::FreshAndFailed
                } else {
                    CallSelection::Fresh
                },
                ..RunRequest::default()
            },
            Self::Rounds { strategy, seed } => RunRequest {
                campaign: Some(strategy.parse().unwrap()),
                seed: *seed,
                ..RunRequest::default()
            },
            Self::Pair { query, pair } => {
                let pair = Pair::new(pair.0, pair.1)?;
                let usual = RunRequest::default();
                let of = (bench.keys[*query], pair);
                // Nothing is left to ask about the pair.
                let priced = PricedQuestion::of(&bench.store, of, judges, &usual).ok()?;
                return Some((priced.question.request(&usual), priced.estimate));
            }
        };
        let estimate = CostEstimate::of_project(&bench.store, judges, &request).unwrap();
        Some((request, estimate))
    }
}

/// Number of questions to which a judge has several answers: the same pair in the same order.
fn answered_twice(bench: &Bench) -> i64 {
    let sql = "SELECT count(*) FROM (
        SELECT 1 FROM vote JOIN battle ON battle.id = vote.battle
        GROUP BY query, judge, min(a, b), max(a, b), swapped != (a > b) HAVING count(*) > 1)";
    let db = Connection::open(bench.store.path()).unwrap();
    db.query_row(sql, [], |row| row.get(0)).unwrap()
}

fn count(bench: &Bench, sql: &str) -> i64 {
    let db = Connection::open(bench.store.path()).unwrap();
    db.query_row(sql, [], |row| row.get(0)).unwrap()
}

fn run(bench: &Bench, judges: &JudgeEnsemble, request: RunRequest) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let judges = judges.clone();
        let run = RunHandle::start(bench.store.clone(), judges, request, RunControl::default());
        run.end.await.unwrap().unwrap();
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn no_answer_counts_twice_and_estimates_name_the_calls_made(
        steps in prop::collection::vec(step(), 1..5),
        fails: bool,
    ) {
        let bench = bench(&SIZES);
        for (at, step) in steps.iter().enumerate() {
            let (judges, calls) = judges(fails && at < 2);
            let Some((request, estimate)) = step.request(&bench, &judges) else {
                continue;
            };
            let ask = match step {
                Step::Pair { .. } => judges
                    .iter()
                    .filter(|judge| estimate.judges.iter().any(|of| of.name == judge.spec().name))
                    .cloned()
                    .collect(),
                _ => judges.clone(),
            };
            run(&bench, &ask, request);
            let made: usize = calls.iter().map(|calls| calls.load(Ordering::SeqCst)).sum();
            match step {
                // Rounds depend on the votes, so there may be fewer.
                Step::Rounds { .. } => prop_assert!(made <= estimate.calls(), "{step:?}"),
                _ => prop_assert_eq!(made, estimate.calls(), "{:?}", step),
            }
            prop_assert_eq!(answered_twice(&bench), 0, "{:?}", step);
            prop_assert_eq!(count(&bench, "SELECT count(*) FROM vote WHERE cost_usd = 0"), 0);
        }
    }

    #[test]
    fn the_same_plans_again_ask_nobody(steps in prop::collection::vec(step(), 1..4)) {
        let bench = bench(&SIZES);
        for step in steps.iter().chain(&steps) {
            let (judges, _) = judges(false);
            if let Some((request, _)) = step.request(&bench, &judges) {
                run(&bench, &judges, request);
            }
        }
        for step in steps.iter().filter(|step| matches!(step, Step::Plan { .. })) {
            let (judges, _) = judges(false);
            let estimate = step.request(&bench, &judges).unwrap().1;
            prop_assert_eq!(estimate.calls(), 0, "{:?}", step);
        }
    }
}

/// A pool in which every text occurs twice.
fn with_twins(bench: &mut Bench) {
    let mut pool = crate::suites::fixtures::pool(7, 8);
    for at in 0..4 {
        pool.documents[at + 4].content = pool.documents[at].content.clone();
    }
    let key = bench
        .store
        .write_blocking(move |db| Ok(db.add_pool(&pool, "test")?.key()))
        .unwrap();
    bench.keys.push(key);
}

#[test]
fn documents_with_the_same_text_share_calls_and_the_estimate_knows() {
    let mut bench = bench(&[]);
    with_twins(&mut bench);
    let mut spent = 0;
    for (cycles, seed) in [(2, 0), (3, 0), (6, 5)] {
        let (judges, calls) = judges(false);
        let request = RunRequest {
            seed,
            cycles,
            ..RunRequest::default()
        };
        let estimate = CostEstimate::of_project(&bench.store, &judges, &request).unwrap();
        let before = count(&bench, "SELECT count(*) FROM vote");
        run(&bench, &judges, request);
        let made: usize = calls.iter().map(|calls| calls.load(Ordering::SeqCst)).sum();
        assert_eq!(made, estimate.calls());
        let votes = count(&bench, "SELECT count(*) FROM vote") - before;
        assert_eq!(votes as usize, made + estimate.identical);
        assert!(estimate.identical > 0);
        assert_eq!(answered_twice(&bench), 0);
        // The reported spending equals the calls made.
        spent += made;
        let ledger = bench.store.read_blocking(|db| db.spent()).unwrap();
        assert_eq!(ledger.iter().map(|of| of.calls).sum::<usize>(), spent);
    }
}
