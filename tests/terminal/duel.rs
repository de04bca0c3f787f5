//! A duel of ten queries by keyboard alone: killed in the middle, gone on with, undone, and summed
//! up; nothing of the rankings on the wire before a choice.

use super::{Terminal, link_data, overrule};
use serde_json::Value;
use std::path::Path;

const SIZE: (u16, u16) = (120, 40);
const TASKS: usize = 10;

/// A project with two rankings in files and a duel of ten queries; returns what must not be sent
/// before a choice.
fn project(folder: &Path) -> Vec<String> {
    link_data(folder);
    let beir = "data/scifact-small";
    overrule(folder, &format!("import {beir}"));
    overrule(
        folder,
        &format!("pool build --beir {beir} --out pools.jsonl --run-out first-stage.trec"),
    );
    let run = std::fs::read_to_string(folder.join("first-stage.trec")).unwrap();
    let mut secrets: Vec<String> = Vec::new();
    let mut turned = String::new();
    for line in run.lines() {
        let [query, _, document, rank, score, _] = line.split_whitespace().collect::<Vec<_>>()[..]
        else {
            panic!("{line}");
        };
        let rank: usize = rank.parse().unwrap();
        // The last of the first twenty is the first.
        if rank <= 20 {
            let (place, points) = (21 - rank, rank as f64 + 0.7531);
            turned += &format!("{query} Q0 {document} {place} {points:.4} turned-run\n");
        }
        secrets.extend([score.to_owned(), format!("{}.7531", rank)]);
    }
    std::fs::write(folder.join("turned-run.trec"), turned).unwrap();
    overrule(
        folder,
        "duel --a first-stage.trec --b turned-run.trec --queries 10 --no-controls --no-screen",
    );
    secrets.retain(|secret| secret.contains('.') && secret.len() > 5);
    let words = [
        "first-stage",
        "turned-run",
        "easy-negative",
        "top-of",
        "rank_a",
        "rank in",
    ];
    secrets.extend(words.map(str::to_owned));
    secrets
}

fn count(folder: &Path, sql: &str) -> usize {
    let db = rusqlite::Connection::open(folder.join("overrule.db")).unwrap();
    db.query_row(sql, [], |row| row.get(0)).unwrap()
}

/// Opens the duel; returns how much had been sent before.
fn begin(folder: &Path, arguments: &[&str], task: usize) -> (Terminal, usize) {
    let mut terminal = Terminal::start(folder, arguments, &[], SIZE);
    let from = match arguments {
        [] => {
            terminal.wait("Enter matrix");
            let from = terminal.raw.len();
            terminal.keys("X");
            from
        }
        _ => 0,
    };
    terminal.wait(&format!("task {task} of {TASKS}"));
    terminal.wait("Which of these serve the query?");
    (terminal, from)
}

/// Answers the task on screen, the `nth` from 1.
fn answer(terminal: &mut Terminal, nth: usize) {
    terminal.wait(&format!("task {nth} of {TASKS}"));
    match nth % 3 {
        0 => {
            terminal.keys("0");
            terminal.wait("none of them serves");
        }
        1 => {
            terminal.press("5 ");
            terminal.wait("1 document chosen");
            terminal.press("2 ");
            terminal.wait("2 documents chosen");
        }
        _ => {
            terminal.press("3\r");
            terminal.wait("Enter chooses this passage");
            terminal.press("j)l\r");
            terminal.wait("passage marked");
            terminal.wait("1 document chosen");
        }
    }
    terminal.keys(".");
    if nth < TASKS {
        terminal.wait(&format!("task {} of {TASKS} · {nth} done", nth + 1))
    } else {
        terminal.wait("This session")
    }
}

fn assert_blind(terminal: &Terminal, from: usize, secrets: &[String]) {
    let raw = String::from_utf8_lossy(&terminal.raw[from..]);
    let sent = secrets.iter().find(|secret| raw.contains(secret.as_str()));
    assert_eq!(sent, None, "was sent before the end");
}

#[test]
fn ten_queries_by_keyboard_alone_with_a_kill_in_the_middle() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let secrets = project(folder);
    let (mut terminal, from) = begin(folder, &[], 1);
    for nth in 1..=4 {
        answer(&mut terminal, nth);
    }
    terminal.press("7 ");
    terminal.wait("1 document chosen");
    assert_blind(&terminal, from, &secrets);
    terminal.signal("KILL");
    terminal.end();
    let finished = "SELECT count(*) FROM duel_event WHERE action ->> 'action' = 'finish'";
    assert_eq!(count(folder, finished), 4);

    let (mut terminal, from) = begin(folder, &["duel"], 5);
    terminal.wait("4 done · 1 document chosen");
    terminal.keys("u");
    terminal.wait("undone: a choice");
    terminal.wait_gone("document chosen");
    for nth in 5..=TASKS {
        answer(&mut terminal, nth);
    }
    terminal.wait("10 of 10 tasks done in total");
    assert_blind(&terminal, from, &secrets);
    terminal.keys("\x1b");
    terminal.wait_gone("This session");
    terminal.keys("K");
    terminal.wait("10 of 10 queries judged");
    let shown = terminal.screen();
    terminal.keys("\x1b");
    terminal.wait_gone("queries judged");
    terminal.press("qy");
    assert_eq!(terminal.end(), 0);
    terminal.assert_clean();

    assert_eq!(count(folder, finished), TASKS);
    let taken_back = "SELECT count(*) FROM duel_event WHERE action ->> 'action' = 'undo'";
    assert_eq!(count(folder, taken_back), 1);
    let active = "SELECT count(*) FROM duel_event WHERE active_ms > 0";
    assert!(count(folder, active) > 0);
    let found: Value = serde_json::from_str(&overrule(folder, "duel --result --json")).unwrap();
    assert_eq!(found["judgments"], TASKS, "{found}");
    let printed = overrule(folder, "duel --result");
    // The dialog breaks longer lines.
    let fits = |line: &&str| !line.is_empty() && line.chars().count() <= 84;
    for line in printed.lines().take(8).filter(fits) {
        assert!(shown.contains(line), "{line:?} is not on:\n{shown}");
    }
}
