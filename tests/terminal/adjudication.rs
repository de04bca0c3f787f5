//! From a benchmark to corrected labels: ten rulings in the terminal, a restart, undo over the
//! restart, and nothing of label and picks on the wire before a ruling.

use super::{Terminal, link_data, overrule};
use serde_json::Value;
use std::path::Path;

const SIZE: (u16, u16) = (120, 40);

/// Opens adjudication and its first disagreement; returns how much had been sent before.
fn begin(folder: &Path) -> (Terminal, usize) {
    let mut terminal = Terminal::start(folder, &[], &[], SIZE);
    terminal.wait("Enter matrix");
    terminal.keys("C");
    terminal.wait("to rule on");
    // What stands above the list has been drawn by then.
    terminal.wait("▌    1");
    let from = terminal.raw.len();
    terminal.keys("\r");
    (terminal, from)
}

/// Rules on a document with two keys, the `nth` in all; what was sent before held nothing of its
/// label and of the picks.
fn rule(terminal: &mut Terminal, key: &str, nth: usize, from: usize) -> usize {
    terminal.wait("Does this document");
    let raw = String::from_utf8_lossy(&terminal.raw[from..]).into_owned();
    for secret in [
        "grade",
        "SUPPORT",
        "CONTRADICT",
        "benchmark",
        "picked",
        "bm25",
        "ngram",
        "proximity",
        "hybrid rank",
    ] {
        assert!(
            !raw.contains(secret),
            "{secret:?} was sent before the ruling"
        );
    }
    terminal.keys(key);
    terminal.wait(&format!("{nth} ruled by you"));
    // The last line of what is shown then.
    terminal.wait("proximity");
    let from = terminal.raw.len();
    terminal.keys("\r");
    from
}

#[test]
fn a_benchmark_becomes_corrected_labels_in_one_sitting() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    link_data(folder);
    let beir = "data/scifact-small";
    overrule(folder, &format!("import {beir}"));
    overrule(folder, "pick");
    let (mut terminal, mut from) = begin(folder);
    for at in 0..5 {
        from = rule(&mut terminal, ["a", "b", "t", "x"][at % 4], 1 + at, from);
    }
    terminal.wait("Does this document");
    terminal.press("qy");
    assert_eq!(terminal.end(), 0);
    let db = rusqlite::Connection::open(folder.join("overrule.db")).unwrap();
    let stored: i64 = db
        .query_row("SELECT count(*) FROM ruling", [], |row| row.get(0))
        .unwrap();
    assert_eq!(stored, 5);

    let (mut terminal, _) = begin(folder);
    terminal.wait("Does this document");
    terminal.keys("u");
    terminal.wait("given before this session");
    terminal.keys("u");
    terminal.wait("undone");
    terminal.wait("4 ruled by you");
    // The document is before the person again, with its label in sight: what is ruled now is not
    // blind.
    terminal.wait("benchmark: no label");
    terminal.keys("b");
    terminal.wait("5 ruled by you");
    let mut from = terminal.raw.len();
    terminal.keys("\r");
    for at in 0..5 {
        from = rule(&mut terminal, ["a", "b"][at % 2], 6 + at, from);
    }
    terminal.wait("Does this document");
    terminal.press("qy");
    assert_eq!(terminal.end(), 0);

    let found: Value = serde_json::from_str(&overrule(folder, "adjudication --json")).unwrap();
    assert_eq!(found["rulings"]["standing"], 10);
    let changed = found["rulings"]["labels_changed"].as_u64().unwrap();
    assert!(changed > 0);
    let log = overrule(folder, "log --json");
    assert_eq!(
        log.matches("\"event\": \"ruling undo\"").count(),
        1,
        "{log}"
    );
    overrule(folder, "export qrels --corrected --out corrected.tsv");
    let side = std::fs::read_to_string(folder.join("corrected_rulings.csv")).unwrap();
    assert_eq!(side.lines().count(), 1 + 10);
    let blind = |line: &&str| line.split(',').nth(9) == Some("true");
    let blind = side.lines().filter(blind).count();
    assert_eq!(blind, 9, "{side}");
    let diff = overrule(folder, "export qrels --diff");
    assert!(diff.lines().count() as u64 >= changed, "{diff}");
    let truth = format!("{beir}/qrels/test.tsv");
    overrule(
        folder,
        &format!("pool build --beir {beir} --out p.jsonl --run-out bm25.trec"),
    );
    let measured =
        format!("evaluate corrected.tsv bm25.trec --before {truth} --metrics ndcg@10 --json");
    let measured: Value = serde_json::from_str(&overrule(folder, &measured)).unwrap();
    let here = &found["rankings"][0]["metrics"]["ndcg@10"];
    let there = &measured["metrics"]["ndcg@10"];
    assert_eq!(there["mean"], here["after"]["mean"]);
    assert_eq!(there["before"], here["before"]["mean"]);
    assert_eq!(there["difference"]["mean"], here["difference"]["mean"]);
}
