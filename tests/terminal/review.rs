//! Twenty pairs judged with two keys each, a restart in the middle, undo over the restart, and
//! nothing of the judges on the wire before a decision.

use super::{Terminal, demo, link_data, overrule};
use std::path::Path;
use std::time::Duration;

const SIZE: (u16, u16) = (120, 40);

fn project(folder: &Path) -> Vec<String> {
    link_data(folder);
    overrule(folder, "annotate data/scifact.jsonl out.jsonl");
    let db = rusqlite::Connection::open(folder.join("overrule.db")).unwrap();
    let mut names = db.prepare("SELECT name FROM document").unwrap();
    names
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect()
}

fn verdicts(folder: &Path, what: &str) -> i64 {
    let db = rusqlite::Connection::open(folder.join("overrule.db")).unwrap();
    let sql = format!(
        "SELECT count(*) FROM verdict WHERE {what}
         AND NOT EXISTS (SELECT 1 FROM undo WHERE undo.verdict = verdict.uid)"
    );
    db.query_row(&sql, [], |row| row.get(0)).unwrap()
}

/// Opens the queue and takes up its first pair; says how much was sent before that.
fn begin(folder: &Path) -> (Terminal, usize) {
    let mut terminal = Terminal::start(folder, &[], &[], SIZE);
    terminal.wait("Insomnia can");
    terminal.keys("w");
    terminal.wait("the top is settled");
    terminal.wait("▌    1");
    let from = terminal.raw.len();
    terminal.press("\r");
    terminal.wait("Which document");
    (terminal, from)
}

/// Judges a pair with two keys; what was sent before the decision held nothing of the judges.
fn judge(terminal: &mut Terminal, key: &str, names: &[String], from: usize) -> usize {
    terminal.wait("[a] A better");
    let raw = String::from_utf8_lossy(&terminal.raw[from..]).into_owned();
    let screen = terminal.screen();
    for secret in [
        "bm25",
        "proximity",
        "ngram",
        "zELO",
        "· rank",
        "rank of",
        "votes",
        "P(A stands",
    ] {
        assert!(
            !raw.contains(secret) && !screen.contains(secret),
            "{secret:?} was sent before the decision"
        );
    }
    let known = names.iter().find(|name| raw.contains(name.as_str()));
    assert_eq!(known, None, "a document was named before the decision");
    // Keys that come within a few milliseconds of each other would be text.
    terminal.press(key);
    terminal.wait("keep, next");
    terminal.wait_gone("fitting the ranking");
    terminal.press("\r");
    terminal.wait("Which document");
    // Frames of the pair before may have been on their way until now.
    terminal.raw.len()
}

#[test]
fn twenty_pairs_take_forty_keys_and_survive_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let names = project(folder.path());
    let (mut terminal, mut from) = begin(folder.path());
    for at in 0..10 {
        from = judge(&mut terminal, ["a", "b", "t", "x"][at % 4], &names, from);
    }
    terminal.press("qy");
    assert_eq!(terminal.end(), 0);
    assert_eq!(verdicts(folder.path(), "blind = 1"), 10);
    assert_eq!(
        verdicts(folder.path(), "blind = 0 AND revealed_ms IS NOT NULL"),
        10
    );

    let (mut terminal, _) = begin(folder.path());
    terminal.keys("u");
    terminal.wait("given before this session");
    terminal.keys("u");
    terminal.wait("undone");
    terminal.wait("9 judged");
    // What the judges said of this pair has been seen: the verdict after it was taken back is not
    // blind.
    terminal.press("b");
    terminal.wait("keep, next");
    terminal.wait_gone("fitting the ranking");
    terminal.press("\r");
    terminal.wait("Which document");
    let mut from = terminal.raw.len();
    for at in 1..11 {
        from = judge(&mut terminal, ["b", "a", "t"][at % 3], &names, from);
    }
    terminal.press("qy");
    assert_eq!(terminal.end(), 0);
    assert_eq!(verdicts(folder.path(), "blind = 1"), 19);
    assert_eq!(
        verdicts(folder.path(), "blind = 1 AND active_ms IS NULL"),
        0
    );
    assert_eq!(verdicts(folder.path(), "shown IS NULL"), 0);
}

#[test]
fn text_that_the_terminal_sends_as_keys_gives_no_verdict_and_takes_none_back() {
    let folder = tempfile::tempdir().unwrap();
    let mut terminal = demo(folder.path(), &[], (120, 40));
    terminal.keys("s");
    terminal.wait("every battle has all its votes");
    terminal.keys("\r");
    terminal.wait("zELO, 95 %");
    terminal.keys("n");
    terminal.wait("surprise 1 of");
    terminal.keys("\r");
    terminal.wait("your verdict");
    terminal.pause();
    terminal.keys("a better match");
    terminal.wait("treated as pasted text");
    terminal.pause();
    // A color report, as a slow connection delivers it.
    for piece in ["\x1b]11;rgb:1e1e/1e", "1e/aabb", "\x1b\\"] {
        terminal.keys(piece);
        terminal.quiet(Duration::from_millis(60));
    }
    terminal.wait("your verdict");
    terminal.keys("a");
    terminal.wait("what your verdict changed");
    terminal.keys("i");
    terminal.wait("reason");
    terminal.pause();
    terminal.keys("names the trial\ru");
    terminal.wait("treated as part of it");
    terminal.pause();
    terminal.press("qy");
    assert_eq!(terminal.end(), 0);

    let project = rusqlite::Connection::open(folder.path().join("sample.db")).unwrap();
    let count = |sql: &str| -> i64 { project.query_row(sql, [], |row| row.get(0)).unwrap() };
    assert_eq!(count("SELECT count(*) FROM undo"), 0);
    let given = count("SELECT count(*) FROM verdict WHERE note = 'names the trial'");
    assert_eq!(given, 1);
    // The verdict, and the same one with its reason.
    assert_eq!(count("SELECT count(*) FROM verdict"), 2);
}
