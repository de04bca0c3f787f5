//! Judges that do not read the documents are named, early and at the end.

use crate::desk::{Desk, told};
use rstest::rstest;

fn configure(desk: &Desk, model: &str) {
    let text = format!(
        "[[judge]]\nname = \"q05\"\nprovider = \"compatible\"\nmodel = {model:?}\nbase_url = {:?}\n",
        desk.server.v1()
    );
    std::fs::write(desk.path("overrule.toml"), text).unwrap();
}

#[rstest]
#[case(
    "first",
    "q05: names the first document in 100 % of 36 battles: position only; its votes carry no information",
    "names the first document in both orders"
)]
#[case(
    "tie",
    "q05: calls 100 % of 36 battles a tie; its votes carry no information",
    "calls it a tie in both orders"
)]
fn a_judge_that_does_not_read_is_named_by_everyone(
    #[case] model: &str,
    #[case] finding: &str,
    #[case] doctor: &str,
) {
    let desk = Desk::new("");
    configure(&desk, model);
    let output = desk.run(&["doctor"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(told(&output).contains(doctor), "{}", told(&output));
    // Again with nothing left to ask: what is wrong with the votes is not over.
    for _ in 0..2 {
        let output = desk.annotate(&[]);
        let words = told(&output);
        assert_eq!(output.status.code(), Some(3), "{words}");
        assert!(words.contains(finding), "{words}");
        assert!(words.contains("exclude it with --judges"), "{words}");
        assert!(desk.path("out.jsonl").exists());
    }
    let words = told(&desk.run(&["judges"]));
    // The judge that stands out is named in the first line.
    assert!(words.lines().next().unwrap().contains(finding), "{words}");
}

#[test]
fn a_judge_that_reads_is_right_in_both_orders_and_ends_well() {
    let desk = Desk::new("");
    configure(&desk, "reads");
    let output = desk.run(&["doctor"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert!(
        told(&output).contains("right in both orders"),
        "{}",
        told(&output)
    );
    assert_eq!(desk.annotate(&[]).status.code(), Some(0));
}

#[test]
fn one_query_of_a_dataset_is_judged_alone() {
    let desk = Desk::new("");
    let output = desk.annotate(&["--query", "nowhere"]);
    assert_eq!(output.status.code(), Some(2), "{}", told(&output));
    assert!(
        told(&output).contains("has no query \"nowhere\""),
        "{}",
        told(&output)
    );
    let text = std::fs::read_to_string(desk.path("in.jsonl")).unwrap();
    let other = text.replacen("\"id\":\"q\"", "\"id\":\"p\"", 1);
    std::fs::write(desk.path("in.jsonl"), text + &other).unwrap();
    let output = desk.annotate(&["--query", "p"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert_eq!(
        desk.count(
            "SELECT count(*) FROM battle JOIN query ON query.id = battle.query WHERE name = 'q'"
        ),
        0
    );
    let written = std::fs::read_to_string(desk.path("out.jsonl")).unwrap();
    assert_eq!(written.lines().count(), 1);
}

/// Two queries of thirty documents: 240 battles, of which 4 pairs are probed.
fn larger(desk: &Desk) {
    let line = |name: &str| {
        let documents: Vec<_> = (0..30)
            .map(|at| serde_json::json!({ "id": format!("d{at}"), "content": format!("{name} text {at} on trams") }))
            .collect();
        format!(
            "{}\n",
            serde_json::json!({ "query": { "id": name, "query": "trams" }, "documents": documents })
        )
    };
    std::fs::write(desk.path("in.jsonl"), line("p") + &line("q")).unwrap();
}

const PAIRS: &str = "SELECT count(*) FROM battle WHERE game = 1000";
const VOTES: &str = "SELECT count(*) FROM vote";

#[test]
fn a_run_probes_some_pairs_in_the_other_order_and_scores_nothing_by_them() {
    let desk = Desk::new("");
    larger(&desk);
    configure(&desk, "first");
    let words = told(&desk.annotate(&["--dry-run"]));
    assert!(
        words.contains("244 calls") && words.contains("asked about 4 pairs in both orders"),
        "{words}"
    );
    assert!(told(&desk.annotate(&["--dry-run", "--probe", "0"])).contains("240 calls"));
    let words = told(&desk.annotate(&[]));
    assert!(
        words.contains(
            "q05 changes its answer with the order in 100 % (51–100 %) of 4 pairs seen in both orders"
        ),
        "{words}"
    );
    assert!(words.contains("240 battles: 244 votes"), "{words}");
    assert_eq!((desk.count(PAIRS), desk.count(VOTES)), (4, 244));
    let probed = std::fs::read_to_string(desk.path("out.jsonl")).unwrap();
    // Nothing is bought twice.
    assert!(told(&desk.annotate(&[])).contains("0 votes and 0 failures"));
    let battles = told(&desk.run(&["battles", "--query", "p"]));
    assert_eq!(battles.matches(": flip\n").count(), 2, "{battles}");
    let report = told(&desk.run(&["judges", "--json"]));
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["judges"][0]["both_orders"]["flips"], 4);
    assert_eq!(report["judges"][0]["flip"]["n"], 4, "{report}");

    let other = Desk::new("");
    larger(&other);
    configure(&other, "first");
    other.annotate(&["--probe", "0"]);
    assert_eq!((other.count(PAIRS), other.count(VOTES)), (0, 240));
    assert_eq!(
        std::fs::read_to_string(other.path("out.jsonl")).unwrap(),
        probed
    );
    // What was judged without a probe is probed by a run that does not forbid it, and by nothing
    // more.
    assert!(told(&other.annotate(&[])).contains("4 votes and 0 failures"));
    assert_eq!(
        std::fs::read_to_string(other.path("out.jsonl")).unwrap(),
        probed
    );
}

#[test]
fn a_probe_survives_export_and_merge() {
    let desk = Desk::new("");
    larger(&desk);
    configure(&desk, "reads");
    assert_eq!(desk.annotate(&[]).status.code(), Some(0));
    let scores = |project: &str| told(&desk.run(&["--project", project, "queries", "--json"]));
    assert_eq!(
        desk.run(&[
            "export",
            "votes",
            "--format",
            "jsonl",
            "--out",
            "votes.jsonl"
        ])
        .status
        .code(),
        Some(0)
    );
    let output = desk.run(&["--project", "copy.db", "import", "votes", "votes.jsonl"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    desk.run(&["--project", "merged.db", "import", "in.jsonl"]);
    let output = desk.run(&["--project", "merged.db", "merge", "overrule.db"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    for project in ["copy.db", "merged.db"] {
        let report = told(&desk.run(&["--project", project, "judges", "--json"]));
        let report: serde_json::Value = serde_json::from_str(&report).unwrap();
        let both = &report["judges"][0]["both_orders"];
        assert_eq!(
            (&both["pairs"], &both["flips"]),
            (&4.into(), &0.into()),
            "{project}"
        );
        let widths = |text: &str| -> Vec<serde_json::Value> {
            let value: serde_json::Value = serde_json::from_str(text).unwrap();
            let queries = value["queries"].as_array().cloned().unwrap_or_default();
            queries
                .into_iter()
                .map(|query| query["battles"].clone())
                .collect()
        };
        assert_eq!(
            widths(&scores(project)),
            widths(&scores("overrule.db")),
            "{project}"
        );
    }
}

#[test]
fn the_dry_run_says_how_long_a_run_would_take() {
    let desk = Desk::new("");
    configure(&desk, "reads");
    let words = told(&desk.annotate(&["--dry-run"]));
    assert!(
        words.contains("time: about ") && words.contains("1 at a time, based on one call just now"),
        "{words}"
    );
    assert!(
        words.contains("dry run: one call was made to measure how long a call takes"),
        "{words}"
    );
    assert_eq!(desk.server.total_calls(), 1);
    desk.annotate(&[]);
    let words = told(&desk.annotate(&["--cycles", "5", "--dry-run"]));
    assert!(words.contains("based on the latest run"), "{words}");
    assert!(words.contains("dry run: nothing was called"), "{words}");
    // What costs money is called only when that is asked for.
    let paid = Desk::new("");
    let words = told(&paid.annotate(&["--dry-run"]));
    assert!(
        !words.contains("time: ") && words.contains("nothing was called"),
        "{words}"
    );
    let words = told(&paid.annotate(&["--dry-run", "--measure"]));
    assert!(words.contains("3 calls were made"), "{words}");
    assert!(!words.contains("the test call failed"), "{words}");
    paid.server.go_down();
    let words = told(&paid.annotate(&["--dry-run", "--measure"]));
    assert!(
        words.contains("gpt: the test call failed") && !words.contains("time: "),
        "{words}"
    );
}

#[test]
fn pairs_that_the_plan_asks_about_twice_are_told_too() {
    let desk = Desk::new("");
    configure(&desk, "first");
    let words = told(&desk.annotate(&["--cycles", "8", "--document-limit", "5"]));
    assert!(
        words.contains("q05 changes its answer with the order in 100 %"),
        "{words}"
    );
}
