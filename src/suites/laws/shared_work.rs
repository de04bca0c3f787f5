//! A run that is given its work in parts, by several projects and in any order, makes the calls of
//! one run, and their pieces make one project.

use super::bench::{Bench, bench};
use super::scripted::{Act, ensemble, scripted};
use crate::app::annotate::{PartKey, RunHandle, RunRequest, WorkFeed, WorkPart, probe_shares};
use crate::app::merge::{PieceTerms, merge_piece};
use crate::app::run_lock::RunLock;
use crate::client::RunControl;
use crate::domain::sampling;
use crate::judge::{JudgeEnsemble, JudgeSpec};
use crate::store::merge::{MergeCounts, Piece, Snapshot};
use crate::store::{Db, Result};
use proptest::prelude::*;
use rusqlite::Connection;
use std::sync::Arc;
use tokio::sync::mpsc;

/// Pools with one, two and three parts.
const SIZES: [usize; 3] = [6, 12, 16];

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
                    part: Some(part),
                },
                probe,
            })
        })
        .collect()
}

/// Runs the judges on these parts.
fn run(bench: &Bench, request: &RunRequest, given: &[WorkPart]) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let (parts, feed) = mpsc::unbounded_channel();
        let (ends, mut ended) = mpsc::unbounded_channel();
        let lock = Arc::new(RunLock::take(bench.store.path()).unwrap());
        let run = RunHandle::start_shared(
            lock,
            bench.store.clone(),
            judges(),
            request.clone(),
            RunControl::default(),
            WorkFeed { parts: feed, ends },
        );
        for part in given {
            parts.send(*part).unwrap();
        }
        drop(parts);
        let outcome = run.end.await.unwrap().unwrap();
        assert_eq!(outcome.missing, Some(0));
        while let Some(end) = ended.recv().await {
            assert!(end.is_complete);
        }
    });
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
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
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
