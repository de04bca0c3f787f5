//! What the integration tests share: a folder of their own with the binary run in it, and pools
//! made from a seed.

#![allow(dead_code, reason = "no test file needs all of it")]

pub(crate) mod parquet;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The bundled battles of three language models.
pub(crate) const AI_SCORES: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/data/zbench_example.ai_scores.json"
);

/// What is typed after the command's name: one line, or a list where an argument holds spaces.
pub(crate) trait Arguments: std::fmt::Debug {
    fn list(&self) -> Vec<&str>;
}

impl Arguments for str {
    fn list(&self) -> Vec<&str> {
        self.split(' ').filter(|word| !word.is_empty()).collect()
    }
}

impl Arguments for String {
    fn list(&self) -> Vec<&str> {
        self.as_str().list()
    }
}

impl Arguments for [&str] {
    fn list(&self) -> Vec<&str> {
        self.to_vec()
    }
}

impl<const N: usize> Arguments for [&str; N] {
    fn list(&self) -> Vec<&str> {
        self.to_vec()
    }
}

impl Arguments for Vec<&str> {
    fn list(&self) -> Vec<&str> {
        self.clone()
    }
}

impl<A: Arguments + ?Sized> Arguments for &A {
    fn list(&self) -> Vec<&str> {
        (**self).list()
    }
}

/// Commands that print tables and sentences for people, and nothing of a document's text.
const FOR_PEOPLE: [&str; 15] = [
    "adjudication",
    "compare",
    "doctor",
    "evaluate",
    "gold",
    "judges",
    "lab",
    "matrix",
    "methods",
    "pool",
    "queue",
    "rerank",
    "sbr",
    "scale",
    "student",
];

/// A folder of one test: project, inputs, outputs, and the home of whoever runs the binary.
pub(crate) struct Sandbox {
    folder: TempDir,
}

/// Rows of the running totals of calls that differ from what a recount gives.
const WRONG_TOTALS: &str = "
WITH recount AS (
    SELECT query, judge, sum(kind = 'vote') AS votes, sum(kind = 'vote' AND usd IS NOT NULL) AS votes_priced,
           total(usd) FILTER (WHERE kind = 'vote') AS votes_usd,
           sum(kind = 'vote' AND run IS NOT NULL) AS asked,
           sum(kind = 'vote' AND run IS NOT NULL AND usd IS NOT NULL) AS asked_priced,
           total(usd) FILTER (WHERE kind = 'vote' AND run IS NOT NULL) AS asked_usd,
           sum(kind = 'failure') AS failures, sum(kind = 'failure' AND usd IS NOT NULL) AS failures_priced,
           total(usd) FILTER (WHERE kind = 'failure') AS failures_usd
    FROM (SELECT 'vote' AS kind, battle AS at, judge, run, cost_usd AS usd FROM vote
          UNION ALL SELECT 'failure', battle, judge, run, cost_usd FROM failure)
    JOIN battle ON battle.id = at GROUP BY query, judge
)
SELECT count(*) FROM recount FULL JOIN call_total AS kept ON kept.query = recount.query AND kept.judge = recount.judge
WHERE recount.votes IS NOT kept.votes OR recount.votes_priced IS NOT kept.votes_priced
   OR recount.asked IS NOT kept.asked OR recount.asked_priced IS NOT kept.asked_priced
   OR recount.failures IS NOT kept.failures OR recount.failures_priced IS NOT kept.failures_priced
   OR abs(recount.votes_usd - kept.votes_usd) > 1e-9 OR abs(recount.asked_usd - kept.asked_usd) > 1e-9
   OR abs(recount.failures_usd - kept.failures_usd) > 1e-9";

impl Drop for Sandbox {
    /// Whatever a test did, by votes, failures, imports, merges, batches or undo: the running
    /// totals of calls hold.
    fn drop(&mut self) {
        let wrong = (!std::thread::panicking())
            .then(|| read_only(&self.project()))
            .flatten()
            .and_then(|db| {
                let sound = db.query_row(WRONG_TOTALS, [], |row| row.get(0));
                sound.ok()
            });
        assert!(
            matches!(wrong, None | Some(0_i64)),
            "running totals of calls are wrong"
        );
    }
}

/// What a command did.
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.path("overrule.db")
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// The binary in this folder, with this folder as home and nothing of the tester's environment
    /// that it reads.
    pub(crate) fn command(&self, arguments: &(impl Arguments + ?Sized)) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_overrule"));
        command.current_dir(self.folder.path()).stdin(Stdio::null());
        for name in [
            "OVERRULE_PROJECT",
            "OVERRULE_CONFIG",
            "OVERRULE_LOG",
            "NO_COLOR",
            "RUST_BACKTRACE",
            "OPENAI_API_KEY",
            "ANTHROPIC_API_KEY",
            "GEMINI_API_KEY",
            "GOOGLE_API_KEY",
        ] {
            command.env_remove(name);
        }
        for name in [
            "HOME",
            "XDG_CONFIG_HOME",
            "XDG_DATA_HOME",
            "XDG_CACHE_HOME",
            "XDG_STATE_HOME",
        ] {
            command.env(name, self.folder.path().join("home"));
        }
        command
            .env("OVERRULE_ANNOTATOR", "tester")
            .arg("--project")
            .arg(self.project())
            .args(arguments.list());
        command
    }

    pub(crate) fn run(&self, arguments: &(impl Arguments + ?Sized)) -> Ran {
        let ran = Ran::of(self.command(arguments));
        let list = arguments.list();
        if list.first().is_some_and(|name| FOR_PEOPLE.contains(name)) && !list.contains(&"--json") {
            ran.has_real_minus_signs();
        }
        ran
    }

    /// Runs a command that must succeed.
    pub(crate) fn done(&self, arguments: &(impl Arguments + ?Sized)) -> Ran {
        let ran = self.run(arguments);
        assert_eq!(ran.code, Some(0), "{arguments:?}: {}", ran.stderr);
        ran
    }

    /// Runs a command that must succeed and print JSON.
    pub(crate) fn json(&self, arguments: &(impl Arguments + ?Sized)) -> Value {
        let ran = self.done(arguments);
        serde_json::from_slice(&ran.stdout)
            .unwrap_or_else(|error| panic!("{arguments:?}: {error}: {}", ran.text()))
    }

    /// Runs a command that must end with `code` and say each of `words` on stderr.
    #[track_caller]
    pub(crate) fn refused(
        &self,
        arguments: &(impl Arguments + ?Sized),
        code: i32,
        words: &[&str],
    ) -> Ran {
        let ran = self.run(arguments);
        ran.refused(code, words);
        ran
    }

    pub(crate) fn with_stdin(
        &self,
        arguments: &(impl Arguments + ?Sized),
        input: impl AsRef<[u8]>,
    ) -> Ran {
        let mut command = self.command(arguments);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A command that refuses early closes its stdin, which is its right.
        drop(child.stdin.take().unwrap().write_all(input.as_ref()));
        Ran::from_output(child.wait_with_output().unwrap())
    }

    pub(crate) fn count(&self, sql: &str) -> i64 {
        read_only(&self.project())
            .and_then(|db| db.query_row(sql, [], |row| row.get(0)).ok())
            .unwrap_or(0)
    }
}

impl Ran {
    pub(crate) fn of(mut command: Command) -> Self {
        Self::from_output(command.output().unwrap())
    }

    fn from_output(output: std::process::Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: output.stdout,
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.stdout).unwrap()
    }

    /// Asserts that nothing was printed that steers a terminal, and nothing that reorders or hides
    /// text.
    #[track_caller]
    pub(crate) fn is_harmless(&self) {
        for text in [self.text(), &self.stderr] {
            let found = text.chars().find(|ch| {
                (ch.is_control() && *ch != '\n')
                    || matches!(ch, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200b}' | '\u{feff}')
            });
            assert_eq!(found, None, "{text:?}");
        }
    }

    /// Asserts that no number on stdout has a hyphen for its sign: people read U+2212, as on the
    /// screens.
    #[track_caller]
    fn has_real_minus_signs(&self) {
        let text = self.text();
        let hyphen = text.match_indices('-').find(|&(at, _)| {
            let before = text[..at].chars().next_back();
            let after = text[at + 1..].chars().next();
            before.is_none_or(|ch| ch.is_whitespace() || matches!(ch, '(' | '±'))
                && after.is_some_and(|ch| ch.is_ascii_digit() || ch == '.')
        });
        assert_eq!(hyphen, None, "{text}");
    }

    /// Asserts that stdout holds this.
    #[track_caller]
    pub(crate) fn prints(&self, words: &str) {
        assert!(
            self.text().contains(words),
            "no {words:?} in {}",
            self.text()
        );
    }

    /// Asserts that stderr holds this.
    #[track_caller]
    pub(crate) fn says(&self, words: &str) {
        assert!(
            self.stderr.contains(words),
            "no {words:?} in {}",
            self.stderr
        );
    }

    #[track_caller]
    pub(crate) fn refused(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, Some(code), "{}", self.stderr);
        assert_eq!(self.text(), "", "a refusal prints no data");
        for word in words {
            assert!(
                self.stderr.contains(word),
                "{word:?} is not in {:?}",
                self.stderr
            );
        }
    }
}

/// A reader on a project that another process may be writing.
pub(crate) fn read_only(path: &Path) -> Option<rusqlite::Connection> {
    let flags =
        rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY | rusqlite::OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = rusqlite::Connection::open_with_flags(path, flags).ok()?;
    db.busy_timeout(Duration::from_secs(5)).ok()?;
    Some(db)
}

/// Looks until `ready`, and fails the test when that takes far too long.
#[track_caller]
pub(crate) fn until(what: &str, mut ready: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !ready() {
        assert!(Instant::now() < deadline, "waited too long until {what}");
        thread::sleep(Duration::from_millis(1));
    }
}

/// Ends a process that a test forgot.
pub(crate) struct Guarded(pub(crate) Child);

impl Drop for Guarded {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

const WORDS: [&str; 48] = [
    "apple", "river", "stone", "cloud", "market", "engine", "garden", "letter", "window", "winter",
    "copper", "falcon", "harbour", "island", "journey", "kettle", "lantern", "meadow", "needle",
    "orchard", "pepper", "quarry", "ribbon", "saddle", "timber", "umbrella", "valley", "willow",
    "yellow", "zephyr", "anchor", "basket", "candle", "desert", "ember", "feather", "granite",
    "hollow", "ivory", "jasmine", "kernel", "ladder", "marble", "nectar", "opal", "parcel",
    "quiver", "rocket",
];

/// Random words.
struct Words(ChaCha8Rng);

impl Words {
    fn sentence(&mut self, words: usize) -> String {
        let mut word = || WORDS[self.0.next_u32() as usize % WORDS.len()];
        (0..words).map(|_| word()).collect::<Vec<_>>().join(" ")
    }
}

/// A dataset of pools of these sizes: made-up texts, always the same, no two documents alike.
pub(crate) fn dataset(sizes: impl IntoIterator<Item = usize>) -> String {
    let mut lines = String::new();
    for (seed, documents) in sizes.into_iter().enumerate() {
        let mut words = Words(ChaCha8Rng::seed_from_u64(seed as u64));
        let query = json!({ "id": format!("q{seed}"), "query": words.sentence(4) });
        let mut document = |at: usize| json!({ "id": format!("d{at}"), "content": format!("{} number {at}", words.sentence(25)) });
        let documents: Vec<Value> = (0..documents).map(&mut document).collect();
        lines += &format!("{}\n", json!({ "query": query, "documents": documents }));
    }
    lines
}

/// A benchmark in BEIR's form, in the folder `beir`: two queries with labels, of which the first
/// stage misses one.
pub(crate) fn benchmark(sandbox: &Sandbox) {
    std::fs::create_dir_all(sandbox.path("beir/qrels")).unwrap();
    sandbox.write(
        "beir/corpus.jsonl",
        r#"{"_id":"d1","title":"Aspirin","text":"Aspirin lowers fever in adults.","metadata":{"year":1.50}}
{"_id":"d2","title":"","text":"Fever is common among children in winter, and most of it passes by itself."}
{"_id":"d3","title":"Fever","text":"What a fever is and is not, and when aspirin helps."}
{"_id":"d4","title":"Bread","text":"Sourdough needs patience."}
{"_id":"d5","title":"Salicylates","text":"Acetylsalicylic acid is antipyretic."}
{"_id":"d6","title":"Ovens","text":"An oven for bread is hot. Bread rises in a warm kitchen."}
{"_id":"d7","title":"Flour","text":"Rye flour and wheat flour make bread of different kinds."}
{"_id":"empty","title":"","text":""}
"#,
    );
    sandbox.write(
        "beir/queries.jsonl",
        r#"{"_id":"10","text":"How is bread made in a warm kitchen?","metadata":{}}
{"_id":"7","text":"Nobody labeled anything for this one."}
{"_id":"2","text":"Does aspirin lower fever?","metadata":{"d1":[{"sentences":[2],"label":"SUPPORT"},{"sentences":[0],"label":"SUPPORT"}]}}
"#,
    );
    sandbox.write(
        "beir/qrels/test.tsv",
        "query-id\tcorpus-id\tscore\n2\td5\t1\n2\td1\t2\n2\td2\t0\n10\td6\t1\n",
    );
}
