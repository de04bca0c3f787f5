//! What the commands that read or write a whole project take: time, and peak memory as the system
//! counts it. A project is judged by the offline judges, exported, imported, merged and measured,
//! and a large query gets a verdict.
//!
//! `cargo bench --bench project -- --queries 2000 --documents 100`. With `--program FILE`, another
//! build of the program is measured. Each query has four battles per document and three votes per
//! battle. Next to each row is its bound for 2,000 queries of 100 documents on two cores.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout)]

#[path = "support/program.rs"]
mod program;

use clap::Parser;
use program::{Bench, write_dataset};
use std::path::PathBuf;

/// Documents of the query that gets a verdict.
const LARGE: usize = 1_000;

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
    write_dataset(&path("in.jsonl"), options.queries, options.documents);
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
    bench.run("annotate", "none", "judged.db", &judge);
    let again = ["annotate", "in.jsonl", "out.jsonl", "--yes"];
    bench.run(
        "annotate with nothing to do",
        "1.5 s, 100 MB",
        "judged.db",
        &again,
    );
    let votes = ["export", "votes", "--out", "votes.jsonl"];
    bench.run("export votes", "20 s", "judged.db", &votes);
    let scores = ["export", "run", "--out", "run.trec"];
    bench.run("export run", "none", "judged.db", &scores);
    let import = ["import", "ai.json"];
    bench.run("import ai_scores", "40 s, 150 MB", "scores.db", &import);
    let pools = ["import", "in.jsonl"];
    bench.run("import dataset", "none", "votes.db", &pools);
    let votes = ["import", "votes", "votes.jsonl"];
    bench.run("import votes", "35 s", "votes.db", &votes);
    bench.run("import dataset", "none", "merged.db", &pools);
    bench.run("merge", "25 s", "merged.db", &["merge", "judged.db"]);
    let train = ["student", "train"];
    bench.run("student train", "15 s, 200 MB", "judged.db", &train);
    let evaluate = ["evaluate", "run.trec", "--truth", "zelo"];
    bench.run("evaluate --truth zelo", "100 MB", "judged.db", &evaluate);
    let queue = ["queue", "--limit", "100000", "--json"];
    bench.run("queue, first", "100 MB", "judged.db", &queue);
    bench.run("queue, again", "100 MB", "judged.db", &queue);

    write_dataset(&path("large.jsonl"), 1, LARGE);
    let judge = ["annotate", "large.jsonl", "out.jsonl", "--yes"];
    let name = format!("annotate {LARGE} documents");
    bench.run(&name, "none", "large.db", &judge);
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
    bench.run("override", "0.1 s", "large.db", &verdict);
}
