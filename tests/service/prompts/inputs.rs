//! Prompts that show the guideline, titles and metadata.

use super::{OWN, done, listed, prompt_of, with_prompt};
use crate::desk::{Desk, json_of, told};
use serde_json::{Value, json};

/// A project whose judge `gpt` is shown the guideline.
fn informed() -> Desk {
    with_prompt(&OWN.replace("Choose.", "Choose.\n{{guideline}}"))
}

fn set_guideline(desk: &Desk, text: &str) {
    std::fs::write(desk.path("guide.md"), text).unwrap();
    done(desk, &["config", "project", "--guideline", "guide.md"]);
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
    // A query without prices is asked about alone, because others of the project have them.
    let documents = [
        json!({"id": "x", "content": "one"}),
        json!({"id": "y", "content": "two"}),
    ];
    let line = json!({"query": {"id": "r", "query": "buses"}, "documents": documents});
    std::fs::write(desk.path("in.jsonl"), format!("{line}\n")).unwrap();
    self::done(&desk, &["import", "in.jsonl"]);
    let alone = [
        "annotate", "--pair", "r", "x", "y", "--judges", "gpt", "--yes",
    ];
    self::done(&desk, &alone);
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

/// A project whose judge `gpt` is shown prices.
fn with_prices() -> Desk {
    let shown = "{{metadata_b.price}}: {{b}}";
    let prompt = OWN.replace("{{a}}", "{{metadata_a.price}}: {{a}}");
    with_prompt(&prompt.replace("{{b}}", shown))
}

#[test]
fn a_question_that_failed_for_good_is_asked_again_if_the_shown_metadata_changed() {
    let desk = with_prices();
    let annotate = |first| {
        std::fs::write(desk.path("in.jsonl"), priced(first)).unwrap();
        let before = desk.server.requests().len();
        let done = desk.annotate(&["--judges", "gpt", "--yes", "--probe", "0"]);
        assert!(done.status.code().is_some(), "{}", told(&done));
        desk.server.requests().len() - before
    };
    assert_eq!(annotate(100), 36);
    // Eight pairs have the document; the question about one of them failed.
    desk.change(
        "INSERT INTO failure (battle, judge, swapped, cause, message, attempt, tokens_input,
         tokens_output, created_ms, again)
         SELECT battle, judge, swapped, 'malformed', 'no answer', 1, 10, 10, 1, 0 FROM vote
         WHERE battle = (SELECT min(id) FROM battle WHERE a = 0 OR b = 0)",
    );
    desk.change(
        "DELETE FROM vote WHERE battle = (SELECT min(id) FROM battle WHERE a = 0 OR b = 0)",
    );
    assert_eq!(annotate(100), 0);
    assert_eq!(annotate(900), 8);
    let of_former = "SELECT count(*) FROM failure JOIN judge ON judge.id = judge
        WHERE params LIKE '%earlier_inputs%'";
    assert_eq!(desk.count(of_former), 1);
}

#[test]
fn votes_on_documents_whose_shown_metadata_changed_are_asked_for_again() {
    let desk = with_prices();
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
    std::fs::write(desk.path("in.jsonl"), priced(100)).unwrap();
    done(&desk, &["import", "in.jsonl"]);
    let dry = [
        "annotate",
        "in.jsonl",
        "--judges",
        "gpt,claude",
        "--probe",
        "0",
        "--dry-run",
        "--json",
    ];
    let estimate = json_of(&desk.run(&dry));
    assert_eq!(
        (&estimate["identical"], &estimate["judges"][0]["calls"]),
        (&json!(8), &json!(0)),
        "{estimate}"
    );
    assert_eq!(annotate(100).0.len(), 0);
    assert_eq!(desk.count("SELECT count(*) FROM vote"), 88);
    assert_eq!(desk.count("SELECT count(DISTINCT battle) FROM vote"), 36);
    let judges = desk.run(&["judges", "--json"]);
    assert_eq!(judges.status.code(), Some(0), "{}", told(&judges));
}

#[test]
fn metadata_that_an_open_batch_shows_is_not_replaced() {
    let desk = with_prices();
    std::fs::write(desk.path("in.jsonl"), priced(100)).unwrap();
    let batch = ["--judges", "gpt", "--yes", "--probe", "0", "--batch"];
    assert_eq!(desk.annotate(&batch).status.code(), Some(3));
    std::fs::write(desk.path("in.jsonl"), priced(900)).unwrap();
    let refused = desk.run(&["import", "in.jsonl"]);
    assert_eq!(refused.status.code(), Some(2), "{}", told(&refused));
    assert!(
        told(&refused).contains("open batch of \"gpt\""),
        "{}",
        told(&refused)
    );
    // The price of the first document has not changed, so nothing of its answers is stale.
    std::fs::write(desk.path("in.jsonl"), priced(100)).unwrap();
    self::done(&desk, &["import", "in.jsonl"]);
}
