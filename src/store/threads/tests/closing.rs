//! What closing or leaving a project waits for, and what is kept.

use super::*;

/// A statement that ends only when the handle's results are no longer wanted.
fn count_for_ever(db: &mut Db) -> Result<i64> {
    let endless =
        "WITH RECURSIVE n(x) AS (SELECT 0 UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n";
    Ok(db.connection.query_row(endless, [], |row| row.get(0))?)
}

#[test]
fn closing_ends_a_statement_that_goes_on_and_folds_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.db");
    let store = Store::open(&path).unwrap();
    store.write_blocking(set("kept")).unwrap();
    let (begun, begins) = mpsc::channel();
    let read = store.read(move |db| {
        begun.send(()).unwrap();
        count_for_ever(db)
    });
    begins.recv().unwrap();
    let other = store.clone();
    store.close(Duration::from_secs(60));
    assert!(matches!(wait(read), Err(StoreError::Closed)));
    assert!(!file::sibling(&path, "-wal").exists());
    // Other handles get an error without waiting.
    assert!(matches!(
        other.write_blocking(set("late")),
        Err(StoreError::Closed)
    ));
    assert!(matches!(
        other.read_blocking(|_| Ok(())),
        Err(StoreError::Closed)
    ));
    assert_eq!(names(&Store::open(&path).unwrap()), ["kept"]);
}

#[test]
fn closing_does_not_wait_for_a_reader_that_computes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.db");
    let store = Store::open(&path).unwrap();
    let (begun, begins) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    let read = store.read(move |_| {
        begun.send(()).unwrap();
        let _ = released.recv();
        Ok(())
    });
    begins.recv().unwrap();
    let write = store.write(set("kept"));
    store.close(Duration::ZERO);
    wait(write).unwrap();
    drop(store);
    assert_eq!(names(&Store::open(&path).unwrap()), ["kept"]);
    drop(release);
    wait(read).unwrap();
}

#[test]
fn leaving_waits_for_no_long_write_and_keeps_what_was_committed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.db");
    let store = Store::open(&path).unwrap();
    store.write_blocking(set("kept")).unwrap();
    let (begun, begins) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    let write = store.write(move |db| {
        begun.send(()).unwrap();
        let _ = released.recv();
        set("long")(db)
    });
    begins.recv().unwrap();
    store.leave(Duration::ZERO);
    drop(store);
    assert_eq!(names(&Store::open(&path).unwrap()), ["kept"]);
    drop(release);
    wait(write).unwrap();
}
