//! Programs that ask judges: each answer is paid for once and stored before the program gets it, the
//! budget holds, and a failed call is no vote.

use crate::desk::{Desk, json_of, told};
use crate::fake_provider::Fault;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::process::{Output, Stdio};
use std::time::Duration;

const QUERIES: usize = 3;
const DOCUMENTS: usize = 8;

/// The ranker of the manual.
fn ranker() -> &'static str {
    let chapter = include_str!("../../assets/manual/rerankers.md");
    let programs = chapter.split("```python\n").skip(1);
    let mut programs = programs.map(|after| after.split("```").next().unwrap());
    programs
        .find(|program| program.contains("\"ask\""))
        .unwrap()
}

/// Queries whose documents state their relevance, and a program that asks two judges.
fn desk(program: &str) -> Desk {
    let desk = Desk::new("");
    let judge = |name: &str| {
        format!(
            "[[judge]]\nname = {name:?}\nprovider = \"compatible\"\nmodel = {name:?}\nbase_url = {:?}\n\
             price = {{ input = 1.0, output = 1.0 }}\n\n",
            desk.server.v1()
        )
    };
    let reranker =
        "[[reranker]]\nname = \"judged\"\ncommand = [\"python3\", \"judged.py\"]\nasks = true\n";
    let config = judge("one") + &judge("two") + reranker;
    std::fs::write(desk.path("overrule.toml"), config).unwrap();
    std::fs::write(desk.path("judged.py"), program).unwrap();
    let mut lines = String::new();
    for query in 0..QUERIES {
        let documents: Vec<Value> = (0..DOCUMENTS)
            .map(|at| {
                let relevance = 3 * ((at * 5 + query) % DOCUMENTS);
                json!({"id": format!("d{at}"), "content": format!("relevance {relevance} is that of {at}")})
            })
            .collect();
        let query = json!({"id": format!("q{query}"), "query": format!("noise 0 of {query}")});
        writeln!(lines, "{}", json!({"query": query, "documents": documents})).unwrap();
    }
    std::fs::write(desk.path("pools.jsonl"), lines).unwrap();
    assert!(desk.run(&["allow", "--yes"]).status.success());
    desk
}

const RUN: [&str; 6] = [
    "rerank",
    "pools.jsonl",
    "--method",
    "judged",
    "--json",
    "--yes",
];

fn rerank(desk: &Desk, more: &[&str]) -> Output {
    desk.run(&[&RUN[..], more].concat())
}

/// The only method's row of a run that ended with `code`.
#[track_caller]
fn row(output: &Output, code: i32) -> Value {
    assert_eq!(output.status.code(), Some(code), "{}", told(output));
    json_of(output)["methods"][0].clone()
}

fn orders(desk: &Desk) -> i64 {
    (0..QUERIES)
        .map(|query| {
            let mut order: Vec<usize> = (0..DOCUMENTS).collect();
            order.sort_by_key(|at| std::cmp::Reverse((at * 5 + query) % DOCUMENTS));
            let order: Vec<String> = order.iter().map(|at| format!("d{at}")).collect();
            desk.count(&format!(
                "SELECT count(*) FROM rerank_result JOIN query ON query.id = query WHERE name = 'q{query}'
                 AND method = 'judged/one+two' AND ranking = '{}'",
                json!(order)
            ))
        })
        .sum()
}

#[test]
fn the_ranker_of_the_manual_ranks_with_answers_that_are_paid_for_once() {
    let desk = desk(ranker());
    let asked = rerank(&desk, &[]);
    let calls = desk.server.requests().len();
    let found = row(&asked, 0);
    assert_eq!(found["method"], "judged/one+two");
    assert_eq!(found["calls"], json!(calls), "{found}");
    assert_eq!(found["failed_calls"], json!(0));
    assert!(found["cost_usd"].as_f64() > Some(0.0), "{found}");
    assert_eq!(orders(&desk), QUERIES as i64);
    assert_eq!(desk.count("SELECT count(*) FROM rerank_call"), calls as i64);
    row(&rerank(&desk, &[]), 0);
    // Without the results, the answers are still there: the program is run again and nobody asked.
    desk.change("DELETE FROM rerank_result");
    row(&rerank(&desk, &[]), 0);
    assert_eq!(orders(&desk), QUERIES as i64);
    // A method that asks the same shares the answers.
    let zelo = [
        "rerank",
        "pools.jsonl",
        "--method",
        "zelo:b7",
        "--yes",
        "--json",
    ];
    assert_eq!(desk.run(&zelo).status.code(), Some(0));
    let both = desk.server.requests().len();
    let every = QUERIES * DOCUMENTS * 7;
    assert!(both < calls + every, "{both} calls, {calls} of the program");
    let one = row(&rerank(&desk, &["--judges", "two"]), 0);
    assert_eq!(one["method"], "judged/two");
    assert_eq!(desk.server.requests().len(), both);
}

#[test]
fn a_run_uses_the_answers_of_methods() {
    let desk = desk(ranker());
    row(&rerank(&desk, &[]), 0);
    let asked = desk.server.requests().len();
    let annotate = ["annotate", "pools.jsonl", "out.jsonl"];
    let dry = json_of(&desk.run(&[&annotate[..], &["--dry-run", "--json"]].concat()));
    let ran = desk.run(&[&annotate[..], &["--yes"]].concat());
    assert_eq!(ran.status.code(), Some(0), "{}", told(&ran));
    let sum = |name: &str| -> u64 {
        let judges = dry["judges"].as_array().unwrap().iter();
        judges.map(|judge| judge[name].as_u64().unwrap()).sum()
    };
    assert!(sum("bought") > 0, "{dry}");
    assert_eq!(desk.server.requests().len(), asked + sum("calls") as usize);
    assert!(desk.server.calls().values().all(|times| *times == 1));
}

#[test]
fn an_estimate_is_every_pair_and_a_dry_run_says_so() {
    let desk = desk(ranker());
    assert_eq!(desk.run(&["import", "pools.jsonl"]).status.code(), Some(0));
    let dry = json_of(&rerank(&desk, &["--dry-run"]));
    let estimate = &dry["methods"][0];
    let pairs = (QUERIES * 2 * DOCUMENTS * (DOCUMENTS - 1)) as f64;
    assert_eq!(estimate["least"]["calls"], json!(0.0));
    assert_eq!(estimate["expected"]["calls"], json!(pairs));
    assert!(estimate["most"]["calls"].as_f64() >= Some(pairs), "{dry}");
    assert!(estimate["most"]["usd"].as_f64() > estimate["expected"]["usd"].as_f64());
    let text = desk.run(&["rerank", "--method", "judged", "--dry-run"]);
    let why = "the program decides which pairs it asks about";
    assert!(told(&text).contains(why), "{}", told(&text));
    row(&rerank(&desk, &[]), 0);
    let most = estimate["most"]["calls"].as_f64().unwrap();
    assert!(desk.server.requests().len() as f64 <= most);
}

/// The ranker of the manual, which writes down every reply that it has read.
fn noting() -> String {
    let read = "json.loads(sys.stdin.readline())[\"reply\"]";
    let noted = "noted(json.loads(sys.stdin.readline())[\"reply\"])";
    let program = ranker().replace(read, noted);
    assert_ne!(program, ranker());
    let note = "import json\n\ndef noted(replies):\n    with open(\"replies.jsonl\", \"a\") as file:\n        \
                print(json.dumps(replies), file=file)\n    return replies\n\n";
    note.to_owned() + &program
}

#[test]
fn a_killed_run_has_stored_what_the_program_was_told_and_asks_nothing_twice() {
    const KILLS: usize = 6;
    let desk = desk(&noting());
    desk.server.set_latency(Duration::from_millis(15));
    let told_votes = || {
        let replies = std::fs::read_to_string(desk.path("replies.jsonl")).unwrap_or_default();
        let lines = replies.lines().filter_map(|line| {
            let replies: Vec<Value> = serde_json::from_str(line).ok()?;
            let votes = replies
                .iter()
                .map(|one| one["votes"].as_array().unwrap().len());
            Some(votes.sum::<usize>())
        });
        lines.sum::<usize>()
    };
    for kill in 1..=KILLS {
        drop(std::fs::remove_file(desk.path("replies.jsonl")));
        let mut command = desk.command(&RUN);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let before = desk.server.requests().len();
        while desk.server.requests().len() < before + 9 {
            std::thread::sleep(Duration::from_millis(2));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let stored = desk.count("SELECT count(*) FROM rerank_call WHERE readable = 1");
        assert!(told_votes() as i64 <= stored, "kill {kill}: {stored}");
    }
    desk.server.set_latency(Duration::ZERO);
    let found = row(&rerank(&desk, &[]), 0);
    assert_eq!(orders(&desk), QUERIES as i64);
    // Of each kill, the four calls that were in flight are lost: two pairs, two judges.
    let needed = found["calls"].as_u64().unwrap() as usize;
    let calls = desk.server.requests().len();
    assert!(
        (needed..=needed + KILLS * 4).contains(&calls),
        "{calls} for {needed}"
    );
    let twice = "SELECT count(*) FROM (SELECT 1 FROM rerank_call WHERE readable = 1 GROUP BY key HAVING count(*) > 1)";
    assert_eq!(desk.count(twice), 0);
}

#[test]
fn a_budget_holds_and_a_larger_one_goes_on() {
    let desk = desk(ranker());
    let spent = || {
        let status = json_of(&desk.run(&["status", "--json"]));
        status["spent_usd"].as_f64().unwrap()
    };
    for budget in [0.012, 0.03] {
        let output = rerank(&desk, &["--budget", &budget.to_string()]);
        let said = told(&output);
        assert_eq!(output.status.code(), Some(3), "{said}");
        assert!(said.contains("larger --budget"), "{said}");
        assert!(
            spent() > 0.0 && spent() <= budget,
            "{} of {budget}",
            spent()
        );
        assert_eq!(json_of(&output)["methods"][0]["failed"], json!(0), "{said}");
    }
    let found = row(&rerank(&desk, &["--budget", "5"]), 0);
    assert_eq!(found["calls"], json!(desk.server.requests().len()));
    assert_eq!(orders(&desk), QUERIES as i64);
}

#[test]
fn a_failed_call_is_reported_to_the_program_and_is_no_vote() {
    let desk = desk(&noting());
    // One of the judges is refused whenever it is shown this document.
    desk.server.answer_marked(
        "is that of 3",
        400,
        json!({"error": {"message": "not this one"}}),
    );
    let found = row(&rerank(&desk, &["--query", "q0"]), 0);
    assert!(found["failed_calls"].as_u64() > Some(0), "{found}");
    let replies = std::fs::read_to_string(desk.path("replies.jsonl")).unwrap();
    let replies: Vec<Value> = replies
        .lines()
        .flat_map(|line| serde_json::from_str::<Vec<Value>>(line).unwrap())
        .collect();
    let failed = replies.iter().filter(|reply| reply["margin"].is_null());
    let failed: Vec<&Value> = failed.collect();
    assert!(!failed.is_empty());
    for reply in &failed {
        assert_eq!(reply["votes"], json!([]), "{reply}");
        assert_eq!(reply["failures"][0]["judge"], "one");
        let error = reply["failures"][0]["error"].as_str().unwrap();
        assert!(error.contains("not this one"), "{reply}");
    }
    let votes = replies
        .iter()
        .flat_map(|reply| reply["votes"].as_array().unwrap());
    let stored = desk.count("SELECT count(*) FROM rerank_call WHERE readable = 1");
    assert_eq!(votes.count() as i64, stored);
}

#[test]
fn a_program_that_repeats_a_pair_pays_for_no_failure_again() {
    let repeating = "import json, sys\nfor line in sys.stdin:\n    ids = [one[\"id\"] for one in json.loads(line)[\"documents\"]]\n    \
                     for _ in range(5):\n        print(json.dumps({\"ask\": {\"a\": ids[0], \"b\": ids[1]}}), flush=True)\n        sys.stdin.readline()\n    \
                     print(json.dumps({\"ranking\": ids}), flush=True)\n";
    let desk = desk(repeating);
    // Both judges answer with prose, for which each is asked once more.
    desk.server.fail_next(&[Fault::Prose; 4]);
    let query = ["--query", "q0", "--one-at-a-time"];
    let found = row(&rerank(&desk, &query), 0);
    assert_eq!(desk.server.requests().len(), 4, "{found}");
    desk.change("DELETE FROM rerank_result");
    desk.server.fail_next(&[Fault::Prose; 4]);
    row(
        &rerank(&desk, &[&query[..], &["--retry-failed"]].concat()),
        0,
    );
    assert_eq!(desk.server.requests().len(), 8);
}

#[test]
fn a_hostile_program_fails_its_queries_and_others_go_on() {
    let endless = "import json, sys\nfor line in sys.stdin:\n    while True:\n        \
                   print(json.dumps({\"ask\": {\"a\": \"d0\", \"b\": \"d1\"}}), flush=True)\n        sys.stdin.readline()\n";
    for (program, why) in [
        (endless, "more than 560 pairs of 8 documents"),
        (
            "import sys\nsys.stdin.readline()\nprint('{\"ask\": {\"a\": \"d0\", \"b\": \"x\"}}', flush=True)\nsys.stdin.readline()\n",
            "names \"x\", which was not sent",
        ),
        (
            "import sys\nsys.stdin.readline()\nprint('x' * 10_000_000, flush=True)\n",
            "is longer than",
        ),
    ] {
        let desk = desk(program);
        let output = rerank(&desk, &[]);
        let found = row(&output, 3);
        assert_eq!(found["failed"], json!(QUERIES), "{}", told(&output));
        assert!(told(&output).contains(why), "{}", told(&output));
        // An endless question is answered from the project.
        assert!(desk.server.requests().len() <= 2 * QUERIES);
    }
}
