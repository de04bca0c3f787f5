//! The project file: concurrent users, and files that are not projects.

use super::bench::{bench, bits};
use crate::app::import::{ImportOptions, check};
use crate::app::merge::merge;
use crate::app::run_lock::{LockError, RunLock};
use crate::domain::verdict::Decision;
use crate::store::merge::Snapshot;
use crate::store::verdicts::NewVerdict;
use crate::store::{Db, Store, StoreError};
use crate::suites::fixtures::pool;
use proptest::prelude::*;
use serde_json::json;
use std::path::Path;
use std::sync::LazyLock;

#[test]
fn two_handles_on_one_file_see_each_others_rows() {
    let bench = bench(&[5]);
    let key = bench.keys[0];
    let other = Store::open_existing(bench.store.path()).unwrap();
    assert_eq!(
        other.read_blocking(|db| Ok(db.queries()?.len())).unwrap(),
        1
    );
    let writers: Vec<_> = [bench.store.clone(), other.clone()]
        .into_iter()
        .enumerate()
        .map(|(writer, store)| {
            std::thread::spawn(move || {
                for at in 0..25 {
                    let annotator = format!("writer {writer}");
                    let verdict = NewVerdict {
                        blind: true,
                        active_ms: Some(at as i64),
                        created_ms: at as i64,
                        ..NewVerdict::open(key, at % 4, 4, Decision::A, &annotator)
                    };
                    store
                        .write_blocking(move |db| db.add_verdict(&verdict))
                        .unwrap();
                }
            })
        })
        .collect();
    writers
        .into_iter()
        .for_each(|writer| writer.join().unwrap());
    for store in [&bench.store, &other] {
        assert_eq!(
            store
                .read_blocking(|db| Ok(db.verdict_rows(None)?.len()))
                .unwrap(),
            50
        );
        assert_eq!(
            store
                .read_blocking(move |db| Ok(db.verdicts_in_force(key)?.len()))
                .unwrap(),
            4
        );
    }
    let one = bench.store.read_blocking(move |db| db.view(key)).unwrap();
    let two = other.read_blocking(move |db| db.view(key)).unwrap();
    assert_eq!(bits(&one), bits(&two));
}

#[test]
fn a_step_that_fails_keeps_nothing_of_itself_and_everything_of_the_others() {
    let bench = bench(&[3]);
    let failed = bench.store.write_blocking(|db| {
        db.add_pool(&pool(7, 2), "test")?;
        Err::<(), _>(StoreError::Conflict("on purpose".to_owned()))
    });
    assert!(matches!(failed, Err(StoreError::Conflict(_))));
    bench
        .store
        .write_blocking(|db| db.add_pool(&pool(8, 2), "test"))
        .unwrap();
    let names = bench.store.read_blocking(|db| db.queries()).unwrap();
    assert_eq!(
        names
            .iter()
            .map(|query| query.id.as_str())
            .collect::<Vec<_>>(),
        ["q0", "q8"]
    );
}

fn opened(path: &Path) -> StoreError {
    Store::open_existing(path).unwrap_err()
}

#[test]
fn what_is_not_a_project_of_ours_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let newer = path("newer.db");
    drop(Store::open(&newer).unwrap());
    rusqlite::Connection::open(&newer)
        .unwrap()
        .pragma_update(None, "user_version", 999)
        .unwrap();
    let error = opened(&newer);
    assert!(
        matches!(error, StoreError::Newer { found: 999, .. }),
        "{error:?}"
    );
    assert!(
        error.to_string().contains("newer.db") && error.to_string().contains("upgrade"),
        "{error}"
    );

    let foreign = path("foreign.db");
    rusqlite::Connection::open(&foreign)
        .unwrap()
        .execute_batch("CREATE TABLE theirs (x)")
        .unwrap();
    std::fs::write(
        path("notes.txt"),
        "not a database at all, though it is long enough to be one",
    )
    .unwrap();
    for name in ["foreign.db", "notes.txt", "."] {
        let error = opened(&path(name));
        assert!(
            matches!(error, StoreError::NotAProject { .. }),
            "{name}: {error:?}"
        );
    }
    assert!(matches!(
        opened(&path("absent.db")),
        StoreError::NotFound(_)
    ));
    assert!(!path("absent.db").exists());
}

#[test]
fn a_file_that_is_cut_off_is_an_error_and_no_panic() {
    let bench = bench(&[30]);
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().join("whole.db");
    rusqlite::Connection::open(bench.store.path())
        .unwrap()
        .execute("VACUUM INTO ?1", [whole.to_str().unwrap()])
        .unwrap();
    let bytes = std::fs::read(&whole).unwrap();
    for part in [1, 2, 3] {
        let cut = folder.path().join(format!("cut{part}.db"));
        std::fs::write(&cut, &bytes[..bytes.len() * part / 4]).unwrap();
        let read = Store::open_existing(&cut).and_then(|store| {
            store.read_blocking(|db| {
                let key = db.find_query("q0")?;
                db.view(key)?;
                db.pool(key)
            })
        });
        assert!(
            read.is_err(),
            "{part} quarters of a project were read as a whole one"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn random_damage_to_a_file_is_an_error_and_no_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 1..64usize), 1..12),
    ) {
        static WHOLE: LazyLock<Vec<u8>> = LazyLock::new(|| {
            let bench = bench(&[6, 4]);
            let folder = tempfile::tempdir().unwrap();
            let whole = folder.path().join("whole.db");
            crate::store::backup::back_up(bench.store.path(), &whole).unwrap();
            std::fs::read(&whole).unwrap()
        });
        let mut bytes = WHOLE.clone();
        for (at, byte, length) in changes {
            let at = at.index(bytes.len());
            let end = (at + length).min(bytes.len());
            bytes[at..end].fill(byte);
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("damaged.db");
        std::fs::write(&path, bytes).unwrap();
        let read = Store::open_existing(&path).and_then(|store| {
            store.read_blocking(|db| {
                for query in db.queries()? {
                    db.documents(query.key)?;
                    db.view(query.key)?;
                    db.people(query.key)?;
                }
                Ok(())
            })
        });
        prop_assert!(!matches!(read, Err(StoreError::Internal(_))), "{read:?}");
    }
}

#[test]
fn a_clock_that_was_set_back_changes_no_order_of_verdicts() {
    let bench = bench(&[3]);
    let key = bench.keys[0];
    let say = |decision, created_ms| {
        let verdict = NewVerdict {
            created_ms,
            ..NewVerdict::open(key, 0, 1, decision, "ada")
        };
        bench
            .store
            .write_blocking(move |db| {
                db.add_verdict(&verdict)?;
                db.verdicts_in_force(key)
            })
            .unwrap()
    };
    assert_eq!(say(Decision::A, 1_000)[0].decision, Decision::A);
    let now = say(Decision::B, 10);
    assert_eq!((now[0].decision, now[0].created_ms), (Decision::B, 10));
    let undo = || {
        let undone = bench
            .store
            .write_blocking(|db| db.undo_verdict("ada", 5))
            .unwrap();
        undone.unwrap().verdict.decision
    };
    assert_eq!([undo(), undo()], [Decision::B, Decision::A]);
    // The clocks of different annotators are independent.
    let other = NewVerdict {
        created_ms: 20,
        ..NewVerdict::open(key, 0, 1, Decision::A, "eve")
    };
    let theirs = bench
        .store
        .write_blocking(move |db| {
            db.add_verdict(&other)?;
            db.verdicts_in_force(key)
        })
        .unwrap();
    assert_eq!(theirs[0].created_ms, 20);
}

/// Set for the process that must die in the middle of a write.
const DIES: &str = "OVERRULE_TEST_DIES";

/// The process that [`what_was_answered_survives_a_kill`] starts; without that, it does nothing.
#[test]
fn a_process_that_dies() {
    let Some(path) = std::env::var_os(DIES) else {
        return;
    };
    let store = Store::open(Path::new(&path)).unwrap();
    for number in 0..20 {
        let add = move |db: &mut Db| db.add_pool(&pool(number, 2), "test").map(drop);
        match number % 2 {
            0 => futures::executor::block_on(store.note(add)).unwrap(),
            _ => store.write_blocking(add).unwrap(),
        }
    }
    // Nothing is closed, flushed or dropped.
    std::process::abort();
}

#[test]
fn what_was_answered_survives_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("overrule.db");
    let (_, here) = module_path!().split_once("::").unwrap();
    let ended = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("{here}::a_process_that_dies")])
        .env(DIES, &path)
        .output()
        .unwrap();
    assert!(!ended.status.success());
    let store = Store::open(&path).unwrap();
    let queries = store.read_blocking(|db| db.queries()).unwrap();
    assert_eq!(queries.len(), 20);
}

#[test]
fn a_project_that_would_run_something_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (kind, sql) in [
        (
            "trigger",
            "CREATE TRIGGER evil AFTER INSERT ON verdict BEGIN UPDATE verdict SET decision = 'a'; END",
        ),
        ("view", "CREATE VIEW evil AS SELECT * FROM vote"),
        (
            "virtual table",
            "CREATE VIRTUAL TABLE evil USING fts5(content)",
        ),
    ] {
        let path = folder.path().join(format!("{kind}.db"));
        drop(Store::open(&path).unwrap());
        rusqlite::Connection::open(&path)
            .unwrap()
            .execute_batch(sql)
            .unwrap();
        let error = opened(&path);
        assert!(
            matches!(&error, StoreError::NotAProject { reason, .. } if reason.contains(&format!("the {kind} \"evil\""))),
            "{error:?}"
        );
        let error = Snapshot::of(&path).unwrap_err();
        assert!(matches!(error, StoreError::NotAProject { .. }), "{error:?}");
    }
}

#[test]
fn a_trigger_made_while_the_project_is_open_does_not_run() {
    let bench = bench(&[3]);
    let key = bench.keys[0];
    rusqlite::Connection::open(bench.store.path())
        .unwrap()
        .execute_batch(
            "CREATE TRIGGER evil AFTER INSERT ON verdict BEGIN UPDATE verdict SET decision = 'a'; END",
        )
        .unwrap();
    let verdict = NewVerdict::open(key, 0, 1, Decision::B, "ada");
    let said = bench.store.write_blocking(move |db| {
        db.add_verdict(&verdict)?;
        db.verdicts_in_force(key)
    });
    assert_eq!(said.unwrap()[0].decision, Decision::B);
}

#[test]
fn an_import_changes_no_query_that_a_run_is_asking_about() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let store = Store::open(&path("p.db")).unwrap();
    let import = |file: &str, price: u32| {
        let pool = json!({"query": {"id": file, "query": "trams"}, "documents": [
            {"id": "x", "content": "one", "metadata": {"price": price}},
            {"id": "y", "content": "two"},
        ]});
        std::fs::write(path(file), format!("{pool}\n")).unwrap();
        let checked = check(&path(file), &ImportOptions::default()).unwrap();
        checked.import(&store).map(|imported| imported.to_string())
    };
    import("known.jsonl", 1).unwrap();
    let held = RunLock::take(store.path()).unwrap();
    let refused = import("known.jsonl", 2).unwrap_err().to_string();
    assert!(refused.contains("which judges may be reading"), "{refused}");
    // Further queries may be added, and equal ones do no harm.
    import("known.jsonl", 1).unwrap();
    import("new.jsonl", 1).unwrap();
    drop(held);
    let changed = import("known.jsonl", 2).unwrap();
    assert!(changed.contains("votes stay"), "{changed}");
}

#[cfg(unix)]
#[test]
fn one_file_has_one_name_and_one_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    drop(Store::open(&path("p.db")).unwrap());
    std::os::unix::fs::symlink("p.db", path("link.db")).unwrap();
    let held = RunLock::take(&path("p.db")).unwrap();
    assert!(matches!(
        RunLock::take(&path("link.db")),
        Err(LockError::Busy(_))
    ));
    drop(held);
    // A symbolic link to the file can be used like the file's own name.
    let store = Store::open_existing(&path("link.db")).unwrap();
    store
        .write_blocking(|db| db.add_pool(&pool(1, 2), "test"))
        .unwrap();
    drop(store);
    std::fs::hard_link(path("p.db"), path("other.db")).unwrap();
    for name in ["p.db", "other.db", "link.db"] {
        let error = opened(&path(name));
        assert!(
            matches!(error, StoreError::Linked { names: 2, .. }),
            "{name}: {error:?}"
        );
        assert!(error.to_string().contains("hard links"), "{error}");
        assert!(RunLock::take(&path(name)).is_err(), "{name}");
    }
    std::fs::remove_file(path("other.db")).unwrap();
    assert!(Store::open_existing(&path("p.db")).is_ok());
}

#[cfg(unix)]
#[test]
fn what_is_in_the_log_is_merged_through_a_link_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    // Held open, so that the data stays in the log.
    let theirs = Store::open(&path("p.db")).unwrap();
    theirs
        .write_blocking(|db| db.add_pool(&pool(1, 2), "test"))
        .unwrap();
    std::os::unix::fs::symlink("p.db", path("link.db")).unwrap();
    let snapshot = Snapshot::of(&path("link.db")).unwrap();
    let ours = Store::open(&path("ours.db")).unwrap();
    let merged = ours.write_blocking(move |db| merge(db, &snapshot, true));
    assert_eq!(merged.unwrap().queries_added, 1);
}

#[cfg(unix)]
#[test]
fn a_project_and_its_log_are_their_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.db");
    let _store = Store::open(&path).unwrap();
    let _lock = RunLock::take(&path).unwrap();
    let mut files = 0;
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let entry = entry.unwrap();
        let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{entry:?}");
        files += 1;
    }
    assert_eq!(files, 4);
}
