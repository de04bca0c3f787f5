//! Who a judge is: what may be changed about it without buying its votes again, and what is said
//! where they are.

use crate::desk::{CALLS, Desk, json_of, told};
use crate::fake_provider::{Fault, Faults};

/// The configuration with something more in every judge.
fn configure(desk: &Desk, more: &str) {
    std::fs::write(desk.path("overrule.toml"), desk.server.config(more)).unwrap();
}

#[test]
fn limits_times_and_prices_buy_nothing_again() {
    let desk = Desk::new("");
    assert_eq!(desk.annotate(&[]).status.code(), Some(0));
    for more in [
        "max_output_tokens = 20000",
        "timeout_s = 30\nfirst_byte_timeout_s = 20\nconcurrency = 3",
        "price = { input = 1.0, output = 2.0 }",
        "headers = { X-Team = \"search\" }",
    ] {
        configure(&desk, more);
        let output = desk.annotate(&[]);
        assert_eq!(output.status.code(), Some(0), "{more}: {}", told(&output));
        assert_eq!(desk.server.total_calls(), CALLS, "{more}");
        assert!(!told(&output).contains("another judge"), "{more}");
    }
}

#[test]
fn a_project_of_an_earlier_version_keeps_its_votes() {
    let desk = Desk::new("");
    assert_eq!(desk.annotate(&[]).status.code(), Some(0));
    // As the version before wrote them: everything that was sent.
    desk.change(
        "UPDATE judge SET params = json_set(params, '$.max_tokens', 4096, '$.store', json('false'), '$.server', 'http://x')",
    );
    let output = desk.annotate(&[]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert_eq!(desk.server.total_calls(), CALLS);
    assert_eq!(desk.count("SELECT count(*) FROM judge"), 3);
}

#[test]
fn a_judge_that_has_become_another_is_announced_before_it_is_paid() {
    let desk = Desk::new("");
    assert_eq!(desk.annotate(&[]).status.code(), Some(0));
    configure(&desk, "prompt = \"choice\"");
    let output = desk.annotate(&["--dry-run"]);
    let words = told(&output);
    assert!(
        words
            .contains("is another judge than before: its prompt has changed; not reused: 36 votes"),
        "{words}"
    );
    assert_eq!(desk.server.total_calls(), CALLS);
}

#[test]
fn votes_of_judges_that_are_not_asked_are_set_aside_and_named_first() {
    let desk = Desk::new("");
    assert_eq!(desk.annotate(&[]).status.code(), Some(0));
    let set_aside = |arguments: &[&str]| {
        let dry = [arguments, &["--dry-run", "--json"]].concat();
        json_of(&desk.annotate(&dry))["set_aside"].clone()
    };
    assert_eq!(set_aside(&[]), serde_json::json!([]));
    let named = set_aside(&["--judges", "bm25"]);
    let votes = named.as_array().unwrap().iter();
    let votes: u64 = votes.map(|judge| judge["votes"].as_u64().unwrap()).sum();
    assert_eq!(votes, CALLS as u64, "{named}");
    let words = "will be set aside, because the judges have changed";
    let output = desk.annotate(&["--judges", "bm25"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(told(&output).contains(words), "{}", told(&output));
    // The votes of the others are set aside already, and nothing was bought.
    let output = desk.annotate(&["--judges", "bm25"]);
    assert!(!told(&output).contains(words), "{}", told(&output));
    assert_eq!(desk.server.total_calls(), CALLS);
    // The first judges count again, without a call.
    assert_eq!(desk.annotate(&[]).status.code(), Some(0));
    assert_eq!(desk.server.total_calls(), CALLS);
    assert_eq!(set_aside(&[]), serde_json::json!([]));
}

/// A configuration with one compatible judge.
fn configure_one(desk: &Desk, name: &str, more: &str) {
    let text = format!(
        "[[judge]]\nname = {name:?}\nprovider = \"compatible\"\nmodel = \"m\"\nbase_url = {:?}\n{more}\n",
        desk.server.v1()
    );
    std::fs::write(desk.path("overrule.toml"), text).unwrap();
}

/// The calls of a judge in one run of the default plan: 36 battles.
const BATTLES: usize = CALLS / 3;

fn pending(desk: &Desk, more: &[&str]) -> u64 {
    let dry = json_of(&desk.annotate(&[&["--dry-run", "--json"], more].concat()));
    dry["judges"][0]["calls"].as_u64().unwrap()
}

#[test]
fn a_changed_judge_is_compared_with_that_of_the_latest_run() {
    let desk = Desk::new("");
    let (first, second) = ("", "prompt = \"choice\"");
    for more in [first, second, first] {
        configure_one(&desk, "j", more);
        let output = desk.annotate(&[]);
        assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    }
    assert_eq!(desk.server.total_calls(), 2 * BATTLES, "one each");
    // The latest run asked the first judge again, and got its votes from the project.
    configure_one(&desk, "j", "max_document_chars = 900");
    let output = desk.annotate(&["--dry-run"]);
    let words = told(&output);
    assert!(
        words.contains("j is another judge than before: params ")
            && !words.contains("its prompt has changed"),
        "{words}"
    );
    let said = "not reused: 72 votes, which stay in the project. Restore the settings of the latest run to use its 36 votes";
    assert!(words.contains(said), "{words}");
    let changed = &json_of(&desk.annotate(&["--dry-run", "--json"]))["changed"][0];
    assert_eq!(
        (&changed["votes"], &changed["votes_of_latest"]),
        (&72.into(), &36.into())
    );
    let whats: Vec<&str> = changed["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|change| change["what"].as_str().unwrap())
        .collect();
    assert_eq!(whats, ["params"]);
    configure_one(&desk, "j", first);
    assert_eq!(pending(&desk, &[]), 0, "set back");
}

#[test]
fn a_renamed_judge_is_announced_and_can_have_its_votes() {
    let desk = Desk::new("");
    configure_one(&desk, "j", "");
    assert_eq!(desk.annotate(&[]).status.code(), Some(0));
    let scored = std::fs::read_to_string(desk.path("out.jsonl")).unwrap();
    let spent = json_of(&desk.run(&["status", "--json"]))["spending"].clone();
    configure_one(&desk, "new name", "");
    let words = told(&desk.annotate(&["--dry-run"]));
    let said = "new name has no votes; j has 36 votes of the same model, prompt and parameters";
    assert!(
        words.contains(said) && words.contains("`overrule config judges --rename j 'new name'`"),
        "{words}"
    );
    let dry = json_of(&desk.annotate(&["--dry-run", "--json"]));
    assert_eq!(
        dry["renamed"],
        serde_json::json!([{ "name": "new name", "before": "j", "votes": 36 }])
    );
    assert_eq!(dry["changed"], serde_json::json!([]));
    // Somebody who changed more than the name has another judge, about which there is nothing to
    // say.
    configure_one(&desk, "other", "prompt = \"choice\"");
    assert!(!told(&desk.annotate(&["--dry-run"])).contains("has no votes;"));

    for (old, new, said) in [
        (
            "k",
            "l",
            "no judge of the project is called k (did you mean \"j\"?)",
        ),
        ("j", "j", "the new name is empty or equal to the old one"),
        ("j", " ", "the new name is empty or equal to the old one"),
    ] {
        let output = desk.run(&["config", "judges", "--rename", old, new]);
        assert_eq!(output.status.code(), Some(2));
        assert!(told(&output).contains(said), "{}", told(&output));
    }
    let renamed = desk.run(&["config", "judges", "--rename", "j", "new name"]);
    assert_eq!(renamed.status.code(), Some(0), "{}", told(&renamed));
    let said = "moved 36 votes from j to new name";
    assert!(told(&renamed).contains(said), "{}", told(&renamed));

    configure_one(&desk, "new name", "");
    assert_eq!(pending(&desk, &[]), 0);
    let before = desk.server.total_calls();
    let output = desk.annotate(&[]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert!(
        !told(&output).contains("has no votes;"),
        "{}",
        told(&output)
    );
    assert_eq!(desk.server.total_calls(), before);
    assert_eq!(
        std::fs::read_to_string(desk.path("out.jsonl")).unwrap(),
        scored
    );
    // What was spent is the new name's.
    let now = json_of(&desk.run(&["status", "--json"]))["spending"].clone();
    let as_before = spent.to_string().replace("\"j\"", "\"new name\"");
    assert_eq!(now.to_string(), as_before);
}

#[test]
fn a_new_name_never_has_two_answers_to_one_question() {
    let desk = Desk::new("");
    configure_one(&desk, "j", "");
    assert_eq!(desk.annotate(&["--cycles", "6"]).status.code(), Some(0));
    let of_j = desk.server.total_calls();
    configure_one(&desk, "k", "");
    assert_eq!(desk.annotate(&["--cycles", "4"]).status.code(), Some(0));
    let of_k = desk.server.total_calls() - of_j;
    assert!(of_k < of_j);
    let renamed = told(&desk.run(&["config", "judges", "--rename", "j", "k"]));
    let kept = desk.count(
        "SELECT count(*) FROM vote JOIN judge ON judge.id = vote.judge WHERE judge.name = 'j'",
    );
    let said = format!("{kept} votes stay under j, because k answered the same questions");
    assert!(kept > 0 && renamed.contains(&said), "{renamed}");
    let votes = desk.count("SELECT count(*) FROM vote");
    assert_eq!(votes as usize, of_j + of_k, "no paid vote is lost");
    let twice = desk.count(
        "SELECT count(*) FROM (SELECT 1 FROM vote JOIN battle ON battle.id = vote.battle
         GROUP BY query, judge, min(a, b), max(a, b), swapped != (a > b) HAVING count(*) > 1)",
    );
    assert_eq!(twice, 0);
    assert_eq!(pending(&desk, &["--cycles", "6"]), 0);
    // The sums that are kept are those of the votes.
    assert_eq!(
        desk.count("SELECT sum(votes) FROM call_total"),
        desk.count("SELECT count(*) FROM vote")
    );
}

#[test]
fn another_seed_is_said_where_answers_are_drawn_at_random() {
    let desk = Desk::new("");
    let seeded = |temperature: f64, seed: u64| {
        let more = format!("params = {{ temperature = {temperature:.1}, seed = {seed} }}");
        configure_one(&desk, "j", &more);
    };
    seeded(0.7, 1);
    assert_eq!(desk.annotate(&[]).status.code(), Some(0));
    assert!(!told(&desk.annotate(&["--dry-run"])).contains("its seed changed"));
    seeded(0.7, 2);
    let said = "j: its seed changed from 1 to 2. Its 36 votes still count";
    for more in [&["--dry-run"][..], &["--yes"]] {
        let words = told(&desk.annotate(more));
        assert!(words.contains(said), "{words}");
    }
    assert_eq!(
        desk.server.total_calls(),
        BATTLES,
        "no vote is bought again"
    );
    let dry = json_of(&desk.annotate(&["--dry-run", "--json"]));
    assert_eq!(
        dry["reseeded"],
        serde_json::json!([{ "name": "j", "before": "1", "now": "2", "votes": 36 }])
    );
    // Answers at temperature 0 do not depend on the seed.
    seeded(0.0, 1);
    assert_eq!(desk.annotate(&[]).status.code(), Some(0));
    seeded(0.0, 2);
    assert!(!told(&desk.annotate(&["--dry-run"])).contains("its seed changed"));
}

#[test]
fn a_key_that_is_missing_is_an_error_and_never_another_ensemble() {
    let desk = Desk::new("");
    let mut command = desk.command(&["annotate", "in.jsonl", "out.jsonl"]);
    let output = command.env_remove("OPENAI_API_KEY").output().unwrap();
    let words = told(&output);
    assert_eq!(output.status.code(), Some(2), "{words}");
    assert!(words.contains("OPENAI_API_KEY"), "{words}");
    assert!(!desk.path("out.jsonl").exists() && !desk.path("overrule.db").exists());
    let mut command = desk.command(&["annotate", "in.jsonl", "out.jsonl", "--judges", "offline"]);
    let output = command.env_remove("OPENAI_API_KEY").output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert_eq!(desk.server.total_calls(), 0);
    assert_eq!(desk.count("SELECT count(*) FROM judge"), 3);
}

#[test]
fn a_run_of_which_nothing_succeeded_writes_no_scores_and_lists_causes() {
    let desk = Desk::new("");
    let rates = vec![(Fault::Unauthorized, 1.0)];
    desk.server.fail_at_random(Faults {
        rates,
        ..Faults::default()
    });
    let output = desk.annotate(&[]);
    let words = told(&output);
    assert_eq!(output.status.code(), Some(3), "{words}");
    assert!(
        words.contains("no call succeeded") && words.contains("not authorized"),
        "{words}"
    );
    assert!(!desk.path("out.jsonl").exists());
}

#[test]
fn weights_that_were_replaced_under_a_name_are_noticed() {
    let desk = Desk::new("");
    let text = format!(
        "[[judge]]\nname = \"q\"\nprovider = \"ollama\"\nmodel = \"qwen3:8b\"\nbase_url = {:?}\n",
        desk.server.root()
    );
    std::fs::write(desk.path("overrule.toml"), text).unwrap();
    let words = "q answers with different weights than for 36 votes before";
    desk.server.list_models(&["other@x", "qwen3:8b@one"]);
    assert!(!told(&desk.annotate(&[])).contains("different weights"));
    assert!(!told(&desk.run(&["doctor"])).contains("different weights"));
    desk.server.list_models(&["qwen3:8b@two"]);
    let doctor = told(&desk.run(&["doctor"]));
    assert!(
        doctor.contains("answers with different weights than for 36 votes before"),
        "{doctor}"
    );
    let output = told(&desk.annotate(&["--cycles", "5"]));
    assert!(output.contains(words), "{output}");
    // It is told once, and stays in the report.
    let output = told(&desk.annotate(&["--cycles", "6"]));
    assert!(!output.contains("different weights"), "{output}");
    assert!(told(&desk.run(&["judges"])).contains(words));
    assert!(!told(&desk.run(&["doctor"])).contains("different weights"));
}

#[test]
fn the_doctor_embeds_a_text_with_each_embedder() {
    let desk = Desk::new("");
    let text = format!(
        "[[embedder]]\nname = \"vectors\"\nprovider = \"compatible\"\nmodel = \"counter\"\nbase_url = {:?}\n\
         [[embedder]]\nname = \"paid\"\nprovider = \"openai\"\nmodel = \"m\"\nkey_env = \"NOWHERE\"\n",
        desk.server.v1()
    );
    std::fs::write(desk.path("overrule.toml"), text).unwrap();
    let output = desk.run(&["doctor"]);
    assert_eq!(output.status.code(), Some(3));
    let words = told(&output);
    assert!(
        words.contains("ok  embedder vectors") && words.contains(" dimensions; "),
        "{words}"
    );
    assert!(
        words.contains("!!  embedder paid") && words.contains("NOWHERE"),
        "{words}"
    );
    let words = told(&desk.run(&["doctor", "--offline"]));
    assert!(words.contains("compatible counter: not called"), "{words}");
}
