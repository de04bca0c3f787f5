//! How often rank intervals hold the true rank, end to end: the real program, run by
//! `overrule annotate` against a provider on loopback whose judges see a known relevance through
//! noise.
//!
//! `cargo bench --bench coverage -- --noise 0.35 --noise 0.8 --noise 1.6 --queries 60`. A number is
//! a mean over queries with its standard error; simultaneous intervals count where they hold all
//! ranks of a query.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout)]

#[path = "../tests/support/fake_provider.rs"]
mod fake_provider;

use clap::Parser;
use fake_provider::{FakeProvider, normal};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

#[derive(Debug, Parser)]
struct Options {
    /// Standard deviation of what a judge misreads in a pair; the true scores have 1.82
    #[arg(long, default_values_t = [0.35, 0.8, 1.6])]
    noise: Vec<f64>,
    /// Sampler, + judging, and battles a document
    #[arg(long, value_delimiter = ',', default_values_t = ["cycles:4", "swiss:4", "top+escalate:2"].map(str::to_owned))]
    strategies: Vec<String>,
    #[arg(long, default_value_t = 60)]
    queries: usize,
    #[arg(long, default_value_t = 100)]
    documents: usize,
    /// Of the true scores; another one makes other queries
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Sets the rule by which stated margins count
    #[arg(long)]
    vote_rule: Option<String>,
    /// Also prints what `lab sampler --resample` expects of the project
    #[arg(long)]
    predict: bool,
    /// The program to run
    #[arg(long, default_value = env!("CARGO_BIN_EXE_overrule"))]
    program: PathBuf,
    /// What cargo adds
    #[arg(long, hide = true)]
    bench: bool,
}

/// A mean over queries with its standard error.
struct Mean(Vec<f64>);

impl std::fmt::Display for Mean {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let n = self.0.len() as f64;
        let mean = self.0.iter().sum::<f64>() / n;
        let variance = self.0.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
        write!(f, "{mean:.3} ± {:.3}", (variance / n).sqrt())
    }
}

fn main() {
    let options = Options::parse();
    println!(
        "noise strategy           alone           first 10        all at once     Kendall τ       φ     λ     seconds"
    );
    for noise in &options.noise {
        for strategy in &options.strategies {
            options.play(*noise, strategy);
        }
    }
}

impl Options {
    fn truth(&self, query: usize) -> Vec<f64> {
        let of = |document: usize| {
            let parts = [self.seed, query as u64, document as u64].map(|part| part.to_string());
            let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
            1.82 * normal(&parts)
        };
        (0..self.documents).map(of).collect()
    }

    fn dataset(&self, noise: f64) -> String {
        let mut text = String::new();
        for query in 0..self.queries {
            let documents = self.truth(query).into_iter().enumerate();
            let documents: Vec<Value> = documents
                .map(|(at, truth)| {
                    json!({"id": format!("d{at}"), "content": format!("relevance {truth:.9} of {at}")})
                })
                .collect();
            let line = json!({
                "query": {"id": format!("q{query}"), "query": format!("noise {noise} in {query} of {}", self.seed)},
                "documents": documents,
            });
            writeln!(text, "{line}").unwrap();
        }
        text
    }

    fn command(&self, folder: &Path, args: &[&str]) -> Vec<u8> {
        let output = Command::new(&self.program)
            .args(args)
            .current_dir(folder)
            .env_clear()
            .env("HOME", folder)
            .env("OPENAI_API_KEY", "sk-bench-0123456789")
            .env("ANTHROPIC_API_KEY", "sk-bench-0123456789")
            .env("GEMINI_API_KEY", "sk-bench-0123456789")
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{args:?}: {told}");
        output.stdout
    }

    fn play(&self, noise: f64, strategy: &str) {
        let server = FakeProvider::start();
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        std::fs::write(
            folder.join("overrule.toml"),
            server.config("concurrency = 64"),
        )
        .unwrap();
        std::fs::write(folder.join("in.jsonl"), self.dataset(noise)).unwrap();
        let (way, battles) = strategy.split_once(':').unwrap();
        let (sampler, judging) = way.split_once('+').unwrap_or((way, "all"));
        let mut args = vec!["annotate", "in.jsonl", "out.jsonl", "--yes"];
        match sampler {
            "cycles" => args.extend(["--cycles", battles]),
            _ => args.extend([
                "--sampler",
                sampler,
                "--judging",
                judging,
                "--battles",
                battles,
            ]),
        }
        let started = Instant::now();
        if let Some(rule) = &self.vote_rule {
            self.command(folder, &["import", "in.jsonl"]);
            self.command(folder, &["config", "project", "--vote-rule", rule]);
        }
        self.command(folder, &args);
        let seconds = started.elapsed().as_secs_f64();
        let (mut alone, mut first, mut at_once, mut taus) = (vec![], vec![], vec![], vec![]);
        let mut last = Value::Null;
        for query in 0..self.queries {
            let truth = self.truth(query);
            let shown = self.command(
                folder,
                &[
                    "matrix",
                    "--query",
                    &format!("q{query}"),
                    "--format",
                    "json",
                ],
            );
            let shown: Value = serde_json::from_slice(&shown).unwrap();
            let held = Held::of(&shown["documents"], &truth);
            alone.push(held.alone);
            first.push(held.first);
            at_once.push(held.at_once);
            taus.push(held.tau);
            last = shown;
        }
        println!(
            "{noise:<5} {strategy:<18} {}   {}   {}   {}   {}   {}   {seconds:.0}",
            Mean(alone),
            Mean(first),
            Mean(at_once),
            Mean(taus),
            last["phi"],
            last["lambda_in_force"],
        );
        if self.predict {
            let queries = self.queries.to_string();
            let args = [
                "lab",
                "sampler",
                "--resample",
                "--strategies",
                strategy,
                "--queries",
                &queries,
                "--json",
            ];
            let found: Value = serde_json::from_slice(&self.command(folder, &args)).unwrap();
            let intervals = &found["strategies"][0]["rank_intervals"];
            let part = |name: &str| intervals[name]["mean"].as_f64().unwrap_or(f64::NAN);
            println!(
                "      --resample expects {:.3}           {:.3}           {:.3}           {:.3}           {}   {}",
                part("covered"),
                part("covered_first_10"),
                part("all_at_once"),
                found["strategies"][0]["quality"]["tau"]["mean"]
                    .as_f64()
                    .unwrap_or(f64::NAN),
                intervals["phi"],
                intervals["lambda"],
            );
        }
    }
}

/// What the intervals of one query hold.
struct Held {
    alone: f64,
    first: f64,
    at_once: f64,
    tau: f64,
}

impl Held {
    fn of(documents: &Value, truth: &[f64]) -> Self {
        let (mut alone, mut first, mut firsts, mut at_once) = (0.0, 0.0, 0.0, true);
        let mut scores = vec![0.0; truth.len()];
        for row in documents.as_array().unwrap() {
            let name = row["document"].as_str().unwrap();
            let at: usize = name.trim_start_matches('d').parse().unwrap();
            let rank = 1 + truth.iter().filter(|other| **other > truth[at]).count() as u64;
            let number = |name: &str| row[name].as_u64().unwrap();
            let inside = |low: &str, high: &str| (number(low)..=number(high)).contains(&rank);
            let held = f64::from(u8::from(inside("rank_low", "rank_high")));
            alone += held;
            if number("rank") <= 10 {
                first += held;
                firsts += 1.0;
            }
            at_once &= inside("rank_low_at_once", "rank_high_at_once");
            scores[at] = row["zelo"].as_f64().unwrap();
        }
        let (mut agree, mut pairs) = (0.0, 0.0);
        for a in 0..truth.len() {
            for b in 0..a {
                agree += ((truth[a] - truth[b]) * (scores[a] - scores[b])).signum();
                pairs += 1.0;
            }
        }
        Self {
            alone: alone / truth.len() as f64,
            first: first / firsts,
            at_once: f64::from(u8::from(at_once)),
            tau: agree / pairs,
        }
    }
}
