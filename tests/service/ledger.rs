//! Every paid call is counted, whatever becomes of it; and what stands in the way of calls ends a
//! run, with its cause.

use crate::desk::{Desk, told};
use crate::fake_provider::{FakeProvider, Fault, Faults};
use serde_json::Value;
use std::process::{Child, Output, Stdio};
use std::time::Duration;

const MODELS: [&str; 3] = ["gpt-6.1-terra", "claude-sonnet-5-5", "gemini-3.8-flash"];
/// Calls of one judge.
const OF_ONE: usize = 36;

/// A thousand dollars a million tokens, on both sides.
fn priced(more: &str) -> Desk {
    let price = "price = { input = 1000.0, output = 1000.0 }\nmax_output_tokens = 100\n";
    let desk = Desk::new(&format!("{price}{more}"));
    for model in MODELS {
        desk.server.set_price(model, 1000.0, 1000.0);
    }
    desk
}

fn always(fault: Fault) -> Faults {
    Faults {
        rates: vec![(fault, 1.0)],
        ..Faults::default()
    }
}

#[track_caller]
fn ended(output: &Output, code: i32) {
    assert_eq!(output.status.code(), Some(code), "{}", told(output));
}

/// What the project says was spent: known and assumed.
fn spent(desk: &Desk) -> (f64, f64) {
    let output = desk.run(&["status", "--json"]);
    let status: Value = serde_json::from_slice(&output.stdout).unwrap();
    let of = |name: &str| status[name].as_f64().unwrap();
    assert!((of("spent_usd") - of("spent_known_usd") - of("spent_assumed_usd")).abs() < 1e-9);
    (of("spent_known_usd"), of("spent_assumed_usd"))
}

fn started(desk: &Desk, arguments: &[&str]) -> Child {
    let mut command = desk.command(arguments);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().unwrap()
}

#[track_caller]
fn until(what: &str, ready: impl FnMut() -> bool) {
    assert!(
        std::iter::repeat_with(ready).take(20_000).any(|ready| {
            std::thread::sleep(Duration::from_millis(if ready { 0 } else { 2 }));
            ready
        }),
        "waited too long until {what}"
    );
}

#[test]
fn answers_cut_in_half_never_pass_the_budget() {
    let desk = priced("");
    desk.server.fail_at_random(Faults {
        seed: 3,
        rates: vec![(Fault::CutBody, 0.5)],
        ..Faults::default()
    });
    let output = desk.annotate(&["--budget", "30"]);
    ended(&output, 3);
    assert!(told(&output).contains("budget"), "{}", told(&output));
    assert!(desk.server.billed_usd() <= 30.0);
    let (known, assumed) = spent(&desk);
    assert!(assumed > 0.0 && known + assumed <= 30.0);
    assert!(known + assumed >= desk.server.billed_usd());
}

/// What a dry run says that each judge costs: expected and at most.
fn forecast(desk: &Desk, more: &[&str]) -> (f64, f64) {
    let output = desk.annotate(&[&["--judges", "gpt", "--dry-run", "--json"], more].concat());
    let estimate: Value = serde_json::from_slice(&output.stdout).unwrap();
    let judge = &estimate["judges"][0];
    let of = |name: &str| judge[name].as_f64().unwrap();
    (of("cost_usd"), of("worst_usd"))
}

#[test]
fn nothing_costs_more_than_was_said_to_be_the_most() {
    for fault in [Fault::CutBody, Fault::CutText, Fault::Length] {
        let desk = priced("");
        desk.server.fail_at_random(Faults {
            seed: 5,
            rates: vec![(fault, 0.4)],
            ..Faults::default()
        });
        let (_, most) = forecast(&desk, &["--cycles", "1"]);
        let output = desk.annotate(&["--judges", "gpt", "--cycles", "1"]);
        let (known, assumed) = spent(&desk);
        let what = format!("{fault:?}: {known} + {assumed} of {most}");
        assert!(known + assumed <= most, "{what}: {}", told(&output));
        let billed = desk.server.billed_usd();
        assert!(billed > 0.0 && billed <= most, "{what}");
    }
}

#[test]
fn what_is_expected_follows_the_answers_that_came() {
    let desk = priced("");
    let cycles = |number| ["--judges", "gpt", "--cycles", number];
    let (guessed, _) = forecast(&desk, &["--cycles", "2"]);
    ended(&desk.annotate(&cycles("2")), 0);
    let (known, assumed) = spent(&desk);
    assert_eq!(assumed, 0.0);
    let billed = desk.server.billed_usd();
    assert!((known - billed).abs() < 1e-9, "{known} for {billed}");
    let (expected, most) = forecast(&desk, &["--cycles", "4"]);
    ended(&desk.annotate(&cycles("4")), 0);
    let more = desk.server.billed_usd() - billed;
    assert!(more > 0.0 && more <= most);
    let (before, after) = ((guessed / known).ln().abs(), (expected / more).ln().abs());
    assert!(
        after < before,
        "{guessed} for {known}, then {expected} for {more}"
    );
}

#[test]
fn answers_without_usage_are_counted_as_assumed() {
    for fault in [Fault::NoUsage, Fault::NegativeUsage, Fault::AbsurdUsage] {
        let desk = priced("");
        desk.server.fail_at_random(always(fault));
        ended(&desk.annotate(&["--judges", "gpt"]), 0);
        assert_eq!(desk.count("SELECT count(*) FROM vote"), OF_ONE as i64);
        let (known, assumed) = spent(&desk);
        let billed = desk.server.billed_usd();
        assert!(
            billed > 0.0 && assumed >= billed,
            "{fault:?}: {assumed} for {billed}"
        );
        assert_eq!(known, 0.0, "{fault:?}");
    }
}

#[test]
fn a_cap_among_the_parameters_is_set_aside() {
    let desk = priced("params = { max_completion_tokens = 40000 }");
    let output = desk.annotate(&["--judges", "gpt", "--budget", "39"]);
    ended(&output, 3);
    assert_eq!(desk.server.total_calls(), 0, "one call may cost more");
    let output = desk.annotate(&["--judges", "gpt", "--budget", "45"]);
    ended(&output, 3);
    assert!(desk.server.total_calls() > 0);
}

#[test]
fn picks_and_votes_are_paid_from_one_budget() {
    let pick = ["pick", "in.jsonl", "--open", "--judges", "gpt"];
    for picks_first in [true, false] {
        let desk = priced("");
        let first = if picks_first {
            desk.run(&pick)
        } else {
            desk.annotate(&["--judges", "gpt"])
        };
        ended(&first, 0);
        let (known, _) = spent(&desk);
        assert!(known > 0.0);
        let calls = desk.server.total_calls();
        let budget = format!("{}", known + 0.01);
        let second = if picks_first {
            desk.annotate(&["--judges", "gpt", "--budget", &budget])
        } else {
            desk.run(&[&pick[..], &["--budget", &budget]].concat())
        };
        ended(&second, 3);
        assert!(told(&second).contains("budget"), "{}", told(&second));
        assert_eq!(desk.server.total_calls(), calls, "nothing more was bought");
    }
}

#[test]
fn the_budget_kept_in_the_project_holds_for_every_command_that_spends() {
    let desk = priced("");
    ended(&desk.annotate(&["--judges", "gpt"]), 0);
    let calls = desk.server.total_calls();
    let limit = spent(&desk).0 + 0.01;
    desk.change(&format!(
        "INSERT INTO setting (name, value) VALUES ('budget', '{limit}')"
    ));
    let commands: [&[&str]; 3] = [
        &["pick", "--open", "--judges", "gpt"],
        &[
            "rerank",
            "--method",
            "pointwise@9",
            "--judges",
            "gpt",
            "--yes",
        ],
        &["scale", "run", "--judge", "gpt"],
    ];
    for command in commands {
        let output = desk.run(command);
        ended(&output, 3);
        let said = told(&output);
        assert!(said.contains("set in this project"), "{said}");
        assert!(said.contains("the budget is reached"), "{said}");
        assert_eq!(desk.server.total_calls(), calls, "{command:?}");
    }
    // For one run only.
    ended(&desk.run(&[commands[0], &["--budget", "1000"]].concat()), 0);
    assert!(desk.server.total_calls() > calls);
}

#[test]
fn calls_cut_short_by_a_kill_are_counted() {
    let desk = priced("");
    desk.server.set_latency(Duration::from_secs(3_600));
    let mut child = started(&desk, &["annotate", "in.jsonl", "out.jsonl"]);
    until("calls are in flight", || desk.server.total_calls() >= 30);
    child.kill().unwrap();
    child.wait().unwrap();
    desk.server.set_latency(Duration::ZERO);
    ended(&desk.annotate(&[]), 0);
    let (known, assumed) = spent(&desk);
    let billed = desk.server.billed_usd();
    assert!(known + assumed >= billed, "{known} + {assumed} < {billed}");
    assert_eq!(
        desk.count("SELECT count(*) FROM call WHERE ended_ms IS NULL"),
        0
    );
    assert!(desk.count("SELECT count(*) FROM call WHERE cause = 'killed'") >= 30);
}

#[test]
fn what_was_to_be_asked_once_more_is_asked_after_a_kill() {
    let desk = Desk::new("concurrency = 1");
    desk.server.fail_at_random(always(Fault::Hang));
    desk.server.fail_next(&[Fault::Prose]);
    let arguments = ["annotate", "in.jsonl", "out.jsonl", "--judges", "gpt"];
    let mut child = started(&desk, &arguments);
    until("the re-ask hangs", || desk.server.total_calls() >= 2);
    until("the bad answer is kept", || {
        desk.count("SELECT count(*) FROM failure WHERE again") == 1
    });
    child.kill().unwrap();
    child.wait().unwrap();
    desk.server.fail_at_random(Faults::default());
    ended(&desk.run(&arguments), 0);
    assert_eq!(desk.count("SELECT count(*) FROM vote"), OF_ONE as i64);
}

#[test]
fn a_page_instead_of_an_answer_is_asked_once_more_and_both_are_counted() {
    let desk = priced("");
    desk.server.fail_next(&[Fault::WrongType]);
    ended(&desk.annotate(&["--judges", "gpt"]), 0);
    assert_eq!(desk.server.total_calls(), OF_ONE + 1);
    assert_eq!(desk.count("SELECT count(*) FROM failure WHERE again"), 1);
    let (known, assumed) = spent(&desk);
    assert!(assumed > 0.0 && known > 0.0);
    assert_eq!(
        desk.count("SELECT count(*) FROM call WHERE assumed_usd > 0"),
        1
    );
}

#[test]
fn an_absurd_wait_on_an_answer_loses_no_vote_and_holds_nothing() {
    let desk = Desk::new("concurrency = 4");
    desk.server.fail_at_random(always(Fault::HugeRetryAfter));
    let output = desk.annotate(&["--judges", "gpt"]);
    ended(&output, 0);
    assert_eq!(desk.count("SELECT count(*) FROM vote"), OF_ONE as i64);
    assert_eq!(desk.server.total_calls(), OF_ONE);
}

#[test]
fn the_same_question_of_two_queries_is_bought_once() {
    let desk = Desk::new("");
    let text = std::fs::read_to_string(desk.path("in.jsonl")).unwrap();
    let mut other: Value = serde_json::from_str(&text).unwrap();
    other["query"]["id"] = "r".into();
    std::fs::write(desk.path("in.jsonl"), format!("{text}{other}\n")).unwrap();
    ended(&desk.annotate(&["--judges", "gpt"]), 0);
    assert_eq!(desk.count("SELECT count(*) FROM vote"), 2 * OF_ONE as i64);
    let calls = desk.server.calls();
    assert!(calls.values().all(|times| *times == 1), "{calls:?}");
    assert!(calls.len() < 2 * OF_ONE);
    let bought = desk.count("SELECT count(*) FROM vote WHERE cost_usd > 0");
    assert_eq!(bought as usize, calls.len());
}

#[test]
fn a_vote_that_came_from_elsewhere_during_a_run_is_no_error() {
    let desk = priced("concurrency = 1");
    desk.server
        .fail_at_random(always(Fault::RateLimitedFor(50)));
    let mut command = desk.command(&["annotate", "in.jsonl", "out.jsonl", "--judges", "gpt"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    // The question is on its way, and no answer can have come.
    until("a call is refused", || desk.server.total_calls() >= 1);
    desk.change(
        "INSERT INTO vote (battle, judge, swapped, margin, attempt, tokens_input, tokens_cached, tokens_output,
             tokens_thinking, created_ms, truncated)
         SELECT id, 1, 0, 0.5, 1, 1, 0, 1, 0, 1, 0 FROM battle",
    );
    desk.server.fail_at_random(Faults::default());
    let output = child.wait_with_output().unwrap();
    ended(&output, 0);
    assert_eq!(desk.count("SELECT count(*) FROM vote"), OF_ONE as i64);
    assert_eq!(
        desk.count("SELECT count(*) FROM vote WHERE created_ms = 1"),
        OF_ONE as i64
    );
    let duplicates =
        desk.count("SELECT count(*) FROM failure WHERE cause = 'duplicate' AND cost_usd > 0");
    assert!(duplicates > 0);
    assert_eq!(
        duplicates as usize,
        desk.server.books().answered,
        "each is counted"
    );
}

/// A desk whose first judge is on a server of its own.
fn two_servers() -> (Desk, FakeProvider) {
    let more = "give_up_after_s = 1";
    let desk = Desk::new(more);
    let other = FakeProvider::start();
    let config = desk.server.config(more);
    let config = config.replacen(&desk.server.v1(), &other.v1(), 1);
    std::fs::write(desk.path("overrule.toml"), config).unwrap();
    (desk, other)
}

#[test]
fn a_server_that_is_gone_stops_its_judge_and_no_other() {
    type Trouble = fn(&FakeProvider);
    let troubles: [(Trouble, &str); 2] = [
        (FakeProvider::go_down, "no call has succeeded"),
        (FakeProvider::go_silent, "no answer to"),
    ];
    for (trouble, words) in troubles {
        for sampler in [&[][..], &["--sampler", "swiss"]] {
            let (desk, other) = two_servers();
            trouble(&other);
            let output = desk.annotate(sampler);
            ended(&output, 3);
            assert!(told(&output).contains("gpt stopped"), "{}", told(&output));
            assert!(told(&output).contains(words), "{}", told(&output));
            let votes = |judge: &str| {
                desk.count(&format!(
                    "SELECT count(*) FROM vote JOIN judge ON judge.id = judge WHERE name = '{judge}'"
                ))
            };
            assert_eq!(votes("gpt"), 0);
            assert!(votes("claude") > 0);
            assert_eq!(votes("claude"), votes("gemini"), "{}", told(&output));
            if sampler.is_empty() {
                assert_eq!(votes("claude"), OF_ONE as i64);
            }
            // It stays owed, and is asked when the server is back.
            other.come_back();
            ended(&desk.annotate(sampler), 0);
            assert_eq!(votes("gpt"), votes("claude"));
        }
    }
}

#[test]
fn what_failed_is_asked_again_only_where_that_is_wanted() {
    let desk = Desk::new("");
    desk.server.fail_next(&[Fault::Refusal]);
    ended(&desk.annotate(&["--judges", "gpt"]), 3);
    assert_eq!(desk.server.total_calls(), OF_ONE);
    ended(&desk.annotate(&["--judges", "gpt"]), 3);
    assert_eq!(desk.server.total_calls(), OF_ONE);
    ended(&desk.annotate(&["--judges", "gpt", "--retry-failed"]), 0);
    assert_eq!(desk.server.total_calls(), OF_ONE + 1);
}
