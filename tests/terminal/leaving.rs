//! Leaving while judges behind HTTP are at work: calls in flight are waited for, and the run is
//! over in the project.

use super::Terminal;
use super::fake_provider::{FakeProvider, Fault, Faults};
use std::path::Path;
use std::time::Duration;

const KEY: &str = "sk-secret-0123456789abcdef";

/// A project of ten documents with one judge on `server`, in the middle of a run.
pub(super) fn running(folder: &Path, server: &FakeProvider) -> Terminal {
    let judge = format!(
        "[[judge]]\nname = \"gpt\"\nprovider = \"openai\"\nmodel = \"gpt-6.1-terra\"\nbase_url = {:?}\n",
        server.v1()
    );
    std::fs::write(folder.join("overrule.toml"), judge).unwrap();
    let documents: Vec<_> = (0..30)
        .map(|at| serde_json::json!({ "id": format!("d{at}"), "content": format!("text {at} on trams") }))
        .collect();
    let line =
        serde_json::json!({ "query": { "id": "q", "query": "trams" }, "documents": documents });
    std::fs::write(folder.join("in.jsonl"), format!("{line}\n")).unwrap();
    let imported = std::process::Command::new(env!("CARGO_BIN_EXE_overrule"))
        .args(["import", "in.jsonl"])
        .env("HOME", folder)
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(imported.status.success(), "{imported:?}");
    let mut terminal = Terminal::start(folder, &[], &[("OPENAI_API_KEY", KEY)], (120, 40));
    terminal.wait("trams");
    terminal.keys("s");
    terminal.wait("at most");
    terminal.keys("y");
    assert!(
        terminal.until(|_| server.total_calls() > 0),
        "{}",
        terminal.screen()
    );
    terminal
}

/// The run is over as one that was told to stop, and every call that the server was asked is an
/// answer in the project.
#[track_caller]
pub(super) fn assert_nothing_lost(folder: &Path, server: &FakeProvider) {
    let project = rusqlite::Connection::open(folder.join("overrule.db")).unwrap();
    let count = |sql: &str| -> usize { project.query_row(sql, [], |row| row.get(0)).unwrap() };
    let state: String = project
        .query_row("SELECT state FROM run", [], |row| row.get(0))
        .unwrap();
    assert_eq!(state, "cancelled");
    let kept = count("SELECT count(*) FROM vote") + count("SELECT count(*) FROM failure");
    assert_eq!(kept, server.total_calls());
    assert!(kept > 0);
}

#[test]
fn calls_in_flight_are_waited_for_however_one_leaves() {
    for leave in ["q", "TERM", "HUP", "QUIT"] {
        let folder = tempfile::tempdir().unwrap();
        let server = FakeProvider::start();
        server.set_latency(Duration::from_millis(100));
        let mut terminal = running(folder.path(), &server);
        if leave == "q" {
            terminal.keys("q");
            terminal.wait("Quit?");
            terminal.keys("y");
        } else {
            terminal.signal(leave);
        }
        assert_eq!(terminal.end(), 0, "{leave}");
        terminal.assert_clean();
        let raw = String::from_utf8_lossy(&terminal.raw);
        let left = raw.rfind("\x1b[?1049l").unwrap();
        let told = raw.find("in flight; press Ctrl-C again to quit at once");
        assert!(told.is_some_and(|told| left < told), "{leave}: {raw}");
        assert_nothing_lost(folder.path(), &server);
    }
}

#[test]
fn a_terminal_that_is_closed_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let server = FakeProvider::start();
    server.set_latency(Duration::from_millis(100));
    let terminal = running(folder.path(), &server);
    assert_eq!(terminal.close(), 0);
    assert_nothing_lost(folder.path(), &server);
}

#[test]
fn whoever_insists_leaves_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let server = FakeProvider::start();
    server.fail_at_random(Faults {
        doomed: vec![("gpt-6.1-terra".to_owned(), Fault::Hang)],
        ..Faults::default()
    });
    let mut terminal = running(folder.path(), &server);
    terminal.signal("TERM");
    let told = |terminal: &Terminal| {
        String::from_utf8_lossy(&terminal.raw).contains("press Ctrl-C again to quit at once")
    };
    assert!(terminal.until(told), "{}", terminal.screen());
    terminal.signal("INT");
    assert_eq!(terminal.end(), 130);
    terminal.assert_clean();
    assert!(terminal.screen().contains("quit at once"));
    assert!(terminal.screen().contains("in flight dropped"));
}
