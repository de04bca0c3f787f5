//! A long run from outside: killed, stopped, rivalled; nothing recorded is lost and nothing is
//! asked twice.

use crate::support::{Guarded, Sandbox, dataset, read_only, until};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

const QUERIES: usize = 96;
const DOCUMENTS: usize = 10;
const JUDGES: usize = 3;
/// Four cycles through each pool.
const BATTLES: usize = QUERIES * DOCUMENTS * 4;
const VOTES: usize = BATTLES * JUDGES;
const ARGUMENTS: [&str; 3] = ["annotate", "in.jsonl", "out.jsonl"];

fn prepared() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("in.jsonl", dataset([DOCUMENTS; QUERIES]));
    sandbox
}

/// What a run that nobody disturbs writes.
fn undisturbed() -> &'static str {
    static OUT: OnceLock<String> = OnceLock::new();
    OUT.get_or_init(|| {
        let sandbox = prepared();
        sandbox.done(&ARGUMENTS);
        assert_eq!(votes(&sandbox.project()).len(), VOTES);
        sandbox.read("out.jsonl")
    })
}

fn start(sandbox: &Sandbox) -> Guarded {
    started(sandbox, &ARGUMENTS)
}

fn started(sandbox: &Sandbox, arguments: &[&str]) -> Guarded {
    let mut command = sandbox.command(arguments);
    Guarded(
        command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap(),
    )
}

/// A recorded vote's own row, judge by judge and battle by battle: margin, attempt, and when it was
/// recorded.
type Votes = BTreeMap<(i64, i64), (u64, i64, i64)>;

/// Every vote, after asserting that no judge has two on one battle.
fn votes(project: &Path) -> Votes {
    let db = read_only(project).unwrap();
    let mut statement = db
        .prepare("SELECT battle, judge, margin, attempt, created_ms FROM vote")
        .unwrap();
    let rows = statement
        .query_map([], |row| {
            let margin: f64 = row.get(2)?;
            Ok((
                (row.get(0)?, row.get(1)?),
                (margin.to_bits(), row.get(3)?, row.get(4)?),
            ))
        })
        .unwrap();
    let mut votes = Votes::new();
    for row in rows {
        let (key, vote) = row.unwrap();
        assert_eq!(
            votes.insert(key, vote),
            None,
            "a judge voted twice on a battle"
        );
    }
    votes
}

/// Waits until the run has recorded `more` votes beyond those of `before`.
fn until_voted(sandbox: &Sandbox, run: &mut Guarded, before: usize, more: usize) {
    let is_running = voted(sandbox, run, before, more);
    assert!(is_running, "the run ended before it could be disturbed");
}

/// The same; returns false if the run ended before anybody looked.
fn voted(sandbox: &Sandbox, run: &mut Guarded, before: usize, more: usize) -> bool {
    let (mut reader, mut is_running) = (None, true);
    until("votes were recorded", || {
        is_running = run.0.try_wait().unwrap().is_none();
        if !is_running {
            return true;
        }
        if reader.is_none() {
            reader = read_only(&sandbox.project());
        }
        let count = reader.as_ref().and_then(|db| {
            db.query_row("SELECT count(*) FROM vote", [], |row| row.get::<_, i64>(0))
                .ok()
        });
        count.unwrap_or(0) as usize >= before + more
    });
    is_running
}

fn signal(run: &Guarded, name: &str) {
    let status = Command::new("sh")
        .arg("-c")
        .arg(format!("kill -{name} {}", run.0.id()))
        .status()
        .unwrap();
    assert!(status.success());
}

#[track_caller]
fn assert_kept(before: &Votes, after: &Votes) {
    for (key, vote) in before {
        assert_eq!(
            after.get(key),
            Some(vote),
            "a recorded vote was lost or changed"
        );
    }
}

#[test]
fn killed_runs_lose_no_vote_and_double_none() {
    let sandbox = prepared();
    let mut known = Votes::new();
    // The first is killed before it has judged anything; the others at varying progress.
    for (kill, more) in [0, 1, 200, 75, 300, 40, 150].into_iter().enumerate() {
        let mut run = start(&sandbox);
        if more == 0 {
            until("the project file is there", || sandbox.project().exists());
        } else if !voted(&sandbox, &mut run, known.len(), more) {
            // A machine that was busy elsewhere looked too late.
            assert!(run.0.wait().unwrap().success());
            known = votes(&sandbox.project());
            break;
        }
        run.0.kill().unwrap();
        assert_eq!(run.0.wait().unwrap().signal(), Some(9));
        if kill == 0 {
            continue;
        }
        let now = votes(&sandbox.project());
        assert!(now.len() >= known.len() + more, "{} votes", now.len());
        assert_kept(&known, &now);
        known = now;
        if known.len() == VOTES {
            // A machine that was busy elsewhere looked too late.
            break;
        }
        assert!(
            !sandbox.path("out.jsonl").exists(),
            "no scores from a run that did not end"
        );
    }
    let ran = sandbox.done(&ARGUMENTS);
    let count = known.len().to_string();
    let there = match count.split_at_checked(count.len().saturating_sub(3)) {
        Some((thousands, rest)) if !thousands.is_empty() => format!("{thousands},{rest}"),
        _ => count,
    } + " votes already there";
    assert!(
        ran.stderr.contains(&there),
        "{there} is not in {}",
        ran.stderr
    );
    let end = votes(&sandbox.project());
    assert_eq!(end.len(), VOTES);
    assert_kept(&known, &end);
    assert!(end.values().all(|(_, attempt, _)| *attempt == 1));
    assert_eq!(sandbox.count("SELECT count(*) FROM failure"), 0);
    assert_eq!(sandbox.count("SELECT count(*) FROM battle"), BATTLES as i64);
    assert_eq!(integrity(&sandbox), "ok");
    assert!(
        sandbox.read("out.jsonl") == undisturbed(),
        "the scores differ from those of an undisturbed run"
    );
}

#[test]
fn killed_campaigns_go_on_with_the_rounds_they_were_in() {
    let arguments = [
        "annotate",
        "in.jsonl",
        "out.jsonl",
        "--sampler",
        "top",
        "--judging",
        "escalate",
        "--battles",
        "2",
    ];
    let sizes = [DOCUMENTS; 12];
    let calls = 12 * 2 * DOCUMENTS * JUDGES;
    let calm = Sandbox::new();
    calm.write("in.jsonl", dataset(sizes));
    calm.done(&arguments);
    let sandbox = Sandbox::new();
    sandbox.write("in.jsonl", dataset(sizes));
    let mut known = Votes::new();
    for more in [1, 150, 40, 220] {
        let mut run = started(&sandbox, &arguments);
        until_voted(&sandbox, &mut run, known.len(), more);
        run.0.kill().unwrap();
        assert_eq!(run.0.wait().unwrap().signal(), Some(9));
        let now = votes(&sandbox.project());
        assert!(now.len() < calls, "{} votes", now.len());
        assert_kept(&known, &now);
        known = now;
    }
    sandbox.done(&arguments);
    let end = votes(&sandbox.project());
    assert_eq!(end.len(), calls);
    assert_kept(&known, &end);
    assert!(end.values().all(|(_, attempt, _)| *attempt == 1));
    assert_eq!(sandbox.count("SELECT count(*) FROM task"), calls as i64);
    assert_eq!(integrity(&sandbox), "ok");
    assert!(
        sandbox.read("out.jsonl") == calm.read("out.jsonl"),
        "the scores differ from those of an undisturbed run"
    );
}

fn integrity(sandbox: &Sandbox) -> String {
    let db = read_only(&sandbox.project()).unwrap();
    db.query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap()
}

#[test]
fn a_signal_stops_a_run_and_the_same_command_goes_on() {
    let sandbox = prepared();
    let mut known = 0;
    for name in ["TERM", "INT", "HUP"] {
        let mut run = start(&sandbox);
        until_voted(&sandbox, &mut run, known, 300);
        signal(&run, name);
        let status = run.0.wait().unwrap();
        assert_eq!(status.code(), Some(130), "SIG{name}: {status}");
        let now = votes(&sandbox.project()).len();
        assert!(now >= known + 300 && now < VOTES);
        known = now;
        assert_eq!(
            sandbox.count("SELECT count(*) FROM run WHERE state = 'running'"),
            0
        );
        let status = sandbox.json("status --json");
        assert_eq!(status["votes"], known);
        assert_eq!(status["votes_missing"], VOTES - known);
    }
    sandbox.done(&ARGUMENTS);
    assert_eq!(votes(&sandbox.project()).len(), VOTES);
    assert!(
        sandbox.read("out.jsonl") == undisturbed(),
        "the scores differ from those of an undisturbed run"
    );
}

#[test]
fn a_second_run_on_the_same_project_is_refused() {
    let sandbox = prepared();
    let mut first = start(&sandbox);
    until_voted(&sandbox, &mut first, 0, 100);
    let rival = sandbox.run("annotate in.jsonl rival.jsonl");
    assert_eq!(rival.code, Some(1), "{}", rival.stderr);
    assert!(
        rival
            .stderr
            .contains("another overrule process is running on"),
        "{}",
        rival.stderr
    );
    assert!(!sandbox.path("rival.jsonl").exists());
    sandbox.done("status");
    assert!(
        first.0.try_wait().unwrap().is_none(),
        "the rival was to come during the run"
    );
    assert_eq!(first.0.wait().unwrap().code(), Some(0));
    assert_eq!(votes(&sandbox.project()).len(), VOTES);
    assert!(
        sandbox.read("out.jsonl") == undisturbed(),
        "the rival changed the scores"
    );
}

#[test]
fn verdicts_can_be_given_while_a_run_goes_on() {
    let sandbox = prepared();
    let mut run = start(&sandbox);
    until_voted(&sandbox, &mut run, 0, 100);
    let verdict = [
        "override",
        "--query",
        "q31",
        "--a",
        "d0",
        "--b",
        "d1",
        "--verdict",
        "much-a",
    ];
    sandbox.done(&verdict);
    assert!(
        run.0.try_wait().unwrap().is_none(),
        "the verdict was to come during the run"
    );
    assert_eq!(run.0.wait().unwrap().code(), Some(0));
    assert_eq!(votes(&sandbox.project()).len(), VOTES);
    let out = sandbox.read("out.jsonl");
    let differing = out
        .lines()
        .zip(undisturbed().lines())
        .filter(|(one, other)| one != other)
        .count();
    assert_eq!(
        differing, 1,
        "only the query with the verdict has other scores"
    );
    sandbox.done("undo");
    assert!(sandbox.done("export annotated").text() == undisturbed());
}

#[test]
fn no_scores_are_left_half_written() {
    let sandbox = prepared();
    fs::write(sandbox.path("out.jsonl"), "what was there before\n").unwrap();
    let mut run = start(&sandbox);
    until_voted(&sandbox, &mut run, 0, 50);
    run.0.kill().unwrap();
    run.0.wait().unwrap();
    assert_eq!(sandbox.read("out.jsonl"), "what was there before\n");
}
