//! One pair asked about by hand: who is asked, what is bought, and what stays as it was.

use crate::desk::{Desk, told};
use crate::fake_provider::{Fault, Faults};
use serde_json::Value;

/// A pair that one cycle over nine documents leaves unfought, by position in the pool.
fn unfought(desk: &Desk) -> (usize, usize) {
    let mut pairs = (0..9).flat_map(|low| (low + 1..9).map(move |high| (low, high)));
    let fought = |(low, high): &(usize, usize)| {
        let sql =
            format!("SELECT count(*) FROM battle WHERE min(a, b) = {low} AND max(a, b) = {high}");
        desk.count(&sql) > 0
    };
    pairs.find(|pair| !fought(pair)).unwrap()
}

fn ask(desk: &Desk, (a, b): (usize, usize), more: &[&str]) -> std::process::Output {
    let (a, b) = (format!("d{a}"), format!("d{b}"));
    desk.run(&[&["annotate", "--pair", "q", &a, &b], more].concat())
}

#[test]
fn a_pair_is_asked_about_once_in_each_order_and_nothing_else_is() {
    let desk = Desk::new("");
    assert_eq!(desk.annotate(&["--cycles", "1"]).status.code(), Some(0));
    let plan = (
        desk.server.total_calls(),
        desk.count("SELECT count(*) FROM battle"),
    );
    let pair = unfought(&desk);

    let dry = ask(&desk, pair, &["--dry-run"]);
    assert!(told(&dry).contains("3 calls"), "{}", told(&dry));
    assert_eq!(desk.server.total_calls(), plan.0);

    let output = ask(&desk, pair, &["--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert!(told(&output).contains("at most"), "{}", told(&output));
    assert_eq!(desk.server.total_calls(), plan.0 + 3);
    assert_eq!(desk.count("SELECT count(*) FROM battle"), plan.1 + 1);
    let text = String::from_utf8(output.stdout).unwrap();
    let event: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    let votes = ["a", "b", "ties"].map(|name| event["votes"][name].as_u64().unwrap());
    assert_eq!(votes.iter().sum::<u64>(), 3, "{event}");
    assert_ne!(event["above"], event["above_before"], "{event}");

    let other = ask(&desk, pair, &[]);
    assert_eq!(other.status.code(), Some(0), "{}", told(&other));
    assert!(told(&other).contains("P(A above B)"), "{}", told(&other));
    assert_eq!(desk.server.total_calls(), plan.0 + 6);
    assert!(desk.server.calls().values().all(|times| *times == 1));
    let turned = "SELECT count(*) FROM (SELECT judge FROM vote JOIN battle ON battle.id = battle
        WHERE origin = 'pair' GROUP BY judge HAVING count(DISTINCT swapped) = 2)";
    assert_eq!(desk.count(turned), 3, "every judge saw both orders");

    let again = ask(&desk, pair, &[]);
    assert_eq!(again.status.code(), Some(2), "{}", told(&again));
    assert!(told(&again).contains("both orders"), "{}", told(&again));
    let rest = desk.annotate(&["--cycles", "1"]);
    assert_eq!(rest.status.code(), Some(0), "{}", told(&rest));
    assert_eq!(desk.server.total_calls(), plan.0 + 6);
}

#[test]
fn only_the_judges_of_the_query_are_asked_and_it_keeps_them() {
    let desk = Desk::new("");
    let first = desk.annotate(&["--cycles", "1", "--judges", "gpt,claude"]);
    assert_eq!(first.status.code(), Some(0), "{}", told(&first));
    let pair = unfought(&desk);
    let output = ask(&desk, pair, &["--judges", "gemini,gpt"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert!(
        told(&output).contains("not asked, because not configured or not chosen: claude"),
        "{}",
        told(&output)
    );
    assert_eq!(desk.server.total_calls(), 19);
    let judges =
        "SELECT json_array_length(judges) FROM query JOIN ensemble ON ensemble.id = query.ensemble";
    assert_eq!(desk.count(judges), 2);

    let stranger = ask(&desk, pair, &["--judges", "gemini"]);
    assert_eq!(stranger.status.code(), Some(2), "{}", told(&stranger));
    assert!(
        told(&stranger).contains("gpt, claude"),
        "{}",
        told(&stranger)
    );
    assert_eq!(desk.server.total_calls(), 19);
}

#[test]
fn a_judge_that_failed_is_asked_again_and_the_others_are_not() {
    let desk = Desk::new("");
    assert_eq!(desk.annotate(&["--cycles", "1"]).status.code(), Some(0));
    let (pair, before) = (unfought(&desk), desk.count("SELECT count(*) FROM vote"));
    desk.server.fail_at_random(Faults {
        doomed: vec![("gpt-6.1-terra".to_owned(), Fault::Refusal)],
        ..Faults::default()
    });
    let output = ask(&desk, pair, &[]);
    assert_eq!(output.status.code(), Some(3), "{}", told(&output));
    assert_eq!(desk.count("SELECT count(*) FROM vote"), before + 2);
    desk.server.fail_at_random(Faults::default());
    let calls = desk.server.total_calls();
    let mended = ask(&desk, pair, &[]);
    assert_eq!(mended.status.code(), Some(0), "{}", told(&mended));
    assert_eq!(desk.server.total_calls(), calls + 1);
    assert_eq!(desk.count("SELECT count(*) FROM vote"), before + 3);
}

#[test]
fn a_query_without_judges_gets_them_and_can_be_run_afterwards() {
    let desk = Desk::new("");
    assert_eq!(desk.run(&["import", "in.jsonl"]).status.code(), Some(0));
    let output = ask(&desk, (7, 2), &[]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert_eq!(desk.server.total_calls(), 3);
    let run = desk.annotate(&[]);
    assert_eq!(run.status.code(), Some(0), "{}", told(&run));
    assert_eq!(desk.server.total_calls(), crate::desk::CALLS);
    assert!(desk.server.calls().values().all(|times| *times == 1));
}

#[test]
fn a_pair_has_two_documents_and_no_dataset() {
    let desk = Desk::new("");
    assert_eq!(desk.run(&["import", "in.jsonl"]).status.code(), Some(0));
    assert_eq!(ask(&desk, (3, 3), &[]).status.code(), Some(2));
    let both = desk.run(&["annotate", "in.jsonl", "--pair", "q", "d1", "d2"]);
    assert_eq!(both.status.code(), Some(2), "{}", told(&both));
    assert_eq!(desk.run(&["annotate"]).status.code(), Some(2));
    assert_eq!(desk.server.total_calls(), 0);
}

#[test]
fn a_sample_is_planned_without_a_call_and_bought_once() {
    let desk = Desk::new("");
    assert_eq!(desk.annotate(&["--cycles", "1"]).status.code(), Some(0));
    let (calls, votes) = (
        desk.server.total_calls(),
        desk.count("SELECT count(*) FROM vote"),
    );
    let sample = [
        "student", "sample", "--pairs", "4", "--train", "4", "--plan",
    ];
    let dry = desk.run(&[&sample[..], &["--dry-run"]].concat());
    let text = String::from_utf8(dry.stdout).unwrap();
    assert!(
        text.contains("total: 12 calls, $") && text.contains("at most"),
        "{text}"
    );
    let planned = desk.run(&[&sample[..], &["--out", "new.jsonl"]].concat());
    assert_eq!(planned.status.code(), Some(0), "{}", told(&planned));
    assert!(
        told(&planned).contains("total: 12 calls, $"),
        "{}",
        told(&planned)
    );
    assert_eq!(desk.server.total_calls(), calls);

    let judge = ["annotate", "--sample", "new.jsonl"];
    let judged = desk.run(&judge);
    assert_eq!(judged.status.code(), Some(0), "{}", told(&judged));
    assert_eq!(desk.server.total_calls(), calls + 12);
    assert_eq!(desk.count("SELECT count(*) FROM vote"), votes + 12);
    let again = desk.run(&judge);
    assert_eq!(again.status.code(), Some(0), "{}", told(&again));
    assert_eq!(desk.server.total_calls(), calls + 12);
    assert!(desk.server.calls().values().all(|times| *times == 1));
}
