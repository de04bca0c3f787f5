//! Files that are not what they seem, and files that must not be lost.

use crate::support::{Sandbox, dataset};
use rstest::rstest;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

const SIZES: [usize; 2] = [2, 3];

/// A project with votes, and a pipe that nobody writes to.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.done(&["import", crate::support::AI_SCORES]);
    sandbox.write("in.jsonl", dataset(SIZES));
    let made = Command::new("mkfifo").arg(sandbox.path("pipe")).status();
    assert!(made.unwrap().success());
    sandbox
}

#[rstest]
#[case::import("import pipe")]
#[case::votes("import votes pipe")]
#[case::annotate("annotate pipe out.jsonl")]
#[case::gold("gold import pipe")]
#[case::merge("merge pipe")]
#[case::guideline("config project --guideline pipe")]
#[case::config("status --config pipe")]
#[case::out("export votes --out pipe")]
#[case::matrix("matrix --query capital-of-france --out pipe")]
fn a_pipe_is_refused_by_name(#[case] arguments: &str) {
    sandbox().refused(arguments, 2, &["pipe: ", "a pipe (FIFO)"]);
}

#[test]
fn a_pipe_is_no_project_and_a_device_is_no_output() {
    let sandbox = sandbox();
    sandbox.refused("status --project pipe", 2, &["a pipe (FIFO)"]);
    sandbox.refused(
        "export votes --out /dev/null",
        2,
        &["/dev/null: cannot be written: it is a device"],
    );
    sandbox.refused(
        "import /dev/null",
        2,
        &["/dev/null: cannot be opened: is a device"],
    );
}

#[rstest]
#[case::judges("overrule.toml", "a configuration file")]
#[case::settings("config.toml", "a configuration file")]
#[case::keys(".env", "a file of keys")]
#[case::other_keys(".env.local", "a file of keys")]
#[case::project("overrule.db", "would overwrite the project")]
#[case::log("overrule.db-wal", "would overwrite the project's log")]
#[case::lock("overrule.db-run", "would overwrite the project's log or lock")]
#[case::other_project("other.db", "would overwrite a database")]
fn what_holds_keys_settings_or_judgments_is_not_written_over(
    #[case] name: &str,
    #[case] words: &str,
) {
    let sandbox = sandbox();
    std::fs::copy(sandbox.project(), sandbox.path("other.db")).unwrap();
    let before = std::fs::read(sandbox.path(name)).ok();
    for arguments in [
        vec!["export", "votes", "--out", name],
        vec!["matrix", "--query", "capital-of-france", "--out", name],
        vec!["annotate", "in.jsonl", name],
    ] {
        sandbox.refused(&arguments, 2, &[words, "name another file"]);
    }
    assert_eq!(std::fs::read(sandbox.path(name)).ok(), before);
}

#[test]
fn a_log_is_not_written_into_keys_or_settings() {
    let sandbox = sandbox();
    sandbox.write(".env", "A=1");
    let ran = sandbox.run("status --log-file .env");
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert_eq!(sandbox.read(".env"), "A=1");
}

#[test]
fn what_is_written_is_its_owners_alone() {
    let sandbox = Sandbox::new();
    sandbox.write("in.jsonl", dataset(SIZES));
    sandbox.write("old.csv", "was here");
    let open = std::fs::Permissions::from_mode(0o644);
    std::fs::set_permissions(sandbox.path("old.csv"), open).unwrap();
    sandbox.done("annotate in.jsonl out.jsonl --log-file log.txt");
    sandbox.done("export votes --out old.csv");
    for name in ["overrule.db", "out.jsonl", "log.txt", "old.csv"] {
        let found = std::fs::metadata(sandbox.path(name)).unwrap();
        assert_eq!(found.permissions().mode() & 0o777, 0o600, "{name}");
    }
}

#[test]
fn a_link_to_a_project_is_the_project_and_a_second_name_is_refused() {
    let sandbox = sandbox();
    std::os::unix::fs::symlink("overrule.db", sandbox.path("link.db")).unwrap();
    sandbox.done("status --project link.db");
    std::fs::hard_link(sandbox.project(), sandbox.path("name.db")).unwrap();
    sandbox.refused(
        "status --project name.db",
        2,
        &["name.db", "hard links", "work on a copy"],
    );
}

#[test]
fn doctor_looks_into_the_project_and_lets_nothing_steer_the_terminal() {
    let sandbox = sandbox();
    sandbox.write(
        "overrule.toml",
        "[[judge]]\nname = \"bad\\u001b[2J\\u202e\"\nprovider = \"vllm\"\nmodel = \"m\\u001b[31m\"\n",
    );
    let checks = sandbox.json("doctor --offline --json");
    let found = checks.as_array().unwrap();
    let sound = found.iter().find(|check| check["name"] == "integrity");
    assert_eq!(sound.unwrap()["ok"], true);
    assert!(found.iter().any(|check| check["name"] == "disk"));
    let ran = sandbox.run("doctor --offline");
    let text = ran.text();
    assert!(
        !text.contains('\u{1b}') && !text.contains('\u{202e}'),
        "{text:?}"
    );
    assert!(text.contains("sound, "), "{text}");

    rusqlite::Connection::open(sandbox.project())
        .unwrap()
        .execute_batch(
            "PRAGMA foreign_keys = OFF; INSERT INTO summary (query, revision, value) VALUES (99, 0, '')",
        )
        .unwrap();
    let ran = sandbox.run("doctor --offline");
    assert_eq!(ran.code, Some(3));
    ran.prints("1 row without the row");
}
