//! Who a judge is: what may be changed about it without buying its votes again, and what is said where they are.

use crate::desk::{CALLS, Desk, told};
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
    let rates = vec![(Fault::Unauthorised, 1.0)];
    desk.server.fail_at_random(Faults {
        rates,
        ..Faults::default()
    });
    let output = desk.annotate(&[]);
    let words = told(&output);
    assert_eq!(output.status.code(), Some(3), "{words}");
    assert!(
        words.contains("no call succeeded") && words.contains("not authorised"),
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
    let words = "q answers with other weights than those of 36 votes before";
    desk.server.list_models(&["other@x", "qwen3:8b@one"]);
    assert!(!told(&desk.annotate(&[])).contains("other weights"));
    assert!(!told(&desk.run(&["doctor"])).contains("other weights"));
    desk.server.list_models(&["qwen3:8b@two"]);
    let doctor = told(&desk.run(&["doctor"]));
    assert!(
        doctor.contains("answers with other weights than those of 36 votes before"),
        "{doctor}"
    );
    let output = told(&desk.annotate(&["--cycles", "5"]));
    assert!(output.contains(words), "{output}");
    // It is told once, and stays in the report.
    let output = told(&desk.annotate(&["--cycles", "6"]));
    assert!(!output.contains("other weights"), "{output}");
    assert!(told(&desk.run(&["judges"])).contains(words));
    assert!(!told(&desk.run(&["doctor"])).contains("other weights"));
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
