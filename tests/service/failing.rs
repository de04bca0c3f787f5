//! Failures of one case, faults of a judge, transient states and exhausted budgets, and the summary
//! at the end of a run.

use crate::desk::{Desk, told};
use crate::fake_provider::{Fault, Faults};
use serde_json::{Value, json};
use std::time::Duration;

/// Two queries of nine documents; those of the first hold the word BLOCKED.
fn two_queries(more: &str) -> Desk {
    two_queries_of(9, more)
}

fn two_queries_of(documents: usize, more: &str) -> Desk {
    let desk = Desk::new(more);
    let lines = [("qa", "BLOCKED"), ("qb", "fine")].map(|(query, word)| {
        let documents: Vec<Value> = (0..documents)
            .map(|at| json!({ "id": format!("{query}-{at}"), "content": format!("{word} text {at} on trams {}", "x".repeat(at)) }))
            .collect();
        json!({ "query": { "id": query, "query": "trams" }, "documents": documents }).to_string()
    });
    std::fs::write(desk.path("in.jsonl"), lines.join("\n")).unwrap();
    desk
}

fn openai(message: &str, code: &str) -> Value {
    json!({"error": {"message": message, "type": "invalid_request_error", "param": null, "code": code}})
}

/// Votes of a query.
fn votes(desk: &Desk, query: &str) -> i64 {
    desk.count(&format!(
        "SELECT count(*) FROM vote JOIN battle ON battle.id = vote.battle JOIN query ON query.id = battle.query
         WHERE query.name = '{query}'"
    ))
}

#[test]
fn failures_due_to_the_texts_of_one_query_cost_no_other_query_a_vote() {
    for (status, body, said) in [
        (
            400,
            openai("Invalid prompt: your prompt was flagged.", "invalid_prompt"),
            "36 filtered",
        ),
        (
            403,
            json!({"code": "..", "error": "Content violates usage guidelines."}),
            "36 filtered",
        ),
        (
            400,
            openai(
                "maximum context length is 9 tokens",
                "context_length_exceeded",
            ),
            "36 prompt too long",
        ),
        // In words that nobody knows.
        (
            400,
            openai("Das geht nicht.", "nein"),
            "25 calls in a row about this query were refused",
        ),
        (
            200,
            json!({"choices": [{"finish_reason": "stop", "message": {"content": "No."}}]}),
            "25 calls in a row about this query had answers",
        ),
    ] {
        let desk = two_queries("concurrency = 1");
        desk.server.answer_marked("BLOCKED", status, body);
        let output = desk.annotate(&["--judges", "gpt"]);
        assert_eq!(output.status.code(), Some(3), "{}", told(&output));
        assert_eq!(
            (votes(&desk, "qa"), votes(&desk, "qb")),
            (0, 36),
            "{}",
            told(&output)
        );
        assert!(told(&output).contains(said), "{said}: {}", told(&output));
        // Nothing is lost: the calls that were not made are made by the next run.
        desk.server.forget_marked();
        let mended = desk.annotate(&["--judges", "gpt", "--retry-failed"]);
        assert_eq!(mended.status.code(), Some(0), "{}", told(&mended));
        assert_eq!(desk.count("SELECT count(*) FROM vote"), 72);
    }
}

#[test]
fn rounds_go_on_without_a_query_that_a_judge_fails_on() {
    let desk = two_queries("concurrency = 1");
    desk.server
        .answer_marked("BLOCKED", 400, openai("Das geht nicht.", "nein"));
    let output = desk.annotate(&["--judges", "gpt", "--sampler", "swiss", "--cycles", "4"]);
    assert_eq!(output.status.code(), Some(3), "{}", told(&output));
    assert!(votes(&desk, "qb") >= 30, "{}", told(&output));
    assert_eq!(votes(&desk, "qa"), 0);
}

#[test]
fn a_passing_state_under_success_is_asked_about_again() {
    for state in ["error", "insufficient_system_resource"] {
        let desk = Desk::new("");
        let body = json!({"choices": [{"finish_reason": state, "message": {"content": ""}}], "usage": {"prompt_tokens": 9, "completion_tokens": 0, "total_tokens": 9}});
        desk.server
            .answer_marked_at_first("text 3 on", 200, body, 2);
        let output = desk.annotate(&["--judges", "gpt"]);
        assert_eq!(output.status.code(), Some(0), "{}", told(&output));
        assert_eq!(desk.count("SELECT count(*) FROM vote"), 36);
        assert_eq!(desk.count("SELECT count(*) FROM failure"), 0);
    }
}

#[test]
fn an_answer_that_was_cut_off_and_refused_is_asked_for_with_more_room() {
    let desk = Desk::new("");
    let body = openai(
        "Could not finish the message because max_tokens or model output limit was reached. Please try again with higher max_tokens.",
        "",
    );
    desk.server.answer_marked_at_first("trams", 400, body, 1);
    let output = desk.annotate(&["--judges", "gpt"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let caps: Vec<Value> = desk
        .server
        .requests()
        .iter()
        .map(|request| request.body["max_completion_tokens"].clone())
        .collect();
    assert_eq!(caps.iter().filter(|cap| **cap == json!(8192)).count(), 36);
}

#[test]
fn money_that_is_gone_stops_the_judge_in_the_providers_own_words() {
    for (status, message, code) in [
        (
            400,
            "Budget has been exceeded! Current cost: 10.2, Max budget: 10.0",
            "budget_exceeded",
        ),
        (
            429,
            "You have reached your specified API usage limits.",
            "rate_limit_error",
        ),
        (
            429,
            "litellm.RateLimitError: OpenAIException - You exceeded your current quota, please check your plan and billing details.",
            "429",
        ),
    ] {
        let desk = Desk::new("concurrency = 2");
        desk.server
            .answer_marked("trams", status, openai(message, code));
        let output = desk.annotate(&["--judges", "gpt"]);
        let words = told(&output);
        assert_eq!(output.status.code(), Some(3), "{words}");
        assert!(
            words.contains(&format!("gpt stopped: {message}")),
            "{words}"
        );
        assert!(
            desk.server.total_calls() <= 4,
            "{}",
            desk.server.total_calls()
        );
        assert!(desk.count("SELECT count(*) FROM failure") <= 2);
        assert!(!desk.path("out.jsonl").exists(), "{words}");
    }
}

#[test]
fn a_run_without_a_vote_writes_nothing() {
    // It does not answer, and nothing has failed for good.
    let desk = Desk::new("give_up_after_s = 1");
    desk.server.fail_at_random(Faults {
        rates: vec![(Fault::Overloaded529, 1.0)],
        ..Faults::default()
    });
    let output = desk.annotate(&["--judges", "gpt"]);
    let words = told(&output);
    assert_eq!(output.status.code(), Some(3), "{words}");
    assert!(
        words.contains("overloaded") && words.contains("out.jsonl was not written"),
        "{words}"
    );
    assert!(!words.contains("wrote"), "{words}");
    assert!(!desk.path("out.jsonl").exists());
    // It asks for a wait of an hour.
    let desk = Desk::new("");
    desk.server.fail_at_random(Faults {
        rates: vec![(Fault::RateLimitedFor(3_600_000), 1.0)],
        ..Faults::default()
    });
    let output = desk.annotate(&["--judges", "gpt"]);
    assert_eq!(output.status.code(), Some(3), "{}", told(&output));
    assert!(
        told(&output).contains("asks to wait for"),
        "{}",
        told(&output)
    );
    assert!(!desk.path("out.jsonl").exists());
    // Everything has failed before, and is not asked again.
    let desk = Desk::new("");
    desk.server.fail_at_random(Faults {
        rates: vec![(Fault::Refusal, 1.0)],
        ..Faults::default()
    });
    for _ in 0..2 {
        let output = desk.annotate(&["--judges", "gpt"]);
        assert_eq!(output.status.code(), Some(3), "{}", told(&output));
        assert!(!desk.path("out.jsonl").exists(), "{}", told(&output));
    }
    assert_eq!(desk.server.total_calls(), 36);
}

#[test]
fn the_end_of_a_run_tells_each_cause_with_its_first_message_and_a_remedy() {
    let desk = two_queries("");
    desk.server.answer_marked(
        "BLOCKED",
        400,
        openai("your prompt was flagged", "invalid_prompt"),
    );
    desk.server.answer_marked(
        "fine text 3",
        413,
        openai("Request too large", "request_too_large"),
    );
    let output = desk.annotate(&["--judges", "gpt", "--json"]);
    let words = told(&output);
    assert_eq!(output.status.code(), Some(3), "{words}");
    for said in [
        "gpt: 44 failed: 36 filtered, 8 prompt too long",
        "  36 filtered: the first: the provider's filter withheld the answer: your prompt was flagged; nothing is wrong with the judge",
        "  8 prompt too long: the first: Request too large; the prompt does not fit: lower max_document_chars",
    ] {
        assert!(words.contains(said), "{said}: {words}");
    }
    let events = String::from_utf8(output.stdout).unwrap();
    let end: Value = serde_json::from_str(events.lines().last().unwrap()).unwrap();
    let judge = &end["progress"]["judges"][0];
    assert_eq!(judge["causes"], json!({"filtered": 36, "too-long": 8}));
    assert!(
        judge["messages"]["filtered"]
            .as_str()
            .unwrap()
            .contains("flagged")
    );
}

#[test]
fn picks_and_rankings_tell_why_they_failed_and_go_on_with_other_queries() {
    let desk = two_queries("");
    let long = openai(
        "maximum context length is 9 tokens",
        "context_length_exceeded",
    );
    desk.server.answer_marked("BLOCKED", 400, long);
    assert_eq!(desk.run(&["import", "in.jsonl"]).status.code(), Some(0));
    let ask = ["--method", "rankgpt@9", "--judges", "gpt", "--yes"];
    let output = desk.run(&[&["rerank"][..], &ask].concat());
    let words = told(&output);
    assert_eq!(output.status.code(), Some(3), "{words}");
    let said =
        "maximum context length is 9 tokens; the prompt does not fit: lower max_document_chars";
    let first = format!("1 query failed, the first one with: prompt too long: {said}");
    assert!(words.contains(&first), "{words}");
    let ranked = "SELECT count(*) FROM rerank_result WHERE failure IS NULL";
    assert_eq!(desk.count(ranked), 1, "{words}");
    let output = desk.run(&["pick", "--open", "--judges", "gpt", "--yes"]);
    let words = told(&output);
    assert_eq!(output.status.code(), Some(3), "{words}");
    assert!(
        words.contains(&format!("gpt: 1 prompt too long: {said}")),
        "{words}"
    );
}

#[test]
fn calls_of_a_method_about_one_query_cost_no_other_query_its_ranking() {
    let junk = json!({"choices": [{"finish_reason": "stop", "message": {"content": "No."}}]});
    for (status, body) in [(400, openai("Das geht nicht.", "nein")), (200, junk)] {
        let desk = two_queries_of(40, "");
        desk.server.answer_marked("BLOCKED", status, body);
        assert_eq!(desk.run(&["import", "in.jsonl"]).status.code(), Some(0));
        let method = ["--method", "pointwise@40", "--judges", "gpt", "--yes"];
        let output = desk.run(&[&["rerank"][..], &method].concat());
        let words = told(&output);
        assert_eq!(output.status.code(), Some(3), "{words}");
        let ranked = "SELECT count(*) FROM rerank_result WHERE failure IS NULL";
        assert_eq!(desk.count(ranked), 1, "{words}");
        assert!(!words.contains("stopped"), "{words}");
    }
}

#[test]
fn a_wait_until_a_moment_is_a_wait_of_seconds() {
    let desk = Desk::new("");
    let started = std::time::Instant::now();
    let soon = std::time::SystemTime::now() + Duration::from_secs(1);
    let soon = soon
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap()
        .as_millis();
    let headers = json!({"X-RateLimit-Reset": soon.to_string()});
    let body = json!({"error": {"message": "Rate limit exceeded: free-models-per-min", "code": 429, "metadata": {"headers": headers}}});
    desk.server.answer_marked_at_first("trams", 200, body, 1);
    let output = desk.annotate(&["--judges", "gpt"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert!(started.elapsed() < Duration::from_secs(30));
    assert_eq!(desk.count("SELECT count(*) FROM vote"), 36);
}
