//! Prompts in use: votes that are replaced, and answers of trials that are not bought again.

use super::{QUERIES, annotated_once, decided, done, faulty, listed, part, tried};
use crate::desk::{Desk, json_of, told};
use serde_json::{Value, json};
use std::collections::HashSet;

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
