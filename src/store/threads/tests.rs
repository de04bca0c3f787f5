//! Guarantees of a project's threads: before and after a commit, a sync, a failure and the end.

mod closing;

use super::*;
use crate::store::{Store, file};
use futures::FutureExt as _;
use std::io;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

fn set(name: &'static str) -> impl FnOnce(&mut Db) -> Result<()> + Send + 'static {
    move |db| {
        db.connection
            .execute("INSERT INTO setting (name, value) VALUES (?1, '1')", [name])?;
        Ok(())
    }
}

fn names(store: &Store) -> Vec<String> {
    store
        .read_blocking(|db| {
            let mut statement = db
                .connection
                .prepare("SELECT name FROM setting WHERE value = '1' ORDER BY name")?;
            let rows = statement.query_map([], |row| row.get(0))?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
        .unwrap()
}

fn wait<T>(answer: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(answer)
}

/// A disk that signals when a sync begins, and completes it when released.
fn slow_disk() -> (LogSync, mpsc::Receiver<()>, mpsc::Sender<()>) {
    let (begun, begins) = mpsc::channel();
    let (release, released) = mpsc::channel();
    let sync: LogSync = Box::new(move || {
        let _ = begun.send(());
        let _ = released.recv();
        Ok(())
    });
    (sync, begins, release)
}

#[test]
fn a_note_does_not_wait_for_the_disk_and_a_write_does() {
    let folder = tempfile::tempdir().unwrap();
    let (sync, begins, release) = slow_disk();
    let store = Store::open_with(&folder.path().join("p.db"), sync).unwrap();
    let mut write = Box::pin(store.write(set("write")));
    begins.recv().unwrap();
    // The disk is busy with the first commit, but the next ones are made anyway.
    wait(store.note(set("note"))).unwrap();
    assert_eq!(names(&store), ["note", "write"]);
    assert!(write.as_mut().now_or_never().is_none());
    drop(release);
    wait(write).unwrap();
    let statistics = store.write_statistics();
    assert_eq!((statistics.requests, statistics.commits), (2, 2));
}

#[test]
fn a_handle_reads_for_as_long_as_it_is_wanted() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("p.db")).unwrap();
    let wanted = Arc::new(AtomicBool::new(true));
    let some = store.while_wanted({
        let wanted = Arc::clone(&wanted);
        move || wanted.load(Ordering::Relaxed)
    });
    assert_eq!(names(&some), [""; 0]);
    wanted.store(false, Ordering::Relaxed);
    assert!(!some.is_wanted() && store.is_wanted());
    assert!(matches!(
        some.read_blocking(|_| Ok(())),
        Err(StoreError::Closed)
    ));
    let each = some.read_each(
        &[crate::store::corpus::QueryKey(1); 20],
        |_, _| Ok(()),
        |_, ()| Ok::<(), StoreError>(()),
    );
    assert!(matches!(each, Err(StoreError::Closed)));
    assert_eq!(names(&store), [""; 0]);
}

#[test]
fn a_read_does_not_wait_for_another() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("p.db")).unwrap();
    let (release, released) = mpsc::channel::<()>();
    let long = store.read(move |_| {
        let _ = released.recv();
        Ok("long")
    });
    store.write_blocking(set("meanwhile")).unwrap();
    assert_eq!(names(&store), ["meanwhile"]);
    drop(release);
    assert_eq!(wait(long).unwrap(), "long");
}

#[test]
fn work_that_panics_is_taken_back_and_leaves_the_others_alone() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("p.db")).unwrap();
    let before = store.note(set("before"));
    let panics = store.note(|db| -> Result<()> {
        set("half")(db)?;
        std::panic::resume_unwind(Box::new("in the middle"))
    });
    let after = store.note(set("later"));
    wait(before).unwrap();
    assert!(wait(panics).is_err());
    wait(after).unwrap();
    assert_eq!(names(&store), ["before", "later"]);
}

#[cfg(unix)]
#[test]
fn a_project_that_goes_while_the_disk_syncs_confirms_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.db");
    let (sync, begins, release) = slow_disk();
    let store = Store::open_with(&path, sync).unwrap();
    let write = store.write(set("write"));
    begins.recv().unwrap();
    std::fs::rename(&path, folder.path().join("elsewhere.db")).unwrap();
    drop(release);
    let lost = wait(write);
    assert!(matches!(lost, Err(StoreError::Gone { .. })), "{lost:?}");
}

#[test]
fn what_is_answered_is_what_is_kept_where_a_transaction_is_given_up_in_the_middle() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("p.db")).unwrap();
    let first = store.note(set("first"));
    // As SQLite does when the disk is full.
    let gives_up = store.note(|db| Ok(db.connection.execute_batch("ROLLBACK")?));
    let later = store.note(set("later"));
    let kept = [wait(first).is_ok(), wait(later).is_ok()];
    assert!(wait(gives_up).is_err());
    let there = names(&store);
    let is_there = ["first", "later"].map(|name| there.iter().any(|one| one == name));
    assert_eq!(kept, is_there);
}

#[test]
fn what_is_committed_during_a_sync_waits_for_the_next_one() {
    let folder = tempfile::tempdir().unwrap();
    let (sync, begins, release) = slow_disk();
    let store = Store::open_with(&folder.path().join("p.db"), sync).unwrap();
    let first = store.write(set("first"));
    begins.recv().unwrap();
    let mut second = Box::pin(store.write(set("second")));
    wait(store.note(set("third"))).unwrap();
    release.send(()).unwrap();
    wait(first).unwrap();
    // Its commit was there before the first sync ended, but not when it began.
    begins.recv().unwrap();
    assert!(second.as_mut().now_or_never().is_none());
    drop(release);
    wait(second).unwrap();
}

#[test]
fn after_a_failed_sync_nothing_is_confirmed_any_more() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.db");
    let mut syncs = 0;
    let sync: LogSync = Box::new(move || {
        syncs += 1;
        match syncs {
            1 => Err(io::Error::other("the disk is broken")),
            _ => Ok(()),
        }
    });
    let store = Store::open_with(&path, sync).unwrap();
    let failed = store.write_blocking(set("first"));
    assert!(
        matches!(&failed, Err(StoreError::Unsynced(why)) if why == "the disk is broken"),
        "{failed:?}"
    );
    assert!(matches!(
        store.write_blocking(set("second")),
        Err(StoreError::Unsynced(_))
    ));
    assert!(matches!(
        wait(store.note(set("third"))),
        Err(StoreError::Unsynced(_))
    ));
    drop(store);
    // The process is alive, so the kernel still has the data.
    assert_eq!(names(&Store::open(&path).unwrap()), ["first"]);
}

#[test]
fn a_commit_that_fails_fails_all_that_shared_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("p.db")).unwrap();
    let (release, released) = mpsc::channel::<()>();
    let held = store.note(move |_| {
        let _ = released.recv();
        Ok(())
    });
    // They all queue behind the first one and share its transaction.
    let good = store.write(set("good"));
    let bad = store.note(|db| {
        db.connection.execute_batch(
            "PRAGMA defer_foreign_keys = ON;
             INSERT INTO summary (query, revision, value) VALUES (99, 0, '')",
        )?;
        Ok(())
    });
    drop(release);
    for answer in [wait(held), wait(good), wait(bad)] {
        assert!(
            matches!(answer, Err(StoreError::Uncommitted(_))),
            "{answer:?}"
        );
    }
    assert_eq!(names(&store), [""; 0]);
    store.write_blocking(set("after")).unwrap();
    assert_eq!(names(&store), ["after"]);
}

#[test]
fn a_full_disk_is_said_and_keeps_what_was_there() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("p.db")).unwrap();
    store.write_blocking(set("before")).unwrap();
    store
        .write_blocking(|db| {
            let pages: i64 = db
                .connection
                .pragma_query_value(None, "page_count", |row| row.get(0))?;
            db.connection.pragma_update(None, "max_page_count", pages)?;
            Ok(())
        })
        .unwrap();
    let full = store.write_blocking(|db| {
        db.connection.execute(
            "INSERT INTO setting (name, value) VALUES ('large', ?1)",
            ["x".repeat(100_000)],
        )?;
        Ok(())
    });
    let error = full.unwrap_err();
    assert!(matches!(error, StoreError::DiskFull), "{error:?}");
    assert!(
        error
            .to_string()
            .contains("the disk is full: free some space")
    );
    assert_eq!(names(&store), ["before"]);
}

#[test]
fn a_project_that_is_moved_deleted_or_replaced_takes_no_more_writes() {
    type FileChange = fn(&Path, &Path);
    let acts: [(&str, FileChange); 3] = [
        ("moved", |path, other| std::fs::rename(path, other).unwrap()),
        ("deleted", |path, _| std::fs::remove_file(path).unwrap()),
        ("replaced", |path, other| {
            drop(Store::open(other).unwrap());
            std::fs::rename(other, path).unwrap();
        }),
    ];
    for (name, act) in acts {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.db");
        let store = Store::open(&path).unwrap();
        store.write_blocking(set("before")).unwrap();
        act(&path, &folder.path().join("other.db"));
        for _ in 0..2 {
            let gone = store.write_blocking(set("after"));
            assert!(
                matches!(&gone, Err(StoreError::Gone { path: named }) if *named == path),
                "{name}: {gone:?}"
            );
        }
        let gone = wait(store.note(set("after")));
        assert!(matches!(gone, Err(StoreError::Gone { .. })), "{name}");
        drop(store);
        if name == "replaced" {
            // The log of the removed file is not used for the new one.
            assert_eq!(names(&Store::open(&path).unwrap()), [""; 0]);
        }
    }
}

#[test]
fn a_moved_project_is_whole_once_it_is_back() {
    let folder = tempfile::tempdir().unwrap();
    let (path, other) = (folder.path().join("p.db"), folder.path().join("q.db"));
    let store = Store::open(&path).unwrap();
    store.write_blocking(set("before")).unwrap();
    std::fs::rename(&path, &other).unwrap();
    assert!(store.write_blocking(set("after")).is_err());
    drop(store);
    std::fs::rename(&other, &path).unwrap();
    assert_eq!(names(&Store::open(&path).unwrap()), ["before"]);
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_elsewhere_ends_the_writing_and_harms_neither_project() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    drop(Store::open(&path("q.db")).unwrap());
    let store = Store::open(&path("p.db")).unwrap();
    drop(store);
    std::os::unix::fs::symlink("p.db", path("link.db")).unwrap();
    let store = Store::open(&path("link.db")).unwrap();
    store.write_blocking(set("before")).unwrap();
    std::fs::remove_file(path("link.db")).unwrap();
    std::os::unix::fs::symlink("q.db", path("link.db")).unwrap();
    let gone = store.write_blocking(set("after"));
    assert!(matches!(gone, Err(StoreError::Gone { .. })), "{gone:?}");
    drop(store);
    assert_eq!(names(&Store::open(&path("p.db")).unwrap()), ["before"]);
    assert_eq!(names(&Store::open(&path("q.db")).unwrap()), [""; 0]);
}

#[test]
fn the_last_handle_leaves_one_file_with_everything_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.db");
    let store = Store::open(&path).unwrap();
    wait(store.note(set("note"))).unwrap();
    // Not awaited, but done anyway.
    drop(store.write(set("write")));
    drop(store);
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
    assert_eq!(names(&Store::open(&path).unwrap()), ["note", "write"]);
}

#[test]
fn the_log_is_copied_into_the_file_when_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.db");
    let store = Store::open(&path).unwrap();
    store.write_blocking(set("before")).unwrap();
    let began = Instant::now();
    while std::fs::metadata(file::sibling(&path, "-wal"))
        .unwrap()
        .len()
        > 0
    {
        assert!(began.elapsed() < Duration::from_secs(30));
        std::thread::yield_now();
    }
    // The content of a copy of the file alone.
    let copy = folder.path().join("copy.db");
    std::fs::copy(&path, &copy).unwrap();
    assert_eq!(names(&Store::open(&copy).unwrap()), ["before"]);
    store.write_blocking(set("later")).unwrap();
    assert_eq!(names(&store), ["before", "later"]);
}

#[test]
fn a_log_that_goes_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.db");
    let store = Store::open(&path).unwrap();
    store.write_blocking(set("before")).unwrap();
    std::fs::remove_file(file::sibling(&path, "-wal")).unwrap();
    let lost = store.write_blocking(set("after"));
    assert!(
        matches!(&lost, Err(StoreError::LogGone { path }) if path.ends_with("p.db-wal")),
        "{lost:?}"
    );
    // Open connections still hold it, and the last one to close copies it into the project.
    drop(store);
    assert_eq!(names(&Store::open(&path).unwrap()), ["after", "before"]);
}

#[cfg(target_os = "linux")]
#[test]
fn room_is_set_aside_for_a_long_log_and_leaves_its_length() {
    use super::sync::{SET_ASIDE, SHORT, ahead};
    use std::os::unix::fs::MetadataExt as _;
    let log = tempfile::tempfile().unwrap();
    log.set_len(SHORT - 1).unwrap();
    assert_eq!(ahead(&log, 0), 0, "a short one finds its room");
    log.set_len(SHORT).unwrap();
    let reach = ahead(&log, 0);
    let there = log.metadata().unwrap();
    assert_eq!(there.len(), SHORT);
    // A file system without support leaves the log unchanged.
    if reach > 0 {
        assert_eq!(reach, SHORT + SET_ASIDE);
        assert!(there.blocks() * 512 >= SET_ASIDE);
        assert_eq!(ahead(&log, reach), reach, "it is far enough ahead");
    }
}

/// Writes 80 MB in one transaction.
fn write_much(store: &Store) {
    let much = |db: &mut Db| {
        for row in 0..80 {
            let sql = "INSERT INTO setting (name, value) VALUES (?1, hex(randomblob(500000)))";
            db.connection.execute(sql, [format!("much {row}")])?;
        }
        Ok(())
    };
    store.write_blocking(much).unwrap();
}

#[test]
fn a_log_that_one_write_made_long_is_cut_while_the_project_is_open() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.db");
    let store = Store::open(&path).unwrap();
    write_much(&store);
    let log = || {
        std::fs::metadata(file::sibling(&path, "-wal"))
            .unwrap()
            .len()
    };
    let deadline = Instant::now() + Duration::from_secs(60);
    while log() > 0 {
        assert!(
            Instant::now() < deadline,
            "the log still has {} bytes",
            log()
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    store.write_blocking(set("after")).unwrap();
    assert!(log() > 0 && log() < 1 << 20);
    assert_eq!(names(&store).last().map(String::as_str), Some("after"));
}

#[test]
fn a_project_that_others_have_open_is_left_with_a_short_log() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.db");
    let store = Store::open(&path).unwrap();
    let other = rusqlite::Connection::open(&path).unwrap();
    let count = || -> i64 {
        let sql = "SELECT count(*) FROM setting WHERE name LIKE 'much %'";
        other.query_row(sql, [], |row| row.get(0)).unwrap()
    };
    assert_eq!(count(), 0);
    write_much(&store);
    drop(store);
    let log = std::fs::metadata(file::sibling(&path, "-wal"))
        .unwrap()
        .len();
    assert_eq!((log, count()), (0, 80));
}
