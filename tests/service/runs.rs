//! The real binary with network judges: complete, counted, within its budget, and quiet about its
//! keys.

use crate::desk::{CALLS, Desk, KEY, told};
use crate::fake_provider::{Fault, Faults};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

#[test]
fn every_battle_gets_three_votes_and_no_call_is_made_twice() {
    let desk = Desk::new("");
    let output = desk.annotate(&[]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert_eq!(desk.server.total_calls(), CALLS);
    assert!(desk.server.calls().values().all(|times| *times == 1));
    assert_eq!(desk.count("SELECT count(*) FROM vote"), CALLS as i64);
    assert_eq!(
        desk.count(
            "SELECT count(*) FROM vote WHERE reply IS NULL OR cost_usd IS NULL OR call_key IS NULL"
        ),
        0
    );
    assert!(
        told(&output).contains("at most"),
        "the cost is said beforehand: {}",
        told(&output)
    );

    let again = desk.annotate(&[]);
    assert_eq!(
        (again.status.code(), desk.server.total_calls()),
        (Some(0), CALLS)
    );
}

#[test]
fn passing_faults_change_no_score() {
    let calm = Desk::new("");
    assert_eq!(calm.annotate(&[]).status.code(), Some(0));
    let stormy = Desk::new("");
    stormy.server.fail_at_random(Faults {
        seed: 7,
        rates: vec![
            (Fault::RateLimited, 0.05),
            (Fault::Server500, 0.02),
            (Fault::Prose, 0.02),
            (Fault::Reset, 0.01),
        ],
        ..Faults::default()
    });
    let output = stormy.annotate(&[]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let out = |desk: &Desk| std::fs::read_to_string(desk.path("out.jsonl")).unwrap();
    assert_eq!(out(&calm), out(&stormy));
}

#[test]
fn a_run_killed_ten_times_buys_only_what_was_in_flight_again() {
    // Two calls of each judge, and two whose answers came in the moment of the kill: a place is
    // free when an answer is there.
    const IN_FLIGHT: usize = 2 * 2 * 3;
    let calm = Desk::new("");
    assert_eq!(calm.annotate(&[]).status.code(), Some(0));
    let killed = Desk::new("concurrency = 2");
    killed.server.set_latency(Duration::from_millis(5));
    let mut kills = 0;
    for kill in 1..=10 {
        let mut child = killed
            .command(&["annotate", "in.jsonl", "out.jsonl"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        while killed.server.total_calls() < kill * 9 && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        kills += usize::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert!(kills >= 5, "the run was over after {kills} kills");
    let output = killed.annotate(&[]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let calls = killed.server.total_calls();
    assert!(
        calls <= CALLS + kills * IN_FLIGHT,
        "{calls} calls for {CALLS}"
    );
    assert_eq!(killed.count("SELECT count(*) FROM vote"), CALLS as i64);
    let out = |desk: &Desk| std::fs::read_to_string(desk.path("out.jsonl")).unwrap();
    assert_eq!(out(&calm), out(&killed));
}

#[test]
fn shards_spend_at_most_their_parts_of_the_budget() {
    let mut reached = 0;
    for shard in ["1/2", "2/2"] {
        let desk =
            Desk::new("price = { input = 1000.0, output = 1000.0 }\nmax_output_tokens = 100");
        let output = desk.annotate(&["--shard", shard, "--budget", "60"]);
        assert!(desk.spent() <= 30.0, "{}", desk.spent());
        reached += usize::from(told(&output).contains("the budget is reached"));
    }
    assert!(reached > 0);
}

#[test]
fn a_budget_is_never_passed_and_a_larger_one_goes_on() {
    let desk = Desk::new("price = { input = 1000.0, output = 1000.0 }\nmax_output_tokens = 100");
    let output = desk.annotate(&["--budget", "30"]);
    assert_eq!(output.status.code(), Some(3), "{}", told(&output));
    assert!(told(&output).contains("budget"), "{}", told(&output));
    let (votes, spent) = (desk.count("SELECT count(*) FROM vote"), desk.spent());
    assert!(
        votes > 0 && votes < CALLS as i64 && spent <= 30.0,
        "{votes} votes for {spent}"
    );
    let output = desk.annotate(&["--budget", "100000"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert_eq!(desk.server.total_calls(), CALLS, "nothing was bought twice");
}

#[test]
fn a_judge_without_a_valid_key_stops_and_the_others_go_on() {
    let desk = Desk::new("");
    desk.server.fail_next(&[Fault::Unauthorized]);
    let output = desk.annotate(&["--concurrency", "1"]);
    assert_eq!(output.status.code(), Some(3), "{}", told(&output));
    assert!(told(&output).contains("stopped"), "{}", told(&output));
    assert!(desk.count("SELECT count(DISTINCT judge) FROM vote") >= 2);
    let mended = desk.annotate(&["--retry-failed"]);
    assert_eq!(mended.status.code(), Some(0), "{}", told(&mended));
    assert_eq!(desk.count("SELECT count(*) FROM vote"), CALLS as i64);
}

#[test]
fn a_run_says_why_calls_failed() {
    let desk = Desk::new("");
    desk.server.fail_at_random(Faults {
        doomed: vec![("gpt-6.1-terra".to_owned(), Fault::Refusal)],
        ..Faults::default()
    });
    desk.server.fail_next(&[Fault::BadRequest]);
    let output = desk.annotate(&["--judges", "gpt", "--json"]);
    assert_eq!(output.status.code(), Some(3), "{}", told(&output));
    let said = "gpt: 36 failed: 35 refused, 1 bad request";
    assert!(told(&output).contains(said), "{}", told(&output));
    let events = String::from_utf8(output.stdout).unwrap();
    let end: serde_json::Value = serde_json::from_str(events.lines().last().unwrap()).unwrap();
    assert_eq!(
        (&end["event"], &end["progress"]["judges"][0]["causes"]),
        (
            &serde_json::json!("end"),
            &serde_json::json!({ "bad-request": 1, "refused": 35 })
        )
    );
}

#[test]
fn a_judge_that_is_refused_every_time_stops_early() {
    let desk = Desk::new("concurrency = 1");
    desk.server.fail_at_random(Faults {
        rates: vec![(Fault::BadRequest, 1.0)],
        ..Faults::default()
    });
    let output = desk.annotate(&[]);
    assert_eq!(output.status.code(), Some(3), "{}", told(&output));
    assert!(
        told(&output).contains("25 calls in a row"),
        "{}",
        told(&output)
    );
    assert_eq!(desk.count("SELECT count(*) FROM vote"), 0);
    assert_eq!(desk.server.total_calls(), 3 * 25);
    desk.server.fail_at_random(Faults::default());
    let mended = desk.annotate(&["--retry-failed"]);
    assert_eq!(mended.status.code(), Some(0), "{}", told(&mended));
    assert_eq!(desk.count("SELECT count(*) FROM vote"), CALLS as i64);
}

#[test]
fn no_key_reaches_a_file_or_a_screen() {
    let desk = Desk::new("");
    desk.server.fail_next(&[Fault::Unauthorized]);
    let mut shown = String::new();
    for arguments in [
        &["annotate", "in.jsonl", "out.jsonl", "--log-file", "log.txt"][..],
        &["doctor"],
        &["config", "show"],
        &["battles", "--query", "q", "--json"],
        &["export", "votes"],
    ] {
        shown += &told(&desk.run(arguments));
    }
    assert!(!shown.contains(KEY));
    let files = std::fs::read_dir(desk.folder.path()).unwrap();
    for file in files
        .map(|file| file.unwrap().path())
        .filter(|path| path.is_file())
    {
        let bytes = std::fs::read(&file).unwrap();
        assert!(!holds(&bytes, KEY), "{}", Path::new(&file).display());
    }
}

fn holds(bytes: &[u8], needle: &str) -> bool {
    bytes
        .windows(needle.len())
        .any(|window| window == needle.as_bytes())
}

#[test]
fn the_doctor_looks_at_every_judge() {
    let desk = Desk::new("");
    let output = desk.run(&["doctor", "--json"]);
    let checks: Vec<serde_json::Value> = serde_json::from_slice(&output.stdout).unwrap();
    let judges = checks
        .iter()
        .filter(|check| check["name"].as_str().unwrap().starts_with("judge "))
        .count();
    assert_eq!(
        (output.status.code(), judges),
        (Some(0), 3),
        "{}",
        told(&output)
    );
    let calls = desk.server.total_calls();
    assert_eq!(desk.run(&["doctor", "--offline"]).status.code(), Some(0));
    assert_eq!(desk.server.total_calls(), calls);
}

#[test]
fn without_a_key_the_offline_judges_are_used_and_that_is_said() {
    let desk = Desk::new("");
    std::fs::remove_file(desk.path("overrule.toml")).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_overrule"));
    let output = command
        .args(["annotate", "in.jsonl", "out.jsonl"])
        .current_dir(desk.folder.path())
        .env_clear()
        .env("HOME", desk.folder.path())
        .output()
        .unwrap();
    assert_eq!(
        (output.status.code(), desk.server.total_calls()),
        (Some(0), 0),
        "{}",
        told(&output)
    );
    assert!(told(&output).contains("OPENAI_API_KEY") && told(&output).contains("offline judges"));
}

#[test]
fn a_query_that_is_named_twice_is_judged_once() {
    let desk = Desk::new("");
    for _ in 0..2 {
        let done = desk.annotate(&["--yes", "--probe", "0", "--query", "q", "--query", "q"]);
        assert_eq!(done.status.code(), Some(0), "{}", told(&done));
        assert_eq!(desk.server.total_calls(), CALLS);
    }
}
