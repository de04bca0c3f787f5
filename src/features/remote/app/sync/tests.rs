use super::*;
use crate::app::merge::merge;
use crate::app::project::{Sample, open_sample};
use crate::config::Config;
use rusqlite::types::Value;

/// The tables that copies exchange, with columns that do not depend on the numbers of rows.
const TABLES: [(&str, &str); 13] = [
    (
        "query",
        "query.name, text, extra, line, dataset, documents, depth FROM query",
    ),
    (
        "document",
        "query.name, position, document.name, title, hash, metadata, document.extra, score
         FROM document JOIN query ON query.id = query JOIN content ON content.id = content",
    ),
    (
        "battle",
        "query.name, a, b, game, cycle, origin FROM battle JOIN query ON query.id = query",
    ),
    (
        "vote",
        "query.name, a, b, game, judge.name, swapped, margin, cost_usd, created_ms
         FROM vote JOIN battle ON battle.id = battle JOIN query ON query.id = battle.query
         JOIN judge ON judge.id = judge",
    ),
    (
        "call_total",
        "query.name, judge.name, votes, asked, failures, named_first, tied, shared
         FROM call_total JOIN query ON query.id = query JOIN judge ON judge.id = judge",
    ),
    (
        "verdict",
        "query.name, uid, a, b, decision, note, annotator, blind, active_ms, replaces, created_ms,
         confidence, cause, policy, verdict.role, inclusion, revealed_ms, shown, guideline
         FROM verdict JOIN query ON query.id = query",
    ),
    ("undo", "uid, verdict, annotator, created_ms FROM undo"),
    (
        "shown",
        "query.name, uid, annotator, a, b, policy, shown_ms, later_ms
         FROM shown JOIN query ON query.id = query",
    ),
    (
        "ruling",
        "query.name, uid, document, finding, relevant, fault, note, annotator, blind, created_ms,
         replaces FROM ruling JOIN query ON query.id = query",
    ),
    (
        "ruling_undo",
        "uid, ruling, annotator, created_ms FROM ruling_undo",
    ),
    ("label", "query, document, grade FROM label"),
    (
        "ranked",
        "ranking.name, query, document, score FROM ranked JOIN ranking ON ranking.id = ranking",
    ),
    (
        "call",
        "hex(uid), purpose, service, cost_usd, sent_ms FROM call",
    ),
];

fn rows(db: &Db) -> Vec<(&'static str, Vec<Vec<Value>>)> {
    let read = |(table, select): (&'static str, &str)| {
        let sql = format!("SELECT {select}");
        let mut statement = db.connection.prepare(&sql).unwrap();
        let count = statement.column_count();
        let found = statement.query_map([], |row| (0..count).map(|at| row.get(at)).collect());
        let mut found: Vec<Vec<Value>> = found.unwrap().map(Result::unwrap).collect();
        found.sort_by_key(|row| format!("{row:?}"));
        (table, found)
    };
    TABLES.into_iter().map(read).collect()
}

/// A sample with votes and verdicts, and a row of everything else.
const MORE: &str = "
    INSERT INTO label SELECT query.name, document.name, position FROM document
        JOIN query ON query.id = query WHERE query < 4;
    INSERT INTO ranking (name, empty, created_ms) VALUES ('r', '[]', 5);
    INSERT INTO ranked SELECT ranking.id, query.name, document.name, 1.5 - position FROM document
        JOIN query ON query.id = query, ranking WHERE query < 4;
    INSERT INTO ruling (uid, query, document, finding, relevant, annotator, blind, against, answers,
            created_ms)
        SELECT 'r1', query, name, 'relevant', 1, 'ada', 1, 0, 3, 7 FROM document
        WHERE query = 2 AND position = 1;
    INSERT INTO ruling (uid, query, document, finding, relevant, annotator, blind, against, answers,
            created_ms, replaces)
        SELECT 'r0', query, document, 'not', 1, 'ada', 0, 0, 3, 8, 'r1' FROM ruling;
    INSERT INTO ruling_undo (uid, ruling, annotator, created_ms) VALUES ('u1', 'r0', 'ada', 9);
    INSERT INTO undo (uid, verdict, annotator, created_ms)
        SELECT 'u2', uid, annotator, 11 FROM verdict
        WHERE uid NOT IN (SELECT replaces FROM verdict WHERE replaces IS NOT NULL) LIMIT 1;
    INSERT INTO shown (uid, annotator, query, a, b, policy, draw, shown_ms, later_ms)
        VALUES ('s1', 'ada', 2, 0, 1, 'split', 'priority', 3, NULL),
               ('s2', 'ada', 2, 0, 1, 'split', 'priority', 4, 5);
    INSERT INTO call (uid, purpose, service, sent_ms, ended_ms, cost_usd)
        VALUES (x'01', 'tests', 'gpt', 1, 2, 0.25);";

fn shared() -> Shared {
    Shared {
        project: Uuid::now_v7(),
        copy: Uuid::now_v7(),
        file: None,
        reached: Cursor::start().0,
        reader: None,
    }
}

/// Packs everything that is new in `from`, and merges it into `into`.
fn exchange(from: &Db, into: &Db) -> Result<(), StoreError> {
    for of in from.unsynced_states()? {
        let (state, hashes) = packed_state(from, &of, &[])?;
        let piece = Snapshot::of_state(&state.body)?;
        for hash in hashes {
            into.keep_text(&from.text_with(&hash)?)?;
        }
        let merged = into.merging(|db| match part_of(&of.kind) {
            Some(part) => merge_part(db, &piece, part, &[]),
            None => merge_query(db, &piece, &of.subject),
        })?;
        assert_eq!(merged.refused, []);
    }
    for page in from.unsynced_judgments(100_000, None)?.chunks(7) {
        // Those of one page can come in any order.
        let sent = page.iter().rev().map(|of| packed_judgment(from, of));
        let rows = sent.map(|sent| received(&sent?));
        let rows: Vec<_> = rows.collect::<Result<_, StoreError>>()?;
        let (judgments, refused) = judgments_as_project(into, rows)?;
        assert_eq!(refused, []);
        into.merging(|db| merge_judgments(db, &judgments))?;
    }
    Ok(())
}

fn received(sent: &Judgment) -> Result<JudgmentRows, StoreError> {
    let rows = JudgmentRows::unpack(&sent.body)?;
    rows.check(
        (&sent.kind, &sent.uid),
        &sent.person,
        &sent.query,
        &sent.item,
    )
}

#[test]
fn a_new_copy_equals_a_merged_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let sample = open_sample(&path("a.db"), &Config::default(), Sample::Pandalm).unwrap();
    let sent = sample.write_blocking(|db| {
        db.connection.execute_batch(MORE)?;
        db.share(&shared())
    });
    sent.unwrap();
    let from = Snapshot::of_open(&path("a.db")).unwrap();
    let (merged, copied) = (
        Store::open(&path("b.db")).unwrap(),
        Store::open(&path("c.db")).unwrap(),
    );
    let (of_merge, from) = merged
        .write_blocking(move |db| {
            merge(db, &from, true)?;
            Ok((rows(db), from))
        })
        .unwrap();
    for (table, found) in &of_merge {
        assert!(!found.is_empty(), "{table}");
    }
    let of_copy = copied
        .write_blocking(move |db| {
            db.share(&shared())?;
            exchange(from.db(), db)?;
            // What comes from others is not sent back.
            assert_eq!(db.unsynced_count()?, 0);
            exchange(from.db(), db)?;
            Ok(rows(db))
        })
        .unwrap();
    for (one, other) in of_merge.into_iter().zip(of_copy) {
        assert_eq!(one, other);
    }
}

#[test]
fn every_change_is_noted_once_the_project_is_shared() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let store = open_sample(&path, &Config::default(), Sample::Pandalm).unwrap();
    let noted = |sql: &'static str| {
        store
            .write_blocking(move |db| {
                db.change("DELETE FROM unsynced", [])?;
                db.connection.execute_batch(sql)?;
                let kinds = "SELECT kind FROM unsynced ORDER BY kind";
                db.all::<String, Vec<_>>(kinds, [], |row| row.get(0))
            })
            .unwrap()
    };
    assert_eq!(noted("UPDATE query SET depth = 3 WHERE id = 1"), [""; 0]);
    store.write_blocking(|db| db.share(&shared())).unwrap();
    assert_eq!(noted("UPDATE query SET depth = 3 WHERE id = 1"), ["query"]);
    assert_eq!(noted("UPDATE query SET revision = 9 WHERE id = 1"), [""; 0]);
    let label = "INSERT INTO label VALUES ('q', 'd', 1) ON CONFLICT DO UPDATE SET grade = 2";
    assert_eq!(noted(label), ["labels"]);
    assert_eq!(noted(label), ["labels"]);
    let undo = "INSERT INTO undo (uid, verdict, annotator, created_ms)
        SELECT 'u', uid, annotator, 11 FROM verdict LIMIT 1";
    assert_eq!(noted(undo), ["undo"]);
}

#[test]
fn judgments_of_other_texts_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let store = open_sample(&path, &Config::default(), Sample::Pandalm).unwrap();
    let checked = store.write_blocking(|db| {
        db.connection.execute_batch(MORE)?;
        db.share(&shared())?;
        let sent = judgments(db, None)?;
        let rows = || {
            let rows = sent.iter().map(received);
            rows.collect::<Result<Vec<_>, StoreError>>()
        };
        assert_eq!(judgments_as_project(db, rows()?)?.1, []);
        // The document of the ruling, of which others were judged too, has another text.
        db.change(
            "UPDATE content SET hash = zeroblob(32) WHERE id = (
                 SELECT content FROM document WHERE query = 2 AND position = 1)",
            [],
        )?;
        let (taken, refused) = judgments_as_project(db, rows()?)?;
        let rulings: usize = taken.value("SELECT count(*) FROM ruling", [])?;
        assert_eq!(rulings, 0);
        let about = "SELECT count(*) FROM verdict WHERE query = 2 AND 1 IN (a, b)";
        let about: usize = db.value(about, [])?;
        // With the two rulings and the undo.
        assert!(about > 0 && refused.len() >= about + 3, "{refused:?}");
        Ok(())
    });
    checked.unwrap();
}

/// The verdicts of a sample, and an undo by ada.
fn judged() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let store = open_sample(&path, &Config::default(), Sample::Pandalm).unwrap();
    let ready = store.write_blocking(|db| {
        db.connection.execute_batch(MORE)?;
        db.share(&shared())
    });
    ready.unwrap();
    (folder, store)
}

#[test]
fn nobody_judges_as_someone_else() {
    let (_folder, store) = judged();
    let checked = store.write_blocking(|db| {
        for sent in judgments(db, None)? {
            assert!(received(&sent).is_ok());
            let forged = [
                Judgment {
                    person: "eve".to_owned(),
                    ..sent.clone()
                },
                Judgment {
                    item: text_hash("another pair"),
                    ..sent.clone()
                },
                Judgment {
                    query: "another query".to_owned(),
                    ..sent.clone()
                },
                Judgment {
                    uid: "another".to_owned(),
                    ..sent.clone()
                },
            ];
            for forged in forged {
                assert!(received(&forged).is_err(), "{forged:?}");
            }
        }
        Ok(())
    });
    checked.unwrap();
}

#[test]
fn nobody_changes_judgments_of_others() {
    let (_folder, store) = judged();
    let checked = store.write_blocking(|db| {
        let known = judgments(db, None)?;
        // Eve has rows of her own which replace, undo and put off those of others, or have their IDs.
        let changes = [
            "UPDATE verdict SET annotator = 'eve'",
            "UPDATE undo SET annotator = 'eve', uid = 'e1'",
            "UPDATE ruling SET annotator = 'eve' WHERE uid = 'r0'",
            "UPDATE ruling_undo SET annotator = 'eve', uid = 'e2'",
            "UPDATE shown SET annotator = 'eve', later_ms = 9 WHERE uid = 's1'",
            "UPDATE verdict SET annotator = 'eve', uid = 'e3',
                 replaces = (SELECT min(uid) FROM verdict)
             WHERE uid = (SELECT max(uid) FROM verdict)",
            "UPDATE ruling SET annotator = 'eve', uid = 'e4' WHERE uid = 'r0'",
        ];
        db.connection
            .pragma_update(None, "defer_foreign_keys", true)?;
        for change in changes {
            db.connection.execute_batch("SAVEPOINT forging")?;
            assert!(db.change(change, [])? > 0, "{change}");
            let of_eve = judgments(db, Some("eve"))?;
            db.connection
                .execute_batch("ROLLBACK TO forging; RELEASE forging")?;
            assert!(!of_eve.is_empty(), "{change}");
            for sent in of_eve {
                let merged = received(&sent).and_then(|rows| judgments_as_project(db, vec![rows]));
                assert!(merged.is_err(), "{change}: {sent:?}");
            }
            assert_eq!(judgments(db, None)?, known);
        }
        Ok(())
    });
    checked.unwrap();
}

/// All judgments of a project, or those of a person, as they are sent.
fn judgments(db: &Db, person: Option<&str>) -> Result<Vec<Judgment>, StoreError> {
    db.note_everything()?;
    let all = db.unsynced_judgments(100_000, person)?;
    all.iter().map(|of| packed_judgment(db, of)).collect()
}
