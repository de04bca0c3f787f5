//! The real binary with batches: half the price, nothing bought twice, whoever fetches.

use crate::desk::{CALLS, Desk, KEY, told};
use crate::fake_provider::BatchFaults;

/// Every judge is tried with one call before its batches.
const TRIED: usize = 3;

#[test]
fn a_plan_goes_through_batches_and_comes_out_as_if_it_had_not() {
    let direct = Desk::new("");
    assert_eq!(direct.annotate(&[]).status.code(), Some(0));
    let desk = Desk::new("batch_requests = 20");
    let dry = desk.annotate(&["--batch", "--dry-run"]);
    assert!(told(&dry).contains("batch price"), "{}", told(&dry));

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
    // As after a kill between submitting and writing the name down; one of them never arrived.
    desk.change("UPDATE batch SET remote = NULL, state = 'submitting', submitted_ms = 0");
    desk.server.lose_batches("batch_");
    let status = told(&desk.run(&["batch", "status"]));
    assert!(status.contains("never arrived"), "{status}");
    // Anthropic shows only in the results whose batch it is.
    assert!(status.contains("may be the same batch"), "{status}");
    let in_state = |state: &str| {
        desk.count(&format!(
            "SELECT count(*) FROM batch WHERE state = '{state}'"
        ))
    };
    assert_eq!((in_state("running"), in_state("failed")), (1, 1));
    let cancelled = desk.run(&["batch", "cancel", "2"]);
    assert_eq!(cancelled.status.code(), Some(3), "{}", told(&cancelled));
    desk.server.finish_batches();
    assert_eq!(desk.annotate(&["--batch"]).status.code(), Some(3));
    assert_eq!((in_state("fetched"), in_state("running")), (2, 1));
    desk.server.finish_batches();
    assert_eq!(desk.annotate(&["--batch"]).status.code(), Some(0));
    assert!(desk.server.calls().values().all(|times| *times == 1));
}

#[test]
fn a_batch_that_seemed_never_to_have_arrived_is_adopted() {
    let desk = Desk::new("");
    desk.annotate(&["--batch"]);
    let project = rusqlite::Connection::open(desk.path("overrule.db")).unwrap();
    let remote: String = project
        .query_row("SELECT remote FROM batch WHERE id = 1", [], |row| {
            row.get(0)
        })
        .unwrap();
    drop(project);
    desk.change(
        "UPDATE batch SET remote = NULL, state = 'failed', message = 'never arrived', closed_ms = 1 WHERE id = 1",
    );
    let adopt = |number: &str, name: &str| desk.run(&["batch", "adopt", number, name]);
    assert_eq!(adopt("9", &remote).status.code(), Some(2));
    assert_eq!(adopt("1", " ").status.code(), Some(2));
    let adopted = adopt("1", &remote);
    assert_eq!(adopted.status.code(), Some(0), "{}", told(&adopted));
    let taken = adopt("2", &remote);
    assert!(
        told(&taken).contains("is already batch 1"),
        "{}",
        told(&taken)
    );
    desk.server.finish_batches();
    let fetched = desk.run(&["batch", "fetch"]);
    assert_eq!(fetched.status.code(), Some(0), "{}", told(&fetched));
    assert_eq!(desk.count("SELECT count(*) FROM vote"), CALLS as i64);
}

#[test]
fn a_submission_is_not_settled_with_the_key_of_another_account() {
    let desk = Desk::new("");
    desk.server.set_batch_faults(BatchFaults {
        lose_creation: true,
        only_key: Some(KEY),
        ..BatchFaults::default()
    });
    desk.annotate(&["--batch", "--judges", "gpt"]);
    desk.change("UPDATE batch SET submitted_ms = 0");
    let other_key = |arguments: &[&str]| {
        let mut command = desk.command(arguments);
        command.env("OPENAI_API_KEY", "sk-other-0123456789abcdef");
        command.output().unwrap()
    };
    let status = told(&other_key(&["batch", "status"]));
    assert!(status.contains("headers have changed since"), "{status}");
    desk.server.set_batch_faults(BatchFaults {
        only_key: Some(KEY),
        ..BatchFaults::default()
    });
    desk.server.finish_batches();
    assert_eq!(desk.run(&["batch", "status"]).status.code(), Some(0));
    let status = told(&other_key(&["batch", "status"]));
    assert!(
        status.contains("headers have changed since") && !status.contains("check the model"),
        "{status}"
    );
    assert_eq!(desk.run(&["batch", "fetch"]).status.code(), Some(0));
    assert_eq!(desk.count("SELECT count(*) FROM vote"), 36);
    let stored = std::fs::read(desk.path("overrule.db")).unwrap();
    assert!(
        !stored
            .windows(KEY.len())
            .any(|bytes| bytes == KEY.as_bytes())
    );
}

#[test]
fn a_refused_batch_says_why_until_it_is_fetched() {
    let desk = Desk::new("");
    desk.annotate(&["--batch", "--judges", "gpt"]);
    desk.server.finish_batches();
    desk.server.set_batch_faults(BatchFaults {
        claims_failure: true,
        no_files: true,
        no_counts: true,
        ..BatchFaults::default()
    });
    for command in ["status", "status", "fetch"] {
        let output = told(&desk.run(&["batch", command]));
        assert!(output.contains("queue is full"), "{command}: {output}");
        assert!(!output.contains("no open batch"), "{command}: {output}");
    }
    assert!(told(&desk.run(&["batch", "fetch"])).contains("no open batch"));
}

#[test]
fn a_batch_that_failed_on_the_way_is_fetched_as_far_as_it_came() {
    let desk = Desk::new("");
    desk.server.set_batch_faults(BatchFaults {
        failing: 5,
        claims_failure: true,
        empty_ids: true,
        ..BatchFaults::default()
    });
    desk.annotate(&["--batch", "--judges", "gpt,gemini"]);
    desk.server.finish_batches();
    let fetched = desk.run(&["batch", "fetch"]);
    assert_eq!(fetched.status.code(), Some(0), "{}", told(&fetched));
    assert_eq!(desk.count("SELECT count(*) FROM vote"), 72 - 10);
    assert_eq!(desk.count("SELECT count(*) FROM failure"), 10);
}

#[test]
fn a_batch_that_is_gone_can_be_forgotten() {
    let desk = Desk::new("");
    desk.annotate(&["--batch"]);
    desk.server.lose_batches("");
    for command in ["status", "fetch"] {
        let output = told(&desk.run(&["batch", command]));
        for words in [
            "no such thing here",
            "`overrule batch forget 2`",
            "35 of its calls",
        ] {
            assert!(output.contains(words), "{command}: {output}");
        }
        assert!(!output.contains("check the model"), "{output}");
    }
}

#[test]
fn lines_about_other_calls_are_named_and_the_rest_is_read() {
    let desk = Desk::new("");
    desk.annotate(&["--batch", "--judges", "gpt"]);
    desk.server.finish_batches();
    desk.server.set_batch_faults(BatchFaults {
        stranger: true,
        lose_lines: 1,
        ..BatchFaults::default()
    });
    for _ in 0..2 {
        let output = desk.run(&["batch", "fetch"]);
        assert_eq!(output.status.code(), Some(3));
        let output = told(&output);
        assert!(
            output.contains("35 calls were answered") && output.contains("34 answers"),
            "{output}"
        );
        assert!(
            output.contains("\"request-1\"") && !output.contains("adopt"),
            "{output}"
        );
    }
    assert_eq!(desk.count("SELECT count(*) FROM vote"), 35);
    desk.server.set_batch_faults(BatchFaults {
        stranger: true,
        ..BatchFaults::default()
    });
    let output = desk.run(&["batch", "fetch"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert!(told(&output).contains("\"request-1\""));
    assert_eq!(desk.count("SELECT count(*) FROM vote"), 36);
}

#[test]
fn answers_without_usage_count_at_the_highest_price() {
    let desk = Desk::new("price = { input = 10.0, output = 10.0 }\nmax_output_tokens = 100");
    desk.annotate(&["--batch"]);
    desk.server.finish_batches();
    desk.server.set_batch_faults(BatchFaults {
        no_usage: true,
        ..BatchFaults::default()
    });
    let fetched = desk.run(&["batch", "fetch"]);
    assert_eq!(fetched.status.code(), Some(0), "{}", told(&fetched));
    assert!(
        told(&fetched).contains("assumed at the worst price"),
        "{}",
        told(&fetched)
    );
    let differs = "SELECT abs((SELECT sum(worst_usd) FROM batch_call) - (SELECT sum(assumed_usd) FROM call)) > 1e-9";
    assert_eq!(desk.count(differs), 0);
    assert_eq!(
        desk.count("SELECT count(*) FROM call WHERE kept"),
        (CALLS - TRIED) as i64
    );
}

#[test]
fn a_batch_that_two_projects_fetch_is_paid_once() {
    for fetches_here in [false, true] {
        let here = Desk::new("price = { input = 10.0, output = 10.0 }\nmax_output_tokens = 100");
        here.server.set_batch_faults(BatchFaults {
            failing: 3,
            unusable: 4,
            no_usage: true,
            ..BatchFaults::default()
        });
        here.annotate(&["--batch"]);
        here.server.finish_batches();
        let there = tempfile::tempdir().unwrap();
        for name in ["overrule.db", "overrule.toml"] {
            std::fs::copy(here.path(name), there.path().join(name)).unwrap();
        }
        let mut fetch = here.command(&["batch", "fetch"]);
        let output = fetch.current_dir(there.path()).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", told(&output));
        if fetches_here {
            assert_eq!(here.run(&["batch", "fetch"]).status.code(), Some(0));
        }
        let other = there.path().join("overrule.db");
        let merged = here.run(&["merge", other.to_str().unwrap()]);
        assert_eq!(merged.status.code(), Some(0), "{}", told(&merged));
        let fetched = here.run(&["batch", "fetch"]);
        assert!(
            told(&fetched).contains("no open batch"),
            "{}",
            told(&fetched)
        );
        for (table, rows) in [
            ("vote", CALLS - 21),
            ("failure", 21),
            ("call", CALLS - TRIED - 9),
        ] {
            assert_eq!(
                here.count(&format!("SELECT count(*) FROM {table}")),
                rows as i64,
                "{table} {fetches_here}"
            );
        }
    }
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
    // Calls that a kill cut short, as an earlier run has charged them; nothing is left of 30
    // dollars but the first calls.
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
