//! The project file: several hands on it, and files that are none.

use crate::bench::{bench, bits};
use crate::support::pool;
use overrule::domain::verdict::Decision;
use overrule::store::verdicts::NewVerdict;
use overrule::store::{Store, StoreError};
use std::path::Path;

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
