//! A project with wide votes reads as before and loses nothing that was paid for.

use super::*;
use crate::domain::battle::BattleId;
use crate::domain::vote::JudgeId;
use crate::store::Store;
use crate::store::vote_details::VoteReasoning;
use std::path::PathBuf;

/// The migrations up to the last one with wide votes.
const WIDE: [&str; 11] = [
    include_str!("../../../assets/migrations/0001.sql"),
    include_str!("../../../assets/migrations/0002.sql"),
    include_str!("../../../assets/migrations/0003.sql"),
    include_str!("../../../assets/migrations/0004.sql"),
    include_str!("../../../assets/migrations/0005.sql"),
    include_str!("../../../assets/migrations/0006.sql"),
    include_str!("../../../assets/migrations/0007.sql"),
    include_str!("../../../assets/migrations/0008.sql"),
    include_str!("../../../assets/migrations/0009.sql"),
    include_str!("../../../assets/migrations/0010.sql"),
    include_str!("../../../assets/migrations/0011.sql"),
];

/// The columns of a paid vote besides its reply.
type PaidColumns = (
    i64,
    Option<f64>,
    Option<f64>,
    Option<Vec<u8>>,
    Option<String>,
    Option<String>,
);

/// A project in the old format, with paid, reused, imported, embedded, truncated and unpriced
/// votes.
fn wide(folder: &Path, battles: usize) -> PathBuf {
    let path = folder.join("wide.db");
    let mut old = Connection::open(&path).unwrap();
    old.pragma_update(None, "journal_mode", "wal").unwrap();
    for migration in WIDE {
        old.execute_batch(migration).unwrap();
    }
    old.execute_batch(
        "PRAGMA user_version = 11; PRAGMA application_id = 0x4f56524c;
         INSERT INTO judge VALUES (1, 'paid', 'openai', 'm', 'h', '{}'), (2, 'bm25', 'offline', 'm', 'h', '{}'),
                                  (3, 'other', 'import', 'm', 'h', '{}');
         INSERT INTO ensemble VALUES (1, '[1,2,3]');
         INSERT INTO query (id, name, text, extra, line, dataset, documents, ensemble)
             VALUES (1, 'q', 'words', '{}', '{}', 's', 100000, 1);
         INSERT INTO run VALUES (1, 'r', 1, 1, NULL, 1, 1, 2, 'done', NULL);",
    )
    .unwrap();
    let all = old.transaction().unwrap();
    {
        let mut battle = all
            .prepare("INSERT INTO battle VALUES (?1, 1, ?2, ?3, 0, 0, 'plan')")
            .unwrap();
        let mut vote = all
            .prepare(
                "INSERT INTO vote (battle, judge, swapped, margin, attempt, tokens_input, tokens_cached, tokens_output,
                     tokens_thinking, cost_usd, latency_ms, truncated, run, created_ms, call_key, model, stop_reason,
                     request_id, reasoning, raw)
                 VALUES (?1, ?2, ?1 % 2, ?3, 1, ?4, 3, ?4, 2, ?5, ?6, ?1 % 3 = 0, ?7, 1700000000000 + ?1, ?8, ?9, ?10,
                     ?11, ?12, ?13)",
            )
            .unwrap();
        for at in 1..=battles as i64 {
            battle.execute((at, at - 1, at)).unwrap();
            let reused = at % 5 == 2;
            // A reused vote comes before and after the one whose answer it has.
            let answer = if reused { at + 1 - 2 * (at % 2) } else { at };
            let reasoning = format!("Document A has {answer}.\nDocument B says \"no\".");
            let raw = format!("{{\"thoughts\": [{reasoning:?}], \"score\": 0.5}}");
            let mut key = [7; 32];
            key[..8].copy_from_slice(&answer.to_be_bytes());
            let cost = if reused {
                Some(0.0)
            } else {
                (at % 7 != 0).then_some(0.001 * at as f64)
            };
            vote.execute(rusqlite::params![
                at,
                1,
                0.25,
                if reused { 0 } else { 900 + at },
                cost,
                (!reused).then_some(1234.5 + at as f64 / 7.0),
                1,
                key,
                "gpt-x",
                "stop",
                format!("call-{answer}"),
                reasoning,
                raw
            ])
            .unwrap();
            vote.execute(rusqlite::params![
                at,
                2,
                -0.5,
                80,
                0.0,
                0.123_456_7,
                1,
                None::<Vec<u8>>,
                "lexical",
                "stop",
                None::<String>,
                "it can be written again",
                None::<String>
            ])
            .unwrap();
            vote.execute(rusqlite::params![
                at,
                3,
                1.0,
                0,
                None::<f64>,
                None::<f64>,
                None::<i64>,
                None::<Vec<u8>>,
                None::<String>,
                None::<String>,
                None::<String>,
                if at % 2 == 0 { "imported words" } else { "" },
                None::<String>
            ])
            .unwrap();
        }
    }
    all.commit().unwrap();
    let totals = WIDE[10];
    let fill = &totals[totals.find("INSERT INTO").unwrap()..];
    old.execute_batch(fill).unwrap();
    path
}

fn totals(connection: &Connection) -> Vec<(i64, i64, f64, i64, f64)> {
    let sql = "SELECT judge, votes, round(votes_usd, 9), asked_priced, round(asked_usd, 9) FROM call_total ORDER BY judge";
    let mut statement = connection.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| row.try_into()).unwrap();
    rows.collect::<rusqlite::Result<_>>().unwrap()
}

#[test]
fn wide_votes_read_as_they_did() {
    let folder = tempfile::tempdir().unwrap();
    let path = wide(folder.path(), 600);
    let old = Connection::open(&path).unwrap();
    let columns = "battle, cost_usd, latency_ms, call_key";
    let paid = |connection: &Connection, sql: &str| -> Vec<PaidColumns> {
        let mut statement = connection.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| row.try_into()).unwrap();
        rows.collect::<rusqlite::Result<_>>().unwrap()
    };
    let before = paid(
        &old,
        &format!("SELECT {columns}, model, stop_reason FROM vote ORDER BY battle, judge"),
    );
    let texts: Vec<(i64, i64, String, Option<String>)> = {
        let sql = "SELECT battle, judge, reasoning, raw FROM vote ORDER BY battle, judge";
        let mut statement = old.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| row.try_into()).unwrap();
        rows.collect::<rusqlite::Result<_>>().unwrap()
    };
    let counted = totals(&old);
    drop(old);

    let store = Store::open(&path).unwrap();
    let judges = [1, 2, 3].map(JudgeId);
    let (details, request) = store
        .read_blocking(move |db| {
            let mut details = Vec::new();
            for at in 1..=600 {
                details.extend(db.battle_votes(BattleId(at), &judges)?);
            }
            let request = db.packed_reply(
                db.value("SELECT reply FROM vote WHERE battle = 4 AND judge = 1", [])?,
            )?;
            let request =
                db.replies
                    .unpacked(&db.connection, request.dictionary, &request.bytes)?;
            Ok((details, request.request_id))
        })
        .unwrap();
    assert_eq!(request.as_deref(), Some("call-4"));
    drop(store);
    let new = Connection::open(&path).unwrap();
    let after: Vec<PaidColumns> = paid(
        &new,
        &format!(
            "SELECT {columns}, model.text, stop.text FROM vote LEFT JOIN name AS model ON model.id = vote.model
             LEFT JOIN name AS stop ON stop.id = stop_reason ORDER BY battle, judge"
        ),
    );
    // Only the call key is shortened; everything else is kept in full.
    let before: Vec<PaidColumns> = before
        .into_iter()
        .map(|(battle, usd, ms, key, model, stop)| {
            (
                battle,
                usd,
                ms,
                key.map(|key| key[..KEPT_OF_KEY].to_vec()),
                model,
                stop,
            )
        })
        .collect();
    assert_eq!(before, after);
    assert_eq!(totals(&new), counted);
    assert_eq!(details.len(), texts.len());
    for (detail, (battle, judge, reasoning, raw)) in details.iter().zip(texts) {
        assert_eq!((detail.battle.0, detail.judge.0), (battle, judge));
        let expected = match judge {
            2 => VoteReasoning::Unkept,
            _ => VoteReasoning::Kept(reasoning),
        };
        assert_eq!(detail.reasoning, expected);
        assert_eq!(detail.raw, raw);
    }
    let count = |sql: &str| -> i64 { new.query_row(sql, [], |row| row.get(0)).unwrap() };
    // Reused votes have no reply of their own: a fifth of 600 is reused.
    assert_eq!(
        count("SELECT count(DISTINCT reply) FROM vote WHERE judge = 1"),
        480
    );
    assert_eq!(count("SELECT count(*) FROM reply"), 480 + 300);
    assert_eq!(count("SELECT count(*) FROM dictionary"), 1);
    assert_eq!(
        count("SELECT count(*) FROM sqlite_schema WHERE name = 'wide_vote'"),
        0
    );
    assert_eq!(count("SELECT count(*) FROM pragma_foreign_key_check"), 0);
}

#[test]
fn an_upgrade_that_is_cut_short_leaves_the_project_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = wide(folder.path(), 50);
    // A vote that cannot be moved makes the upgrade fail halfway.
    let old = Connection::open(&path).unwrap();
    old.execute_batch(
        "PRAGMA foreign_keys = OFF; UPDATE vote SET judge = 99 WHERE battle = 40 AND judge = 1",
    )
    .unwrap();
    drop(old);
    assert!(Store::open(&path).is_err());
    let old = Connection::open(&path).unwrap();
    let votes: i64 = old
        .query_row("SELECT count(raw) FROM vote", [], |row| row.get(0))
        .unwrap();
    let version: i64 = old
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .unwrap();
    assert_eq!((votes, version), (50, 11));
    old.execute_batch("PRAGMA foreign_keys = OFF; UPDATE vote SET judge = 1 WHERE judge = 99")
        .unwrap();
    drop(old);
    let votes = Store::open(&path)
        .unwrap()
        .read_blocking(|db| db.value::<i64>("SELECT count(*) FROM vote", []));
    assert_eq!(votes.unwrap(), 150);
}

#[test]
fn the_room_of_wide_votes_is_given_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = wide(folder.path(), 10);
    let old = Connection::open(&path).unwrap();
    old.execute(
        "UPDATE vote SET reasoning = ?1 WHERE judge = 2 AND battle < 5",
        ["x".repeat(8 << 20)],
    )
    .unwrap();
    drop(old);
    let size = || std::fs::metadata(&path).unwrap().len();
    let before = size();
    drop(Store::open(&path).unwrap());
    assert!(before > 32 << 20 && size() < 1 << 20, "{before} {}", size());
}

#[test]
fn a_run_of_an_older_version_is_not_upgraded_under_its_feet() {
    let folder = tempfile::tempdir().unwrap();
    let path = wide(folder.path(), 10);
    let lock = std::fs::File::create(folder.path().join("wide.db-run")).unwrap();
    lock.lock().unwrap();
    let error = Store::open(&path).unwrap_err().to_string();
    assert!(error.contains("run of an older version"), "{error}");
    drop(lock);
    assert!(Store::open(&path).is_ok());
}

/// The migration that removes copies.
const WITHOUT_COPIES: &str = include_str!("../../../assets/migrations/0024.sql");

#[test]
fn a_copied_answer_goes_and_what_was_paid_for_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("copies.db");
    drop(Store::open(&path).unwrap());
    let db = Connection::open(&path).unwrap();
    db.execute_batch(
        "ALTER TABLE call_total DROP COLUMN shared;
         INSERT INTO judge VALUES (1, 'j', 'openai', 'm', 'h', '{}');
         INSERT INTO ensemble VALUES (1, '[1]');
         INSERT INTO query (id, name, text, extra, line, dataset, documents, ensemble)
             VALUES (1, 'q', 'words', '{}', '{}', 's', 5, 1);
         INSERT INTO run (id, uid, seed, cycles, ensemble, started_ms, state) VALUES (1, 'r', 1, 1, 1, 1, 'done');
         -- A pair shown twice in one order; a probed pair whose second battle has the probe's answer; two pairs with the same
         -- texts; a pair that was asked about in both orders.
         INSERT INTO battle VALUES (1, 1, 0, 1, 0, 0, 'plan'), (2, 1, 0, 1, 1, 1, 'plan'),
             (3, 1, 0, 2, 0, 0, 'plan'), (4, 1, 0, 2, 1000, 0, 'probe'), (5, 1, 0, 2, 1, 1, 'plan'),
             (6, 1, 1, 2, 0, 0, 'plan'), (7, 1, 1, 3, 0, 0, 'plan'),
             (8, 1, 2, 3, 0, 0, 'plan'), (9, 1, 2, 3, 1, 1, 'plan');",
    )
    .unwrap();
    let mut vote = db
        .prepare(
            "INSERT INTO vote (battle, judge, swapped, margin, attempt, tokens_input, tokens_cached, tokens_output,
                 tokens_thinking, cost_usd, latency_ms, truncated, run, created_ms, call_key)
             VALUES (?1, 1, ?2, ?3, 1, ?4, 0, ?4, 0, ?5, ?6, 0, 1, 1, ?7)",
        )
        .unwrap();
    for (battle, swapped, margin, key, paid) in [
        (1, 0, 0.5, 'a', true),
        (2, 0, 0.5, 'a', false),
        (3, 0, 0.5, 'b', true),
        (4, 1, -0.25, 'c', true),
        (5, 1, -0.25, 'c', false),
        (6, 0, 1.0, 'd', true),
        (7, 0, 1.0, 'd', false),
        (8, 0, -0.5, 'e', true),
        (9, 1, -0.75, 'f', true),
    ] {
        let (tokens, usd, ms) = if paid {
            (100, 0.25, Some(9.0))
        } else {
            (0, 0.0, None)
        };
        let key = vec![key as u8; 16];
        vote.execute(rusqlite::params![
            battle, swapped, margin, tokens, usd, ms, key
        ])
        .unwrap();
    }
    drop(vote);
    db.execute_batch(
        "INSERT INTO call_total (query, judge, votes, votes_priced, votes_usd, asked, asked_priced, asked_usd, failures,
             failures_priced, failures_usd, named_first, tied) VALUES (1, 1, 9, 9, 1.5, 9, 9, 1.5, 0, 0, 0.0, 3, 0)",
    )
    .unwrap();
    db.execute_batch(WITHOUT_COPIES).unwrap();
    let copies: i64 = db
        .query_row("SELECT count(*) FROM copied_vote", [], |row| row.get(0))
        .unwrap();
    assert_eq!(copies, 2);
    let mut statement = db
        .prepare("SELECT battle, swapped, margin, cost_usd FROM vote ORDER BY battle")
        .unwrap();
    let votes: Vec<(i64, bool, f64, f64)> = statement
        .query_map([], |row| row.try_into())
        .unwrap()
        .collect::<rusqlite::Result<_>>()
        .unwrap();
    assert_eq!(
        votes,
        [
            (1, false, 0.5, 0.25),
            (3, false, 0.5, 0.25),
            // The probe's own answer, which now counts.
            (5, true, -0.25, 0.25),
            (6, false, 1.0, 0.25),
            (7, false, 1.0, 0.0),
            (8, false, -0.5, 0.25),
            (9, true, -0.75, 0.25),
        ]
    );
    let number = |sql: &str| -> i64 { db.query_row(sql, [], |row| row.get(0)).unwrap() };
    assert_eq!(number("SELECT count(*) FROM battle WHERE id = 4"), 0);
    assert_eq!(number("SELECT count(*) FROM battle WHERE id = 2"), 1);
    assert_eq!(number("SELECT revision FROM query"), 1);
    let totals: (i64, i64, i64, i64, f64) = db
        .query_row(
            "SELECT votes, votes_priced, asked, shared, votes_usd FROM call_total",
            [],
            |row| row.try_into(),
        )
        .unwrap();
    assert_eq!(totals, (7, 7, 7, 1, 1.5));
    // Running it again removes nothing.
    db.execute_batch("DROP TABLE copied_vote; ALTER TABLE call_total DROP COLUMN shared")
        .unwrap();
    db.execute_batch(WITHOUT_COPIES).unwrap();
    assert_eq!(number("SELECT count(*) FROM copied_vote"), 0);
    assert_eq!(number("SELECT shared FROM call_total"), 1);
}
