//! Checks how SQLite reads the big tables: by a key or an index, except for the few queries about
//! the whole project.

use crate::store::Store;
use crate::store::frozen_sets::FrozenSet;
use rusqlite::Connection;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Tables that grow with every call or every battle.
const BIG: [&str; 5] = ["vote", "failure", "call", "battle", "document"];

/// Statements that may read a big table completely: a part of their text, and the reason.
const WHOLE: [(&str, &str); 19] = [
    (
        "SELECT EXISTS (SELECT 1 FROM vote WHERE NOT",
        "a piece of a project, which is small",
    ),
    (
        "DELETE FROM call WHERE sent_ms",
        "a piece of a project, which is small",
    ),
    (
        "SELECT query AS id, count(*) AS there",
        "a look through the whole file, of `doctor` and `backup`",
    ),
    (
        "SELECT count(*) FROM vote",
        "a look through the whole file, of `doctor` and `backup`",
    ),
    (
        "SELECT vote.judge, name.text, count(*)",
        "which models answered: kept until a judge votes again",
    ),
    (
        "SELECT EXISTS (SELECT 1 FROM vote)",
        "whether there is any: it ends at the first row",
    ),
    (
        "SELECT purpose, service, sum(calls)",
        "all that was ever spent",
    ),
    ("SELECT latency_ms, tokens_input", "a judge's whole report"),
    (
        "SELECT count(*), avg(tokens_input)",
        "a judge's latest answers: it ends after some thousand, and judges without votes are not looked for",
    ),
    (
        "SELECT cause, count(DISTINCT battle)",
        "a judge's whole report",
    ),
    (
        "SELECT count(DISTINCT battle) FROM failure",
        "the report of a trial, once",
    ),
    (
        "SELECT query, a, b, judge, margin",
        "scores without each judge, of the whole project",
    ),
    (
        "ORDER BY (battle / ?3 * 2654435761)",
        "a sample of all reasonings",
    ),
    (
        "FROM call LEFT JOIN run",
        "all that another file has spent, in a merge",
    ),
    (
        "FROM vote WHERE vote.judge = ?1 AND created_ms < ?2",
        "all votes, and only where a judge's model was seen with other weights",
    ),
    (
        "SELECT judge.name, sum(votes), sum(failures)",
        "what the last run did, after a restart",
    ),
    (
        "SELECT cause, judge.name, count(*), min(failure.created_ms)",
        "what the last run did, after a restart",
    ),
    (
        "UPDATE call SET service",
        "a judge that gets another name, which is rare",
    ),
    (
        "FROM call WHERE run = ?1",
        "what the last run did, after a restart",
    ),
];

/// The text of constants from which statements are built, with placeholders for other inserted
/// parts.
fn spelled_out(sql: &str, source: &str) -> String {
    let mut sql = sql.to_owned();
    while let Some(open) = sql.find('{') {
        let close = open + sql[open..].find('}').unwrap();
        let name = &sql[open + 1..close];
        let constant = source
            .split_once(&format!("const {name}: &str ="))
            .and_then(|(_, value)| value.split('"').nth(1));
        let text = match (name, constant) {
            (_, Some(text)) => text,
            ("", _) => "1",
            ("table", _) => "setting",
            ("pairs_of" | "decisions", _) => "verdict",
            ("IS_SHARED", _) => "1",
            ("condition", _) => "",
            ("columns", _) => FrozenSet::COLUMNS,
            _ => panic!("{name} is not a constant of this file: {sql}"),
        };
        sql.replace_range(open..=close, text);
    }
    sql
}

/// The statements of the core's store and of each feature's, each with its file.
fn all_statements(into: &mut Vec<(PathBuf, String)>) {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    statements(&sources.join("store"), into);
    for feature in std::fs::read_dir(sources.join("features")).unwrap() {
        let feature = feature.unwrap().path();
        if feature.is_dir() {
            statements(&feature, into);
        }
    }
}

/// The statements in the sources under `folder`, each with its file.
fn statements(folder: &Path, into: &mut Vec<(PathBuf, String)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        // An upgrade reads a table that exists only while it is running. The statements of a client
        // are for PostgreSQL, and those of tests are not run by users.
        let is_of_others = ["upgrade.rs", "upgrade", "remote/client", "tests.rs"];
        if is_of_others.iter().any(|name| path.ends_with(name)) {
            continue;
        }
        if path.is_dir() {
            statements(&path, into);
            continue;
        }
        let source = std::fs::read_to_string(&path).unwrap();
        let production = ["mod ", "pub(super) mod ", "pub(crate) mod "]
            .iter()
            .filter_map(|module| source.split_once(&format!("#[cfg(test)]\n{module}")))
            .map(|(production, _)| production)
            .min_by_key(|production| production.len())
            .unwrap_or(&source);
        for verb in ["SELECT", "WITH", "INSERT", "UPDATE", "DELETE"] {
            for (start, _) in production.match_indices(&format!("\"{verb} ")) {
                let text = &production[start + 1..];
                let text = text.split_once('"').unwrap().0;
                // Features with frozen sets have tables of the same columns.
                for feature in ["drift", "battery"] {
                    let text = text
                        .replace("{sets}", &format!("{feature}_set"))
                        .replace("{pairs}", &format!("{feature}_pair"));
                    into.push((path.clone(), spelled_out(&text, &source)));
                    if !text.contains(feature) {
                        break;
                    }
                }
            }
        }
    }
}

/// The steps of the plan that read a whole big table.
fn scans(db: &Connection, sql: &str) -> rusqlite::Result<Vec<String>> {
    let mut explained = db.prepare(&format!("EXPLAIN QUERY PLAN {sql}"))?;
    let unbound = vec![rusqlite::types::Null; explained.parameter_count()];
    let steps = explained.query_map(rusqlite::params_from_iter(unbound), |row| row.get(3))?;
    let mut found = Vec::new();
    for step in steps {
        let step: String = step?;
        let whole = step
            .strip_prefix("SCAN ")
            .is_some_and(|table| BIG.contains(&table.split(' ').next().unwrap()));
        if whole {
            found.push(step);
        }
    }
    Ok(found)
}

#[test]
fn big_tables_are_read_by_key() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("overrule.db");
    drop(Store::open(&path).unwrap());
    let db = Connection::open(&path).unwrap();
    let mut found = Vec::new();
    all_statements(&mut found);
    let (mut explained, mut wrong) = (0, Vec::new());
    for (path, sql) in found {
        match scans(&db, &sql) {
            Ok(scans) => {
                explained += 1;
                if !scans.is_empty() && !WHOLE.iter().any(|(part, _)| sql.contains(part)) {
                    wrong.push(format!("{}: {scans:?}: {sql}", path.display()));
                }
            }
            Err(error) => wrong.push(format!("{}: {error}: {sql}", path.display())),
        }
    }
    assert!(explained > 100, "only {explained} statements were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The steps of the plan that read a whole table once for each row of another, or for each row on
/// which a subquery is evaluated.
fn scans_in_loops(db: &Connection, sql: &str) -> rusqlite::Result<Vec<String>> {
    let mut explained = db.prepare(&format!("EXPLAIN QUERY PLAN {sql}"))?;
    let unbound = vec![rusqlite::types::Null; explained.parameter_count()];
    let steps = explained.query_map(rusqlite::params_from_iter(unbound), |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(3)?))
    })?;
    let steps: Vec<(i64, i64, String)> = steps.collect::<Result<_, _>>()?;
    let asked_often = |mut parent: i64| {
        while let Some((_, above, what)) = steps.iter().find(|(id, ..)| *id == parent) {
            if what.starts_with("CORRELATED") {
                return true;
            }
            parent = *above;
        }
        false
    };
    let is_loop = |what: &str| what.starts_with("SCAN ") || what.starts_with("SEARCH ");
    let mut outer = HashSet::new();
    let mut found = Vec::new();
    for (_, parent, what) in &steps {
        let inner = is_loop(what) && !outer.insert(*parent);
        // A list in a column is not a table.
        let table = what.starts_with("SCAN ") && !what.contains("VIRTUAL TABLE");
        let once = what.starts_with("SCAN CONSTANT") || !table;
        if !once && (inner || asked_often(*parent)) {
            found.push(what.clone());
        }
    }
    Ok(found)
}

#[test]
fn no_table_is_read_whole_inside_a_loop() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("overrule.db");
    drop(Store::open(&path).unwrap());
    let db = Connection::open(&path).unwrap();
    let mut found = Vec::new();
    all_statements(&mut found);
    let mut wrong = Vec::new();
    for (path, sql) in &found {
        let scans = scans_in_loops(&db, sql).unwrap();
        if !scans.is_empty() {
            wrong.push(format!("{}: {scans:?}: {sql}", path.display()));
        }
    }
    assert!(
        found.len() > 100 && wrong.is_empty(),
        "{}",
        wrong.join("\n")
    );
    let each =
        "SELECT 1 FROM query JOIN failure ON failure.battle = query.id AND failure.judge = 1";
    assert!(scans_in_loops(&db, each).unwrap().is_empty());
    let unknown =
        "SELECT (SELECT count(*) FROM failure WHERE failure.attempt > query.id) FROM query";
    assert_eq!(scans_in_loops(&db, unknown).unwrap(), ["SCAN failure"]);
}

#[test]
fn a_missing_index_shows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("overrule.db");
    drop(Store::open(&path).unwrap());
    let db = Connection::open(&path).unwrap();
    let again = "SELECT 1 FROM failure WHERE battle = ?1 AND judge = ?2";
    assert!(scans(&db, again).unwrap().is_empty());
    db.execute_batch("DROP INDEX failure_battle").unwrap();
    assert_eq!(scans(&db, again).unwrap(), ["SCAN failure"]);
    let killed = "UPDATE call SET ended_ms = ?1 WHERE ended_ms IS NULL";
    assert!(scans(&db, killed).unwrap().is_empty());
    db.execute_batch("DROP INDEX call_open").unwrap();
    assert_eq!(scans(&db, killed).unwrap(), ["SCAN call"]);
}

#[test]
fn a_ledger_finds_the_verdict_of_each_line_by_an_index() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("overrule.db");
    drop(Store::open(&path).unwrap());
    let db = Connection::open(&path).unwrap();
    let plan = |sql: &str| -> String {
        let mut explained = db.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let unbound = vec![rusqlite::types::Null; explained.parameter_count()];
        let steps = explained.query_map(rusqlite::params_from_iter(unbound), |row| row.get(3));
        let steps: Result<Vec<String>, _> = steps.unwrap().collect();
        steps.unwrap().join("\n")
    };
    let mut found = Vec::new();
    all_statements(&mut found);
    let lines = |(_, sql): &&(PathBuf, String)| sql.contains("verdict.shown = shown.uid");
    let ledgers: Vec<&str> = found
        .iter()
        .filter(lines)
        .map(|(_, sql)| sql.as_str())
        .collect();
    assert!(ledgers.len() >= 2, "{ledgers:?}");
    for sql in &ledgers {
        assert!(!plan(sql).contains("SCAN verdict"), "{}", plan(sql));
    }
    db.execute_batch("DROP INDEX verdict_shown").unwrap();
    assert!(ledgers.iter().any(|sql| plan(sql).contains("SCAN verdict")));
}
