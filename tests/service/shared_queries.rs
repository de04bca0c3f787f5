//! Workers that share `pick` and `rerank` through PostgreSQL, as in [`crate::remote`].

use crate::desk::{Desk, told};
use crate::remote::{check_missing, interfere, job, number, server, started, status, status_votes};
use crate::{picks, reranking};
use rusqlite::Connection;
use serde_json::Value;
use std::process::Stdio;
use std::time::Duration;

/// Answers as rows of text.
fn rows(desk: &Desk, project: &str, sql: &str) -> Vec<String> {
    let project = Connection::open(desk.path(project)).unwrap();
    let mut statement = project.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

/// A command whose work is shared.
struct Shared<'a> {
    desk: &'a Desk,
    url: String,
    job: String,
    /// The command with its options.
    command: Vec<&'a str>,
    /// One row per answer.
    answers: &'a str,
}

const PICKS: &str =
    "SELECT name || ' ' || permutation || ' ' || call || ' ' || (record ->> '$.slots')
    FROM pick JOIN query ON query.id = query ORDER BY 1";

const RANKINGS: &str = "SELECT name || ' ' || method || ' ' || ranking || ' ' || calls
    FROM rerank_result JOIN query ON query.id = query ORDER BY 1";
/// The calls of both methods.
const RANKING_CALLS: usize = reranking::QUERIES * (3 + 20);

impl<'a> Shared<'a> {
    fn picks(desk: &'a Desk, url: String, name: &str) -> Self {
        Self {
            desk,
            url,
            job: job(name),
            command: vec!["pick", "pools.jsonl", "--yes"],
            answers: PICKS,
        }
    }

    fn rankings(desk: &'a Desk, url: String, name: &str) -> Self {
        let mut command = vec!["rerank", "pools.jsonl", "--yes"];
        command.extend(["--method", "rankgpt@20:w10:s5"]);
        command.extend(["--method", "pointwise@20:yesno"]);
        Self {
            desk,
            url,
            job: job(name),
            command,
            answers: RANKINGS,
        }
    }

    fn worker<'b>(&'b self, project: &'b str, more: &[&'b str]) -> Vec<&'b str> {
        let mut options = vec!["--project", project];
        options.extend(&self.command);
        options.extend(["--remote", &self.url, "--job", &self.job]);
        options.extend(more);
        options
    }

    /// Runs a worker to its end.
    #[track_caller]
    fn works(&self, project: &str, more: &[&str], code: i32) -> String {
        let ended = self.desk.run(&self.worker(project, more));
        assert_eq!(ended.status.code(), Some(code), "{}", told(&ended));
        told(&ended)
    }

    fn fetched(&self, project: &str) -> Value {
        let imported = self
            .desk
            .run(&["--project", project, "import", "pools.jsonl"]);
        assert!(imported.status.success(), "{}", told(&imported));
        let mut fetch = vec!["--project", project, "remote", "fetch", &self.job];
        fetch.extend(["--from", &self.url, "--json"]);
        self.desk.reported(&fetch, 0)
    }

    /// Kills a worker once some of its answers are on the server, while it makes further calls.
    fn kill_one(&self, project: &str, lease: &str, latency_ms: u64) {
        let latency = Duration::from_millis(latency_ms);
        self.desk.server.set_latency(latency);
        let options = self.worker(project, &["--concurrency", "2", "--lease", lease]);
        let mut killed = started(self.desk, &options);
        // Between two leases, no call is in flight.
        let mut before = None;
        let is_asking = || {
            let is_pushed = status_votes(self.desk, &self.url, &self.job) > 0;
            let asked = self.desk.server.total_requests();
            is_pushed && asked > *before.get_or_insert(asked)
        };
        assert!(
            std::iter::repeat_with(is_asking).take(2_000).any(|is| is),
            "the worker stored nothing, or makes no more calls"
        );
        killed.kill().unwrap();
        killed.wait().unwrap();
        self.desk.server.set_latency(Duration::ZERO);
    }

    /// Restarts a killed worker, which makes the calls whose answers its project lacks in `table`, of
    /// `all` calls, and no others.
    #[track_caller]
    fn works_on(&self, project: &str, table: &str, all: usize) {
        let stored = number(self.desk, project, &format!("SELECT count(*) FROM {table}"));
        let needed = self.desk.server.total_requests() + all - stored as usize;
        self.works(project, &["--lease", "60"], 0);
        check_missing(self.desk.server.total_requests(), needed, 2);
    }

    /// Checks that the fetched answers are those of one process, each once.
    #[track_caller]
    fn check_whole(&self) {
        self.fetched("all.db");
        let again = self.fetched("all.db");
        assert_eq!(
            (&again["picks"], &again["rerank_results"]),
            (&0.into(), &0.into())
        );
        let calls = self.desk.server.total_requests();
        let mut alone = vec!["--project", "one.db"];
        alone.extend(&self.command);
        let alone = self.desk.run(&alone);
        assert!(alone.status.success(), "{}", told(&alone));
        assert_eq!(
            rows(self.desk, "all.db", self.answers),
            rows(self.desk, "one.db", self.answers)
        );
        // In the project with the fetched answers, nothing is left to ask.
        let alone_calls = self.desk.server.total_requests() - calls;
        assert!(alone_calls > 0);
        let mut complete = vec!["--project", "all.db"];
        complete.extend(&self.command);
        let complete = self.desk.run(&complete);
        assert!(complete.status.success(), "{}", told(&complete));
        assert_eq!(self.desk.server.total_requests(), calls + alone_calls);
    }
}

#[test]
fn two_workers_share_picks() {
    let desk = picks::desk(&["oracle", "random"]);
    let Some(url) = server(&desk) else { return };
    let shared = Shared::picks(&desk, url, "picks");
    desk.server.set_latency(Duration::from_millis(100));
    let options = shared.worker("w1.db", &["--concurrency", "2"]);
    let mut other = started(&desk, &options);
    shared.works("w2.db", &["--concurrency", "2"], 0);
    assert!(other.wait().unwrap().success());
    assert_eq!(desk.server.total_requests(), 2 * picks::POOLS);
    let status = status(&desk, &shared.url, &shared.job);
    let workers = status["workers"].as_array().unwrap();
    assert!(workers.iter().all(|of| of["done"].as_i64() > Some(0)));
    assert_eq!(status["done"], picks::POOLS);
    let spent = shared.fetched("spent.db")["spent_usd"].as_f64().unwrap();
    assert!(spent > 0.0 && (status["spent_usd"].as_f64().unwrap() - spent).abs() < 1e-5);
    shared.check_whole();
}

#[test]
fn another_worker_takes_over_the_picks_of_a_dead_one() {
    let desk = picks::desk(&["oracle"]);
    let Some(url) = server(&desk) else { return };
    let shared = Shared::picks(&desk, url, "dead-picks");
    shared.kill_one("w1.db", "2", 200);
    shared.works("w2.db", &["--lease", "2"], 0);
    // Two calls were in flight, and those of the last second were not on the server.
    assert!(desk.server.total_requests() < 2 * picks::POOLS);
    let done = "SELECT count(*) FROM pick";
    let kept = number(&desk, "w1.db", done);
    // The dead worker comes back, stores what is missing, and asks nothing.
    let calls = desk.server.total_requests();
    shared.works("w1.db", &["--lease", "2"], 0);
    assert_eq!(desk.server.total_requests(), calls);
    assert_eq!(number(&desk, "w1.db", done), kept);
    let fetched = shared.fetched("all.db");
    // The calls in flight are charged at their highest price.
    let usd = |name: &str| fetched[name].as_f64().unwrap();
    let status = status(&desk, &shared.url, &shared.job);
    let spent = status["spent_usd"].as_f64().unwrap();
    assert!(usd("assumed_usd") > 0.0);
    assert!((usd("spent_usd") + usd("assumed_usd") - spent).abs() < 1e-5);
    let twice = "SELECT count(*) FROM (SELECT DISTINCT query, call FROM pick)";
    assert_eq!(number(&desk, "all.db", twice), picks::POOLS as i64);
}

#[test]
fn a_killed_worker_goes_on_with_its_picks() {
    let desk = picks::desk(&["oracle"]);
    let Some(url) = server(&desk) else { return };
    let shared = Shared::picks(&desk, url, "killed-picks");
    shared.kill_one("w1.db", "60", 200);
    shared.works_on("w1.db", "pick", picks::POOLS);
    shared.check_whole();
}

#[test]
fn workers_with_other_terms_are_refused() {
    let desk = picks::desk(&["oracle"]);
    let Some(url) = server(&desk) else { return };
    let shared = Shared::picks(&desk, url, "picks-terms");
    shared.works("w1.db", &[], 0);
    let calls = desk.server.total_requests();
    let said = shared.works("w2.db", &["--open", "--seed", "7"], 2);
    assert!(said.contains("different mode"), "{said}");
    assert!(said.contains("different seed"), "{said}");
    assert!(!said.contains("different dataset"), "{said}");
    let mut annotate = vec!["--project", "w2.db", "annotate", "pools.jsonl", "--yes"];
    annotate.extend(["--remote", &shared.url, "--job", &shared.job]);
    let annotate = desk.run(&annotate);
    assert_eq!(annotate.status.code(), Some(2), "{}", told(&annotate));
    assert!(told(&annotate).contains("one of `overrule pick`"));
    assert_eq!(desk.server.total_requests(), calls);
}

#[test]
fn picks_stay_within_the_budget() {
    let desk = picks::desk(&["oracle"]);
    let Some(url) = server(&desk) else { return };
    let config = std::fs::read_to_string(desk.path("overrule.toml")).unwrap();
    let config = config.replace("1.0", "1000.0") + "max_output_tokens = 100\n";
    std::fs::write(desk.path("overrule.toml"), config).unwrap();
    desk.server.set_price("oracle", 1000.0, 1000.0);
    desk.server.set_latency(Duration::from_millis(20));
    let shared = Shared::picks(&desk, url, "picks-budget");
    let budget = ["--budget", "3", "--concurrency", "4"];
    let options = shared.worker("w1.db", &budget);
    let mut other = started(&desk, &options);
    let said = shared.works("w2.db", &budget, 3);
    assert!(said.contains("budget"), "{said}");
    assert_eq!(other.wait().unwrap().code(), Some(3));
    assert!(desk.server.billed_usd() > 0.0 && desk.server.billed_usd() <= 3.0);
    let status = status(&desk, &shared.url, &shared.job);
    let usd = |name: &str| status[name].as_f64().unwrap();
    assert!(usd("spent_usd") <= 3.0 && usd("reserved_usd") <= 3.0);
    assert!((usd("spent_usd") - desk.server.billed_usd()).abs() < 1e-3);
    let raised = desk.run(&["remote", "budget", &shared.job, "none", "--at", &shared.url]);
    assert!(raised.status.success(), "{}", told(&raised));
    shared.works("w2.db", &[], 0);
    assert_eq!(desk.server.total_requests(), picks::POOLS);
}

#[test]
fn a_lost_connection_and_lost_queries_cost_no_call() {
    let desk = picks::desk(&["oracle"]);
    let Some(url) = server(&desk) else { return };
    for (name, statement, said) in [
        (
            "cut-picks",
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
             WHERE application_name = 'JOB' AND EXISTS (SELECT 1 FROM overrule.unit
                 JOIN overrule.job ON job.id = unit.job
                 WHERE job.name = 'JOB' AND leased_until IS NOT NULL)",
            "answers again",
        ),
        (
            "taken-picks",
            "UPDATE overrule.unit SET worker = NULL, leased_until = now() + interval '1 second'
             FROM overrule.job WHERE job.id = unit.job AND job.name = 'JOB' AND NOT done
             AND leased_until IS NOT NULL",
            "taken over",
        ),
    ] {
        let mut shared = Shared::picks(&desk, url.clone(), name);
        shared.url = format!("{url}&application_name={}", shared.job);
        let project = format!("{name}.db");
        let before = desk.server.total_requests();
        desk.server.set_latency(Duration::from_millis(300));
        let options = shared.worker(&project, &["--lease", "2", "--concurrency", "2"]);
        let mut command = desk.command(&options);
        let working = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let working = working.spawn().unwrap();
        interfere(&url, &statement.replace("JOB", &shared.job));
        let done = working.wait_with_output().unwrap();
        assert!(done.status.success(), "{}", told(&done));
        assert!(told(&done).contains(said), "{}", told(&done));
        assert_eq!(desk.server.total_requests() - before, picks::POOLS);
        desk.server.set_latency(Duration::ZERO);
        shared.fetched(&format!("{name}-all.db"));
        let fetched = "SELECT count(*) FROM pick";
        let fetched = number(&desk, &format!("{name}-all.db"), fetched);
        assert_eq!(fetched, picks::POOLS as i64);
    }
}

#[test]
fn two_workers_share_rankings() {
    let desk = reranking::desk();
    let Some(url) = server(&desk) else { return };
    let shared = Shared::rankings(&desk, url, "rankings");
    desk.server.set_latency(Duration::from_millis(20));
    let options = shared.worker("w1.db", &["--concurrency", "4"]);
    let mut other = started(&desk, &options);
    shared.works("w2.db", &["--concurrency", "4"], 0);
    assert!(other.wait().unwrap().success());
    assert_eq!(desk.server.total_requests(), RANKING_CALLS);
    let status = status(&desk, &shared.url, &shared.job);
    let workers = status["workers"].as_array().unwrap();
    assert!(workers.iter().all(|of| of["done"].as_i64() > Some(0)));
    let spent = shared.fetched("spent.db")["spent_usd"].as_f64().unwrap();
    assert!(spent > 0.0 && (status["spent_usd"].as_f64().unwrap() - spent).abs() < 1e-5);
    shared.check_whole();
    // The answers are there as well, not only the rankings.
    let calls = desk.server.total_requests();
    let project = Connection::open(desk.path("all.db")).unwrap();
    let forgotten = project.execute("DELETE FROM rerank_result", []).unwrap();
    assert_eq!(forgotten, 2 * reranking::QUERIES);
    drop(project);
    let mut again = vec!["--project", "all.db"];
    again.extend(&shared.command);
    let again = desk.run(&again);
    assert!(again.status.success(), "{}", told(&again));
    assert_eq!(desk.server.total_requests(), calls);
}

#[test]
fn the_calls_of_a_killed_worker_for_rankings_are_not_made_again() {
    let desk = reranking::desk();
    let Some(url) = server(&desk) else { return };
    let shared = Shared::rankings(&desk, url.clone(), "killed-rankings");
    shared.kill_one("w1.db", "60", 50);
    shared.works_on("w1.db", "rerank_call", RANKING_CALLS);
    shared.check_whole();

    let before = desk.server.total_requests();
    let shared = Shared::rankings(&desk, url, "dead-rankings");
    shared.kill_one("w3.db", "2", 50);
    shared.works("w4.db", &["--lease", "2"], 0);
    // Those of the last second, and those in flight.
    let repeated = desk.server.total_requests() - before - RANKING_CALLS;
    assert!(repeated <= 60, "{repeated}");
    let calls = desk.server.total_requests();
    shared.works("w3.db", &["--lease", "2"], 0);
    assert_eq!(desk.server.total_requests(), calls);
    shared.fetched("all-4.db");
    let ranked = "SELECT count(*) FROM (SELECT DISTINCT query, method FROM rerank_result)";
    assert_eq!(
        number(&desk, "all-4.db", ranked),
        2 * reranking::QUERIES as i64
    );
    // Every call that was paid for is there.
    let kept = "SELECT count(*) FROM rerank_call";
    let kept = number(&desk, "all-4.db", kept) as usize;
    assert!(kept >= calls - before - 2, "{kept}");
}

#[test]
fn workers_with_other_methods_are_refused() {
    let desk = reranking::desk();
    let Some(url) = server(&desk) else { return };
    let shared = Shared::rankings(&desk, url, "rankings-terms");
    shared.works("w1.db", &[], 0);
    let calls = desk.server.total_requests();
    let said = shared.works("w2.db", &["--method", "prp@20:p1"], 2);
    assert!(said.contains("different list of methods: use"), "{said}");
    let said = shared.works("w2.db", &["--shuffle-candidates"], 2);
    assert!(said.contains("different dataset or first stage"), "{said}");
    assert_eq!(desk.server.total_requests(), calls);
}
