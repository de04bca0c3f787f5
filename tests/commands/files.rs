//! Files that are not what they seem, and files that must not be lost.

use crate::support::{Desk, dataset};
use rstest::rstest;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

const SIZES: [usize; 2] = [2, 3];

/// A project with votes, and a pipe that nobody writes to.
fn desk() -> Desk {
    let desk = Desk::new();
    desk.done(&["import", crate::support::AI_SCORES]);
    desk.write("in.jsonl", dataset(SIZES));
    let made = Command::new("mkfifo").arg(desk.path("pipe")).status();
    assert!(made.unwrap().success());
    desk
}

#[rstest]
#[case::import(&["import", "pipe"])]
#[case::votes(&["import", "votes", "pipe"])]
#[case::annotate(&["annotate", "pipe", "out.jsonl"])]
#[case::gold(&["gold", "import", "pipe"])]
#[case::merge(&["merge", "pipe"])]
#[case::guideline(&["config", "project", "--guideline", "pipe"])]
#[case::config(&["status", "--config", "pipe"])]
#[case::out(&["export", "votes", "--out", "pipe"])]
#[case::matrix(&["matrix", "--query", "capital-of-france", "--out", "pipe"])]
fn a_pipe_is_refused_by_name(#[case] arguments: &[&str]) {
    desk().refused(arguments, 2, &["pipe: ", "a pipe (FIFO)"]);
}

#[test]
fn a_pipe_is_no_project_and_a_device_is_no_output() {
    let desk = desk();
    desk.refused(&["status", "--project", "pipe"], 2, &["a pipe (FIFO)"]);
    desk.refused(
        &["export", "votes", "--out", "/dev/null"],
        2,
        &["/dev/null: cannot be written: it is a device"],
    );
    desk.refused(
        &["import", "/dev/null"],
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
    let desk = desk();
    std::fs::copy(desk.project(), desk.path("other.db")).unwrap();
    let before = std::fs::read(desk.path(name)).ok();
    for arguments in [
        vec!["export", "votes", "--out", name],
        vec!["matrix", "--query", "capital-of-france", "--out", name],
        vec!["annotate", "in.jsonl", name],
    ] {
        desk.refused(&arguments, 2, &[words, "name another file"]);
    }
    assert_eq!(std::fs::read(desk.path(name)).ok(), before);
}

#[test]
fn a_log_is_not_written_into_keys_or_settings() {
    let desk = desk();
    desk.write(".env", "A=1");
    let ran = desk.run(&["status", "--log-file", ".env"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert_eq!(desk.read(".env"), "A=1");
}

#[test]
fn what_is_written_is_its_owners_alone() {
    let desk = Desk::new();
    desk.write("in.jsonl", dataset(SIZES));
    desk.write("old.csv", "was here");
    let open = std::fs::Permissions::from_mode(0o644);
    std::fs::set_permissions(desk.path("old.csv"), open).unwrap();
    desk.done(&["annotate", "in.jsonl", "out.jsonl", "--log-file", "log.txt"]);
    desk.done(&["export", "votes", "--out", "old.csv"]);
    for name in ["overrule.db", "out.jsonl", "log.txt", "old.csv"] {
        let found = std::fs::metadata(desk.path(name)).unwrap();
        assert_eq!(found.permissions().mode() & 0o777, 0o600, "{name}");
    }
}

#[test]
fn a_link_to_a_project_is_the_project_and_a_second_name_is_refused() {
    let desk = desk();
    std::os::unix::fs::symlink("overrule.db", desk.path("link.db")).unwrap();
    desk.done(&["status", "--project", "link.db"]);
    std::fs::hard_link(desk.project(), desk.path("name.db")).unwrap();
    desk.refused(
        &["status", "--project", "name.db"],
        2,
        &["name.db", "hard links", "work on a copy"],
    );
}

#[test]
fn doctor_looks_into_the_project_and_lets_nothing_steer_the_terminal() {
    let desk = desk();
    desk.write(
        "overrule.toml",
        "[[judge]]\nname = \"bad\\u001b[2J\\u202e\"\nprovider = \"openai\"\nmodel = \"m\\u001b[31m\"\n",
    );
    let checks = desk.json(&["doctor", "--offline", "--json"]);
    let found = checks.as_array().unwrap();
    let sound = found.iter().find(|check| check["name"] == "integrity");
    assert_eq!(sound.unwrap()["ok"], true);
    assert!(found.iter().any(|check| check["name"] == "disk"));
    let ran = desk.run(&["doctor", "--offline"]);
    let text = ran.text();
    assert!(
        !text.contains('\u{1b}') && !text.contains('\u{202e}'),
        "{text:?}"
    );
    assert!(text.contains("sound, "), "{text}");

    rusqlite::Connection::open(desk.project())
        .unwrap()
        .execute_batch(
            "PRAGMA foreign_keys = OFF; INSERT INTO summary (query, revision, value) VALUES (99, 0, '')",
        )
        .unwrap();
    let ran = desk.run(&["doctor", "--offline"]);
    assert_eq!(ran.code, Some(3));
    assert!(
        ran.text().contains("1 row without the row"),
        "{}",
        ran.text()
    );
}
