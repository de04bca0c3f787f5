//! What `overrule annotate` makes of network judges, against a provider on loopback in this
//! process.
//!
//! `cargo bench --bench network -- --calls 3000 --latency-ms 1500 --sigma 0.5 --refuse 0.05 --concurrency 150`.
//! The server shares the machine, so what it can do alone is the upper bound. With `--serve PORT`
//! it only serves, for other clients.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout)]

#[path = "../tests/support/fake_provider.rs"]
mod fake_provider;

use clap::Parser;
use fake_provider::{FakeProvider, Fault, Faults, Latency, RetryAfter};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Documents of a query; 40 of their 45 pairs are battled.
const K: usize = 10;
const BATTLES: usize = 4 * K;

/// Calls of the three default judges, or of the first alone.
#[derive(Debug, Parser)]
struct Options {
    /// Calls to make, rounded up to whole queries
    #[arg(long, default_value_t = 48_000)]
    calls: usize,
    /// What an answer takes; the median, with --sigma
    #[arg(long, default_value_t = 0.0)]
    latency_ms: f64,
    /// Lognormal latencies with this deviation
    #[arg(long, default_value_t = 0.0)]
    sigma: f64,
    /// Share of requests that are refused by chance
    #[arg(long, default_value_t = 0.0)]
    refuse: f64,
    /// What such a refusal says to wait; 0 says nothing
    #[arg(long, default_value_t = 1000)]
    retry_after_ms: u32,
    /// Calls in flight of each judge
    #[arg(long, default_value_t = 150)]
    concurrency: usize,
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=3))]
    judges: u8,
    /// Requests a minute that are taken of each judge
    #[arg(long)]
    rpm: Option<f64>,
    /// Requests that are taken at once
    #[arg(long, default_value_t = 120)]
    burst: u32,
    /// Answers tell the limit
    #[arg(long)]
    headers: bool,
    /// Refusals past the limit do not say when to come back
    #[arg(long)]
    no_retry_after: bool,
    /// The program to run
    #[arg(long, default_value = env!("CARGO_BIN_EXE_overrule"))]
    program: PathBuf,
    /// Show what the program says
    #[arg(long)]
    verbose: bool,
    /// Only serve, until the standard input ends
    #[arg(long, hide = true)]
    serve: Option<u16>,
    /// What cargo adds
    #[arg(long, hide = true)]
    bench: bool,
}

impl Options {
    fn latency(&self) -> Latency {
        let median = Duration::from_secs_f64(self.latency_ms / 1e3);
        match self.sigma {
            sigma if sigma > 0.0 => Latency::LogNormal {
                median,
                sigma,
                seed: 1,
            },
            _ => Latency::Constant(median),
        }
    }

    fn server(&self) -> FakeProvider {
        let server = FakeProvider::start_at(self.serve.unwrap_or(0));
        server.set_latencies(self.latency());
        let refusal = match self.retry_after_ms {
            0 => Fault::RateLimitedBare,
            ms => Fault::RateLimitedFor(ms),
        };
        server.fail_at_random(Faults {
            seed: 1,
            rates: vec![(refusal, self.refuse)],
            doomed: Vec::new(),
        });
        if let Some(rpm) = self.rpm {
            let retry_after = if self.no_retry_after {
                RetryAfter::Absent
            } else {
                RetryAfter::NextToken
            };
            server.limit_requests(rpm, self.burst, self.headers, retry_after);
        }
        server
    }

    /// What the server saw, against calls × mean latency ÷ places.
    fn seen(&self, server: &FakeProvider) -> String {
        let books = server.books();
        let requests = server.total_calls();
        let span = books.span().as_secs_f64();
        let mut text = format!(
            "server: {requests} requests in {span:.2} s, {:.1} % rejected, at most {} in flight\n",
            100.0 * books.refused as f64 / requests.max(1) as f64,
            books.most_in_flight
        );
        let places = self.concurrency * usize::from(self.judges);
        let bound = books.answered as f64 * self.latency().mean().as_secs_f64() / places as f64;
        if bound > 0.0 {
            let share = 100.0 * bound / span;
            writeln!(text, "server: {share:.1} % of the bound of {bound:.2} s").unwrap();
        }
        text
    }
}

fn main() {
    let options = Options::parse();
    let server = options.server();
    if options.serve.is_some() {
        println!("{}", server.v1());
        std::io::copy(&mut std::io::stdin(), &mut std::io::sink()).unwrap();
        print!("{}", options.seen(&server));
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let limit = format!("concurrency = {}", options.concurrency);
    let judges = server.config(&limit);
    let judges: String = judges
        .split_inclusive("\n\n")
        .take(options.judges.into())
        .collect();
    std::fs::write(folder.path().join("overrule.toml"), judges).unwrap();
    let queries = options
        .calls
        .div_ceil(BATTLES * usize::from(options.judges));
    std::fs::write(folder.path().join("in.jsonl"), dataset(queries)).unwrap();

    let started = Instant::now();
    let mut child = Command::new(&options.program)
        .args(["annotate", "in.jsonl", "out.jsonl", "--yes"])
        .args(["--concurrency", &options.concurrency.to_string()])
        .current_dir(folder.path())
        .env_clear()
        .env("HOME", folder.path())
        .env("OPENAI_API_KEY", "sk-bench-0123456789")
        .env("ANTHROPIC_API_KEY", "sk-bench-0123456789")
        .env("GEMINI_API_KEY", "sk-bench-0123456789")
        .stderr(if options.verbose {
            Stdio::inherit()
        } else {
            Stdio::null()
        })
        .spawn()
        .unwrap();
    let mut peak = None;
    let status = loop {
        peak = peak_kib(child.id()).or(peak);
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let seconds = started.elapsed().as_secs_f64();
    let calls = server.books().answered;
    println!(
        "command: {calls} calls answered in {seconds:.2} s, {:.0} calls/s, {} judges, concurrency {} each, {status}",
        calls as f64 / seconds,
        options.judges,
        options.concurrency
    );
    print!("{}", options.seen(&server));
    if let Some(peak) = peak {
        println!("command: peak memory {:.1} MiB", peak as f64 / 1024.0);
    }
}

fn dataset(queries: usize) -> String {
    let mut text = String::new();
    for query in 0..queries {
        let documents: Vec<_> = (0..K)
            .map(|at| {
                let content = format!("text {at} of {query} on trams {}", "and rails ".repeat(at));
                serde_json::json!({ "id": format!("d{at}"), "content": content })
            })
            .collect();
        let line = serde_json::json!({
            "query": { "id": format!("q{query}"), "query": format!("trams {query}") },
            "documents": documents,
        });
        writeln!(text, "{line}").unwrap();
    }
    text
}

/// The most memory that a process has had, in KiB, where the system tells.
fn peak_kib(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
