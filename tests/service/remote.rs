//! Workers that share a run through PostgreSQL. `OVERRULE_TEST_POSTGRES` names a database that the
//! tests may change; without it, they check nothing. `.ci/run` starts a server where PostgreSQL is
//! installed.

use crate::desk::{CALLS, Desk, told};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// A name for a job that no other test has.
pub(crate) fn job(name: &str) -> String {
    format!("{name}-{}", uuid::Uuid::now_v7())
}

/// The test database, prepared.
pub(crate) fn server(desk: &Desk) -> Option<String> {
    let url = std::env::var("OVERRULE_TEST_POSTGRES").ok()?;
    let prepared = desk.run(&["remote", "init", &url]);
    assert!(prepared.status.success(), "{}", told(&prepared));
    Some(url)
}

/// The options of a worker.
pub(crate) fn worker<'a>(project: &'a str, url: &'a str, job: &'a str) -> Vec<&'a str> {
    let mut options = vec!["--project", project, "annotate", "in.jsonl", "--probe", "0"];
    options.extend(["--remote", url, "--job", job, "--yes"]);
    options
}

pub(crate) fn started(desk: &Desk, arguments: &[&str]) -> Child {
    let mut command = desk.command(arguments);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().unwrap()
}

pub(crate) fn number(desk: &Desk, project: &str, sql: &str) -> i64 {
    let project = Connection::open(desk.path(project)).unwrap();
    project.query_row(sql, [], |row| row.get(0)).unwrap()
}

/// Fetches a job into a new project, and returns the report.
pub(crate) fn fetched(desk: &Desk, project: &str, url: &str, job: &str) -> Value {
    let imported = desk.run(&["--project", project, "import", "in.jsonl"]);
    assert!(imported.status.success(), "{}", told(&imported));
    desk.reported(
        &[
            "--project",
            project,
            "remote",
            "fetch",
            job,
            "--from",
            url,
            "--json",
        ],
        0,
    )
}

pub(crate) fn status(desk: &Desk, url: &str, job: &str) -> Value {
    let all = desk.reported(&["remote", "status", url, "--json"], 0);
    let mut jobs = all["jobs"].as_array().unwrap().iter();
    jobs.find(|one| one["job"] == job).unwrap().clone()
}

/// Kills a worker once some of its answers are on the server.
fn kill_one(desk: &Desk, url: &str, job: &str, lease: &str) {
    desk.server.set_latency(Duration::from_millis(30));
    let options = worker("w1.db", url, job);
    let slow = ["--concurrency", "2", "--lease", lease];
    let mut killed = started(desk, &[&options[..], &slow].concat());
    let is_pushed = || status_votes(desk, url, job) > 0;
    assert!(
        std::iter::repeat_with(is_pushed).take(2_000).any(|is| is),
        "the worker stored nothing"
    );
    killed.kill().unwrap();
    killed.wait().unwrap();
}

/// Checks that a restarted worker made the missing calls and no others. The server may have counted
/// those in flight after the kill.
#[track_caller]
pub(crate) fn check_missing(calls: usize, needed: usize, in_flight: usize) {
    assert!(
        (needed..=needed + in_flight).contains(&calls),
        "{calls} for {needed}"
    );
}

/// Checks that the job is done with one vote per question, and with the scores of one process.
fn check_whole(desk: &Desk, url: &str, job: &str) {
    let merged = fetched(desk, "all.db", url, job);
    assert_eq!(merged["votes"], CALLS);
    let twice = "SELECT count(*) - count(DISTINCT battle * 1000 + judge) FROM vote";
    assert_eq!(number(desk, "all.db", twice), 0);
    let known = "SELECT count(*) FROM vote";
    assert_eq!(number(desk, "all.db", known), CALLS as i64);
    let again = fetched(desk, "all.db", url, job);
    assert_eq!(
        (&again["votes"], &again["failures"]),
        (&0.into(), &0.into())
    );
    let annotate = |project: &str, out: &str| {
        let mut options = vec!["--project", project, "annotate", "in.jsonl", out];
        options.extend(["--probe", "0", "--yes"]);
        let annotated = desk.run(&options);
        assert!(annotated.status.success(), "{}", told(&annotated));
        std::fs::read(desk.path(out)).unwrap()
    };
    let (all, one) = (
        annotate("all.db", "all.jsonl"),
        annotate("one.db", "one.jsonl"),
    );
    assert_eq!(all, one);
}

#[test]
fn a_killed_worker_goes_on_and_repeats_only_calls_without_an_answer() {
    let desk = Desk::new("");
    let Some(url) = server(&desk) else { return };
    let job = job("killed");
    kill_one(&desk, &url, &job, "60");
    let stored = number(&desk, "w1.db", "SELECT count(*) FROM vote") as usize;
    let needed = desk.server.total_calls() + CALLS - stored;
    let mut options = worker("w1.db", &url, &job);
    options.extend(["--lease", "60"]);
    let again = desk.run(&options);
    assert!(again.status.success(), "{}", told(&again));
    // Two calls of each of three judges were in flight.
    check_missing(desk.server.total_calls(), needed, 6);
    check_whole(&desk, &url, &job);
}

#[test]
fn another_worker_takes_over_from_a_dead_one() {
    let desk = Desk::new("");
    let Some(url) = server(&desk) else { return };
    let job = job("dead");
    kill_one(&desk, &url, &job, "2");
    let mut options = worker("w2.db", &url, &job);
    options.extend(["--lease", "2"]);
    let other = desk.run(&options);
    assert!(other.status.success(), "{}", told(&other));
    // The dead worker comes back, and stores its answers that were not on the server.
    let mut options = worker("w1.db", &url, &job);
    options.extend(["--lease", "2"]);
    let late = desk.run(&options);
    assert!(late.status.success(), "{}", told(&late));
    check_whole(&desk, &url, &job);
}

pub(crate) fn status_votes(desk: &Desk, url: &str, job: &str) -> i64 {
    let all = desk.reported(&["remote", "status", url, "--json"], 0);
    let mut jobs = all["jobs"].as_array().unwrap().iter();
    let of_job = jobs.find(|one| one["job"] == job);
    let workers = of_job.and_then(|one| one["workers"].as_array());
    let votes = workers.into_iter().flatten();
    votes.filter_map(|worker| worker["answers"].as_i64()).sum()
}

#[test]
fn workers_together_stay_within_the_budget() {
    let desk = Desk::new("price = { input = 1000.0, output = 1000.0 }\nmax_output_tokens = 100\n");
    let Some(url) = server(&desk) else { return };
    let job = job("budget");
    for model in ["gpt-6.1-terra", "claude-sonnet-5-5", "gemini-3.8-flash"] {
        desk.server.set_price(model, 1000.0, 1000.0);
    }
    desk.server.set_latency(Duration::from_millis(20));
    let (first, second) = (worker("w1.db", &url, &job), worker("w2.db", &url, &job));
    let budget = ["--budget", "20", "--concurrency", "4"];
    let mut other = started(&desk, &[&first[..], &budget].concat());
    let ended = desk.run(&[&second[..], &budget].concat());
    assert_eq!(ended.status.code(), Some(3), "{}", told(&ended));
    assert!(told(&ended).contains("budget"), "{}", told(&ended));
    assert_eq!(other.wait().unwrap().code(), Some(3));
    assert!(desk.server.billed_usd() > 0.0 && desk.server.billed_usd() <= 20.0);
    let status = status(&desk, &url, &job);
    let usd = |name: &str| status[name].as_f64().unwrap();
    assert!(usd("spent_usd") <= 20.0 && usd("reserved_usd") <= 20.0);
    assert!((usd("spent_usd") - desk.server.billed_usd()).abs() < 1e-3);

    // With more money, the job goes on where it stopped.
    let raised = desk.run(&["remote", "budget", &job, "none", "--at", &url]);
    assert!(raised.status.success(), "{}", told(&raised));
    let done = desk.run(&second);
    assert!(done.status.success(), "{}", told(&done));
    assert_eq!(desk.server.total_calls(), CALLS);
    assert_eq!(fetched(&desk, "all.db", &url, &job)["votes"], CALLS);
}

#[test]
fn a_job_with_a_budget_refuses_workers_whose_prices_are_unknown() {
    let price = "price = { input = 1.0, output = 1.0 }\n";
    let desk = Desk::new(price);
    let Some(url) = server(&desk) else { return };
    let job = job("unpriced");
    let worker = worker("w1.db", &url, &job);
    let config = std::fs::read_to_string(desk.path("overrule.toml")).unwrap();
    let config = config.replace("gpt-6.1-terra", "my-finetune");
    std::fs::write(desk.path("overrule.toml"), &config).unwrap();
    let ended = desk.run(&[&worker[..], &["--budget", "0"]].concat());
    assert_eq!(ended.status.code(), Some(3), "{}", told(&ended));
    std::fs::write(desk.path("overrule.toml"), config.replace(price, "")).unwrap();
    for more in [&["--budget", "0"][..], &[]] {
        let refused = desk.run(&[&worker[..], more].concat());
        assert_eq!(refused.status.code(), Some(2), "{}", told(&refused));
        let why = "a budget cannot be enforced: no price is known for gpt";
        assert!(told(&refused).contains(why), "{}", told(&refused));
    }
    assert_eq!(desk.server.total_calls(), 0);
}

#[test]
fn a_worker_with_other_terms_is_refused_before_it_calls_anyone() {
    let desk = Desk::new("");
    let Some(url) = server(&desk) else { return };
    let job = job("terms");
    let options = worker("w1.db", &url, &job);
    let done = desk.run(&options);
    assert!(done.status.success(), "{}", told(&done));
    let calls = desk.server.total_calls();
    let other = desk.run(&[&options[..], &["--seed", "7"]].concat());
    assert_eq!(other.status.code(), Some(2), "{}", told(&other));
    assert!(told(&other).contains("different seed"), "{}", told(&other));
    assert_eq!(desk.server.total_calls(), calls);
}

#[test]
fn failed_calls_are_kept_as_failures() {
    let desk = Desk::new("");
    let Some(url) = server(&desk) else { return };
    let job = job("failed");
    desk.server.answer_marked(
        "text 3 on trams",
        200,
        serde_json::json!({ "choices": [{ "message": { "content": "no" } }] }),
    );
    desk.run(&worker("w1.db", &url, &job));
    let merged = fetched(&desk, "all.db", &url, &job);
    let (votes, failures) = (
        merged["votes"].as_u64().unwrap(),
        merged["failures"].as_u64().unwrap(),
    );
    assert!(votes > 0 && failures > 0, "{merged}");
    let known = |sql: &str| number(&desk, "all.db", sql) as u64;
    assert_eq!(known("SELECT count(*) FROM vote"), votes);
    assert_eq!(known("SELECT count(*) FROM failure"), failures);
    assert_eq!(
        number(&desk, "w1.db", "SELECT count(*) FROM vote") as u64,
        votes
    );
}

#[test]
fn workers_that_put_the_same_query_aside_do_not_wait_for_each_other() {
    let desk = Desk::new("");
    let Some(url) = server(&desk) else { return };
    let documents: Vec<_> = (0..30)
        .map(|at| json!({ "id": format!("d{at}"), "content": format!("text {at} on pests") }))
        .collect();
    let refused = json!({ "query": { "id": "p", "query": "pests" }, "documents": documents });
    let lines = std::fs::read_to_string(desk.path("in.jsonl")).unwrap();
    std::fs::write(desk.path("in.jsonl"), format!("{refused}\n{lines}")).unwrap();
    let error = json!({ "error": { "message": "not about pests" } });
    desk.server.answer_marked("on pests", 400, error);
    desk.server.set_latency(Duration::from_millis(20));
    let job = job("aside");
    let slowly = ["--concurrency", "1"];
    let worker = |project| [&worker(project, &url, &job)[..], &slowly].concat();
    let mut other = started(&desk, &worker("w1.db"));
    let ended = desk.run(&worker("w2.db"));
    assert_eq!(ended.status.code(), Some(3), "{}", told(&ended));
    assert!(
        told(&ended).contains("has skipped queries"),
        "{}",
        told(&ended)
    );
    assert_eq!(other.wait().unwrap().code(), Some(3));
    // The answers are there, and the refused calls are left for a better worker.
    desk.server.forget_marked();
    let done = desk.run(&worker("w3.db"));
    assert!(done.status.success(), "{}", told(&done));
    let status = status(&desk, &url, &job);
    assert_eq!(
        (&status["leased"], &status["waiting"]),
        (&json!(0), &json!(0))
    );
    let votes = "SELECT count(*) FROM vote JOIN battle ON battle.id = vote.battle
        JOIN query ON query.id = battle.query WHERE query.name = 'q'";
    fetched(&desk, "all.db", &url, &job);
    assert_eq!(number(&desk, "all.db", votes), CALLS as i64);
}

#[test]
fn a_skipped_query_is_given_back_after_its_calls_in_flight() {
    let desk = Desk::new("");
    let Some(url) = server(&desk) else { return };
    desk.set_judge("gpt-6.1-terra");
    let text = |at: usize| match at % 3 {
        0 => format!("slow text {at}"),
        _ => format!("text {at} on pests"),
    };
    let documents: Vec<_> = (0..30)
        .map(|at| json!({ "id": format!("d{at}"), "content": text(at) }))
        .collect();
    let line = json!({ "query": { "id": "p", "query": "moths" }, "documents": documents });
    std::fs::write(desk.path("in.jsonl"), format!("{line}\n")).unwrap();
    let error = json!({ "error": { "message": "not about pests" } });
    desk.server.answer_marked("on pests", 400, error);
    desk.server
        .slow_down("slow text", Duration::from_millis(2_500));
    let job = job("in-flight");
    let widely = ["--concurrency", "16"];
    let worker = |project| [&worker(project, &url, &job)[..], &widely].concat();
    let calls = || {
        let requests = desk.server.requests().into_iter();
        let texts = requests.map(|request| request.body.to_string());
        let (refused, slow): (Vec<_>, Vec<_>) = texts
            .filter(|text| text.contains("text"))
            .partition(|text| text.contains("on pests"));
        (refused.len(), slow)
    };
    let mut other = started(&desk, &worker("w1.db"));
    let began = Instant::now();
    while calls().0 < 25 {
        let is_late = began.elapsed() > Duration::from_secs(60);
        assert!(!is_late, "the query is not skipped");
        std::thread::yield_now();
    }
    // The second worker begins while the first one waits for answers.
    let ended = desk.run(&worker("w2.db"));
    assert_eq!(ended.status.code(), Some(3), "{}", told(&ended));
    assert_eq!(other.wait().unwrap().code(), Some(3));
    let (_, slow) = calls();
    let once: HashSet<&String> = slow.iter().collect();
    assert!(!slow.is_empty());
    assert_eq!(once.len(), slow.len(), "asked twice");
}

#[test]
fn a_database_that_is_not_prepared_is_not_used() {
    let desk = Desk::new("");
    let Some(url) = server(&desk) else { return };
    let other = url.replacen("/overrule?", "/postgres?", 1);
    assert_ne!(other, url);
    let status = desk.run(&["remote", "status", &other]);
    assert_eq!(status.status.code(), Some(1), "{}", told(&status));
    assert!(told(&status).contains("remote init"), "{}", told(&status));
    let away = desk.run(&["remote", "status", "postgres://ada@127.0.0.1:1/x"]);
    assert_eq!(away.status.code(), Some(1), "{}", told(&away));
    let secret = desk.run(&["remote", "status", "postgres://ada:hunter2@localhost/x"]);
    assert_eq!(secret.status.code(), Some(2));
    assert!(!told(&secret).contains("hunter2"));
}

/// Runs a statement on the server until it has changed something, at most for some seconds.
pub(crate) fn interfere(url: &str, statement: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls)
            .await
            .unwrap();
        tokio::spawn(connection);
        for _ in 0..20_000 {
            if client.execute(statement, &[]).await.unwrap() > 0 {
                return;
            }
        }
        panic!("nothing to change: {statement}");
    });
}

#[test]
fn a_lost_connection_and_lost_units_cost_no_call() {
    let desk = Desk::new("");
    let Some(url) = server(&desk) else { return };
    for (name, statement, said) in [
        (
            "cut",
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
             WHERE application_name = 'JOB' AND EXISTS (SELECT 1 FROM overrule.unit
                 JOIN overrule.job ON job.id = unit.job
                 WHERE job.name = 'JOB' AND leased_until IS NOT NULL)",
            "answers again",
        ),
        (
            "taken",
            "UPDATE overrule.unit SET worker = NULL, leased_until = now() + interval '1 second'
             FROM overrule.job WHERE job.id = unit.job AND job.name = 'JOB' AND NOT done
             AND leased_until IS NOT NULL",
            "taken over",
        ),
    ] {
        let (job, project) = (job(name), format!("{name}.db"));
        let before = desk.server.total_calls();
        desk.server.set_latency(Duration::from_millis(120));
        let named = format!("{url}&application_name={job}");
        let mut options = worker(&project, &named, &job);
        options.extend(["--lease", "2", "--concurrency", "2"]);
        let mut command = desk.command(&options);
        let working = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let working = working.spawn().unwrap();
        interfere(&url, &statement.replace("JOB", &job));
        let done = working.wait_with_output().unwrap();
        assert!(done.status.success(), "{}", told(&done));
        assert!(told(&done).contains(said), "{}", told(&done));
        assert_eq!(desk.server.total_calls() - before, CALLS);
        let merged = fetched(&desk, &format!("{name}-all.db"), &url, &job);
        assert_eq!(merged["votes"], CALLS);
    }
}
