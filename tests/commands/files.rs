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

/// Every way to name a file that is written, with the file's name last.
const WRITERS: &[&str] = &[
    "annotate in.jsonl",
    "export votes --out",
    "export annotated --out",
    "matrix --query capital-of-france --out",
    "student export --form pointwise --out",
    "student sample --pairs 2 --out",
    "adjudication --csv",
    "scale fit --out",
];

/// The content that a command writes into a new file.
fn written(sandbox: &Sandbox, command: &str) -> Option<String> {
    let path = sandbox.path("plain");
    drop(std::fs::remove_file(&path));
    let ran = sandbox.run(format!("{command} plain").as_str());
    let text = std::fs::read_to_string(&path).ok()?;
    assert_eq!(ran.code, Some(0), "{command}: {}", ran.stderr);
    Some(text)
}

#[test]
fn a_link_stays_a_link_and_what_it_leads_to_is_written() {
    let sandbox = sandbox();
    std::fs::create_dir(sandbox.path("store")).unwrap();
    let (real, link) = (sandbox.path("store/real"), sandbox.path("link"));
    std::os::unix::fs::symlink("store/real", &link).unwrap();
    std::os::unix::fs::symlink("link", sandbox.path("link2")).unwrap();
    let mut tried = 0;
    for command in WRITERS {
        let Some(text) = written(&sandbox, command) else {
            continue;
        };
        tried += 1;
        // A link to a file that is there, one to none, and a link to a link.
        for (name, before) in [
            ("link", Some("old")),
            ("link", None),
            ("link2", Some("old")),
        ] {
            drop(std::fs::remove_file(&real));
            if let Some(text) = before {
                std::fs::write(&real, text).unwrap();
            }
            sandbox.done(format!("{command} {name}").as_str());
            assert_eq!(std::fs::read_to_string(&real).unwrap(), text, "{command}");
            assert!(link.is_symlink() && sandbox.path("link2").is_symlink());
        }
        assert_eq!(std::fs::read_dir(sandbox.path("store")).unwrap().count(), 1);
    }
    assert!(tried >= 6, "{tried}");
}

#[rstest]
#[case::the_project("overrule.db", "would overwrite the project")]
#[case::keys(".env", "a file of keys")]
#[case::new_settings("folder/overrule.toml", "a configuration file")]
#[case::no_folder("nowhere/out.jsonl", "its folder does not exist")]
#[case::itself("link.jsonl", "leads to no file")]
#[case::a_device("/dev/null", "it is a device")]
#[case::the_open_output("/proc/self/fd/1", "cannot be written")]
#[case::a_new_device("/dev/overrule-test", "a device")]
fn a_link_is_as_safe_as_what_it_leads_to(#[case] target: &str, #[case] words: &str) {
    let sandbox = sandbox();
    std::fs::create_dir(sandbox.path("folder")).unwrap();
    sandbox.write(".env", "K=1");
    sandbox.write("other", "text");
    std::os::unix::fs::symlink(target, sandbox.path("link.jsonl")).unwrap();
    let before = sandbox.count("SELECT count(*) FROM run");
    for command in [
        "annotate in.jsonl link.jsonl",
        "export votes --out link.jsonl",
    ] {
        sandbox.refused(command, 2, &["link.jsonl: ", words]);
        assert!(sandbox.path("link.jsonl").is_symlink());
    }
    assert_eq!(sandbox.count("SELECT count(*) FROM run"), before);
    assert!(!sandbox.path("folder/overrule.toml").exists());
}

#[test]
fn a_minus_sign_is_the_standard_output() {
    let sandbox = sandbox();
    let mut tried = 0;
    for command in WRITERS {
        let Some(text) = written(&sandbox, command) else {
            continue;
        };
        tried += 1;
        let ran = sandbox.done(format!("{command} -").as_str());
        // Nothing but the file: what the command says goes elsewhere.
        assert_eq!(ran.text(), text, "{command}");
        assert!(!sandbox.path("-").exists(), "{command}");
    }
    assert!(tried >= 6, "{tried}");
    sandbox.refused("annotate in.jsonl - --json", 2, &["-: ", "--json"]);
    sandbox.refused("adjudication --csv - --inspect -", 2, &["two files"]);
    sandbox.refused(
        "export votes --format parquet --out -",
        2,
        &["Parquet is binary"],
    );
}
