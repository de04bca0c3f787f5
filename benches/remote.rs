//! What one PostgreSQL server carries: leases and shares of a budget per second with many workers,
//! a run that real workers share, and projects that are sent to the server and fetched from it, with
//! their sizes there. The machine's own speed without a server stands next to it.
//!
//! `cargo bench --features internals,remote --bench remote -- --url postgres:///DATABASE?host=FOLDER&user=NAME`.
//! The database is changed, and its user has to be a superuser. Each simulated worker has a
//! connection: start the server with `max_connections` above `--simulated`.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout)]

#[path = "support/program.rs"]
mod program;

use clap::Parser;
use overrule::internals::remote::{Address, NewUnit, Seat, Server, WorkerReport};
use program::{Bench, word, write_dataset};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};
use uuid::Uuid;

/// Words of a reasoning.
const REASONING: usize = 40;

#[derive(Debug, Parser)]
struct Options {
    /// The server and database
    #[arg(long)]
    url: String,
    #[arg(long, default_value_t = 200)]
    queries: usize,
    /// Documents of each query
    #[arg(long, default_value_t = 100)]
    documents: usize,
    /// Workers that only lease and return units
    #[arg(long, default_value_t = 1_000)]
    simulated: usize,
    /// Processes that share a run
    #[arg(long, default_value_t = 16)]
    workers: usize,
    /// The program to run
    #[arg(long, default_value = env!("CARGO_BIN_EXE_overrule"))]
    program: PathBuf,
    /// What cargo adds
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() {
    let options = Options::parse();
    let folder = tempfile::tempdir().unwrap();
    let program = Bench {
        program: options.program.clone(),
        folder: folder.path().to_owned(),
    };
    let bench = RemoteBench { program, options };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    bench.run(
        "remote init",
        "none.db",
        &["remote", "init", &bench.options.url],
    );
    for workers in [1, bench.options.workers, bench.options.simulated] {
        runtime.block_on(bench.leases(workers));
    }
    let dataset = bench.program.folder.join("in.jsonl");
    write_dataset(&dataset, bench.options.queries, bench.options.documents);
    bench.shared_run();
    bench.projects(&runtime);
}

struct RemoteBench {
    program: Bench,
    options: Options,
}

impl RemoteBench {
    /// Workers lease units one by one and return them done; then each reserves shares of the budget.
    async fn leases(&self, workers: usize) {
        const UNITS: usize = 20_000;
        const SHARES: usize = 5_000;
        let address = Address::parse(&self.options.url).unwrap();
        let mut server = Server::connect(&address).await.unwrap();
        let name = Uuid::now_v7().to_string();
        let units: Vec<NewUnit> = (0..UNITS)
            .map(|at| NewUnit {
                part: Some((at % 16) as i32),
                ..NewUnit::whole(format!("q{}", at / 16))
            })
            .collect();
        let created = server.create_job(&name, "{}", Some(i64::MAX / 2), &units);
        created.await.unwrap();
        let job = server.job(&name).await.unwrap().unwrap();
        let mut seats = Vec::new();
        for _ in 0..workers {
            let server = Server::connect(&address).await.unwrap();
            let (seat, _) = server.join(&job, Uuid::now_v7(), "bench").await.unwrap();
            seats.push((server, seat));
        }
        let started = Instant::now();
        let tasks = seats
            .into_iter()
            .map(|(server, seat)| tokio::spawn(leasing(server, seat)));
        let tasks: Vec<_> = tasks.collect();
        let (mut waits, mut seats) = (Vec::new(), Vec::new());
        for task in tasks {
            let (server, seat, own) = task.await.unwrap();
            waits.extend(own);
            seats.push((server, seat));
        }
        report(&format!("leases, {workers} workers"), UNITS, started, waits);
        let started = Instant::now();
        let each = SHARES.div_ceil(workers);
        let tasks = seats.into_iter().map(|(server, seat)| {
            tokio::spawn(async move {
                let (mut server, mut waits) = (server, Vec::new());
                for _ in 0..each {
                    let asked = Instant::now();
                    server.reserve(&seat, 1_000).await.unwrap();
                    waits.push(asked.elapsed());
                }
                waits
            })
        });
        let tasks: Vec<_> = tasks.collect();
        let mut waits = Vec::new();
        for task in tasks {
            waits.extend(task.await.unwrap());
        }
        report(
            &format!("budget shares, {workers} workers"),
            each * workers,
            started,
            waits,
        );
    }

    /// A run of one process without a server, and the same run shared by many.
    fn shared_run(&self) {
        let alone = ["annotate", "in.jsonl", "out.jsonl", "--yes", "--probe", "0"];
        let took = self.run("annotate, alone", "alone.db", &alone);
        let votes = 12 * self.options.queries * self.options.documents;
        println!("    {:8.0} votes/s", votes as f64 / took.as_secs_f64());
        let job = Uuid::now_v7().to_string();
        let started = Instant::now();
        let workers: Vec<Child> = (0..self.options.workers)
            .map(|at| {
                let project = format!("w{at}.db");
                let url = &self.options.url;
                let shared = [
                    "annotate", "in.jsonl", "--yes", "--probe", "0", "--remote", url,
                ];
                self.program
                    .command(&project, &[&shared[..], &["--job", &job]].concat())
                    .spawn()
                    .unwrap()
            })
            .collect();
        for mut worker in workers {
            assert!(worker.wait().unwrap().success());
        }
        let took = started.elapsed().as_secs_f64();
        let name = format!("annotate, {} workers", self.options.workers);
        println!("  {name:28} {took:8.2} s");
        println!("    {:8.0} votes/s", votes as f64 / took);
    }

    /// Sends projects whose judges say why or do not, and fetches them into new copies.
    fn projects(&self, runtime: &tokio::runtime::Runtime) {
        let export = ["export", "votes", "--out", "votes.jsonl"];
        self.run("export votes", "alone.db", &export);
        let votes = give_reasons(
            &self.program.folder.join("votes.jsonl"),
            &self.program.folder.join("said.jsonl"),
        );
        self.run("import dataset", "said.db", &["import", "in.jsonl"]);
        self.run(
            "import votes",
            "said.db",
            &["import", "votes", "said.jsonl"],
        );
        for (what, project) in [("offline", "alone.db"), ("with reasoning", "said.db")] {
            let before = runtime.block_on(self.sizes());
            let name = Uuid::now_v7().to_string();
            let add = ["remote", "add", &self.options.url, "--name", &name];
            self.run("remote add", project, &add);
            let took = self.run(&format!("sync, sending, {what}"), project, &["sync"]);
            println!("    {:8.0} votes/s", votes as f64 / took.as_secs_f64());
            let after = runtime.block_on(self.sizes());
            let per_vote = |at: usize| (after[at] - before[at]) as f64 / votes as f64;
            println!(
                "    {:8.1} bytes a vote in PostgreSQL, and {:.1} of texts",
                per_vote(0),
                per_vote(1)
            );
            let copy = format!("copy of {project}");
            self.run("remote add", &copy, &add);
            let took = self.run(&format!("sync, fetching, {what}"), &copy, &["sync"]);
            println!("    {:8.0} votes/s", votes as f64 / took.as_secs_f64());
        }
    }

    fn run(&self, name: &str, project: &str, arguments: &[&str]) -> Duration {
        self.program.run(name, "none", project, arguments)
    }

    /// The sizes of the tables of rows and of texts, with their indexes, in bytes.
    async fn sizes(&self) -> [i64; 2] {
        let config: tokio_postgres::Config = self.options.url.parse().unwrap();
        let (client, connection) = config.connect(tokio_postgres::NoTls).await.unwrap();
        tokio::spawn(connection);
        let sizes = "SELECT pg_total_relation_size('overrule.state')
            + pg_total_relation_size('overrule.judgment'), pg_total_relation_size('overrule.text')";
        let row = client.query_one(sizes, &[]).await.unwrap();
        [row.get(0), row.get(1)]
    }
}

/// Leases units and returns them done until there are none. Returns what each pair of requests took.
async fn leasing(mut server: Server, seat: Seat) -> (Server, Seat, Vec<Duration>) {
    let mut waits = Vec::new();
    loop {
        let asked = Instant::now();
        let units = server.lease(&seat, 120.0, 1, &[]).await.unwrap();
        let Some(unit) = units.first() else {
            return (server, seat, waits);
        };
        let report = WorkerReport::default();
        server
            .push(&seat, &[], &[unit.id], report, 60.0)
            .await
            .unwrap();
        waits.push(asked.elapsed());
    }
}

fn report(name: &str, count: usize, started: Instant, mut waits: Vec<Duration>) {
    waits.sort_unstable();
    let at = |share: f64| waits[(waits.len() as f64 * share) as usize].as_secs_f64() * 1e3;
    println!(
        "  {name:28} {:8.0} /s, median {:.1} ms, 99 % within {:.1} ms",
        count as f64 / started.elapsed().as_secs_f64(),
        at(0.5),
        at(0.99)
    );
}

/// Adds a reasoning to each vote, and returns how many there are.
fn give_reasons(votes: &Path, to: &Path) -> usize {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let mut out = BufWriter::new(File::create(to).unwrap());
    let mut count = 0;
    for line in BufReader::new(File::open(votes).unwrap()).lines() {
        let mut vote: serde_json::Value = serde_json::from_str(&line.unwrap()).unwrap();
        let words: Vec<String> = (0..REASONING).map(|_| word(rng.next_u64())).collect();
        vote["reasoning"] = words.join(" ").into();
        writeln!(out, "{vote}").unwrap();
        count += 1;
    }
    out.flush().unwrap();
    count
}
