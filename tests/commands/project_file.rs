//! The project file on a real disk: copies that are not whole, damage, locks and permissions.

use crate::support::{Sandbox, dataset, read_only};
use rstest::rstest;
use rusqlite::Connection;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

/// Somebody who owns nothing, where the tests are run by the one whom no permission stops.
const NOBODY: u32 = 65_534;

fn permit(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// A judged project with a verdict.
fn project() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("in.jsonl", dataset([6, 5]));
    sandbox.done("annotate in.jsonl out.jsonl");
    sandbox.done("override --query q0 --a d0 --b d1 --verdict a");
    sandbox
}

fn as_nobody(sandbox: &Sandbox, arguments: &str) -> crate::support::Ran {
    let mut command = sandbox.command(arguments);
    if fs::metadata(sandbox.project()).unwrap().uid() == 0 {
        command.uid(NOBODY).gid(NOBODY);
    }
    crate::support::Ran::of(command)
}

/// A copy of the project in which `damage` has been done past all checks.
fn damaged(sandbox: &Sandbox, damage: &str) {
    fs::copy(sandbox.project(), sandbox.path("damaged.db")).unwrap();
    let sql = format!("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON; {damage}");
    Connection::open(sandbox.path("damaged.db"))
        .unwrap()
        .execute_batch(&sql)
        .unwrap();
}

const COMMANDS: [&str; 12] = [
    "status",
    "queries",
    "matrix --query q0",
    "battles --query q0",
    "queue",
    "judges",
    "log",
    "export votes",
    "export verdicts",
    "export annotated",
    "export run",
    "doctor --offline",
];

#[rstest]
#[case::documents("DELETE FROM document WHERE query = 1")]
#[case::one_document("DELETE FROM document WHERE query = 1 AND position = 2")]
#[case::positions("UPDATE document SET position = position + 7 WHERE query = 1")]
#[case::count("UPDATE query SET documents = 2")]
#[case::negative_count("UPDATE query SET documents = -2")]
#[case::verdict("UPDATE verdict SET b = 99")]
#[case::battles("UPDATE battle SET b = 99 WHERE id = 3")]
#[case::texts("DELETE FROM content WHERE id < 4")]
#[case::judges("DELETE FROM judge")]
#[case::ensemble("UPDATE ensemble SET judges = '[99]'")]
#[case::table("DROP TABLE vote")]
#[case::settings("UPDATE setting SET value = '{'")]
#[case::summaries("UPDATE summary SET scores = x'00', value = '[]'")]
fn damage_never_ends_in_a_panic(#[case] damage: &str) {
    let sandbox = project();
    for command in COMMANDS {
        damaged(&sandbox, damage);
        let ran = sandbox.run(&format!("{command} --project damaged.db"));
        assert!(
            ran.code.is_some_and(|code| code < 100) && !ran.stderr.contains("panicked"),
            "{command}: {:?} {}",
            ran.code,
            ran.stderr
        );
        assert!(!ran.stderr.contains("internal error"), "{}", ran.stderr);
    }
}

#[test]
fn doctor_says_what_is_damaged_and_what_can_be_exported() {
    let sandbox = project();
    damaged(&sandbox, "DELETE FROM document WHERE query = 1");
    sandbox.refused(
        "export verdicts --project damaged.db",
        1,
        &[
            "the project is damaged: query \"q0\": its documents are not all there",
            "`overrule doctor` shows what can be exported",
        ],
    );
    let ran = sandbox.run("doctor --offline --project damaged.db");
    assert_eq!(ran.code, Some(3));
    ran.prints("1 query whose documents are not all there");
    ran.prints("1 of 2 queries can be exported, all but q0");
    ran.prints("overrule export votes --query q1");
    sandbox.done("export votes --query q1 --project damaged.db");

    damaged(&sandbox, "DROP TABLE vote");
    let ran = sandbox.run("doctor --offline --project damaged.db");
    assert_eq!(ran.code, Some(3));
    ran.prints("the table vote is missing");
}

#[test]
fn a_copy_without_its_log_is_told_from_an_empty_project() {
    let sandbox = project();
    // As a kill leaves it before anything was copied into the file.
    let copy = Connection::open(sandbox.path("copy.db")).unwrap();
    copy.pragma_update(None, "journal_mode", "wal").unwrap();
    drop(copy);
    for command in [
        "status --project copy.db",
        "import in.jsonl --project copy.db",
        "merge copy.db",
        "backup b.db --project copy.db",
    ] {
        sandbox.refused(command, 2, &["copy.db-wal", "missing", "overrule backup"]);
    }
    assert!(!sandbox.path("copy.db-wal").exists());
}

#[test]
fn a_file_that_is_cut_short_says_how_long_it_should_be() {
    let sandbox = project();
    let whole = fs::read(sandbox.project()).unwrap();
    for length in [1, 90, 200, whole.len() / 2, whole.len() - 1] {
        sandbox.write("half.db", &whole[..length]);
        for command in ["status --project half.db", "merge half.db"] {
            sandbox.refused(command, 2, &["half.db", "cut short", "copy it again"]);
        }
        assert_eq!(fs::read(sandbox.path("half.db")).unwrap(), &whole[..length]);
    }
    sandbox.refused(
        "status --project half.db",
        2,
        &[&format!("{} of {} bytes", whole.len() - 1, whole.len())],
    );
}

#[test]
fn a_log_without_its_file_is_not_deleted() {
    let sandbox = project();
    sandbox.write("new.db-wal", "what was written last");
    for make in [false, true] {
        if make {
            sandbox.write("new.db", "");
        }
        for command in ["import in.jsonl", "annotate in.jsonl o.jsonl"] {
            let ran = sandbox.run(&format!("{command} --project new.db"));
            assert_eq!(ran.code, Some(2), "{}", ran.stderr);
            ran.says("new.db-wal");
        }
    }
    assert_eq!(sandbox.read("new.db-wal"), "what was written last");
}

#[test]
fn reading_commands_leave_an_empty_file_empty_and_writing_ones_make_it_private() {
    let sandbox = project();
    sandbox.write("empty.db", "");
    permit(&sandbox.path("empty.db"), 0o644);
    for command in ["status", "queue", "export votes", "backup b.db"] {
        sandbox.refused(
            &format!("{command} --project empty.db"),
            2,
            &["empty.db: not an Overrule project: it is empty"],
        );
    }
    assert_eq!(fs::metadata(sandbox.path("empty.db")).unwrap().len(), 0);
    sandbox.done("import in.jsonl --project empty.db");
    let made = fs::metadata(sandbox.path("empty.db")).unwrap();
    assert_eq!(made.permissions().mode() & 0o777, 0o600);
}

#[test]
fn missing_permissions_are_named() {
    let sandbox = project();
    permit(sandbox.project().parent().unwrap(), 0o755);
    fs::create_dir(sandbox.path("shared")).unwrap();
    let copy = sandbox.path("shared/p.db");
    fs::copy(sandbox.project(), &copy).unwrap();
    permit(&copy, 0o000);
    for command in ["status", "doctor --offline"] {
        let ran = as_nobody(&sandbox, &format!("{command} --project shared/p.db"));
        let told = format!("{}{}", ran.text(), ran.stderr);
        assert!(told.contains("no permission to read it"), "{told}");
        assert!(!told.contains("name another file"), "{told}");
        assert_eq!(told.matches("permission to read").count(), 1, "{told}");
    }
    permit(&copy, 0o644);
    permit(&sandbox.path("shared"), 0o600);
    for command in ["status", "import in.jsonl"] {
        let ran = as_nobody(&sandbox, &format!("{command} --project shared/p.db"));
        assert_eq!(ran.code, Some(2), "{}", ran.stderr);
        ran.says("no permission to enter its folder");
    }
    permit(&sandbox.path("shared"), 0o755);
}

#[test]
fn a_log_that_cannot_be_written_is_named() {
    let sandbox = project();
    let folder = sandbox.path("shared");
    fs::create_dir(&folder).unwrap();
    permit(&folder, 0o777);
    permit(sandbox.project().parent().unwrap(), 0o755);
    fs::copy(sandbox.project(), folder.join("p.db")).unwrap();
    let open = Connection::open(folder.join("p.db")).unwrap();
    open.execute("UPDATE setting SET value = value", [])
        .unwrap();
    permit(&folder.join("p.db"), 0o666);
    for name in ["p.db-wal", "p.db-shm"] {
        permit(&folder.join(name), 0o444);
    }
    let ran = as_nobody(
        &sandbox,
        "override --query q0 --a d0 --b d2 --verdict a --project shared/p.db",
    );
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    ran.says("cannot be written: p.db-wal next to it, which is part of it, is write-protected");
}

#[test]
fn a_lock_of_another_program_is_waited_for_in_sight_and_named() {
    let sandbox = project();
    let other = Connection::open(sandbox.project()).unwrap();
    other
        .pragma_update(None, "locking_mode", "exclusive")
        .unwrap();
    other
        .execute_batch("BEGIN EXCLUSIVE; UPDATE setting SET value = value; COMMIT")
        .unwrap();
    sandbox.refused(
        "status",
        1,
        &[
            "waiting for another program that has locked it",
            "is locked by another program",
        ],
    );
}

#[test]
fn what_reads_does_not_wait_for_who_writes() {
    let sandbox = project();
    let other = Connection::open(sandbox.project()).unwrap();
    other
        .execute_batch("BEGIN IMMEDIATE; UPDATE setting SET value = value")
        .unwrap();
    let ran = sandbox.done("status");
    assert_eq!(ran.stderr, "");
}

#[test]
fn a_name_that_leaves_no_room_for_the_log_is_refused() {
    let sandbox = project();
    let name = format!("{}.db", "n".repeat(248));
    sandbox.refused(
        &["import", "in.jsonl", "--project", &name],
        2,
        &["its name is too long", "at most 247 bytes"],
    );
}

#[test]
fn a_limit_of_file_sizes_is_named_and_leaves_no_half_project() {
    let sandbox = project();
    let limited = |arguments: &str| {
        let binary = env!("CARGO_BIN_EXE_overrule");
        let mut shell = Command::new("bash");
        shell
            .current_dir(sandbox.project().parent().unwrap())
            .args(["-c", &format!("ulimit -f 10; exec {binary} {arguments}")]);
        crate::support::Ran::of(shell)
    };
    let ran = limited("--project new.db import in.jsonl");
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    ran.says("the limit of file sizes for this process, 10240 bytes (`ulimit -f`)");
    assert!(!sandbox.path("new.db").exists());
    let ran = limited("--project overrule.db override --query q0 --a d0 --b d2 --verdict a");
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    ran.says("limit of file sizes");
}

#[test]
fn a_backup_is_whole_private_and_overwrites_nothing() {
    let sandbox = project();
    // What is in the log of a project that is open is in the backup too.
    let open = Connection::open(sandbox.project()).unwrap();
    open.execute("UPDATE verdict SET note = 'in the log'", [])
        .unwrap();
    let made = sandbox.json("backup b.db --json");
    assert_eq!(
        (&made["queries"], &made["verdicts"]),
        (&2.into(), &1.into())
    );
    drop(open);
    let copy = read_only(&sandbox.path("b.db")).unwrap();
    let note: String = copy
        .query_row("SELECT note FROM verdict", [], |row| row.get(0))
        .unwrap();
    assert_eq!(note, "in the log");
    drop(copy);
    let mode = fs::metadata(sandbox.path("b.db"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    let before = fs::read(sandbox.path("b.db")).unwrap();
    sandbox.refused("backup b.db", 2, &["b.db", "never overwrites"]);
    sandbox.refused("backup overrule.db", 2, &["never overwrites"]);
    sandbox.refused("backup overrule.toml", 2, &["configuration file"]);
    assert_eq!(fs::read(sandbox.path("b.db")).unwrap(), before);
    assert!(!sandbox.path("b.db.part").exists());
    // Of an earlier version, which has fewer tables and columns.
    fs::copy(sandbox.path("b.db"), sandbox.path("earlier.db")).unwrap();
    Connection::open(sandbox.path("earlier.db"))
        .unwrap()
        .execute_batch("ALTER TABLE call_total DROP COLUMN shared; PRAGMA user_version = 23")
        .unwrap();
    sandbox.done("backup earlier-copy.db --project earlier.db");
    // The file that a backup is written to first must not be the project.
    fs::copy(sandbox.path("b.db"), sandbox.path("both.db.part")).unwrap();
    sandbox.refused(
        "backup both.db --project both.db.part",
        2,
        &["would overwrite the project"],
    );
    assert_eq!(fs::read(sandbox.path("both.db.part")).unwrap(), before);
    damaged(&sandbox, "DROP TABLE vote");
    sandbox.refused(
        "backup c.db --project damaged.db",
        1,
        &["the project is damaged"],
    );
    assert!(!sandbox.path("c.db").exists() && !sandbox.path("c.db.part").exists());
}

#[test]
fn merging_leaves_no_copy_and_sweeps_those_of_earlier_versions() {
    let (sandbox, other) = (project(), project());
    let temporary = sandbox.path("tmp");
    for (name, age) in [("overrule-merge-old", 100_000), ("overrule-merge-new", 0)] {
        fs::create_dir_all(temporary.join(name)).unwrap();
        let at = SystemTime::now() - Duration::from_secs(age);
        fs::File::open(temporary.join(name))
            .unwrap()
            .set_modified(at)
            .unwrap();
    }
    let mut command = sandbox.command(&["merge", other.project().to_str().unwrap()]);
    command.env("TMPDIR", &temporary);
    let ran = crate::support::Ran::of(command);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let left: Vec<_> = fs::read_dir(&temporary)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left, ["overrule-merge-new"]);
}
