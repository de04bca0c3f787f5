//! Suggestions: a judge revises a prompt, and never sees the held-out part.

use super::{CURE, faulty, listed, part, tried};
use crate::desk::{Desk, json_of, told};
use crate::fake_provider::Fault;
use serde_json::{Value, json};

fn suggested(desk: &Desk, more: &[&str]) -> Value {
    let output = desk.run(&[&["prompt", "suggest", "gpt"], more, &["--yes", "--json"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    json_of(&output)
}

/// The queries of the tuning part on which people overruled the judge.
fn overruled(desk: &Desk) -> Vec<usize> {
    let tuning = part(desk, "tuning").into_iter();
    tuning.filter(|query| query % 5 < 3).collect()
}

#[test]
fn a_suggestion_is_bought_once_shows_no_held_out_text_and_fixes_the_planted_fault() {
    let desk = faulty();
    let (held_out, overruled) = (part(&desk, "held-out"), overruled(&desk));
    // A note may quote the held-out part; one that does not comes first.
    let (leak, noted) = (overruled[0], overruled[overruled.len() - 1]);
    let quoted = held_out.iter().find(|query| *query % 5 != 3).unwrap();
    let quote =
        format!("as with good text {quoted} of w{quoted}x0 w{quoted}x1 w{quoted}x2, see there");
    for (query, note) in [(leak, quote.as_str()), (noted, "length is no evidence")] {
        desk.change(&format!(
            "UPDATE gold SET note = '{note}' WHERE query = (SELECT id FROM query WHERE name = 'q{query}')"
        ));
    }
    let before = desk.server.requests().len();
    let dry = suggested(&desk, &["--dry-run"]);
    assert_eq!(dry["expected"]["calls"], json!(1.0));
    assert!(dry["most"]["usd"].as_f64() > dry["expected"]["usd"].as_f64());
    assert_eq!(desk.server.requests().len(), before);
    let spent = || {
        let status = json_of(&desk.run(&["status", "--json"]));
        status["spent_usd"].as_f64().unwrap()
    };
    let earlier = spent();
    let made = suggested(&desk, &["--judgments", "5"]);
    let requests = desk.server.requests().split_off(before);
    assert_eq!(requests.len(), 1);
    assert_eq!(
        (&made["judgments"], &made["not_shown"]),
        (
            &json!(5),
            &json!({"over_limit": overruled.len() - 6, "in_held_out": 1})
        ),
        "{made}"
    );
    assert!(spent() > earlier && made["spent_usd"].as_f64() > Some(0.0));
    let body = requests[0].body.to_string();
    for query in &held_out {
        assert!(!body.contains(&format!("text {query} of")), "{body}");
        assert!(
            !body.contains(&format!("trams, number {query}, in")),
            "{body}"
        );
    }
    assert!(!body.contains("see there"), "{body}");
    let (_, first) = body.split_once("[[judgment 1 ").unwrap();
    let (first, _) = first.split_once("[[/judgment 1 ").unwrap();
    assert!(
        first.contains(&format!("trams, number {noted}, in"))
            && first.contains("People decided: document")
            && first.contains("Note: length is no evidence"),
        "{first}"
    );
    // The proposal is a version like any other, and a trial shows what it is worth.
    let hash = made["prompt"].as_str().unwrap().to_owned();
    let version = listed(&desk);
    let version = version.iter().find(|row| row["hash"] == *hash).unwrap();
    assert_eq!(version["parent"], made["parent"]);
    assert!(
        version["note"]
            .as_str()
            .unwrap()
            .contains("suggested by gpt")
    );
    let diff = told(&desk.run(&["prompt", "diff", &hash]));
    assert!(diff.contains(&format!("+{CURE}")), "{diff}");
    let again = suggested(&desk, &["--judgments", "5"]);
    assert_eq!(
        (&again["prompt"], &again["new"], &again["spent_usd"]),
        (&json!(hash), &json!(false), &json!(0.0))
    );
    assert_eq!(desk.server.requests().len(), before + 1);
    let found = tried(&desk, &[&hash]);
    assert_eq!(found["result"]["fixed"], json!(overruled.len()));
}

#[test]
fn a_failed_call_or_an_unreadable_reply_gives_no_version() {
    let desk = faulty();
    let versions = listed(&desk).len();
    let suggest = |more: &[&str]| {
        let output = desk.run(&[&["prompt", "suggest", "gpt", "--yes"], more].concat());
        (output.status.code(), told(&output))
    };
    desk.server.fail_next(&[Fault::BadRequest]);
    assert_eq!(suggest(&[]).0, Some(3));
    // A text that would break the prompt is no proposal, and it is paid for once.
    let breaking = Fault::Says("{\"prompt\": \"Judge {{query}}.\"}");
    desk.server.fail_next(&[breaking, breaking]);
    let (code, words) = suggest(&[]);
    assert_eq!(code, Some(3), "{words}");
    assert!(
        words.contains("{{query}}") && words.contains("no version"),
        "{words}"
    );
    let asked = desk.server.requests().len();
    assert_eq!(suggest(&[]).0, Some(3));
    assert_eq!(desk.server.requests().len(), asked);
    assert_eq!(listed(&desk).len(), versions);
    let (code, words) = suggest(&["--retry-failed"]);
    assert_eq!(code, Some(0), "{words}");
    assert_eq!(desk.server.requests().len(), asked + 1);
    assert_eq!(listed(&desk).len(), versions + 1);
    // Over the budget, nothing is asked.
    let other = desk.run(&[
        "prompt",
        "suggest",
        "gpt",
        "--judgments",
        "2",
        "--yes",
        "--budget",
        "0.0001",
    ]);
    assert_eq!(other.status.code(), Some(3), "{}", told(&other));
    assert_eq!(desk.server.requests().len(), asked + 1);
}

#[test]
fn what_cannot_be_suggested_is_refused_before_any_call() {
    let desk = faulty();
    let before = desk.server.requests().len();
    for command in [
        &["prompt", "suggest", "gpt", "--with", "bm25"][..],
        &["prompt", "suggest", "nobody"],
    ] {
        let output = desk.run(command);
        assert_eq!(output.status.code(), Some(2), "{}", told(&output));
    }
    // Without an overruled judgment there is nothing to learn from.
    desk.change("DELETE FROM gold WHERE decision <> 'b'");
    let output = desk.run(&["prompt", "suggest", "gpt", "--yes"]);
    assert_eq!(output.status.code(), Some(2), "{}", told(&output));
    assert!(
        told(&output).contains("nothing to learn from"),
        "{}",
        told(&output)
    );
    assert_eq!(desk.server.requests().len(), before);
}
