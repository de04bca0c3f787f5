//! What the commands that read or write a whole project take: time, and peak memory as the system
//! counts it. A project is judged by the offline judges, exported, imported, merged and measured,
//! and a large query gets a verdict.
//!
//! `cargo bench --bench project -- --queries 2000 --documents 100`. With `--program FILE`, another
//! build of the program is measured. Each query has four battles per document and three votes per
//! battle.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout)]

use clap::Parser;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Documents of the query that gets a verdict.
const LARGE: usize = 1_000;
/// Distinct words of the texts, and words of a text.
const WORDS: u64 = 4_000;
const LENGTH: usize = 120;

#[derive(Debug, Parser)]
struct Options {
    #[arg(long, default_value_t = 200)]
    queries: usize,
    /// Documents of each query
    #[arg(long, default_value_t = 100)]
    documents: usize,
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
    let bench = Bench {
        program: options.program,
        folder: folder.path().to_owned(),
    };
    let path = |name: &str| folder.path().join(name);
    dataset(&path("in.jsonl"), options.queries, options.documents);
    let documents = options.queries * options.documents;
    println!(
        "{} queries of {} documents, {} votes",
        options.queries,
        options.documents,
        12 * documents
    );
    let judge = [
        "annotate",
        "in.jsonl",
        "out.jsonl",
        "--yes",
        "--ai-scores",
        "ai.json",
        "--as",
        "openai=bm25",
        "--as",
        "gemini=proximity",
        "--as",
        "anthropic=ngram",
    ];
    bench.run("annotate", "judged.db", &judge);
    let again = ["annotate", "in.jsonl", "out.jsonl", "--yes"];
    bench.run("annotate with nothing to do", "judged.db", &again);
    let votes = ["export", "votes", "--out", "votes.jsonl"];
    bench.run("export votes", "judged.db", &votes);
    let scores = ["export", "run", "--out", "run.trec"];
    bench.run("export run", "judged.db", &scores);
    bench.run("import ai_scores", "scores.db", &["import", "ai.json"]);
    bench.run("import dataset", "votes.db", &["import", "in.jsonl"]);
    let votes = ["import", "votes", "votes.jsonl"];
    bench.run("import votes", "votes.db", &votes);
    bench.run("import dataset", "merged.db", &["import", "in.jsonl"]);
    bench.run("merge", "merged.db", &["merge", "judged.db"]);
    bench.run("student train", "judged.db", &["student", "train"]);
    let evaluate = ["evaluate", "run.trec", "--truth", "zelo"];
    bench.run("evaluate --truth zelo", "judged.db", &evaluate);
    let queue = ["queue", "--limit", "100000", "--json"];
    bench.run("queue, first", "judged.db", &queue);
    bench.run("queue, again", "judged.db", &queue);

    dataset(&path("large.jsonl"), 1, LARGE);
    let judge = ["annotate", "large.jsonl", "out.jsonl", "--yes"];
    bench.run(&format!("annotate {LARGE} documents"), "large.db", &judge);
    let verdict = [
        "override",
        "--query",
        "q0",
        "--a",
        "q0-d1",
        "--b",
        "q0-d2",
        "--verdict",
        "a",
    ];
    bench.run("override", "large.db", &verdict);
}

struct Bench {
    program: PathBuf,
    folder: PathBuf,
}

impl Bench {
    /// Runs a command on a project, and prints what it took.
    fn run(&self, name: &str, project: &str, arguments: &[&str]) {
        let started = Instant::now();
        let mut child = Command::new(&self.program)
            .args(["--project", project, "--annotator", "bench"])
            .args(arguments)
            .current_dir(&self.folder)
            .env_clear()
            .env("HOME", &self.folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut peak = None;
        let status = loop {
            peak = peak_kib(child.id()).or(peak);
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        let seconds = started.elapsed().as_secs_f64();
        let peak = peak.map_or(String::new(), |kib| {
            format!("{:8.1} MiB", kib as f64 / 1024.0)
        });
        println!("  {name:28} {seconds:8.2} s {peak}");
        assert!(status.success(), "{name}: {status}");
    }
}

/// Queries with distinct texts, of which some documents contain terms.
fn dataset(path: &Path, queries: usize, documents: usize) {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut out = BufWriter::new(File::create(path).unwrap());
    for query in 0..queries {
        let terms: Vec<String> = (0..6).map(|_| word(rng.next_u64())).collect();
        let documents = (0..documents).map(|at| {
            let words = (0..LENGTH).map(|_| match rng.next_u64() {
                draw if draw % 50 == 0 => terms[(draw / 50) as usize % terms.len()].clone(),
                draw => word(draw),
            });
            let content = words.collect::<Vec<_>>().join(" ");
            serde_json::json!({ "id": format!("q{query}-d{at}"), "content": content })
        });
        let documents: Vec<_> = documents.collect();
        let line = serde_json::json!({
            "query": { "id": format!("q{query}"), "query": terms.join(" ") },
            "documents": documents,
        });
        writeln!(out, "{line}").unwrap();
    }
    out.flush().unwrap();
}

/// A word of letters; low numbers, which are frequent words, come up more often.
fn word(draw: u64) -> String {
    let (high, low) = (draw >> 32, draw & 0xffff_ffff);
    let number = (high % WORDS).min(low % WORDS);
    let letter = |at: u32| char::from(b'a' + (number / 17_u64.pow(at) % 17) as u8);
    (0..4).map(letter).collect()
}

/// The most memory that a process has had, in KiB, where the system tells.
fn peak_kib(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
