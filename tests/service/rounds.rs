//! Workers that share the rounds of one query through PostgreSQL: see `remote.rs`.

use crate::desk::{Desk, told};
use crate::remote::{fetched, job, server, started, status, worker};
use std::time::Duration;
use tokio_postgres::NoTls;

const SAMPLER: [&str; 4] = ["--sampler", "eig", "--battles", "2.5"];

/// A desk with one query of 24 documents, which one process has judged, and the number of its calls.
fn judged_alone() -> (Desk, usize) {
    let desk = Desk::new("");
    let documents: Vec<_> = (0..24)
        .map(|at| serde_json::json!({ "id": format!("d{at}"), "content": format!("text {at} on trams") }))
        .collect();
    let line =
        serde_json::json!({ "query": { "id": "q", "query": "trams" }, "documents": documents });
    std::fs::write(desk.path("in.jsonl"), format!("{line}\n")).unwrap();
    scored(&desk, "one.db", "one.jsonl");
    let calls = desk.server.total_calls();
    assert!(calls > 0);
    desk.server.set_latency(Duration::from_millis(30));
    (desk, calls)
}

/// A project with a fixed prior.
fn prepare(desk: &Desk, project: &str) {
    for arguments in [
        &["import", "in.jsonl"][..],
        &["config", "project", "--lambda", "0.1"],
    ] {
        let prepared = desk.run(&[&["--project", project], arguments].concat());
        assert!(prepared.status.success(), "{}", told(&prepared));
    }
}

/// The scores of a project, after all of its calls are made.
fn scored(desk: &Desk, project: &str, out: &str) -> Vec<u8> {
    prepare(desk, project);
    let options = ["--project", project, "annotate", "in.jsonl", out, "--yes"];
    let annotated = desk.run(&[&options[..], &["--probe", "0"], &SAMPLER].concat());
    assert!(annotated.status.success(), "{}", told(&annotated));
    std::fs::read(desk.path(out)).unwrap()
}

/// The options of a worker whose project is prepared.
fn joining<'a>(desk: &Desk, project: &'a str, url: &'a str, job: &'a str) -> Vec<&'a str> {
    prepare(desk, project);
    let more = ["--concurrency", "1", "--lease", "2"];
    [&worker(project, url, job)[..], &SAMPLER, &more].concat()
}

/// Checks that the calls of one process were made, each once, and that the scores are the same.
fn check_whole(desk: &Desk, url: &str, job: &str, calls: usize) {
    assert_eq!(desk.server.total_calls(), 2 * calls);
    let state = status(desk, url, job);
    assert_eq!(
        (&state["waiting"], &state["leased"]),
        (&0.into(), &0.into())
    );
    assert_eq!(state["queries_in_rounds"], 0);
    let merged = fetched(desk, "all.db", url, job);
    assert_eq!(merged["votes"], calls);
    assert_eq!(merged["unfinished_units"], 0);
    let all = scored(desk, "all.db", "all.jsonl");
    assert_eq!(all, std::fs::read(desk.path("one.jsonl")).unwrap());
    assert_eq!(desk.server.total_calls(), 2 * calls);
}

#[test]
fn workers_share_the_rounds_of_one_query() {
    let (desk, calls) = judged_alone();
    let Some(url) = server(&desk) else { return };
    let job = job("rounds");
    let mut workers: Vec<_> = ["w1.db", "w2.db", "w3.db"]
        .iter()
        .map(|project| started(&desk, &joining(&desk, project, &url, &job)))
        .collect();
    for worker in &mut workers {
        assert!(worker.wait().unwrap().success());
    }
    let state = status(&desk, &url, &job);
    let workers = state["workers"].as_array().unwrap();
    let votes: Vec<u64> = workers
        .iter()
        .map(|of| of["answers"].as_u64().unwrap())
        .collect();
    assert_eq!(votes.iter().sum::<u64>(), calls as u64);
    assert!(
        votes.iter().filter(|votes| **votes > 0).count() > 1,
        "{votes:?}"
    );
    check_whole(&desk, &url, &job, calls);
}

/// Kills a process when it plans a round, before the round is on the server.
fn kill_planner(url: &str, job: &str, planner: &mut std::process::Child) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let (mut client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
        tokio::spawn(connection);
        for _ in 0..200_000 {
            let transaction = client.transaction().await.unwrap();
            let planning =
                "SELECT unit.id FROM overrule.unit JOIN overrule.job ON job.id = unit.job
                 WHERE job.name = $1 AND part IS NULL AND round = 2 AND NOT unit.done
                 FOR UPDATE OF unit";
            if !transaction
                .query(planning, &[&job])
                .await
                .unwrap()
                .is_empty()
            {
                // It cannot store the round while this transaction has the row.
                planner.kill().unwrap();
                planner.wait().unwrap();
                return;
            }
        }
        panic!("no round was planned");
    });
}

#[test]
fn a_worker_that_dies_between_two_rounds_does_not_stall_the_query() {
    let (desk, calls) = judged_alone();
    let Some(url) = server(&desk) else { return };
    let job = job("dead-planner");
    let mut first = started(&desk, &joining(&desk, "w1.db", &url, &job));
    kill_planner(&url, &job, &mut first);
    let state = status(&desk, &url, &job);
    assert_eq!(
        (&state["waiting"], &state["leased"]),
        (&0.into(), &0.into())
    );
    assert_eq!(state["queries_in_rounds"], 1);
    assert!(state["eta_s"].is_null() && state["done"].as_u64().unwrap() > 0);
    let other = desk.run(&joining(&desk, "w2.db", &url, &job));
    assert!(other.status.success(), "{}", told(&other));
    check_whole(&desk, &url, &job, calls);
}

#[test]
fn a_job_whose_units_are_whole_queries_is_finished() {
    let (desk, calls) = judged_alone();
    let Some(url) = server(&desk) else { return };
    let job = job("whole");
    let mut first = started(&desk, &joining(&desk, "w1.db", &url, &job));
    kill_planner(&url, &job, &mut first);
    let before = desk.server.total_calls() - calls;
    // As an earlier version has created it.
    crate::remote::interfere(
        &url,
        &format!(
            "WITH of_job AS (SELECT id FROM overrule.job WHERE name = '{job}'),
             pieces AS (DELETE FROM overrule.piece USING of_job WHERE job = of_job.id),
             later AS (DELETE FROM overrule.unit USING of_job
                 WHERE job = of_job.id AND (part IS NOT NULL OR round > 0))
             UPDATE overrule.unit SET round = NULL, done = false, worker = NULL
             FROM of_job WHERE job = of_job.id AND part IS NULL AND round = 0"
        ),
    );
    let other = desk.run(&joining(&desk, "w2.db", &url, &job));
    assert!(other.status.success(), "{}", told(&other));
    assert_eq!(desk.server.total_calls() - calls - before, calls);
    assert_eq!(status(&desk, &url, &job)["done"], 1);
    assert_eq!(fetched(&desk, "all.db", &url, &job)["votes"], calls);
    let all = scored(&desk, "all.db", "all.jsonl");
    assert_eq!(all, std::fs::read(desk.path("one.jsonl")).unwrap());
}
