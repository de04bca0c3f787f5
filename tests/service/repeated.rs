//! Several plans in one project: a pair that comes again is shown in the other order, no answer
//! counts twice, and what is said to be called is called.

use crate::desk::{Desk, json_of, told};
use rstest::rstest;
use rusqlite::Connection;

/// Questions to which a judge has more than one answer: the same pair in the same order.
const ANSWERED_TWICE: &str = "SELECT count(*) FROM (
    SELECT 1 FROM vote JOIN battle ON battle.id = vote.battle
    GROUP BY query, judge, min(a, b), max(a, b), swapped != (a > b) HAVING count(*) > 1)";

fn annotate(desk: &Desk, command: &str, more: &[&str]) -> std::process::Output {
    let words: Vec<&str> = command.split_whitespace().collect();
    desk.annotate(&[&words, more].concat())
}

/// The calls that a dry run names, as JSON and in words.
fn forecast(desk: &Desk, command: &str) -> usize {
    let dry = json_of(&annotate(desk, command, &["--dry-run", "--json"]));
    let judges = dry["judges"].as_array().unwrap();
    let calls: u64 = judges
        .iter()
        .map(|judge| judge["calls"].as_u64().unwrap())
        .sum();
    let words = told(&annotate(desk, command, &["--dry-run"]));
    let noun = if calls == 1 { "call" } else { "calls" };
    assert!(
        words.contains(&format!("{calls} {noun}, $")),
        "{calls}: {words}"
    );
    calls as usize
}

/// The calls that `status` counts.
fn counted(desk: &Desk) -> usize {
    let status = json_of(&desk.run(&["status", "--json"]));
    let spent = status["spending"].as_array().unwrap();
    let calls: u64 = spent.iter().map(|of| of["calls"].as_u64().unwrap()).sum();
    calls as usize
}

#[rstest]
#[case(&["--cycles 4", "--cycles 6 --seed 9"])]
#[case(&["--cycles 6", "--cycles 4 --document-limit 5"])]
#[case(&["--cycles 4 --document-limit 5", "--cycles 6", "--cycles 5 --document-limit 7 --seed 2"])]
#[case(&["--sampler swiss --battles 3", "--cycles 7 --seed 3"])]
#[case(&["--cycles 5 --seed 3", "--sampler eig --battles 4", "--cycles 8"])]
#[case(&["--cycles 5", "--cycles 5 --seed 1 --judges gpt", "--cycles 6 --seed 2"])]
fn a_pair_that_is_planned_again_is_shown_in_the_other_order(#[case] commands: &[&str]) {
    let desk = Desk::new("");
    for command in commands {
        let named = forecast(&desk, command);
        let before = desk.server.total_calls();
        let output = annotate(&desk, command, &[]);
        assert_eq!(output.status.code(), Some(0), "{}", told(&output));
        assert_eq!(desk.server.total_calls() - before, named, "{command}");
        assert_eq!(desk.count(ANSWERED_TWICE), 0, "{command}");
        assert_eq!(counted(&desk), desk.server.total_calls(), "{command}");
        assert_eq!(forecast(&desk, command), 0, "{command}");
    }
    assert!(desk.server.calls().values().all(|times| *times == 1));
}

#[test]
fn batches_show_a_repeated_pair_in_the_other_order_too() {
    let desk = Desk::new("");
    // While the first plan's calls are still with the providers, another plan asks about some of
    // its pairs again.
    annotate(&desk, "--cycles 4 --batch", &[]);
    annotate(&desk, "--cycles 8 --seed 9 --document-limit 6 --batch", &[]);
    desk.server.finish_batches();
    annotate(&desk, "--cycles 8 --seed 9 --document-limit 6 --batch", &[]);
    desk.server.finish_batches();
    let output = annotate(&desk, "--cycles 4 --batch", &[]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert_eq!(desk.count(ANSWERED_TWICE), 0);
    assert!(desk.count("SELECT count(*) FROM battle WHERE game = 1") > 0);
    assert!(desk.server.calls().values().all(|times| *times == 1));
    assert_eq!(
        desk.count("SELECT count(*) FROM vote") as usize,
        desk.server.total_calls()
    );
}

/// Queries of which some pairs are probed.
fn probed(desk: &Desk) {
    let line = |name: &str| {
        let documents: Vec<_> = (0..9)
            .map(|at| serde_json::json!({ "id": format!("d{at}"), "content": format!("{name} text {at} on trams") }))
            .collect();
        format!(
            "{}\n",
            serde_json::json!({ "query": { "id": name, "query": name }, "documents": documents })
        )
    };
    std::fs::write(desk.path("in.jsonl"), ["p", "q", "r"].map(line).concat()).unwrap();
}

#[test]
fn a_probe_becomes_the_second_battle_of_its_pair() {
    let desk = Desk::new("");
    probed(&desk);
    assert_eq!(annotate(&desk, "", &[]).status.code(), Some(0));
    let probes = "SELECT count(*) FROM battle WHERE game = 1000";
    assert_eq!(desk.count(probes), 2);
    // Every pair in both orders: the probes have asked for two of them.
    let named = forecast(&desk, "--cycles 8");
    let before = desk.server.total_calls();
    assert_eq!(annotate(&desk, "--cycles 8", &[]).status.code(), Some(0));
    assert_eq!(desk.server.total_calls() - before, named);
    assert_eq!(named, 3 * (3 * 36 - 2));
    assert_eq!(desk.count(probes), 0);
    assert_eq!(desk.count("SELECT count(*) FROM vote"), 3 * 3 * 72);
    assert_eq!(desk.count(ANSWERED_TWICE), 0);
    // A pair that has been judged in both orders is not probed, and there is nothing more to ask
    // about it.
    assert_eq!(forecast(&desk, "--cycles 4 --seed 5"), 0);
    let pair = desk.run(&["annotate", "--pair", "p", "d0", "d1"]);
    assert!(told(&pair).contains("both orders"), "{}", told(&pair));
}

#[test]
fn merged_projects_keep_each_answer_once() {
    let desk = Desk::new("");
    for (project, seed) in [("overrule.db", "0"), ("other.db", "9")] {
        let output = desk.run(&[
            "--project",
            project,
            "annotate",
            "in.jsonl",
            "out.jsonl",
            "--seed",
            seed,
            "--cycles",
            "5",
        ]);
        assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    }
    let count = |project: &str, sql: &str| -> i64 {
        let project = Connection::open(desk.path(project)).unwrap();
        project.query_row(sql, [], |row| row.get(0)).unwrap()
    };
    // What was asked in either: each pair in one order or in both.
    let asked = desk.server.calls().len() as i64;
    assert!(asked < desk.server.total_calls() as i64);
    let votes = "SELECT count(*) FROM vote";
    for (project, from) in [("overrule.db", "other.db"), ("other.db", "overrule.db")] {
        let merged = desk.run(&["--project", project, "merge", from, "--json"]);
        assert_eq!(merged.status.code(), Some(0), "{}", told(&merged));
        assert_eq!(json_of(&merged)["vote_clashes"], 0);
        assert_eq!(count(project, votes), asked, "{project}");
        assert_eq!(count(project, ANSWERED_TWICE), 0, "{project}");
        let again = desk.run(&["--project", project, "merge", from, "--json"]);
        assert_eq!(json_of(&again)["votes"], 0, "{project}");
    }
    // A plan goes on from both, and buys only what neither has.
    let named = forecast(&desk, "--cycles 8");
    let before = desk.server.total_calls();
    assert_eq!(annotate(&desk, "--cycles 8", &[]).status.code(), Some(0));
    assert_eq!(desk.server.total_calls() - before, named);
    assert_eq!(count("overrule.db", votes), 3 * 72);
    assert_eq!(count("overrule.db", ANSWERED_TWICE), 0);
}
