//! A folder with a dataset and a configuration, the server it points to, and the real binary.

use crate::fake_provider::FakeProvider;
use rusqlite::Connection;
use serde_json::Value;
use std::path::PathBuf;
use std::process::{Command, Output};
use tempfile::TempDir;

pub(crate) const KEY: &str = "sk-secret-0123456789abcdef";
/// One query of nine documents: 36 battles, 108 calls.
pub(crate) const CALLS: usize = 108;

pub(crate) struct Desk {
    pub(crate) folder: TempDir,
    pub(crate) server: FakeProvider,
}

impl Desk {
    pub(crate) fn new(more: &str) -> Self {
        let desk = Self {
            folder: tempfile::tempdir().unwrap(),
            server: FakeProvider::start(),
        };
        std::fs::write(desk.path("overrule.toml"), desk.server.config(more)).unwrap();
        let documents: Vec<_> = (0..9)
            .map(|at| serde_json::json!({ "id": format!("d{at}"), "content": format!("text {at} on trams {}", "x".repeat(at)) }))
            .collect();
        let line =
            serde_json::json!({ "query": { "id": "q", "query": "trams" }, "documents": documents });
        std::fs::write(desk.path("in.jsonl"), format!("{line}\n")).unwrap();
        desk
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_overrule"));
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env_clear();
        for name in ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"] {
            command.env(name, KEY);
        }
        command.env("HOME", self.folder.path());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Lets the only judge be this model with a price, under the name `gpt`.
    pub(crate) fn set_judge(&self, model: &str) {
        let config = format!(
            "[[judge]]\nname = \"gpt\"\nprovider = \"compatible\"\nmodel = {model:?}\n\
             base_url = {:?}\nprice = {{ input = 1.0, output = 1.0 }}\n",
            self.server.v1(),
        );
        std::fs::write(self.path("overrule.toml"), config).unwrap();
    }

    /// Runs a command that must end with this code and print JSON.
    #[track_caller]
    pub(crate) fn reported(&self, arguments: &[&str], code: i32) -> Value {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(code), "{}", told(&output));
        json_of(&output)
    }

    pub(crate) fn annotate(&self, more: &[&str]) -> Output {
        self.run(&[&["annotate", "in.jsonl", "out.jsonl"], more].concat())
    }

    pub(crate) fn count(&self, sql: &str) -> i64 {
        self.count_after("", sql)
    }

    /// The same on a connection that has done something first.
    pub(crate) fn count_after(&self, first: &str, sql: &str) -> i64 {
        let project = Connection::open(self.path("overrule.db")).unwrap();
        project.execute_batch(first).unwrap();
        project.query_row(sql, [], |row| row.get(0)).unwrap()
    }

    pub(crate) fn change(&self, sql: &str) {
        let project = Connection::open(self.path("overrule.db")).unwrap();
        project.execute_batch(sql).unwrap();
    }

    pub(crate) fn spent(&self) -> f64 {
        let project = Connection::open(self.path("overrule.db")).unwrap();
        let sql = "SELECT coalesce(sum(cost_usd), 0.0) FROM (SELECT cost_usd FROM vote UNION ALL SELECT cost_usd FROM failure)";
        project.query_row(sql, [], |row| row.get(0)).unwrap()
    }
}

pub(crate) fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout)
}

pub(crate) fn json_of(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", told(output)))
}
