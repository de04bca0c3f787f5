//! The real binary with batches: half the price, nothing bought twice, whoever fetches.

use crate::desk::{CALLS, Desk, told};

/// Every judge is tried with one call before its batches.
const TRIED: usize = 3;

#[test]
fn a_plan_goes_through_batches_and_comes_out_as_if_it_had_not() {
    let direct = Desk::new("");
    assert_eq!(direct.annotate(&[]).status.code(), Some(0));
    let desk = Desk::new("batch_requests = 20");
    let dry = desk.annotate(&["--batch", "--dry-run"]);
    assert!(told(&dry).contains("price of batches"), "{}", told(&dry));

    let output = desk.annotate(&["--batch"]);
    assert_eq!(output.status.code(), Some(3), "{}", told(&output));
    assert!(told(&output).contains("batch status"), "{}", told(&output));
    assert_eq!(
        desk.count("SELECT count(*) FROM batch"),
        6,
        "35 calls make two batches"
    );
    assert_eq!(desk.count("SELECT count(*) FROM vote"), TRIED as i64);
    assert!(!desk.path("out.jsonl").exists());

    // Neither the same command nor an ordinary run buys what the batches are working on.
    assert_eq!(desk.annotate(&["--batch"]).status.code(), Some(3));
    assert_eq!(desk.annotate(&[]).status.code(), Some(3));
    assert_eq!(desk.server.total_calls(), TRIED);
    assert_eq!(desk.count("SELECT count(*) FROM batch"), 6);
    let status = desk.run(&["batch", "status", "--json"]);
    let rows: serde_json::Value = serde_json::from_slice(&status.stdout).unwrap();
    assert_eq!(rows.as_array().unwrap().len(), 6);
    assert_eq!(
        (&rows[0]["state"], &rows[0]["to_fetch"]),
        (&"running".into(), &20.into())
    );

    desk.server.finish_batches();
    let status = desk.run(&["batch", "status"]);
    assert!(told(&status).contains("over"), "{}", told(&status));
    let output = desk.annotate(&["--batch"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert_eq!(desk.server.total_calls(), CALLS);
    assert!(desk.server.calls().values().all(|times| *times == 1));
    let out = |desk: &Desk| std::fs::read_to_string(desk.path("out.jsonl")).unwrap();
    assert_eq!(out(&direct), out(&desk));
    let ratio = desk.spent() / direct.spent();
    assert!(
        (ratio - 0.5).abs() < 0.05,
        "batches cost {ratio} of the price"
    );
    assert_eq!(
        desk.count("SELECT count(*) FROM batch WHERE closed_ms IS NULL"),
        0
    );
    assert!(told(&desk.run(&["batch", "status"])).contains("no open batch"));
}

#[test]
fn what_a_batch_had_no_time_for_is_made_anew() {
    let desk = Desk::new("");
    desk.annotate(&["--batch"]);
    desk.server.expire_batches(10);
    let fetched = desk.run(&["batch", "fetch"]);
    assert_eq!(fetched.status.code(), Some(0), "{}", told(&fetched));
    // Ten each of OpenAI and Anthropic; Gemini gives nothing back.
    assert_eq!(desk.count("SELECT count(*) FROM vote"), (TRIED + 20) as i64);
    assert_eq!(
        desk.count("SELECT count(*) FROM failure"),
        0,
        "nothing failed"
    );
    desk.annotate(&["--batch"]);
    desk.server.finish_batches();
    let output = desk.annotate(&["--batch"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert_eq!(desk.count("SELECT count(*) FROM vote"), CALLS as i64);
}

#[test]
fn a_batch_is_fetched_from_another_machine_with_the_project_file() {
    let here = Desk::new("");
    here.annotate(&["--batch"]);
    here.server.finish_batches();
    let there = tempfile::tempdir().unwrap();
    for name in ["overrule.db", "overrule.toml"] {
        std::fs::copy(here.path(name), there.path().join(name)).unwrap();
    }
    let output = here
        .command(&["batch", "fetch", "--json"])
        .current_dir(there.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let events = String::from_utf8_lossy(&output.stdout);
    assert_eq!(events.lines().count(), 3, "{events}");
    let project = rusqlite::Connection::open(there.path().join("overrule.db")).unwrap();
    let votes: i64 = project
        .query_row("SELECT count(*) FROM vote", [], |row| row.get(0))
        .unwrap();
    assert_eq!(votes, CALLS as i64);
}

#[test]
fn a_submission_cut_short_is_found_again_or_made_anew() {
    let desk = Desk::new("");
    desk.annotate(&["--batch"]);
    // As after a kill between handing over and writing the name down; one of them never arrived.
    desk.change("UPDATE batch SET remote = NULL, state = 'submitting'");
    desk.change("UPDATE batch SET uid = 'lost', submitted_ms = 0 WHERE id = 1");
    let status = told(&desk.run(&["batch", "status", "--all"]));
    assert!(status.contains("never arrived"), "{status}");
    assert_eq!(
        desk.count("SELECT count(*) FROM batch WHERE state = 'running'"),
        2
    );
    assert_eq!(
        desk.count("SELECT count(*) FROM batch WHERE state = 'failed'"),
        1
    );
    assert_eq!(desk.annotate(&["--batch"]).status.code(), Some(3));
    assert_eq!(
        desk.count("SELECT count(*) FROM batch WHERE state = 'running'"),
        3
    );
}

#[test]
fn the_budget_counts_what_batches_may_cost() {
    let desk = Desk::new("price = { input = 1000.0, output = 1000.0 }\nmax_output_tokens = 100");
    let output = desk.annotate(&["--batch", "--budget", "30"]);
    assert_eq!(output.status.code(), Some(3), "{}", told(&output));
    assert!(
        told(&output).contains("budget is reached"),
        "{}",
        told(&output)
    );
    let handed = desk.count("SELECT count(*) FROM batch_call");
    assert!(handed < (CALLS - TRIED) as i64);
    // An ordinary run sees that money as spent.
    let direct = desk.annotate(&["--budget", "30"]);
    assert_eq!(direct.status.code(), Some(3));
    desk.server.finish_batches();
    assert_eq!(desk.run(&["batch", "fetch"]).status.code(), Some(0));
    assert!(desk.spent() <= 30.0, "{}", desk.spent());
}

#[test]
fn the_budget_of_batches_counts_all_that_was_spent() {
    let desk = Desk::new("price = { input = 1000.0, output = 1000.0 }\nmax_output_tokens = 100");
    assert_eq!(desk.run(&["import", "in.jsonl"]).status.code(), Some(0));
    // Calls that a kill cut short, as an earlier run has charged them; nothing is left of 30 dollars but the first calls.
    desk.change(
        "INSERT INTO call (uid, purpose, service, worst_usd, sent_ms, ended_ms, cause, assumed_usd)
         VALUES (x'01', 'picks', 'gpt', 29.0, 1, 2, 'killed', 29.0)",
    );
    let output = desk.annotate(&["--batch", "--budget", "30"]);
    assert_eq!(output.status.code(), Some(3), "{}", told(&output));
    assert!(
        told(&output).contains("budget is reached"),
        "{}",
        told(&output)
    );
    let owed = "SELECT coalesce(sum(worst_usd), 0.0) FROM batch_call";
    let project = rusqlite::Connection::open(desk.path("overrule.db")).unwrap();
    let owed: f64 = project.query_row(owed, [], |row| row.get(0)).unwrap();
    assert!(desk.spent() + owed <= 1.0, "{} and {owed}", desk.spent());
}

#[test]
fn batches_are_cancelled_adopted_and_given_up_by_number() {
    let desk = Desk::new("");
    assert!(told(&desk.run(&["batch", "status"])).contains("no such project"));
    desk.annotate(&["--batch"]);
    let unknown = desk.run(&["batch", "cancel", "99"]);
    assert_eq!(unknown.status.code(), Some(2), "{}", told(&unknown));
    assert_eq!(desk.run(&["batch", "cancel"]).status.code(), Some(0));
    let fetched = desk.run(&["batch", "fetch"]);
    assert_eq!(fetched.status.code(), Some(0), "{}", told(&fetched));
    assert!(
        told(&fetched).contains("35 calls not made"),
        "{}",
        told(&fetched)
    );

    // What Anthropic had done before it heard is there; the others are asked again.
    assert_eq!(desk.annotate(&["--batch"]).status.code(), Some(3));
    let adopted = desk.run(&["batch", "adopt", "4", "batch_99"]);
    assert_eq!(adopted.status.code(), Some(0), "{}", told(&adopted));
    assert_eq!(
        desk.count("SELECT count(*) FROM batch WHERE remote = 'batch_99' AND state = 'running'"),
        1
    );
    for number in ["4", "5"] {
        let forgotten = desk.run(&["batch", "forget", number]);
        assert_eq!(forgotten.status.code(), Some(0), "{}", told(&forgotten));
    }
    let output = desk.annotate(&[]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
}

#[test]
fn a_judge_without_a_batch_endpoint_is_refused() {
    let desk = Desk::new("");
    let output = desk.annotate(&["--batch", "--judges", "gpt,bm25"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        told(&output).contains("bm25 has no batch endpoint"),
        "{}",
        told(&output)
    );
    assert_eq!(desk.server.total_calls(), 0);
}
