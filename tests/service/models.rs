//! A provider that changes the model behind a name is reported everywhere, and can stop a run.

use crate::desk::{Desk, json_of, told};
use serde_json::json;

/// A desk whose server answers as another model when the last document is shown.
fn changing(more: &str) -> Desk {
    let desk = Desk::new(more);
    let content = json!({ "thoughts": ["seen"], "score": 0.5 }).to_string();
    let body = json!({
        "id": "chatcmpl-new", "object": "chat.completion", "created": 1, "model": "gpt-6.1-terra-2026-12-01",
        "choices": [{
            "index": 0, "finish_reason": "stop", "message": { "role": "assistant", "content": content, "refusal": null },
        }],
        "usage": { "prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120 },
    });
    desk.server.answer_marked("text 8 on trams", 200, body);
    desk
}

#[test]
fn a_changed_model_is_reported_by_every_command() {
    let desk = changing("");
    let output = desk.annotate(&["--judges", "gpt", "--yes", "--probe", "0"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let votes = |model: &str| {
        desk.count(&format!(
            "SELECT count(*) FROM vote JOIN name ON name.id = vote.model WHERE text = '{model}'"
        ))
    };
    let (old, new) = (
        votes("gpt-6.1-terra-2026-09-01"),
        votes("gpt-6.1-terra-2026-12-01"),
    );
    assert!(old > 0 && new > 0, "{old}, {new}");
    for words in [
        format!("gpt-6.1-terra-2026-09-01 ({old} votes)"),
        format!("gpt-6.1-terra-2026-12-01 ({new} votes)"),
    ] {
        assert!(told(&output).contains(&words), "{}", told(&output));
        for command in ["status", "judges"] {
            let page = told(&desk.run(&[command]));
            assert!(page.contains(&words), "{command}: {page}");
        }
    }
    let status = json_of(&desk.run(&["status", "--json"]));
    assert_eq!(status["models"][0]["judge"], "gpt");
    let judges = json_of(&desk.run(&["judges", "--json"]));
    assert_eq!(status["models"][0]["models"], judges["judges"][0]["models"]);
    let log = json_of(&desk.run(&["log", "--json"]));
    let changes = log.as_array().unwrap().iter();
    let changes: Vec<_> = changes
        .filter(|row| row["event"] == "model changed")
        .collect();
    assert_eq!(changes.len(), 1);
    let about = changes[0]["about"].as_str().unwrap();
    assert!(
        about.contains("2026-09-01") && about.contains("2026-12-01"),
        "{about}"
    );
}

#[test]
fn a_pinned_model_stops_the_run_before_it_costs_more() {
    let desk = changing("concurrency = 1\n");
    let pinned = ["--judges", "gpt", "--yes", "--probe", "0", "--pin-model"];
    let output = desk.annotate(&pinned);
    assert_eq!(output.status.code(), Some(3), "{}", told(&output));
    assert!(
        told(&output).contains("stopped by --pin-model: gpt answers as"),
        "{}",
        told(&output)
    );
    assert!(!desk.path("out.jsonl").exists());
    let calls = desk.server.total_calls();
    assert!(calls < 36, "{calls}");
    // Every answer that was paid for is there, and the next pinned run does not begin.
    assert_eq!(desk.count("SELECT count(*) FROM vote"), calls as i64);
    let output = desk.annotate(&pinned);
    assert_eq!(output.status.code(), Some(3), "{}", told(&output));
    assert_eq!(desk.server.total_calls(), calls);
    let output = desk.annotate(&["--judges", "gpt", "--yes", "--probe", "0"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert_eq!(desk.server.total_calls(), 36);
}

#[test]
fn an_unknown_price_is_unknown_in_every_report() {
    let desk = Desk::new("max_output_tokens = 100\n");
    let config = std::fs::read_to_string(desk.path("overrule.toml")).unwrap();
    let config = config.replace("gpt-6.1-terra", "house-model");
    std::fs::write(desk.path("overrule.toml"), config).unwrap();
    let output = desk.annotate(&["--judges", "gpt", "--yes", "--probe", "0"]);
    let words = "an unknown amount for 36 calls without a known price";
    assert!(
        told(&output).contains(&format!("spent {words}")),
        "{}",
        told(&output)
    );
    let page = told(&desk.run(&["status"]));
    assert!(page.contains(&format!("36 calls: {words}")), "{page}");
    let status = json_of(&desk.run(&["status", "--json"]));
    assert!(status["spent_usd"].is_null());
    assert_eq!(status["calls_without_price"], 36);
}

#[test]
fn calls_that_a_priced_provider_refused_cost_nothing() {
    let desk = Desk::new("");
    let refusal = json!({ "error": { "message": "no such parameter", "type": "invalid_request_error", "code": null } });
    desk.server.answer_marked("trams", 400, refusal);
    let output = desk.annotate(&["--judges", "gpt", "--yes", "--probe", "0"]);
    assert!(told(&output).contains("spent $0.00"), "{}", told(&output));
    let status = json_of(&desk.run(&["status", "--json"]));
    assert_eq!(
        (&status["spent_usd"], &status["calls_without_price"]),
        (&json!(0.0), &json!(0))
    );
}
