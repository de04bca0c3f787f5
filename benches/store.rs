//! The project file's writing: how long a row waits for the disk, how long a kill could still take
//! it, and how many fit in a second; on a disk that is left alone, and on one that another process
//! keeps busy.
//!
//! `cargo bench --bench store [-- quiet|busy]`

#![allow(clippy::unwrap_used, reason = "a bench may fail")]

use overrule::internals::{DocId, Document, JsonObject, Pool, Query, QueryId, Store, StoreError};
use rusqlite::{Connection, OpenFlags};
use std::path::Path;
use std::pin::Pin;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// Rows a second while latency is measured, about what one judge's 50 calls at 50 ms give.
const RATE: u32 = 1_000;
const PACED: usize = 5_000;
const AT_ONCE: usize = 20_000;

type Answer = Pin<Box<dyn Future<Output = Result<(), StoreError>> + Send>>;

fn main() {
    let wanted: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with('-'))
        .collect();
    for disk in ["quiet", "busy"] {
        if !wanted.is_empty() && !wanted.iter().any(|name| name == disk) {
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        let load = (disk == "busy").then(|| busy(folder.path()));
        println!("{disk} disk");
        alone(folder.path());
        paced(folder.path());
        at_once(folder.path());
        if let Some(mut load) = load {
            drop(load.kill());
            drop(load.wait());
        }
    }
}

/// One row after the other, each awaited.
fn alone(folder: &Path) {
    let store = Store::open(&folder.join("alone.db")).unwrap();
    let waits = (0..200)
        .map(|number| {
            let began = Instant::now();
            store
                .write_blocking(move |db| db.add_pool(&row(number), "bench"))
                .unwrap();
            began.elapsed()
        })
        .collect();
    tell("one at a time: answered after", waits);
}

/// Rows at an even pace: when each is in the file for another process to see, and when it is
/// answered.
fn paced(folder: &Path) {
    let path = folder.join("paced.db");
    let store = Store::open(&path).unwrap();
    let (submitted, answers) = mpsc::channel::<(Instant, Answer)>();
    let answered = thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let mut waits = Vec::new();
        for (began, answer) in answers {
            runtime.block_on(answer).unwrap();
            waits.push(Instant::elapsed(&began));
        }
        waits
    });
    let done = AtomicBool::new(false);
    let mut began = Vec::new();
    let seen = thread::scope(|scope| {
        let watcher = scope.spawn(|| watch(&path, &done));
        let start = Instant::now();
        for number in 0..PACED {
            let due = start + number as u32 * Duration::from_secs(1) / RATE;
            thread::sleep(due.saturating_duration_since(Instant::now()));
            let now = Instant::now();
            began.push(now);
            let answer = store.write(move |db| db.add_pool(&row(number), "bench").map(drop));
            submitted.send((now, Box::pin(answer))).unwrap();
        }
        drop(submitted);
        let waits = answered.join().unwrap();
        done.store(true, Ordering::Relaxed);
        tell("1000/s: answered after", waits);
        watcher.join().unwrap()
    });
    // The rows are in the file in the order in which they were handed over.
    let exposed = began
        .iter()
        .enumerate()
        .filter_map(|(number, began)| {
            let first = seen.iter().find(|(_, rows)| *rows > number)?;
            Some(first.0.saturating_duration_since(*began))
        })
        .collect();
    tell("1000/s: a kill could take it for", exposed);
    let done = store.write_statistics();
    println!(
        "  {} commits (longest {:.1?}), {} syncs (longest {:.1?}), {} checkpoints",
        done.commits, done.longest_commit, done.syncs, done.longest_sync, done.checkpoints
    );
}

/// How many rows another connection sees, and when, until told to end.
fn watch(path: &Path, done: &AtomicBool) -> Vec<(Instant, usize)> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
    let other = Connection::open_with_flags(path, flags).unwrap();
    let mut seen = Vec::new();
    let mut last = false;
    while !last {
        last = done.load(Ordering::Relaxed);
        let rows = other
            .query_row("SELECT coalesce(max(id), 0) FROM query", [], |row| {
                row.get(0)
            })
            .unwrap();
        seen.push((Instant::now(), rows));
        thread::sleep(Duration::from_micros(500));
    }
    seen
}

/// As many rows as fit.
fn at_once(folder: &Path) {
    let store = Store::open(&folder.join("at_once.db")).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let start = Instant::now();
    let answers: Vec<_> = (0..AT_ONCE)
        .map(|number| store.write(move |db| db.add_pool(&row(number), "bench")))
        .collect();
    for answer in answers {
        runtime.block_on(answer).unwrap();
    }
    let rate = AT_ONCE as f64 / start.elapsed().as_secs_f64();
    println!("  all at once: {rate:.0} rows/s");
}

fn row(number: usize) -> Pool {
    let document = |id: &str| Document {
        id: DocId::new(id),
        title: None,
        content: format!("{number} {}", "a text of some length ".repeat(4)),
        metadata: JsonObject::default(),
        extra: JsonObject::default(),
        input_score: None,
    };
    Pool {
        query: Query {
            id: QueryId::new(format!("q{number}")),
            text: "trams".to_owned(),
            extra: JsonObject::default(),
        },
        documents: vec![document("a"), document("b")],
        extra: JsonObject::default(),
    }
}

fn tell(what: &str, mut waits: Vec<Duration>) {
    waits.sort_unstable();
    let at = |share: f64| waits[((waits.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
    println!(
        "  {what} {:.2} ms (median), {:.2} ms (99 %), {:.2} ms (longest)",
        at(0.5),
        at(0.99),
        at(1.0)
    );
}

/// A process that writes and syncs large files on the same disk until it is killed.
fn busy(folder: &Path) -> Child {
    let file = folder.join("load");
    let script = format!(
        "while :; do dd if=/dev/zero of='{}' bs=1M count=256 conv=fsync; done",
        file.display()
    );
    Command::new("sh")
        .args(["-c", &script])
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}
