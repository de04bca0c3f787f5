//! The real binary picking with network judges: strict, counted, kept as it comes, and bought once.

mod stubs;

use crate::desk::{Desk, KEY, json_of, told};
use crate::fake_provider::{Fault, Faults};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::process::{Output, Stdio};
use std::time::Duration;

pub(crate) const POOLS: usize = 20;

/// Pools of ten, one or two of them gold and labeled, in places that follow from the number of the
/// pool.
pub(crate) fn desk(models: &[&str]) -> Desk {
    let desk = Desk::new("");
    let mut config = String::new();
    for model in models {
        writeln!(
            config,
            "[[judge]]\nname = {model:?}\nprovider = \"compatible\"\nmodel = {model:?}\nbase_url = {:?}\n\
             price = {{ input = 1.0, output = 1.0 }}\n",
            desk.server.v1()
        )
        .unwrap();
    }
    std::fs::write(desk.path("overrule.toml"), config).unwrap();
    let mut lines = String::new();
    for pool in 0..POOLS {
        // Every place is gold equally often, and 7 and 10 have no common factor.
        let gold = |at: usize| at == pool * 7 % 10 || (pool % 2 == 0 && at == (pool * 7 + 3) % 10);
        let document = |at: usize| {
            let (kind, grade) = if gold(at) {
                ("gold", json!({"grade": 1, "source": "label-found"}))
            } else {
                ("tin", json!({"source": "fill"}))
            };
            json!({"id": format!("d{at}"), "content": format!("{kind} {pool} {at}"), "metadata": grade})
        };
        let documents: Vec<Value> = (0..10).map(document).collect();
        let query = json!({"id": format!("q{pool}"), "query": format!("question {pool}")});
        writeln!(lines, "{}", json!({"query": query, "documents": documents})).unwrap();
    }
    std::fs::write(desk.path("pools.jsonl"), lines).unwrap();
    desk
}

fn pick(desk: &Desk, more: &[&str]) -> Output {
    desk.run(&[&["pick", "pools.jsonl"], more].concat())
}

fn court(desk: &Desk) -> Value {
    json_of(&desk.run(&["court", "--json"]))
}

fn records(desk: &Desk) -> Vec<Value> {
    let picks = desk.run(&["export", "picks"]).stdout;
    let text = String::from_utf8(picks).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn the_judge_is_shown_texts_and_nothing_of_the_labels() {
    let desk = desk(&["oracle"]);
    assert_eq!(pick(&desk, &[]).status.code(), Some(0));
    let requests = desk.server.requests();
    let schema = &requests[0].body["response_format"]["json_schema"]["schema"];
    assert_eq!(
        schema["properties"]["slots"],
        json!({"type": "array", "items": {"type": "integer"}})
    );
    for request in requests {
        let body = request.body.to_string();
        for word in ["grade", "label-found", "fill", "\"d3\"", KEY] {
            assert!(!body.contains(word), "{word}: {body}");
        }
    }
    let record = &records(&desk)[0];
    assert_eq!(record["thoughts"], json!(["because"]));
    assert!(record["cost_usd"].as_f64().unwrap() > 0.0 && record["raw"].is_string());
    let shown = record["order"].as_array().unwrap();
    assert_eq!((shown.len(), &record["permutation"]), (10, &json!(1)));
}

#[test]
fn an_answer_that_breaks_the_rules_is_asked_for_once_more_and_paid_for_twice() {
    let desk = desk(&["oracle"]);
    desk.server.fail_next(&[Fault::Prose]);
    let output = pick(&desk, &["--concurrency", "1", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert_eq!(desk.server.requests().len(), POOLS + 1);
    let records = records(&desk);
    assert_eq!(records[0]["invalid"], "not-json");
    let mut twice = records.iter().filter(|record| record["attempt"] == 2);
    let second = twice.next().unwrap();
    assert!(second["slots"].is_array() && twice.next().is_none());
    assert_eq!(records[0]["call"], second["call"]);
    let requests = desk.server.requests();
    let reminded = requests
        .iter()
        .filter(|request| request.body.to_string().contains("broke the rules"));
    assert_eq!(reminded.count(), 1);
    let spent: f64 = records
        .iter()
        .map(|record| record["cost_usd"].as_f64().unwrap())
        .sum();
    let found = json_of(&output);
    assert!((found["spent_usd"].as_f64().unwrap() - spent).abs() < 1e-12);
    assert_eq!(
        (&found["judges"][0]["valid"], &found["judges"][0]["invalid"]),
        (&json!(POOLS), &json!(0))
    );
}

#[test]
fn what_is_in_the_project_is_not_asked_again() {
    let desk = desk(&["oracle", "garbage"]);
    assert_eq!(pick(&desk, &[]).status.code(), Some(0));
    let (calls, before) = (desk.server.requests().len(), records(&desk));
    let dry = pick(&desk, &["--dry-run", "--json"]);
    assert_eq!(json_of(&dry)["calls"], 0);
    let again = pick(&desk, &[]);
    assert_eq!(
        (again.status.code(), desk.server.requests().len()),
        (Some(0), calls)
    );
    assert_eq!(records(&desk), before);
    // Another way of asking, another order: other questions.
    let output = pick(
        &desk,
        &["--judges", "oracle", "--permutations", "2", "--json"],
    );
    assert_eq!(
        desk.server.requests().len(),
        calls + POOLS,
        "{}",
        told(&output)
    );
    let consistency = &court(&desk)["judges"][1]["consistency"][0];
    assert_eq!(
        (&consistency["same"], &consistency["overlap"]["value"]),
        (&json!(POOLS), &json!(1.0))
    );
    pick(&desk, &["--judges", "oracle", "--open"]);
    assert_eq!(desk.server.requests().len(), calls + 2 * POOLS);
    let asks: Vec<Value> = court(&desk)["judges"]
        .as_array()
        .unwrap()
        .iter()
        .map(|judge| judge["ask"].clone())
        .collect();
    assert_eq!(
        asks,
        [json!("exactly"), json!("exactly"), json!("any-number")]
    );
}

#[test]
fn a_killed_run_goes_on_where_it_was() {
    let desk = desk(&["oracle"]);
    desk.server.set_latency(Duration::from_millis(30));
    let more = ["pick", "pools.jsonl", "--concurrency", "2"];
    for _ in 0..3 {
        let mut command = desk.command(&more);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let before = desk.server.requests().len();
        while desk.server.requests().len() < before + 5 {
            std::thread::sleep(Duration::from_millis(2));
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let output = desk.run(&more);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert_eq!(records(&desk).len(), POOLS);
    let calls = desk.server.requests().len();
    // Two in flight, and two whose answers came in the moment of the kill: a place is free when an
    // answer is there.
    assert!((POOLS..=POOLS + 3 * 4).contains(&calls), "{calls}");
}

#[test]
fn a_failed_call_is_no_pick_and_is_repeated_only_when_asked_for() {
    let desk = desk(&["oracle", "random"]);
    desk.server.fail_at_random(Faults {
        doomed: vec![("random".to_owned(), Fault::Unauthorized)],
        ..Faults::default()
    });
    let output = pick(&desk, &["--concurrency", "1"]);
    assert_eq!(output.status.code(), Some(3), "{}", told(&output));
    assert!(
        told(&output).contains("random stopped"),
        "{}",
        told(&output)
    );
    let found = court(&desk);
    let random = &found["judges"][1]["permutations"][0];
    assert_eq!(
        (&random["valid"], &random["invalid"]),
        (&json!(0), &json!({}))
    );
    assert_eq!(
        (random["failed"].as_u64().unwrap() + random["missing"].as_u64().unwrap()) as usize,
        POOLS
    );
    assert_eq!(found["judges"][0]["permutations"][0]["valid"], json!(POOLS));
    desk.server.fail_at_random(Faults::default());
    let (failed, calls) = (
        random["failed"].as_u64().unwrap() as usize,
        desk.server.requests().len(),
    );
    let output = pick(&desk, &[]);
    assert_eq!(
        output.status.code(),
        Some(3),
        "the failed one is still missing"
    );
    assert_eq!(desk.server.requests().len(), calls + POOLS - failed);
    let output = pick(&desk, &["--retry-failed"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert_eq!(desk.server.requests().len(), calls + POOLS);
    assert_eq!(
        court(&desk)["judges"][1]["permutations"][0]["valid"],
        json!(POOLS)
    );
}

#[test]
fn a_budget_ends_the_run_and_a_larger_one_goes_on() {
    let desk = desk(&["oracle"]);
    let worst = json_of(&pick(&desk, &["--dry-run", "--json"]))["judges"][0]["worst_usd"]
        .as_f64()
        .unwrap();
    let budget = format!("{}", worst / 2.0);
    let output = pick(&desk, &["--budget", &budget, "--concurrency", "4"]);
    let spent = |desk: &Desk| -> f64 {
        records(desk)
            .iter()
            .map(|record| record["cost_usd"].as_f64().unwrap())
            .sum()
    };
    assert!(spent(&desk) <= worst / 2.0);
    if output.status.code() != Some(0) {
        assert_eq!(output.status.code(), Some(3), "{}", told(&output));
        assert!(
            told(&output).contains("the budget is reached"),
            "{}",
            told(&output)
        );
    }
    let little = pick(&desk, &["--budget", "0", "--permutations", "2"]);
    assert_eq!(little.status.code(), Some(3), "{}", told(&little));
    let output = pick(&desk, &["--budget", "100"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert_eq!(desk.server.requests().len(), POOLS);
}

#[test]
fn nothing_is_planned_while_another_run_is_buying() {
    let desk = desk(&["oracle"]);
    assert_eq!(pick(&desk, &[]).status.code(), Some(0));
    let held = std::fs::File::create(desk.path("overrule.db-run")).unwrap();
    held.lock().unwrap();
    // To know that there is no such query it would have had to plan.
    let output = pick(&desk, &["--query", "none"]);
    assert!(
        !told(&output).contains("no such query"),
        "{}",
        told(&output)
    );
    assert!(told(&output).contains("overrule.db"), "{}", told(&output));
    let output = pick(&desk, &["--dry-run"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    drop(held);
    let output = pick(&desk, &["--query", "none"]);
    assert!(told(&output).contains("no such query"), "{}", told(&output));
}

#[test]
fn every_provider_is_asked_in_its_own_form() {
    let desk = desk(&["oracle"]);
    std::fs::write(desk.path("overrule.toml"), {
        let more = format!(
            "[[judge]]\nname = \"local\"\nprovider = \"ollama\"\nmodel = \"m\"\nbase_url = {:?}\n\n\
             [[judge]]\nname = \"decider\"\nprovider = \"openai-decisions\"\nmodel = \"gpt-6-luna\"\nbase_url = {:?}\n",
            desk.server.root(),
            desk.server.v1()
        );
        desk.server.config("") + &more
    })
    .unwrap();
    let output = pick(&desk, &["--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert!(told(&output).contains("skipped: decider can only compare two documents"));
    let found = json_of(&output);
    let rows: Vec<(&str, u64)> = found["judges"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            (
                row["judge"].as_str().unwrap(),
                row["valid"].as_u64().unwrap(),
            )
        })
        .collect();
    let all = POOLS as u64;
    assert_eq!(
        rows,
        [
            ("gpt", all),
            ("claude", all),
            ("gemini", all),
            ("local", all)
        ]
    );
    for request in desk.server.requests() {
        assert!(
            request
                .body
                .to_string()
                .contains("\"slots\":{\"type\":\"array\""),
            "{}",
            request.target
        );
    }
    let before = desk.server.requests().len();
    let output = pick(&desk, &["--per-document", "--json"]);
    let found = json_of(&output);
    for row in found["judges"].as_array().unwrap() {
        assert_eq!((&row["valid"], &row["invalid"]), (&json!(all), &json!(0)));
    }
    for request in &desk.server.requests()[before..] {
        let body = request.body.to_string();
        let words = "\"enum\":[\"supports\",\"refutes\",\"not_enough\"]";
        assert!(body.contains(words), "{}", request.target);
    }
    let output = pick(&desk, &["--judges", "decider"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn truncated_documents_are_counted_and_refused_by_name() {
    let desk = desk(&["m"]);
    let config = std::fs::read_to_string(desk.path("overrule.toml")).unwrap();
    std::fs::write(
        desk.path("overrule.toml"),
        config + "max_document_chars = 30\n",
    )
    .unwrap();
    let refused = pick(&desk, &["--refuse-long"]);
    assert_eq!(refused.status.code(), Some(2), "{}", told(&refused));
    let words = "document \"d0\" of query \"q0\" has 8 characters, and m is shown at most 6";
    assert!(told(&refused).contains(words), "{}", told(&refused));
    assert_eq!(desk.server.requests().len(), 0);
    let output = pick(&desk, &["--json"]);
    let judge = &json_of(&output)["judges"][0];
    let expected = json!({"documents": 10 * POOLS, "pools": POOLS, "max_document_chars": 6});
    assert_eq!(judge["truncated"], expected, "{judge}");
    let output = pick(&desk, &[]);
    let words = "m: 200 documents of 20 pools truncated, to 6 characters or more";
    assert!(told(&output).contains(words), "{}", told(&output));
    let judged = desk.run(&["adjudication"]);
    let words = "20 answers about pools with truncated documents";
    assert!(told(&judged).contains(words), "{}", told(&judged));
}
