//! Calls a second of `overrule annotate` with three network judges, against a provider on loopback in this process.
//!
//! `cargo bench --bench network -- QUERIES LATENCY_MS CONCURRENCY`; 400, 0 and 64 where nothing is said. The server shares
//! the machine, so what it can do alone is the upper bound.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout)]

#[path = "../tests/support/fake_provider.rs"]
mod fake_provider;

use fake_provider::FakeProvider;
use std::fmt::Write as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Documents of a query; all 66 pairs are battled.
const K: usize = 12;

fn main() {
    let arguments: Vec<u64> = std::env::args()
        .filter_map(|argument| argument.parse().ok())
        .collect();
    let argument = |at: usize, default| arguments.get(at).copied().unwrap_or(default);
    let (queries, latency, concurrency) = (argument(0, 400), argument(1, 0), argument(2, 64));

    let folder = tempfile::tempdir().unwrap();
    let server = FakeProvider::start();
    server.set_latency(Duration::from_millis(latency));
    let limit = format!("concurrency = {concurrency}");
    std::fs::write(folder.path().join("overrule.toml"), server.config(&limit)).unwrap();
    std::fs::write(folder.path().join("in.jsonl"), dataset(queries)).unwrap();

    let started = Instant::now();
    let mut child = Command::new(env!("CARGO_BIN_EXE_overrule"))
        .args(["annotate", "in.jsonl", "out.jsonl", "--yes"])
        .args(["--concurrency", &concurrency.to_string()])
        .current_dir(folder.path())
        .env_clear()
        .env("HOME", folder.path())
        .env("OPENAI_API_KEY", "sk-bench-0123456789")
        .env("ANTHROPIC_API_KEY", "sk-bench-0123456789")
        .env("GEMINI_API_KEY", "sk-bench-0123456789")
        .stderr(Stdio::null())
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
    assert!(status.success(), "{status}");
    let calls = server.total_calls();
    let rate = calls as f64 / seconds;
    println!(
        "{calls} calls in {seconds:.2} s: {rate:.0} calls/s at {latency} ms, concurrency {concurrency} for each of three judges"
    );
    if latency > 0 {
        let bound = 3.0 * concurrency as f64 / (latency as f64 / 1e3);
        println!("{:.1} % of concurrency / latency", 100.0 * rate / bound);
    }
    if let Some(peak) = peak {
        println!("peak resident memory {:.1} MiB", peak as f64 / 1024.0);
    }
}

fn dataset(queries: u64) -> String {
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
