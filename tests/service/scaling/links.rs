//! Battles between documents of two queries, asked of a judge.

use super::{ALL, ANCHORS, QUERIES, desk, desk_of, offset, scale};
use crate::desk::{Desk, json_of, told};
use crate::fake_provider::Fault;
use serde_json::json;
use std::process::{Output, Stdio};
use std::time::Duration;

/// Links of the project with answers, and those that a query takes part in at least and at most.
fn links(desk: &Desk) -> (i64, i64, i64) {
    let of_query = "SELECT query, count(*) AS n FROM (SELECT query_a AS query FROM link UNION ALL SELECT query_b FROM link) GROUP BY query";
    (
        desk.count("SELECT count(DISTINCT link) FROM link_answer"),
        desk.count(&format!("SELECT min(n) FROM ({of_query})")),
        desk.count(&format!("SELECT max(n) FROM ({of_query})")),
    )
}

fn link(desk: &Desk, more: &[&str]) -> Output {
    scale(desk, &[&["--link", "4"], more].concat())
}

/// Four rounds of three pairs.
const LINKS: usize = 4 * QUERIES / 2;

#[test]
fn links_are_asked_once_and_put_queries_on_one_scale_without_counting_in_a_query() {
    let desk = desk();
    let scores = || json_of(&desk.run(&["matrix", "--query", "q2", "--json"]))["fitted"].clone();
    let before = scores();
    let dry = json_of(&link(&desk, &["--dry-run"]));
    assert_eq!(dry["expected"]["calls"], json!(LINKS as f64));
    assert!(dry["most"]["usd"].as_f64() > dry["expected"]["usd"].as_f64());
    assert_eq!(desk.server.requests().len(), 0);
    let output = link(&desk, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let found = json_of(&output);
    assert_eq!(desk.server.requests().len(), LINKS);
    assert_eq!(links(&desk), (LINKS as i64, 4, 4));
    let report = &found["scale"];
    assert!(offset(report, 5) > offset(report, 0) + 1.0, "{report}");
    assert!(
        report["queries"][0]["expected_relevant"].is_null(),
        "{report}"
    );
    assert_eq!(scores(), before);
    // The same again asks nobody.
    assert_eq!(json_of(&link(&desk, &[]))["scale"], *report);
    assert_eq!(desk.server.requests().len(), LINKS);
    assert_eq!(json_of(&desk.run(&["scale", "fit", "--json"])), *report);
    let matrix = json_of(&desk.run(&["matrix", "--query", "q5", "--json"]));
    assert_eq!(matrix["scale"], "links answered by gpt");
    let log = json_of(&desk.run(&["log", "--query", "q5", "--json"]));
    let words: Vec<&str> = log
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["event"] == "links")
        .filter_map(|row| row["about"].as_str())
        .collect();
    let answered = |words: &str| -> usize {
        let number = words.strip_prefix("gpt answered ").unwrap();
        number.split(' ').next().unwrap().parse().unwrap()
    };
    let all: usize = words.iter().map(|words| answered(words)).sum();
    assert_eq!(all, 4, "{words:?}");
    // A merged project has them too.
    for more in [&["import", "pools.jsonl"][..], &["merge", "overrule.db"]] {
        let output = desk.run(&[&["--project", "other.db"], more].concat());
        assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    }
    let other = [
        "--project",
        "other.db",
        "scale",
        "run",
        "--judge",
        "gpt",
        "--link",
        "4",
        "--json",
    ];
    assert_eq!(json_of(&desk.run(&other))["scale"], *report);
    assert_eq!(desk.server.requests().len(), LINKS);
    // With the time at which each was given.
    let same = "ATTACH 'other.db' AS other; ";
    let same = same.replace("other.db", desk.path("other.db").to_str().unwrap());
    let differing = desk.count_after(
        &same,
        "SELECT count(*) FROM (SELECT * FROM link_answer EXCEPT SELECT * FROM other.link_answer)",
    );
    assert_eq!(differing, 0);
    let refused = desk.run(&["scale", "run", "--link", "2", "--judge", "bm25"]);
    assert_eq!(refused.status.code(), Some(2), "{}", told(&refused));
    assert!(
        told(&refused).contains("cannot compare documents of two queries"),
        "{}",
        told(&refused)
    );
}

#[test]
fn links_keep_to_the_budget_set_in_the_project() {
    let desk = desk();
    desk.change("INSERT INTO setting (name, value) VALUES ('budget', '0')");
    let output = link(&desk, &[]);
    assert_eq!(output.status.code(), Some(3), "{}", told(&output));
    assert!(
        told(&output).contains("set in this project"),
        "{}",
        told(&output)
    );
    assert_eq!(desk.server.requests().len(), 0);
}

#[test]
fn links_keep_a_budget_and_outlive_kills() {
    const ROUNDS: usize = 8;
    const LINKS: usize = ROUNDS * QUERIES / 2;
    const KILLS: usize = 2;
    let desk = desk();
    let output = scale(&desk, &["--link", "8", "--budget", "0.008"]);
    assert_eq!(output.status.code(), Some(3), "{}", told(&output));
    assert!(
        told(&output).contains("larger --budget"),
        "{}",
        told(&output)
    );
    assert!(desk.server.requests().len() < LINKS);
    desk.server.set_latency(Duration::from_millis(20));
    for _ in 0..KILLS {
        let more = [
            "scale",
            "run",
            "--judge",
            "gpt",
            "--link",
            "8",
            "--concurrency",
            "1",
        ];
        let mut command = desk.command(&more);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let before = desk.server.requests().len();
        let mut child = command.spawn().unwrap();
        while desk.server.requests().len() < before + 5 {
            std::thread::sleep(Duration::from_millis(2));
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert!(
        desk.server.requests().len() < LINKS,
        "nothing is left to do"
    );
    desk.server.set_latency(Duration::ZERO);
    let output = scale(&desk, &["--link", "8"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert_eq!(links(&desk), (LINKS as i64, 8, 8));
    // One in flight and one whose answer came in the moment of each kill: less than each of them
    // was asked.
    let calls = desk.server.requests().len();
    assert!((LINKS..=LINKS + 2 * KILLS).contains(&calls), "{calls}");
}

#[test]
fn an_answer_to_a_link_that_cannot_be_read_is_none_and_is_asked_again_when_wanted() {
    let desk = desk();
    // Three links, each asked once more in vain.
    desk.server.fail_next(&[Fault::Prose; 6]);
    let first = ["--link", "1"];
    let output = scale(&desk, &first);
    assert_eq!(output.status.code(), Some(3), "{}", told(&output));
    assert!(
        told(&output).contains("3 answers could not be read"),
        "{}",
        told(&output)
    );
    assert_eq!(desk.server.requests().len(), 6);
    assert_eq!(links(&desk), (0, 1, 1));
    // Calls that said nothing cost money too.
    let spent = json_of(&desk.run(&["status", "--json"]))["spent_usd"].clone();
    assert!(spent.as_f64() > Some(0.0), "{spent}");
    assert_eq!(json_of(&output)["spent_usd"], spent);
    let output = link(&desk, &[]);
    assert_eq!(output.status.code(), Some(3), "{}", told(&output));
    assert_eq!(links(&desk), (LINKS as i64 - 3, 4, 4));
    assert_eq!(desk.server.requests().len(), 6 + LINKS - 3);
    let output = link(&desk, &["--retry-failed"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert_eq!(desk.server.requests().len(), 6 + LINKS);
    assert_eq!(links(&desk), (LINKS as i64, 4, 4));
}

#[test]
fn each_round_has_links_for_an_odd_number_of_queries_and_the_same_command_buys_nothing_more() {
    const ROUNDS: usize = 4;
    let desk = desk_of(7);
    let dry = json_of(&link(&desk, &["--dry-run"]));
    assert_eq!(dry["links_to_plan"], json!(4 * ROUNDS));
    for _ in 0..2 {
        let output = link(&desk, &[]);
        assert_eq!(output.status.code(), Some(0), "{}", told(&output));
        assert_eq!(desk.server.requests().len(), 4 * ROUNDS);
        let (answered, least, _) = links(&desk);
        assert_eq!((answered, least), (4 * ROUNDS as i64, ROUNDS as i64));
    }
}

#[test]
fn another_model_of_the_same_name_is_asked_again_and_not_mixed_with_the_first() {
    let desk = desk();
    for more in [&["--link", "4"][..], &[]] {
        let output = scale(&desk, more);
        assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    }
    let asked = LINKS + ALL;
    assert_eq!(desk.server.requests().len(), asked);
    let config = std::fs::read_to_string(desk.path("overrule.toml")).unwrap();
    let config = config.replace("model = \"gpt\"", "model = \"gpt-new\"");
    std::fs::write(desk.path("overrule.toml"), config).unwrap();
    // Of one query only: the grades of the others are those of the first model, and all of them
    // count.
    let output = desk.run(&["scale", "run", "--judge", "gpt", "--query", "q0"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert_eq!(desk.server.requests().len(), asked + ANCHORS);
    let words = format!("not counted: {ANCHORS} grades of gpt with another model");
    assert!(told(&output).contains(&words), "{}", told(&output));
    let found = json_of(&desk.run(&["scale", "fit", "--judge", "gpt", "--json"]));
    assert_eq!(found["queries"][0]["anchors"], json!(ANCHORS));
    assert_eq!(found["queries"][5]["anchors"], json!(ANCHORS));
    // Every link is put to the new model too, and its answers count.
    let output = desk.run(&["scale", "run", "--judge", "gpt", "--link", "4"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert_eq!(desk.server.requests().len(), asked + ANCHORS + LINKS);
    assert_eq!(
        desk.count("SELECT count(*) FROM link_answer"),
        2 * LINKS as i64
    );
    let words = format!("not counted: {LINKS} answers of gpt with another model");
    assert!(told(&output).contains(&words), "{}", told(&output));
    let again = link(&desk, &[]);
    assert_eq!(again.status.code(), Some(0), "{}", told(&again));
    assert_eq!(desk.server.requests().len(), asked + ANCHORS + LINKS);
}
