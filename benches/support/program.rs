//! Data and runs of the program, for benches that measure whole commands.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Distinct words of the texts, and words of a text.
const WORDS: u64 = 4_000;
const LENGTH: usize = 120;

/// A program, and the folder in which it is run.
pub struct Bench {
    pub program: PathBuf,
    pub folder: PathBuf,
}

impl Bench {
    pub fn command(&self, project: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(["--project", project, "--annotator", "bench"])
            .args(arguments)
            .current_dir(&self.folder)
            .env_clear()
            .env("HOME", &self.folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    /// Runs a command on a project, and prints what it took, with the bound for it if there is one.
    pub fn run(&self, name: &str, bound: &str, project: &str, arguments: &[&str]) -> Duration {
        let started = Instant::now();
        let mut child = self.command(project, arguments).spawn().unwrap();
        let mut peak = None;
        let status = loop {
            peak = peak_kib(child.id()).or(peak);
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        let took = started.elapsed();
        let peak = peak.map_or(String::new(), |kib| {
            format!("{:8.1} MiB", kib as f64 / 1024.0)
        });
        let bound = match bound {
            "none" => String::new(),
            bound => format!("  bound {bound}"),
        };
        println!("  {name:28} {:8.2} s {peak}{bound}", took.as_secs_f64());
        assert!(status.success(), "{name}: {status}");
        took
    }
}

/// Queries with distinct texts, of which some documents contain terms.
pub fn write_dataset(path: &Path, queries: usize, documents: usize) {
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
pub fn word(draw: u64) -> String {
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
