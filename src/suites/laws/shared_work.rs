//! A run that is given its work in parts, by several projects and in any order, makes the calls of
//! one run, and their pieces make one project.

use super::bench::{Bench, bench};
use super::scripted::{Act, ensemble, scripted};
use crate::app::annotate::{
    PartKey, PlannedRound, RunHandle, RunOutcome, RunRequest, WorkFeed, WorkPart,
    pairs_of_round_part, plan_round, probe_shares,
};
use crate::app::merge::{PieceTerms, merge_piece, merge_rounds};
use crate::app::run_lock::RunLock;
use crate::client::RunControl;
use crate::domain::ranking::{PriorPrecision, RankingSettings};
use crate::domain::sampling::adaptive::AdaptivePlan;
use crate::domain::sampling::{self, PAIRS_PER_ROUND_PART, SeededRng};
use crate::domain::vote::JudgeId;
use crate::judge::{FailureCause, JudgeEnsemble, JudgeSpec};
use crate::store::corpus::QueryKey;
use crate::store::merge::{MergeCounts, Piece, Snapshot};
use crate::store::{Db, Result};
use proptest::prelude::*;
use rusqlite::Connection;
use std::sync::Arc;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;

/// Pools with one, two and three parts.
const SIZES: [usize; 3] = [6, 12, 16];
/// The precision of the prior of all projects.
const LAMBDA: f64 = 0.1;

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
}

fn judges() -> JudgeEnsemble {
    ensemble(["a", "b"].map(|name| scripted(name, |_, _| Act::Answer)))
}

fn specs() -> Vec<JudgeSpec> {
    let judges = judges();
    judges.iter().map(|judge| judge.spec().clone()).collect()
}

/// Merges a piece about a query of the bench.
fn merge(db: &Db, piece: &(String, Piece), judges: &[JudgeSpec]) -> Result<MergeCounts> {
    let (name, piece) = piece;
    let terms = PieceTerms::Query { name, judges };
    merge_piece(db, &Snapshot::of_piece(&piece.bytes)?, terms)
}

/// Every vote: query, documents, game, order and margin.
fn votes(bench: &Bench) -> Vec<(i64, i64, i64, i64, String, bool, u64)> {
    let db = Connection::open(bench.store.path()).unwrap();
    let mut statement = db
        .prepare(
            "SELECT query, a, b, game, judge.name, swapped, margin FROM vote
             JOIN battle ON battle.id = vote.battle JOIN judge ON judge.id = vote.judge
             ORDER BY query, min(a, b), max(a, b), game, judge.name",
        )
        .unwrap();
    let rows = statement.query_map([], |row| {
        Ok((
            row.get(0)?,
            row.get(1)?,
            row.get(2)?,
            row.get(3)?,
            row.get(4)?,
            row.get(5)?,
            row.get::<_, f64>(6)?.to_bits(),
        ))
    });
    rows.unwrap().map(std::result::Result::unwrap).collect()
}

/// All parts of the plan.
fn parts(bench: &Bench, request: &RunRequest) -> Vec<WorkPart> {
    let probes = probe_shares(request, &specs(), SIZES.into_iter());
    let queries = bench.keys.iter().zip(SIZES).zip(probes);
    queries
        .flat_map(|((query, size), probe)| {
            let query = *query;
            let name = bench.store.read_blocking(move |db| Ok(db.query(query)?.id));
            let name = name.unwrap();
            let planned = sampling::plan(request.seed, name.as_str(), size, request.cycles);
            (0..sampling::parts(&planned)).map(move |part| WorkPart {
                key: PartKey {
                    query,
                    round: None,
                    part: Some(part),
                },
                probe,
            })
        })
        .collect()
}

/// Runs the judges on these parts.
fn run(bench: &Bench, request: &RunRequest, given: &[WorkPart]) {
    let outcome = runtime().block_on(answer(bench, judges(), request, given));
    assert_eq!(outcome.missing, Some(0));
}

/// Runs judges on these parts, which all must end completely.
async fn answer(
    bench: &Bench,
    judges: JudgeEnsemble,
    request: &RunRequest,
    given: &[WorkPart],
) -> RunOutcome {
    let (parts, feed) = mpsc::unbounded_channel();
    let (ends, mut ended) = mpsc::unbounded_channel();
    let lock = Arc::new(RunLock::take(bench.store.path()).unwrap());
    let run = RunHandle::start_shared(
        lock,
        bench.store.clone(),
        judges,
        request.clone(),
        RunControl::default(),
        WorkFeed { parts: feed, ends },
    );
    for part in given {
        parts.send(*part).unwrap();
    }
    drop(parts);
    let outcome = run.end.await.unwrap().unwrap();
    while let Some(end) = ended.recv().await {
        assert!(end.is_complete);
    }
    outcome
}

/// The pieces of a project about these parts.
fn pieces(bench: &Bench, request: &RunRequest, given: &[WorkPart]) -> Vec<(String, Piece)> {
    let piece = |part: &WorkPart| {
        let (part, seed, cycles) = (*part, request.seed, request.cycles);
        let packed = bench.store.write_blocking(move |db| {
            let info = db.query(part.key.query)?;
            let planned = sampling::plan(seed, info.id.as_str(), info.documents, cycles);
            let pairs = part
                .key
                .part
                .map(|number| sampling::pairs_of_part(&planned, number));
            let piece = Piece::of_query(db, part.key.query, pairs, &specs())?;
            Ok((info.id.to_string(), piece.unwrap()))
        });
        packed.unwrap()
    };
    given.iter().map(piece).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn parts_of_several_workers_are_one_run(
        order in Just((0..6usize).collect::<Vec<_>>()).prop_shuffle(),
        cut in 0..7usize,
        seed in 0..100u64,
    ) {
        let request = RunRequest { seed, ..RunRequest::default() };
        let whole = bench(&SIZES);
        runtime().block_on(async {
            let store = whole.store.clone();
            let run = RunHandle::start(store, judges(), request.clone(), RunControl::default());
            run.end.await.unwrap().unwrap();
        });
        let (one, two, all) = (bench(&SIZES), bench(&SIZES), bench(&SIZES));
        let parts = parts(&one, &request);
        prop_assert_eq!(parts.len(), 6);
        let shuffled: Vec<WorkPart> = order.iter().map(|at| parts[*at]).collect();
        let (first, second) = shuffled.split_at(cut);
        run(&one, &request, first);
        run(&two, &request, second);
        let mut stored = pieces(&one, &request, first);
        stored.extend(pieces(&two, &request, second));
        // A piece that is merged again changes nothing.
        stored.extend(stored.first().cloned());
        all.store
            .write_blocking(move |db| {
                for piece in &stored {
                    merge(db, piece, &specs())?;
                }
                Ok(())
            })
            .unwrap();
        prop_assert_eq!(votes(&all), votes(&whole));
        let view = |bench: &Bench, at: usize| {
            let key = bench.keys[at];
            bench.store.read_blocking(move |db| db.view(key)).unwrap()
        };
        for at in 0..SIZES.len() {
            prop_assert_eq!(
                super::bench::bits(&view(&all, at)),
                super::bench::bits(&view(&whole, at))
            );
        }
    }
}

/// A judge may have no answer to some pairs.
fn failing_judges() -> JudgeEnsemble {
    ensemble(["a", "b"].map(|name| {
        scripted(name, |case, _| {
            if case.first_text().len() % 7 == 1 {
                Act::Fail(FailureCause::Refused)
            } else {
                Act::Answer
            }
        })
    }))
}

/// The judges as a project knows them.
async fn store_judges(bench: &Bench) -> Arc<[JudgeId]> {
    let judges = bench.store.write(|db| {
        let judges = specs().into_iter().map(|spec| db.judge(&spec));
        judges.collect::<Result<Vec<_>>>()
    });
    judges.await.unwrap().into()
}

fn round_part(query: QueryKey, round: usize, part: usize) -> WorkPart {
    let (round, part) = (Some(round), Some(part));
    let key = PartKey { query, round, part };
    WorkPart { key, probe: 0 }
}

/// What workers store on the server, in order: rounds, or answers.
type Stored = Vec<(bool, Piece)>;

/// Merges what is stored about a query.
fn merge_all(bench: &Bench, name: &str, stored: &Stored) {
    let (name, stored) = (name.to_owned(), stored.clone());
    let merged = bench.store.write_blocking(move |db| {
        for (is_rounds, piece) in stored {
            let snapshot = Snapshot::of_piece(&piece.bytes)?;
            if is_rounds {
                let (_, last) = merge_rounds(db, &snapshot, &name, &specs())?;
                assert!(last.is_some());
            } else {
                merge(db, &(name.clone(), piece), &specs())?;
            }
        }
        Ok(())
    });
    merged.unwrap();
}

/// Plays all rounds of a query: a worker plans each round, and all of them answer parts of it.
/// `draws` decides who does what.
fn play(workers: &[Bench], at: usize, request: &RunRequest, draws: &mut SeededRng) -> Stored {
    let mut stored = Stored::new();
    loop {
        let planner = &workers[draws.below(workers.len())];
        let key = planner.keys[at];
        let name = planner.store.read_blocking(move |db| Ok(db.query(key)?.id));
        let name = name.unwrap().to_string();
        merge_all(planner, &name, &stored);
        let judges = runtime().block_on(store_judges(planner));
        let campaign = (request.campaign.unwrap(), LAMBDA);
        let of = Arc::new(request.clone());
        let planned = plan_round(&planner.store, campaign, of, &judges, key);
        let PlannedRound { number, tasks } = runtime().block_on(planned).unwrap();
        if tasks.is_empty() {
            return stored;
        }
        let parts = tasks.len().div_ceil(PAIRS_PER_ROUND_PART);
        let rounds = planner.store.write_blocking(move |db| {
            db.kept_if(|db| {
                db.add_round(key, number, &tasks, &judges)?;
                Ok((Piece::of_rounds(db, key, &specs())?, false))
            })
        });
        let rounds = (true, rounds.unwrap());
        let mut answers = Stored::new();
        for part in 0..parts {
            let worker = &workers[draws.below(workers.len())];
            merge_all(worker, &name, &vec![rounds.clone()]);
            let part_of_round = round_part(worker.keys[at], number, part);
            let given = [part_of_round];
            runtime().block_on(answer(worker, failing_judges(), request, &given));
            let piece = worker.store.write_blocking(move |db| {
                let query = part_of_round.key.query;
                let pairs = pairs_of_round_part(db, query, number, part)?;
                assert!(!pairs.is_empty());
                Piece::of_query(db, query, Some(pairs), &specs())
            });
            answers.push((false, piece.unwrap().unwrap()));
        }
        stored.push(rounds);
        stored.extend(answers);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    #[test]
    fn rounds_of_several_workers_are_those_of_one_run(
        seed in 0..100u64,
        plan in prop::sample::select(vec!["swiss:3", "top+escalate:2", "eig+rotate:2", "cycles:2"]),
    ) {
        let campaign: AdaptivePlan = plan.parse().unwrap();
        let request = RunRequest { seed, campaign: Some(campaign), ..RunRequest::default() };
        let prepared = || {
            let bench = bench(&SIZES);
            bench
                .store
                .write_blocking(|db| {
                    let settings = RankingSettings {
                        lambda: PriorPrecision::Set(LAMBDA),
                        ..db.settings()?
                    };
                    db.set_settings(&settings)
                })
                .unwrap();
            bench
        };
        let whole = prepared();
        runtime().block_on(async {
            let (store, judges) = (whole.store.clone(), failing_judges());
            let run = RunHandle::start(store, judges, request.clone(), RunControl::default());
            run.end.await.unwrap().unwrap();
        });
        let workers = [prepared(), prepared(), prepared()];
        let all = prepared();
        let mut draws = SeededRng::new(seed, &["workers"]);
        for (at, _) in SIZES.iter().enumerate() {
            let stored = play(&workers, at, &request, &mut draws);
            let key = all.keys[at];
            let name = all.store.read_blocking(move |db| Ok(db.query(key)?.id)).unwrap();
            merge_all(&all, name.as_str(), &stored);
        }
        prop_assert_eq!(votes(&all), votes(&whole));
        for at in 0..SIZES.len() {
            let view = |bench: &Bench| {
                let key = bench.keys[at];
                bench.store.read_blocking(move |db| db.view(key)).unwrap()
            };
            prop_assert_eq!(super::bench::bits(&view(&all)), super::bench::bits(&view(&whole)));
        }
    }
}

#[tokio::test]
async fn a_judge_whose_calls_about_a_query_keep_failing_does_not_hold_up_a_round() {
    let bench = bench(&[40]);
    let campaign: AdaptivePlan = "swiss:2".parse().unwrap();
    let request = RunRequest {
        campaign: Some(campaign),
        ..RunRequest::default()
    };
    let judges = ensemble(["a", "b"].map(|name| {
        scripted(name, move |_, _| match name {
            "a" => Act::Answer,
            _ => Act::Fail(FailureCause::BadRequest),
        })
    }));
    let (key, ids) = (bench.keys[0], store_judges(&bench).await);
    let of = Arc::new(request.clone());
    let planned = plan_round(&bench.store, (campaign, LAMBDA), of, &ids, key);
    let PlannedRound { number, tasks } = planned.await.unwrap();
    let parts = 0..tasks.len().div_ceil(PAIRS_PER_ROUND_PART);
    let add = bench
        .store
        .write(move |db| db.add_round(key, number, &tasks, &ids));
    add.await.unwrap();
    let parts: Vec<WorkPart> = parts.map(|part| round_part(key, number, part)).collect();
    let outcome = answer(&bench, judges, &request, &parts).await;
    let [answering, failing] = &outcome.progress.judges[..] else {
        panic!("two judges");
    };
    assert_eq!(answering.votes, 40);
    assert!(failing.failures < 40 && failing.skipped_queries.len() == 1);
}

#[test]
fn a_piece_is_merged_only_where_its_texts_are_known() {
    let request = RunRequest::default();
    let one = bench(&SIZES);
    let parts = parts(&one, &request);
    run(&one, &request, &parts[..1]);
    let piece = pieces(&one, &request, &parts[..1]).remove(0);
    let other = bench(&[]);
    let merged = |bench: &Bench, name: &str, judges: Vec<JudgeSpec>| {
        let piece = (name.to_owned(), piece.1.clone());
        bench
            .store
            .write_blocking(move |db| merge(db, &piece, &judges))
    };
    let refused = merged(&other, &piece.0, specs()).unwrap();
    assert_eq!((refused.votes, refused.refused.len()), (0, 1));
    assert!(refused.refused[0].1.contains("import the dataset"));
    // It counts for the query that it is said to be about, and for judges of the job only.
    let known = bench(&SIZES);
    let error = merged(&known, "another", specs()).unwrap_err();
    assert!(error.to_string().contains("instead of"), "{error}");
    assert_eq!(
        merged(&known, &piece.0, specs()[..1].to_vec())
            .unwrap()
            .votes,
        piece.1.votes / 2
    );
    assert_eq!(
        merged(&known, &piece.0, specs()).unwrap().votes,
        piece.1.votes / 2
    );
    // Damaged bytes are an error and not a panic.
    for cut in [0, 1, 10, piece.1.bytes.len() / 2, piece.1.bytes.len() - 1] {
        assert!(Snapshot::of_piece(&piece.1.bytes[..cut]).is_err(), "{cut}");
    }
}
