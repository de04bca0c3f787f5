//! A project that may be read and not written, in a folder that may not be written either: every
//! reading command works.
#![cfg(unix)]

use crate::gate;
use crate::support::{Ran, Sandbox, dataset};
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;

/// Somebody who owns nothing, where the tests are run by the one whom no permission stops.
const NOBODY: u32 = 65_534;

fn permit(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// A judged, picked and overruled project that can only be read, until this is dropped.
struct ReadOnly(Sandbox);

impl ReadOnly {
    fn new() -> Self {
        let sandbox = Sandbox::new();
        sandbox.write("in.jsonl", dataset([6]));
        sandbox.done("annotate in.jsonl out.jsonl");
        sandbox.done("override --query q0 --a d0 --b d1 --verdict a");
        sandbox.write("qrels.tsv", "q0\t0\td0\t1\nq0\t0\td1\t0\n");
        sandbox.done("import qrels.tsv");
        sandbox.done("pick");
        Self::of(sandbox)
    }

    fn of(sandbox: Sandbox) -> Self {
        permit(&sandbox.project(), 0o444);
        permit(sandbox.project().parent().unwrap(), 0o555);
        Self(sandbox)
    }

    fn run(&self, arguments: &str) -> Ran {
        let mut command = self.0.command(arguments);
        if fs::metadata(self.0.project()).unwrap().uid() == 0 {
            command.uid(NOBODY).gid(NOBODY);
        }
        Ran::of(command)
    }
}

impl Drop for ReadOnly {
    fn drop(&mut self) {
        permit(self.0.project().parent().unwrap(), 0o755);
        permit(&self.0.project(), 0o644);
    }
}

const READING: [&str; 13] = [
    "status",
    "queries",
    "matrix --query q0",
    "battles --query q0",
    "queue",
    "cycles --query q0",
    "judges",
    "log",
    "gold list --json",
    "adjudication",
    "config project",
    "export votes --format jsonl",
    "export verdicts --format jsonl",
];

#[test]
fn a_project_that_cannot_be_written_is_read_by_every_command_that_reads() {
    let project = ReadOnly::new();
    for arguments in READING {
        let ran = project.run(arguments);
        let told = format!("{arguments}: {}{}", ran.text(), ran.stderr);
        assert_eq!(ran.code, Some(0), "{told}");
        assert!(!ran.stdout.is_empty(), "{told}");
    }
}

#[test]
fn a_judge_is_tested_and_the_look_that_is_not_logged_is_reported() {
    let votes = gate::rows(gate::wrong_every(12), gate::wrong_every(11));
    let project = ReadOnly::of(gate::project(&votes));
    let test = "gate --judge new --against old";
    let ran = project.run(test);
    assert_eq!(ran.code, Some(0), "{}{}", ran.text(), ran.stderr);
    ran.prints("0 looks at reference pairs so far");
    ran.prints("read-only: this look is not logged");
    let ran = project.run(&format!("{test} --early --json"));
    let found: serde_json::Value = serde_json::from_str(ran.text()).unwrap();
    assert_eq!(
        (&found["looks"], &found["is_unlogged_look"]),
        (&0.into(), &true.into())
    );
}

#[test]
fn a_look_that_is_in_the_log_is_there_in_a_project_that_cannot_be_written() {
    let votes = gate::rows(gate::wrong_every(12), gate::wrong_every(11));
    let sandbox = gate::project(&votes);
    let test = "gate --judge new --against old --json";
    let logged = sandbox.json(test);
    assert_eq!(logged["is_unlogged_look"], false);
    let ran = ReadOnly::of(sandbox).run(test);
    let found: serde_json::Value = serde_json::from_str(ran.text()).unwrap();
    assert_eq!(found, logged);
}

const WRITING: [&str; 4] = [
    "override --query q0 --a d0 --b d2 --verdict a",
    "undo",
    "import in.jsonl",
    "config project --top 3",
];

#[test]
fn what_would_write_names_the_file_that_it_cannot_write() {
    let project = ReadOnly::new();
    for arguments in WRITING {
        let ran = project.run(arguments);
        assert!(
            ran.code.is_some_and(|code| code > 0),
            "{arguments}: {}",
            ran.text()
        );
        assert!(
            ran.stderr.contains("overrule.db"),
            "{arguments}: {}",
            ran.stderr
        );
    }
}
