//! A long run from outside: killed, stopped, rivalled; nothing recorded is lost and nothing is asked twice.

use crate::support::{Desk, Guarded, dataset, read_only, until};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

const QUERIES: usize = 32;
const DOCUMENTS: usize = 10;
const JUDGES: usize = 3;
/// Four cycles through each pool.
const BATTLES: usize = QUERIES * DOCUMENTS * 4;
const VOTES: usize = BATTLES * JUDGES;
const ARGUMENTS: [&str; 3] = ["annotate", "in.jsonl", "out.jsonl"];

fn prepared() -> Desk {
    let desk = Desk::new();
    desk.write("in.jsonl", dataset([DOCUMENTS; QUERIES]));
    desk
}

/// What a run that nobody disturbs writes.
fn undisturbed() -> &'static str {
    static OUT: OnceLock<String> = OnceLock::new();
    OUT.get_or_init(|| {
        let desk = prepared();
        desk.done(&ARGUMENTS);
        assert_eq!(votes(&desk.project()).len(), VOTES);
        desk.read("out.jsonl")
    })
}

fn start(desk: &Desk) -> Guarded {
    started(desk, &ARGUMENTS)
}

fn started(desk: &Desk, arguments: &[&str]) -> Guarded {
    let mut command = desk.command(arguments);
    Guarded(
        command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap(),
    )
}

/// A recorded vote's own row, judge by judge and battle by battle: margin, attempt, and when it was recorded.
type Votes = BTreeMap<(i64, i64), (i64, u64, i64, i64)>;

/// Every vote, after asserting that no judge has two on one battle.
fn votes(project: &Path) -> Votes {
    let db = read_only(project).unwrap();
    let mut statement = db
        .prepare("SELECT battle, judge, id, margin, attempt, created_ms FROM vote")
        .unwrap();
    let rows = statement
        .query_map([], |row| {
            let margin: f64 = row.get(3)?;
            Ok((
                (row.get(0)?, row.get(1)?),
                (row.get(2)?, margin.to_bits(), row.get(4)?, row.get(5)?),
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
fn until_voted(desk: &Desk, run: &mut Guarded, before: usize, more: usize) {
    let mut reader = None;
    until("votes were recorded", || {
        assert!(
            run.0.try_wait().unwrap().is_none(),
            "the run ended before it could be disturbed"
        );
        if reader.is_none() {
            reader = read_only(&desk.project());
        }
        let count = reader.as_ref().and_then(|db| {
            db.query_row("SELECT count(*) FROM vote", [], |row| row.get::<_, i64>(0))
                .ok()
        });
        count.unwrap_or(0) as usize >= before + more
    });
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
    let desk = prepared();
    let mut known = Votes::new();
    // The first is killed before it has judged anything; the others at varying progress.
    for (kill, more) in [0, 1, 400, 150, 600, 40, 300].into_iter().enumerate() {
        let mut run = start(&desk);
        if more == 0 {
            until("the project file is there", || desk.project().exists());
        } else {
            until_voted(&desk, &mut run, known.len(), more);
        }
        run.0.kill().unwrap();
        assert_eq!(run.0.wait().unwrap().signal(), Some(9));
        if kill == 0 {
            continue;
        }
        let now = votes(&desk.project());
        assert!(now.len() >= known.len() + more, "{} votes", now.len());
        assert_kept(&known, &now);
        known = now;
        if known.len() == VOTES {
            // A machine that was busy elsewhere looked too late.
            break;
        }
        assert!(
            !desk.path("out.jsonl").exists(),
            "no scores from a run that did not end"
        );
    }
    let ran = desk.done(&ARGUMENTS);
    let there = format!("{} votes were there already", known.len());
    assert!(
        ran.stderr.contains(&there),
        "{there} is not in {}",
        ran.stderr
    );
    let end = votes(&desk.project());
    assert_eq!(end.len(), VOTES);
    assert_kept(&known, &end);
    assert!(end.values().all(|(_, _, attempt, _)| *attempt == 1));
    assert_eq!(desk.count("SELECT count(*) FROM failure"), 0);
    assert_eq!(desk.count("SELECT count(*) FROM battle"), BATTLES as i64);
    assert_eq!(integrity(&desk), "ok");
    assert!(
        desk.read("out.jsonl") == undisturbed(),
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
    let calm = Desk::new();
    calm.write("in.jsonl", dataset(sizes));
    calm.done(&arguments);
    let desk = Desk::new();
    desk.write("in.jsonl", dataset(sizes));
    let mut known = Votes::new();
    for more in [1, 150, 40, 220] {
        let mut run = started(&desk, &arguments);
        until_voted(&desk, &mut run, known.len(), more);
        run.0.kill().unwrap();
        assert_eq!(run.0.wait().unwrap().signal(), Some(9));
        let now = votes(&desk.project());
        assert!(now.len() < calls, "{} votes", now.len());
        assert_kept(&known, &now);
        known = now;
    }
    desk.done(&arguments);
    let end = votes(&desk.project());
    assert_eq!(end.len(), calls);
    assert_kept(&known, &end);
    assert!(end.values().all(|(_, _, attempt, _)| *attempt == 1));
    assert_eq!(desk.count("SELECT count(*) FROM task"), calls as i64);
    assert_eq!(integrity(&desk), "ok");
    assert!(
        desk.read("out.jsonl") == calm.read("out.jsonl"),
        "the scores differ from those of an undisturbed run"
    );
}

fn integrity(desk: &Desk) -> String {
    let db = read_only(&desk.project()).unwrap();
    db.query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap()
}

#[test]
fn a_signal_stops_a_run_and_the_same_command_goes_on() {
    let desk = prepared();
    let mut known = 0;
    for name in ["TERM", "INT", "HUP"] {
        let mut run = start(&desk);
        until_voted(&desk, &mut run, known, 300);
        signal(&run, name);
        let status = run.0.wait().unwrap();
        assert_eq!(status.code(), Some(130), "SIG{name}: {status}");
        let now = votes(&desk.project()).len();
        assert!(now >= known + 300 && now < VOTES);
        known = now;
        assert_eq!(
            desk.count("SELECT count(*) FROM run WHERE state = 'running'"),
            0
        );
        let status = desk.json(&["status", "--json"]);
        assert_eq!(status["votes"], known);
        assert_eq!(status["votes_missing"], VOTES - known);
    }
    desk.done(&ARGUMENTS);
    assert_eq!(votes(&desk.project()).len(), VOTES);
    assert!(
        desk.read("out.jsonl") == undisturbed(),
        "the scores differ from those of an undisturbed run"
    );
}

#[test]
fn a_second_run_on_the_same_project_is_refused() {
    let desk = prepared();
    let mut first = start(&desk);
    until_voted(&desk, &mut first, 0, 100);
    let rival = desk.run(&["annotate", "in.jsonl", "rival.jsonl"]);
    assert_eq!(rival.code, Some(1), "{}", rival.stderr);
    assert!(
        rival
            .stderr
            .contains("another overrule process is running on"),
        "{}",
        rival.stderr
    );
    assert!(!desk.path("rival.jsonl").exists());
    desk.done(&["status"]);
    assert!(
        first.0.try_wait().unwrap().is_none(),
        "the rival was to come during the run"
    );
    assert_eq!(first.0.wait().unwrap().code(), Some(0));
    assert_eq!(votes(&desk.project()).len(), VOTES);
    assert!(
        desk.read("out.jsonl") == undisturbed(),
        "the rival changed the scores"
    );
}

#[test]
fn verdicts_can_be_given_while_a_run_goes_on() {
    let desk = prepared();
    let mut run = start(&desk);
    until_voted(&desk, &mut run, 0, 100);
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
    desk.done(&verdict);
    assert!(
        run.0.try_wait().unwrap().is_none(),
        "the verdict was to come during the run"
    );
    assert_eq!(run.0.wait().unwrap().code(), Some(0));
    assert_eq!(votes(&desk.project()).len(), VOTES);
    let out = desk.read("out.jsonl");
    let differing = out
        .lines()
        .zip(undisturbed().lines())
        .filter(|(one, other)| one != other)
        .count();
    assert_eq!(
        differing, 1,
        "only the query with the verdict has other scores"
    );
    desk.done(&["undo"]);
    assert!(desk.done(&["export", "annotated"]).text() == undisturbed());
}

#[test]
fn no_scores_are_left_half_written() {
    let desk = prepared();
    fs::write(desk.path("out.jsonl"), "what was there before\n").unwrap();
    let mut run = start(&desk);
    until_voted(&desk, &mut run, 0, 50);
    run.0.kill().unwrap();
    run.0.wait().unwrap();
    assert_eq!(desk.read("out.jsonl"), "what was there before\n");
}
