//! Trials of prompts on decided pairs, also interrupted ones.

use super::{QUERIES, done, faulty, part, tried};
use crate::desk::{Desk, json_of, told};
use serde_json::{Value, json};
use std::process::{Child, Stdio};
use std::time::Duration;

/// The two-sided p-value of as many fixed and broken pairs.
fn exact_p(fixed: usize, broken: usize) -> f64 {
    let n = fixed + broken;
    let choose = |k: usize| {
        (0..k).fold(1.0, |product, at| {
            product * (n - at) as f64 / (at + 1) as f64
        })
    };
    let tail: f64 = (0..=fixed.min(broken)).map(choose).sum();
    (2.0 * tail / 2f64.powi(n as i32)).min(1.0)
}

#[test]
fn a_planted_fault_is_found_fixed_and_shown_as_fixed() {
    let desk = faulty();
    let (tuning, held_out) = (part(&desk, "tuning"), part(&desk, "held-out"));
    let before = desk.server.requests().len();
    let scores = told(&desk.run(&["queries", "--json"]));
    let dry = tried(&desk, &["cured.md", "--dry-run"]);
    assert_eq!(dry["expected"]["calls"], json!(2.0 * tuning.len() as f64));
    assert!(dry["most"]["usd"].as_f64() > Some(0.0));
    assert_eq!(desk.server.requests().len(), before);
    assert_eq!(desk.count("SELECT count(*) FROM prompt_look"), 0);
    let found = tried(&desk, &["cured.md"]);
    let asked = desk.server.requests().split_off(before);
    assert_eq!(asked.len(), 2 * tuning.len());
    let count = |kinds: &[usize]| {
        tuning
            .iter()
            .filter(|at| kinds.contains(&(*at % 5)))
            .count()
    };
    let (fixed, broken, right) = (count(&[0, 1, 2]), count(&[4]), count(&[3]));
    let result = &found["result"];
    assert_eq!(
        (
            &result["fixed"],
            &result["broken"],
            &result["both_right"],
            &result["both_wrong"]
        ),
        (&json!(fixed), &json!(broken), &json!(right), &json!(0)),
        "{found}"
    );
    let p = result["mcnemar_p"].as_f64().unwrap();
    assert!((p - exact_p(fixed, broken)).abs() < 1e-12, "{p}");
    assert_eq!(found["new"]["order"]["flips"]["value"], json!(0.0));
    // The plan shows each of these pairs in both orders, so that the flips of the old prompt are known.
    assert_eq!(found["old"]["order"]["pairs"], json!(QUERIES));
    assert!(found["new"]["tokens_per_call"].as_f64() > found["old"]["tokens_per_call"].as_f64());
    // No text of the held-out part was sent.
    for request in &asked {
        let body = request.body.to_string();
        assert!(
            !held_out
                .iter()
                .any(|at| body.contains(&format!("text {at} of"))),
            "{body}"
        );
    }
    // The same again asks nothing, and the scores are those of the votes.
    let again = tried(&desk, &["cured.md"]);
    assert_eq!(
        (&again["result"], &again["spent_usd"]),
        (result, &json!(0.0))
    );
    assert_eq!(desk.server.requests().len(), before + asked.len());
    assert_eq!(told(&desk.run(&["queries", "--json"])), scores);
    let status = json_of(&desk.run(&["status", "--json"]));
    assert!(
        status["spent_usd"].as_f64() > Some(desk.spent()),
        "{status}"
    );
    // The words say the same.
    let text = told(&desk.run(&["prompt", "try", "gpt", "cured.md", "--yes"]));
    assert!(
        text.contains(&format!("fixes {fixed} of the {fixed} judgments")),
        "{text}"
    );
}

#[test]
fn an_unchanged_prompt_looks_no_better_and_its_votes_cost_nothing() {
    let desk = faulty();
    let before = desk.server.requests().len();
    let found = tried(&desk, &["score"]);
    // The votes on both orders of each pair are there.
    assert_eq!(desk.server.requests().len(), before);
    let result = &found["result"];
    assert_eq!(
        (&result["fixed"], &result["broken"], &result["mcnemar_p"]),
        (&json!(0), &json!(0), &json!(1.0))
    );
    assert_eq!(result["old"], result["new"]);
    assert_eq!(result["conclusion"], "not-enough");
}

#[test]
fn the_held_out_part_is_looked_at_once_for_each_version() {
    let desk = faulty();
    let held_out = part(&desk, "held-out");
    let before = desk.server.requests().len();
    let first = tried(&desk, &["cured.md", "--final"]);
    assert_eq!(desk.server.requests().len(), before + 2 * held_out.len());
    assert_eq!(first["looks"]["looks"], 1);
    assert_eq!(first["looks"]["holm_p"], first["result"]["mcnemar_p"]);
    let again = tried(&desk, &["cured.md", "--final"]);
    assert_eq!(
        (&again["looks"]["looks"], &again["looks"]["is_new"]),
        (&json!(1), &json!(false))
    );
    let other = tried(&desk, &["score", "--final"]);
    assert_eq!(
        (&other["looks"]["looks"], &other["looks"]["versions"]),
        (&json!(2), &json!(2))
    );
    let corrected = tried(&desk, &["cured.md", "--final"])["looks"]["holm_p"]
        .as_f64()
        .unwrap();
    assert!(
        (corrected - (2.0 * first["result"]["mcnemar_p"].as_f64().unwrap()).min(1.0)).abs() < 1e-12
    );
    assert_eq!(desk.count("SELECT count(*) FROM prompt_look"), 2);
    let log = told(&desk.run(&["log"]));
    assert!(log.contains(" look "), "{log}");
}

#[test]
fn a_prompt_is_checked_with_the_answers_that_are_there() {
    let desk = faulty();
    let held_out = part(&desk, "held-out");
    let right = |kinds: &[usize]| {
        held_out
            .iter()
            .filter(|at| kinds.contains(&(*at % 5)))
            .count()
    };
    tried(&desk, &["cured.md", "--final"]);
    let before = desk.server.requests().len();
    let check = |more: &[&str]| desk.run(&[&["prompt", "check", "gpt"], more].concat());
    let ran = check(&[
        "cured.md",
        "--not-worse-than",
        "gpt",
        "--pairs",
        "300",
        "--json",
    ]);
    let found = json_of(&ran);
    assert_eq!(
        (
            &found["pairs"],
            &found["judge_right"],
            &found["against_right"]
        ),
        (
            &json!(held_out.len()),
            &json!(right(&[0, 1, 2, 3])),
            &json!(right(&[3, 4]))
        ),
        "{found}"
    );
    assert_eq!(
        (&found["decision"], ran.status.code()),
        (&json!("pass"), Some(0))
    );
    // The other way round, the old prompt is worse.
    let hash = found["judge"]["prompt"].as_str().unwrap();
    assert_eq!(found["judge"]["name"], found["against"]["name"]);
    let ran = check(&["gpt", "--not-worse-than", hash, "--pairs", "300", "--json"]);
    let worse = json_of(&ran);
    assert_eq!(
        (&worse["decision"], ran.status.code()),
        (&json!("worse"), Some(1))
    );
    assert_eq!(worse["only_judge_right"], found["only_against_right"]);
    // Nothing was asked. The final trial was the look at the new prompt; the old one has one, too.
    assert_eq!(desk.server.requests().len(), before);
    assert_eq!((&found["looks"], &worse["looks"]), (&json!(1), &json!(2)));
    assert_eq!(desk.count("SELECT count(*) FROM prompt_look"), 2);
    // Against another prompt, the old one is looked at again, because only a final trial counts.
    let cured = std::fs::read_to_string(desk.path("cured.md")).unwrap();
    std::fs::write(desk.path("third.md"), format!("{cured}\nThank you.\n")).unwrap();
    let third = tried(&desk, &["third.md", "--final"]);
    let hash = third["prompt"].as_str().unwrap();
    let check = || {
        json_of(&check(&[
            "gpt",
            "--not-worse-than",
            hash,
            "--pairs",
            "300",
            "--json",
        ]))
    };
    assert_eq!(check()["looks"], 4);
    assert_eq!(check()["looks"], 4);
}

#[test]
fn a_check_without_answers_names_the_command_that_gets_them() {
    let desk = faulty();
    let check =
        |prompt: &str| desk.run(&["prompt", "check", "gpt", prompt, "--not-worse-than", "gpt"]);
    let ran = check("cured.md");
    assert_eq!(ran.status.code(), Some(3), "{}", told(&ran));
    let text = told(&ran);
    assert!(text.contains("undecided"), "{text}");
    assert!(
        text.contains("overrule prompt try gpt cured.md --final"),
        "{text}"
    );
    let same = check("score");
    assert_eq!(same.status.code(), Some(2), "{}", told(&same));
    assert!(told(&same).contains("name two prompts"), "{}", told(&same));
}

#[test]
fn a_trial_of_overruled_judgments_has_no_conclusion() {
    let desk = faulty();
    let overruled = part(&desk, "tuning")
        .into_iter()
        .filter(|query| query % 5 < 3)
        .count();
    let found = tried(&desk, &["cured.md", "--set", "overruled"]);
    let result = &found["result"];
    assert_eq!(
        (&result["fixed"], &result["broken"], &result["pairs"]),
        (&json!(overruled), &json!(0), &json!(overruled))
    );
    for name in ["mcnemar_p", "query_p", "conclusion", "expected_verdicts"] {
        assert_eq!(result[name], Value::Null, "{name}: {result}");
    }
    let text = told(&desk.run(&[
        "prompt",
        "try",
        "gpt",
        "cured.md",
        "--set",
        "overruled",
        "--yes",
    ]));
    assert!(
        text.contains("nothing could break") && !text.contains("p ="),
        "{text}"
    );
}

#[test]
fn failures_of_the_old_prompt_count_if_no_vote_followed() {
    let desk = faulty();
    let votes = desk.count("SELECT count(*) FROM vote");
    desk.change(
        "INSERT INTO failure (battle, judge, swapped, cause, message, attempt, tokens_input,
         tokens_output, created_ms)
         SELECT battle, judge, 0, 'timed_out', 'late', 1, 0, 0, 1 FROM vote",
    );
    assert_eq!(tried(&desk, &["score"])["old"]["invalid"], json!(0.0));
    desk.change(
        "DELETE FROM vote WHERE battle = 1;
         UPDATE call_total SET votes = votes - 1
         WHERE query = (SELECT query FROM battle WHERE id = 1)",
    );
    assert_eq!(
        tried(&desk, &["score"])["old"]["invalid"],
        json!(1.0 / votes as f64)
    );
}

#[test]
fn examples_come_from_the_tuning_part_and_are_not_evaluated() {
    let desk = faulty();
    let (tuning, held_out) = (part(&desk, "tuning"), part(&desk, "held-out"));
    let before = desk.server.requests().len();
    let found = tried(&desk, &["cured.md", "--examples", "3"]);
    let examples = found["examples"].as_array().unwrap();
    assert_eq!(examples.len(), 3);
    assert_eq!(found["result"]["pairs"], tuning.len() - 3);
    assert_eq!(found["left_out"]["in_prompt"], 3);
    let pairs = found["pairs"].as_array().unwrap();
    for example in examples {
        assert!(!pairs.iter().any(|pair| pair["query"] == example["query"]));
        assert_eq!(example["overruled"], true);
    }
    for request in desk.server.requests().split_off(before) {
        let body = request.body.to_string();
        assert!(body.contains("Example 3"));
        assert!(
            !held_out
                .iter()
                .any(|at| body.contains(&format!("text {at} of"))),
            "{body}"
        );
    }
    // The version with its examples keeps its queries out, also when it is tried by its hash.
    let hash = found["prompt"].as_str().unwrap();
    let again = tried(&desk, &[hash]);
    assert_eq!(
        (&again["result"], &again["left_out"]),
        (&found["result"], &found["left_out"])
    );
    let pasted = desk.run(&["prompt", "export", hash, "pasted.md"]);
    assert_eq!(pasted.status.code(), Some(0), "{}", told(&pasted));
    assert_eq!(tried(&desk, &["pasted.md"])["left_out"], found["left_out"]);
}

#[test]
fn a_trial_that_was_stopped_continues_and_pays_for_nothing_twice() {
    let desk = faulty();
    let tuning = part(&desk, "tuning");
    let before = desk.server.total_calls();
    let command = ["prompt", "try", "gpt", "cured.md", "--yes", "--json"];
    let spent = json_of(&desk.run(&["status", "--json"]))["spent_usd"]
        .as_f64()
        .unwrap();
    let budget = format!("{}", spent + 0.004);
    let stopped = desk.run(&[&command[..], &["--budget", &budget]].concat());
    assert_eq!(stopped.status.code(), Some(3), "{}", told(&stopped));
    let missing = json_of(&stopped)["missing_answers"].as_u64().unwrap();
    assert!(
        missing > 0 && told(&stopped).contains("budget"),
        "{}",
        told(&stopped)
    );
    let refused = desk.run(
        &[
            &command[..],
            &["--budget", &format!("{spent}"), "--dry-run"],
        ]
        .concat(),
    );
    assert_eq!(refused.status.code(), Some(0), "{}", told(&refused));
    let done = desk.run(&command);
    assert_eq!(done.status.code(), Some(0), "{}", told(&done));
    assert_eq!(json_of(&done)["result"]["pairs"], tuning.len());
    assert_eq!(desk.server.total_calls(), before + 2 * tuning.len());
}

/// Starts a trial that keeps two calls in flight, and waits until it has sent this many requests.
fn started(desk: &Desk, more: &[&str], requests: usize) -> Child {
    let before = desk.server.requests().len();
    let trial = "prompt try gpt cured.md --yes --concurrency 2";
    let mut command = desk.command(&trial.split(' ').collect::<Vec<_>>());
    command.args(more);
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    while desk.server.requests().len() < before + requests {
        std::thread::sleep(Duration::from_millis(2));
    }
    child.unwrap()
}

#[test]
fn a_killed_trial_continues_and_pays_for_no_answer_twice() {
    const KILLS: usize = 4;
    let desk = faulty();
    let tuning = part(&desk, "tuning").len();
    let before = desk.server.requests().len();
    desk.server.set_latency(Duration::from_millis(20));
    let answers = "SELECT count(*) FROM rerank_call WHERE readable";
    for kill in 1..=KILLS {
        let mut child = started(&desk, &["--json"], 8);
        child.kill().unwrap();
        child.wait().unwrap();
        // At most two were in flight, and two whose answers came in the moment of the kill.
        let stored = usize::try_from(desk.count(answers)).unwrap();
        let sent = desk.server.requests().len() - before;
        assert!(sent <= stored + kill * 4, "kill {kill}: {stored} of {sent}");
    }
    desk.server.set_latency(Duration::ZERO);
    let stored = usize::try_from(desk.count(answers)).unwrap();
    let sent = desk.server.requests().len();
    let found = tried(&desk, &["cured.md"]);
    assert_eq!(found["result"]["pairs"], json!(tuning));
    assert_eq!(desk.server.requests().len(), sent + 2 * tuning - stored);
    let twice = "SELECT count(*) FROM (SELECT 1 FROM rerank_call WHERE readable GROUP BY key
                 HAVING count(*) > 1)";
    assert_eq!(desk.count(twice), 0);
    assert!(desk.count("SELECT count(*) FROM call WHERE cause = 'killed'") > 0);
    let sent = desk.server.requests().len();
    let hash = found["prompt"].as_str().unwrap();
    done(&desk, &["prompt", "use", "gpt", hash, "--all", "--yes"]);
    assert_eq!(desk.server.requests().len(), sent + 2 * (QUERIES - tuning));
}

#[test]
#[cfg(unix)]
fn a_final_test_that_was_interrupted_is_not_a_look() {
    let desk = faulty();
    let held_out = part(&desk, "held-out").len();
    let before = desk.server.requests().len();
    desk.server.set_latency(Duration::from_millis(20));
    let mut child = started(&desk, &["--final"], 8);
    let id = rustix::process::Pid::from_raw(child.id().cast_signed()).unwrap();
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(desk.count("SELECT count(*) FROM prompt_look"), 0);
    desk.server.set_latency(Duration::ZERO);
    let found = tried(&desk, &["cured.md", "--final"]);
    assert_eq!(
        (&found["looks"]["looks"], &found["result"]["pairs"]),
        (&json!(1), &json!(held_out))
    );
    // An interrupted command waits for the calls in flight.
    assert_eq!(desk.server.requests().len(), before + 2 * held_out);
}

#[test]
fn identical_pairs_are_asked_about_and_counted_once() {
    let desk = faulty();
    for (file, twins, from, to) in [
        ("in.jsonl", "twins.jsonl", "\"id\":\"q", "\"id\":\"twin"),
        ("gold.csv", "twins.csv", "\nq", "\ntwin"),
    ] {
        let text = std::fs::read_to_string(desk.path(file)).unwrap();
        std::fs::write(desk.path(twins), text.replace(from, to)).unwrap();
    }
    let before = desk.server.requests().len();
    let annotate = ["annotate", "twins.jsonl", "twins.out.jsonl", "--yes"];
    done(
        &desk,
        &[&annotate[..], &["--probe", "0", "--cycles", "1"]].concat(),
    );
    done(&desk, &["gold", "import", "twins.csv"]);
    assert_eq!(desk.server.requests().len(), before);
    let dry = tried(&desk, &["cured.md", "--dry-run"]);
    let found = tried(&desk, &["cured.md"]);
    let asked = desk.server.requests().len() - before;
    // Each pair and its twin take two calls.
    assert!(asked > 0);
    assert_eq!(found["result"]["pairs"], json!(asked));
    assert_eq!(dry["expected"]["calls"], json!(asked as f64));
    let spent = found["spent_usd"].as_f64().unwrap();
    let is_spent = |usd: f64| assert!((usd - spent).abs() < 1e-9, "{usd}, {spent}");
    is_spent(found["cost_usd"].as_f64().unwrap());
    let new = |name: &str| found["new"][name].as_f64().unwrap();
    // A million tokens cost a dollar.
    is_spent(new("tokens_per_call") * asked as f64 / 1e6);
    is_spent(new("usd_per_1000") * asked as f64 / 1e3);
}
