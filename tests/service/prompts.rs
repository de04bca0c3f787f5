//! Runs the real binary on versions of prompts: it identifies those of older votes, edits them, and
//! never pays for a vote twice.

use crate::desk::{Desk, json_of, told};
use crate::fake_provider::CURE;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::process::{Child, Stdio};
use std::time::Duration;

const OWN: &str = "answer: choice\n=== system ===\nChoose.\n=== case ===\n\
                   {{mark}}\n[[query {{mark}}]]\n{{query}}\n[[/query {{mark}}]]\n\
                   [[document A {{mark}}]]\n{{a}}\n[[/document A {{mark}}]]\n\
                   [[document B {{mark}}]]\n{{b}}\n[[/document B {{mark}}]]\n\
                   Answer: first \"thoughts\", then \"choice\".\n";

/// A project with votes of three judges, one of which has a prompt of the user.
fn judged() -> Desk {
    let desk = Desk::new("");
    std::fs::write(desk.path("own.md"), OWN).unwrap();
    let config = std::fs::read_to_string(desk.path("overrule.toml")).unwrap();
    let config = config.replacen(
        "provider = \"openai\"",
        "provider = \"openai\"\nprompt = \"own.md\"",
        1,
    );
    std::fs::write(desk.path("overrule.toml"), config).unwrap();
    let output = desk.annotate(&["--yes", "--probe", "0"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    desk
}

fn listed(desk: &Desk) -> Vec<Value> {
    let output = desk.run(&["prompt", "list", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    json_of(&output).as_array().unwrap().clone()
}

fn prompt_of(desk: &Desk, judge: &str) -> Value {
    let of_judge = |row: &&Value| {
        let judges = row["judges"].as_array().unwrap();
        judges.iter().any(|of| of["judge"] == judge)
    };
    listed(desk).iter().find(of_judge).unwrap().clone()
}

#[test]
fn a_project_of_an_earlier_version_asks_nothing_and_knows_the_prompts_of_its_votes() {
    let desk = judged();
    let asked = desk.server.requests().len();
    desk.change("DROP TABLE prompt; DROP TABLE prompt_look; PRAGMA user_version = 28");
    let again = desk.annotate(&["--yes", "--probe", "0"]);
    assert_eq!(again.status.code(), Some(0), "{}", told(&again));
    assert_eq!(desk.server.requests().len(), asked);
    // The run has stored the text of the user's prompt; before it, only the hash was known.
    assert_eq!(prompt_of(&desk, "gpt")["text_known"], true);
    desk.change("DELETE FROM prompt");
    let (own, built_in) = (prompt_of(&desk, "gpt"), prompt_of(&desk, "claude"));
    assert_eq!(
        (&own["text_known"], &own["votes"]),
        (&json!(false), &json!(36))
    );
    assert_eq!(
        (&built_in["name"], &built_in["votes"]),
        (&json!("score"), &json!(72))
    );
    let list = told(&desk.run(&["prompt", "list"]));
    assert!(list.contains("text unknown"), "{list}");
    let refused = desk.run(&["prompt", "show", "gpt"]);
    assert_eq!(refused.status.code(), Some(2), "{}", told(&refused));
    // Each vote references a prompt.
    let unreferenced =
        "SELECT count(*) FROM vote JOIN judge ON judge.id = judge WHERE prompt_hash = ''";
    assert_eq!(desk.count(unreferenced), 0);
}

#[test]
fn an_edited_prompt_is_a_version_with_a_parent_and_changes_no_judge() {
    let desk = judged();
    let (asked, before) = (desk.server.requests().len(), prompt_of(&desk, "gpt"));
    std::fs::write(
        desk.path("new.md"),
        OWN.replace("Choose.", "Choose the better one."),
    )
    .unwrap();
    let edit = [
        "prompt", "edit", "gpt", "--file", "new.md", "--note", "clearer", "--json",
    ];
    let edited = json_of(&desk.run(&edit));
    assert_eq!(
        (&edited["parent"], &edited["new"]),
        (&before["hash"], &json!(true))
    );
    assert_eq!(json_of(&desk.run(&edit))["new"], false);
    let hash = edited["hash"].as_str().unwrap();
    let shown = json_of(&desk.run(&["prompt", "show", &hash[..6], "--json"]));
    assert_eq!(
        (&shown["note"], &shown["votes"]),
        (&json!("clearer"), &json!(0))
    );
    let diff = told(&desk.run(&["prompt", "diff", hash]));
    assert!(
        diff.contains("-Choose.\n+Choose the better one.\n"),
        "{diff}"
    );
    desk.run(&["prompt", "export", hash, "out.md"]);
    assert_eq!(
        std::fs::read_to_string(desk.path("out.md")).unwrap(),
        shown["text"]
    );
    let log = told(&desk.run(&["log", "--json"]));
    assert!(log.contains(hash) && log.contains("clearer"), "{log}");
    // Neither an unreadable text nor one for another question is stored.
    for text in [
        "Choose.",
        "answer: slots\n=== system ===\nx\n=== case ===\n{{query}}{{documents}}{{task}}",
    ] {
        std::fs::write(desk.path("bad.md"), text).unwrap();
        let refused = desk.run(&["prompt", "edit", "gpt", "--file", "bad.md"]);
        assert_eq!(refused.status.code(), Some(2), "{}", told(&refused));
    }
    let same = desk.run(&["prompt", "edit", "gpt", "--file", "own.md"]);
    assert_eq!(same.status.code(), Some(2), "{}", told(&same));
    desk.annotate(&["--yes", "--probe", "0"]);
    assert_eq!(desk.server.requests().len(), asked);
}

#[test]
fn merged_projects_share_the_texts_of_prompts() {
    let (desk, other) = (judged(), judged());
    desk.change("DELETE FROM prompt");
    let merged = desk.run(&["merge", other.path("overrule.db").to_str().unwrap()]);
    assert_eq!(merged.status.code(), Some(0), "{}", told(&merged));
    assert_eq!(prompt_of(&desk, "gpt")["text_known"], true);
}

/// Number of queries of a trial, each with one pair.
const QUERIES: usize = 40;

/// Whether the better document of a query is the shorter one; in every fifth query, people prefer
/// the one that the cured model does not.
fn shorter_is_better(query: usize) -> bool {
    query % 5 < 3
}

/// Has the pairs judged in one cycle.
fn annotated_once(desk: &Desk) -> std::process::Output {
    desk.annotate(&["--yes", "--probe", "0", "--cycles", "1"])
}

/// A judge with a planted fault, whose votes people overruled or confirmed.
fn faulty() -> Desk {
    decided("compatible", "longest", false)
}

/// A judge whose votes people overruled or confirmed, on queries of two documents or three.
fn decided(provider: &str, model: &str, third: bool) -> Desk {
    let desk = Desk::new("");
    let config = format!(
        "[[judge]]\nname = \"gpt\"\nprovider = {provider:?}\nmodel = {model:?}\n\
         base_url = {:?}\nprice = {{ input = 1.0, output = 1.0 }}\n",
        desk.server.v1(),
    );
    std::fs::write(desk.path("overrule.toml"), config).unwrap();
    let (mut lines, mut gold) = (String::new(), "query,a,b,decision,note\n".to_owned());
    for query in 0..QUERIES {
        let (short, long) = match query % 5 {
            3 => ("", "good"),
            _ => ("good", ""),
        };
        let document = |id: &str, text: String| json!({"id": id, "content": text});
        let words =
            |count: usize| -> String { (0..count).map(|at| format!("w{query}x{at} ")).collect() };
        let mut documents = vec![
            document("short", format!("{short} text {query} of {}", words(3))),
            document("long", format!("{long} text {query} of {}", words(20))),
        ];
        if third {
            documents.push(document("third", format!("text {query} of {}", words(9))));
        }
        let line = json!({"query": {"id": format!("q{query}"), "query": format!("trams, number {query}, in town")}, "documents": documents});
        lines += &format!("{line}\n");
        let better = if shorter_is_better(query) { "a" } else { "b" };
        gold += &format!("q{query},short,long,{better},\n");
    }
    std::fs::write(desk.path("in.jsonl"), lines).unwrap();
    std::fs::write(desk.path("gold.csv"), gold).unwrap();
    let output = annotated_once(&desk);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let output = desk.run(&["gold", "import", "gold.csv"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let cured = json_of(&desk.run(&["prompt", "show", "score", "--json"]));
    let cured = cured["text"]
        .as_str()
        .unwrap()
        .replace("=== case ===\n", &format!("=== case ===\n{CURE}\n"));
    std::fs::write(desk.path("cured.md"), cured).unwrap();
    desk
}

/// The numbers of the queries of a part.
fn part(desk: &Desk, part: &str) -> Vec<usize> {
    let set = json_of(&desk.run(&["prompt", "set", "--json"]));
    let pairs = set["pairs"].as_array().unwrap().clone();
    assert_eq!(pairs.len(), QUERIES);
    let of_part = pairs.iter().filter(|pair| pair["part"] == part);
    of_part
        .map(|pair| pair["query"].as_str().unwrap()[1..].parse().unwrap())
        .collect()
}

fn tried(desk: &Desk, more: &[&str]) -> Value {
    let output = desk.run(&[&["prompt", "try", "gpt"], more, &["--yes", "--json"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    json_of(&output)
}

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

/// Starts a command and waits until it has sent this many requests.
fn started(desk: &Desk, command: &[&str], requests: usize) -> Child {
    let before = desk.server.requests().len();
    let mut command = desk.command(command);
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
    let command = [
        "prompt",
        "try",
        "gpt",
        "cured.md",
        "--yes",
        "--json",
        "--concurrency",
        "2",
    ];
    let answers = "SELECT count(*) FROM rerank_call WHERE readable";
    for kill in 1..=KILLS {
        let mut child = started(&desk, &command, 8);
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
    let command = [
        "prompt",
        "try",
        "gpt",
        "cured.md",
        "--final",
        "--yes",
        "--concurrency",
        "2",
    ];
    let mut child = started(&desk, &command, 8);
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

/// The hash of the cured prompt after a trial of it.
fn tried_hash(desk: &Desk) -> String {
    tried(desk, &["cured.md"])["prompt"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[test]
fn a_prompt_in_use_reuses_trial_answers_and_can_be_undone_for_nothing() {
    let desk = faulty();
    let tuning = part(&desk, "tuning").len();
    let votes = usize::try_from(desk.count("SELECT count(*) FROM vote")).unwrap();
    let file = std::fs::read_to_string(desk.path("overrule.toml")).unwrap();
    let hash = tried_hash(&desk);
    let before = desk.server.requests().len();
    let dry = json_of(&desk.run(&["prompt", "use", "gpt", &hash, "--dry-run", "--json"]));
    assert_eq!(
        (&dry["stale_votes"], &dry["trial_answers"]),
        (&json!(votes), &json!(2 * tuning)),
        "{dry}"
    );
    assert_eq!(
        std::fs::read_to_string(desk.path("overrule.toml")).unwrap(),
        file
    );
    // The votes are replaced by the next run, except those that trials have answers for: each pair
    // has a battle in each order, and the trial asked about both.
    let used = desk.run(&["prompt", "use", "gpt", &hash]);
    assert_eq!(used.status.code(), Some(0), "{}", told(&used));
    assert_eq!(desk.server.requests().len(), before);
    let ran = annotated_once(&desk);
    assert_eq!(ran.status.code(), Some(0), "{}", told(&ran));
    assert_eq!(desk.server.requests().len(), before + votes - 2 * tuning);
    let prompt = prompt_of_hash(&desk, &hash);
    assert_eq!(prompt["votes"], json!(votes));
    let log = told(&desk.run(&["log"]));
    assert!(log.contains("prompt of gpt"), "{log}");
    // Undone: the file is as it was, and the former votes count again.
    let undone = desk.run(&["prompt", "use", "gpt", "--undo"]);
    assert_eq!(undone.status.code(), Some(0), "{}", told(&undone));
    assert_eq!(
        std::fs::read_to_string(desk.path("overrule.toml")).unwrap(),
        file
    );
    let asked = desk.server.requests().len();
    let ran = annotated_once(&desk);
    assert_eq!(ran.status.code(), Some(0), "{}", told(&ran));
    assert_eq!(desk.server.requests().len(), asked);
    assert_eq!(
        desk.run(&["prompt", "use", "gpt", "--undo"]).status.code(),
        Some(2)
    );
}

fn prompt_of_hash(desk: &Desk, hash: &str) -> Value {
    listed(desk)
        .iter()
        .find(|row| row["hash"] == hash)
        .unwrap()
        .clone()
}

#[test]
fn only_the_chosen_queries_get_the_new_prompt() {
    let desk = faulty();
    let hash = tried_hash(&desk);
    let held_out = part(&desk, "held-out")[0];
    let query = format!("q{held_out}");
    let votes = desk.count(&format!("SELECT count(*) FROM vote JOIN battle ON battle.id = battle JOIN query ON query.id = query WHERE name = '{query}'"));
    let before = desk.server.requests().len();
    let used = desk.run(&["prompt", "use", "gpt", &hash, "--query", &query, "--yes"]);
    assert_eq!(used.status.code(), Some(0), "{}", told(&used));
    assert_eq!(
        desk.server.requests().len(),
        before + usize::try_from(votes).unwrap()
    );
    let counting = "SELECT count(DISTINCT ensemble) FROM query";
    assert_eq!(desk.count(counting), 2);
}

#[test]
fn a_prompt_can_be_used_by_another_judge() {
    let desk = faulty();
    let file = std::fs::read_to_string(desk.path("overrule.toml")).unwrap();
    let hash = tried_hash(&desk);
    let used = desk.run(&["prompt", "use", "gpt", &hash, "--as", "cured"]);
    assert_eq!(used.status.code(), Some(0), "{}", told(&used));
    let edited = std::fs::read_to_string(desk.path("overrule.toml")).unwrap();
    assert!(
        edited.starts_with(&file) && edited.contains("name = \"cured\""),
        "{edited}"
    );
    assert!(told(&used).contains("cured is added"), "{}", told(&used));
    let taken = desk.run(&["prompt", "use", "gpt", &hash, "--as", "cured"]);
    assert_eq!(taken.status.code(), Some(2), "{}", told(&taken));
    // A judge that someone has changed since stays.
    let undo = ["prompt", "use", "cured", "--undo"];
    let changed = format!("{edited}params = {{ effort = \"low\" }}\n");
    std::fs::write(desk.path("overrule.toml"), &changed).unwrap();
    let refused = desk.run(&undo);
    assert_eq!(refused.status.code(), Some(2), "{}", told(&refused));
    assert!(told(&refused).contains("by hand"), "{}", told(&refused));
    assert_eq!(
        std::fs::read_to_string(desk.path("overrule.toml")).unwrap(),
        changed
    );
    std::fs::write(desk.path("overrule.toml"), &edited).unwrap();
    let undone = desk.run(&undo);
    assert_eq!(undone.status.code(), Some(0), "{}", told(&undone));
    assert!(told(&undone).contains("is removed"), "{}", told(&undone));
    assert_eq!(
        std::fs::read_to_string(desk.path("overrule.toml")).unwrap(),
        file
    );
}

/// The sum of a number over the judges of an estimate.
fn of_judges(estimate: &Value, name: &str) -> usize {
    let judges = estimate["judges"].as_array().unwrap().iter();
    let sum: u64 = judges.map(|judge| judge[name].as_u64().unwrap()).sum();
    sum as usize
}

/// Number of calls of an estimate.
fn calls_of(estimate: &Value) -> usize {
    of_judges(estimate, "calls")
}

/// Checks that no request since the first `before` was sent twice.
#[track_caller]
fn assert_asked_once(desk: &Desk, before: usize) {
    let mut seen = HashSet::new();
    for request in desk.server.requests().split_off(before) {
        let body = request.body.to_string();
        assert!(seen.insert(body.clone()), "sent twice: {body}");
    }
}

#[track_caller]
fn done(desk: &Desk, command: &[&str]) {
    let output = desk.run(command);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
}

#[test]
fn votes_that_replace_imported_ones_reuse_trial_answers() {
    let desk = faulty();
    let votes = desk.run(&["export", "votes", "--format", "jsonl"]);
    std::fs::write(desk.path("votes.jsonl"), &votes.stdout).unwrap();
    done(
        &desk,
        &["--project", "other.db", "import", "votes", "votes.jsonl"],
    );
    std::fs::rename(desk.path("other.db"), desk.path("overrule.db")).unwrap();
    done(&desk, &["gold", "import", "gold.csv"]);
    assert_eq!(desk.count("SELECT count(*) FROM run"), 0);

    let tuning = part(&desk, "tuning");
    let before = desk.server.requests().len();
    let hash = tried_hash(&desk);
    let asked = desk.server.requests().len();
    assert_eq!(asked, before + 2 * tuning.len());
    // Runs over the whole project leave out queries with imported votes.
    let tried = format!("q{}", tuning[0]);
    let other = format!("q{}", part(&desk, "held-out")[0]);
    let command = [
        "prompt", "use", "gpt", &hash, "--query", &tried, "--query", &other,
    ];
    let dry = json_of(&desk.run(&[&command[..], &["--dry-run", "--json"]].concat()));
    assert_eq!(dry["trial_answers"], json!(2), "{dry}");
    assert_eq!(calls_of(&dry["replacing"]), 2, "{dry}");
    done(&desk, &[&command[..], &["--yes"]].concat());
    assert_eq!(desk.server.requests().len(), asked + 2);
    assert_asked_once(&desk, before);
    assert_eq!(prompt_of_hash(&desk, &hash)["votes"], json!(4));
    // These votes are complete, except that they cost nothing a second time.
    let reused = "SELECT count(*) FROM vote JOIN judge ON judge.id = judge
        WHERE run IS NOT NULL AND cost_usd = 0 AND tokens_input = 0 AND call_key IS NOT NULL
        AND vote.model IS NOT NULL AND reply IS NOT NULL";
    assert_eq!(desk.count(reused), 2);
}

#[test]
fn trial_answers_are_votes_in_the_order_in_which_they_were_given() {
    let desk = faulty();
    let hash = tried_hash(&desk);
    done(&desk, &["prompt", "use", "gpt", &hash, "--all", "--yes"]);
    // The cured judge prefers the document that is good, whichever is shown first.
    let wrong = format!(
        "SELECT count(*) FROM vote JOIN judge ON judge.id = vote.judge
         JOIN battle ON battle.id = vote.battle JOIN query ON query.id = battle.query
         JOIN document ON document.query = query.id AND position = a
         WHERE prompt_hash = '{hash}' AND (margin < 0) <> (document.name =
             CASE WHEN substr(query.name, 2) % 5 = 3 THEN 'long' ELSE 'short' END)"
    );
    assert_eq!(desk.count(&wrong), 0);
    let swapped = format!(
        "SELECT count(*) FROM vote JOIN judge ON judge.id = judge
         WHERE prompt_hash = '{hash}' AND swapped AND cost_usd = 0"
    );
    assert!(desk.count(&swapped) > 0);
}

#[test]
fn later_questions_in_the_other_order_reuse_trial_answers() {
    let desk = decided("compatible", "longest", true);
    let tuning = part(&desk, "tuning");
    let before = desk.server.requests().len();
    let hash = tried_hash(&desk);
    done(&desk, &["prompt", "use", "gpt", &hash]);
    // The plan has each of the three pairs in one order.
    let ran = annotated_once(&desk);
    assert_eq!(ran.status.code(), Some(0), "{}", told(&ran));
    let asked = desk.server.requests().len();
    assert_eq!(
        asked,
        before + 2 * tuning.len() + 3 * QUERIES - tuning.len()
    );
    // One pair is asked about by hand.
    let query = format!("q{}", tuning[0]);
    done(
        &desk,
        &["annotate", "--pair", &query, "short", "long", "--yes"],
    );
    assert_eq!(desk.server.requests().len(), asked);
    // A second cycle has each pair in the other order, too.
    let cycles = ["--cycles", "2", "--probe", "0"];
    let dry = json_of(&desk.annotate(&[&cycles[..], &["--dry-run", "--json"]].concat()));
    assert_eq!(of_judges(&dry, "bought"), tuning.len() - 1, "{dry}");
    assert_eq!(calls_of(&dry), 3 * QUERIES - tuning.len(), "{dry}");
    let ran = desk.annotate(&[&cycles[..], &["--yes"]].concat());
    assert_eq!(ran.status.code(), Some(0), "{}", told(&ran));
    assert_eq!(desk.server.requests().len(), asked + calls_of(&dry));
    assert_asked_once(&desk, before);
    let dry = json_of(&desk.annotate(&[&cycles[..], &["--dry-run", "--json"]].concat()));
    assert_eq!((calls_of(&dry), of_judges(&dry, "bought")), (0, 0), "{dry}");
}

#[test]
fn unreadable_trial_answers_are_asked_again() {
    let desk = faulty();
    let tuning = part(&desk, "tuning");
    let reply = json!({"choices": [{"finish_reason": "stop", "message": {"content": "No."}}]});
    let marked = format!("text {} of", tuning[0]);
    desk.server.answer_marked(&marked, 200, reply);
    let hash = tried_hash(&desk);
    desk.server.forget_marked();
    assert_eq!(
        desk.count("SELECT count(*) FROM rerank_call WHERE answer IS NOT NULL AND NOT readable"),
        2
    );
    let asked = desk.server.requests().len();
    let command = ["prompt", "use", "gpt", &hash, "--all"];
    let dry = json_of(&desk.run(&[&command[..], &["--dry-run", "--json"]].concat()));
    assert_eq!(dry["trial_answers"], json!(2 * (tuning.len() - 1)), "{dry}");
    done(&desk, &[&command[..], &["--yes"]].concat());
    assert_eq!(
        desk.server.requests().len(),
        asked + calls_of(&dry["replacing"])
    );
    assert_eq!(prompt_of_hash(&desk, &hash)["votes"], json!(2 * QUERIES));
    assert_eq!(desk.count("SELECT count(*) FROM failure"), 0);
}

#[test]
fn batches_reuse_trial_answers() {
    let desk = decided("openai", "gpt-6.1-terra", false);
    let tuning = part(&desk, "tuning").len();
    let hash = tried_hash(&desk);
    done(&desk, &["prompt", "use", "gpt", &hash]);
    let asked = desk.server.total_calls();
    let batch = ["--yes", "--probe", "0", "--cycles", "1", "--batch"];
    let dry = json_of(&desk.annotate(&[&batch[..], &["--dry-run", "--json"]].concat()));
    let submitted = desk.annotate(&batch);
    assert_eq!(submitted.status.code(), Some(3), "{}", told(&submitted));
    desk.server.finish_batches();
    let fetched = desk.annotate(&batch);
    assert_eq!(fetched.status.code(), Some(0), "{}", told(&fetched));
    assert_eq!(calls_of(&dry), 2 * (QUERIES - tuning), "{dry}");
    assert_eq!(desk.server.total_calls(), asked + calls_of(&dry));
    assert_eq!(prompt_of_hash(&desk, &hash)["votes"], json!(2 * QUERIES));
}

/// A project whose judge `gpt` is shown the guideline.
fn informed() -> Desk {
    let desk = Desk::new("");
    let prompt = OWN.replace("Choose.", "Choose.\n{{guideline}}");
    std::fs::write(desk.path("own.md"), prompt).unwrap();
    let config = std::fs::read_to_string(desk.path("overrule.toml")).unwrap();
    let config = config.replacen(
        "provider = \"openai\"",
        "provider = \"openai\"\nprompt = \"own.md\"",
        1,
    );
    std::fs::write(desk.path("overrule.toml"), config).unwrap();
    desk
}

fn set_guideline(desk: &Desk, text: &str) {
    std::fs::write(desk.path("guide.md"), text).unwrap();
    let output = desk.run(&["config", "project", "--guideline", "guide.md"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
}

#[test]
fn another_guideline_makes_another_judge_whose_votes_are_not_bought_again_when_it_returns() {
    let desk = informed();
    let refused = desk.annotate(&["--judges", "gpt", "--yes", "--probe", "0"]);
    assert_eq!(refused.status.code(), Some(2), "{}", told(&refused));
    let words = told(&refused);
    assert!(
        words.contains("{{guideline}}") && words.contains("--guideline FILE"),
        "{words}"
    );
    assert_eq!(desk.server.requests().len(), 0);
    let annotate = || {
        let output = desk.annotate(&["--judges", "gpt", "--yes", "--probe", "0"]);
        assert_eq!(output.status.code(), Some(0), "{}", told(&output));
        desk.server.requests().len()
    };
    let imported = desk.run(&["import", "in.jsonl"]);
    assert_eq!(imported.status.code(), Some(0), "{}", told(&imported));
    set_guideline(&desk, "Evidence counts.\n");
    let once = annotate();
    assert_eq!(once, 36);
    let sent = desk.server.requests().pop().unwrap();
    assert!(
        sent.body.to_string().contains("Choose.\\nEvidence counts."),
        "{:?}",
        sent.body
    );
    let of = prompt_of(&desk, "gpt");
    assert_eq!(
        of["project_texts"],
        json!({"guideline": "Evidence counts."})
    );
    assert_eq!(annotate(), once);
    // White space around it is not shown, so nothing is asked again.
    set_guideline(&desk, "\nEvidence counts.");
    assert_eq!(annotate(), once);
    set_guideline(&desk, "Length counts.");
    assert_eq!(annotate(), 2 * once);
    set_guideline(&desk, "Evidence counts.");
    assert_eq!(annotate(), 2 * once);
    // Both are versions of one text.
    let versions = listed(&desk);
    let own = versions
        .iter()
        .filter(|row| !row["project_texts"].is_null());
    assert_eq!(own.count(), 2);
}

#[test]
fn titles_and_metadata_are_shown_where_the_prompt_asks_and_a_misspelled_field_is_refused() {
    let desk = informed();
    let prompt = |field: &str| {
        let shown = format!("{{{{title_b}}}} costs {{{{metadata_b.{field}}}}}: {{{{b}}}}");
        std::fs::write(desk.path("own.md"), OWN.replace("{{b}}", &shown)).unwrap();
    };
    let documents: Vec<Value> = (0..4)
        .map(|at| {
            json!({"id": format!("d{at}"), "title": format!("Title {at}"), "content": format!("text {at}"),
                   "metadata": {"price": 10 + at, "grade": at}})
        })
        .collect();
    let line = json!({"query": {"id": "q", "query": "trams"}, "documents": documents});
    std::fs::write(desk.path("in.jsonl"), format!("{line}\n")).unwrap();
    prompt("prise");
    let arguments = ["--judges", "gpt", "--yes", "--probe", "0"];
    for more in [&["--dry-run"][..], &[]] {
        let refused = desk.annotate(&[&arguments[..], more].concat());
        assert_ne!(refused.status.code(), Some(0), "{}", told(&refused));
        let words = told(&refused);
        assert!(words.contains("{{metadata_a.prise}}"), "{words}");
    }
    assert_eq!(desk.server.requests().len(), 0);
    prompt("price");
    let done = desk.annotate(&arguments);
    assert_eq!(done.status.code(), Some(0), "{}", told(&done));
    for request in desk.server.requests() {
        let body = request.body.to_string();
        let shown =
            (0..4).any(|at| body.contains(&format!("Title {at} costs {}: text {at}", 10 + at)));
        assert!(shown && !body.contains("grade"), "{body}");
    }
}

/// Nine documents, of which the first has this price.
fn priced(first: u32) -> String {
    let documents: Vec<Value> = (0..9)
        .map(|at| {
            let price = if at == 0 { first } else { at };
            json!({"id": format!("d{at}"), "content": format!("text {at}"), "metadata": {"price": price}})
        })
        .collect();
    let line = json!({"query": {"id": "q", "query": "trams"}, "documents": documents});
    format!("{line}\n")
}

#[test]
fn votes_on_documents_whose_shown_metadata_changed_are_asked_for_again() {
    let desk = informed();
    let shown = "{{metadata_b.price}}: {{b}}";
    let prompt = OWN.replace("{{a}}", "{{metadata_a.price}}: {{a}}");
    std::fs::write(desk.path("own.md"), prompt.replace("{{b}}", shown)).unwrap();
    let annotate = |first| {
        std::fs::write(desk.path("in.jsonl"), priced(first)).unwrap();
        let before = desk.server.requests().len();
        let judges = ["--judges", "gpt,claude", "--yes", "--probe", "0"];
        let done = desk.annotate(&judges);
        assert_eq!(done.status.code(), Some(0), "{}", told(&done));
        let asked = desk.server.requests().split_off(before);
        let words = told(&done);
        (asked, words)
    };
    assert_eq!(annotate(100).0.len(), 72);
    assert_eq!(annotate(100).0.len(), 0);
    // Eight pairs have the document, and the other judge is not shown its price.
    let (asked, words) = annotate(900);
    assert_eq!(asked.len(), 8);
    assert!(
        asked
            .iter()
            .all(|of| of.body.to_string().contains("900: text 0"))
    );
    assert!(words.contains("8 votes of judges"), "{words}");
    // The earlier votes are still there, and are used again when the price returns.
    assert_eq!(desk.count("SELECT count(*) FROM vote"), 80);
    assert_eq!(annotate(100).0.len(), 0);
    assert_eq!(desk.count("SELECT count(*) FROM vote"), 88);
    assert_eq!(desk.count("SELECT count(DISTINCT battle) FROM vote"), 36);
    let judges = desk.run(&["judges", "--json"]);
    assert_eq!(judges.status.code(), Some(0), "{}", told(&judges));
}
