//! `overrule lab methods`: ranking methods in simulation.

use crate::support::Sandbox;
use rstest::rstest;
use serde_json::Value;

const SMALL: &str = "lab methods --documents 12 --noise 0.8 --queries 8";

fn method<'a>(told: &'a Value, name: &str) -> &'a Value {
    let methods = told["cases"][0]["methods"].as_array().unwrap();
    methods
        .iter()
        .find(|method| method["method"] == name)
        .unwrap_or_else(|| panic!("no {name} in {told}"))
}

#[test]
fn a_simulation_of_methods_depends_on_its_seed_and_not_on_threads() {
    let sandbox = Sandbox::new();
    let simulate = |more: &str| sandbox.json(&format!("{SMALL} --json {more}"));
    let one = simulate("--threads 1 --seed 3");
    assert_eq!(one, simulate("--threads 4 --seed 3"));
    assert_ne!(one, simulate("--threads 4 --seed 4"));
    assert_eq!(one["simulated"], true);
    for (name, calls) in [
        ("original", 0.0),
        ("rankgpt", 1.0),
        ("pointwise:grade", 12.0),
        ("tourrank:r2", 6.0),
        ("zelo:b2", 24.0),
    ] {
        let row = method(&one, name);
        assert_eq!(row["calls"], calls, "{name}");
        for bound in ["least", "expected", "most"] {
            assert_eq!(row["calls_expected"][bound].as_f64(), Some(calls), "{name}");
        }
        let [low, mean, high] =
            ["low", "mean", "high"].map(|key| row["ndcg@10"][key].as_f64().unwrap());
        assert!(low < mean && mean < high, "{name}");
    }
    let prp = method(&one, "prp:p10");
    let calls = prp["calls"].as_f64().unwrap();
    assert!(prp["calls_expected"]["least"].as_f64().unwrap() < calls);
    assert!(calls < prp["calls_expected"]["most"].as_f64().unwrap());
    let original = method(&one, "original")["ndcg@10"]["mean"]
        .as_f64()
        .unwrap();
    assert!(method(&one, "rankgpt")["ndcg@10"]["mean"].as_f64().unwrap() > original);
    assert_eq!(method(&one, "original")["front_of_calls"], true);
}

#[test]
fn what_is_not_worth_its_price_is_said() {
    let sandbox = Sandbox::new();
    let ran = sandbox.done(&format!(
        "{SMALL} --methods zelo:b1,tourrank@10:r10,rankgpt"
    ));
    ran.prints("zelo:b1 is not on the front of calls: rankgpt");
    ran.prints("8 simulated queries of 12 candidates");
    ran.prints("tourrank@10:r10");
    assert!(ran.text().contains("no model was asked"));
    let told = sandbox.json(&format!("{SMALL} --json --methods zelo:b1,rankgpt"));
    assert_eq!(method(&told, "zelo:b1")["beaten_in_calls"]["by"], "rankgpt");
    assert_eq!(method(&told, "rankgpt")["beaten_in_calls"], Value::Null);
}

#[test]
fn answers_that_cannot_be_read_fail_their_query() {
    let sandbox = Sandbox::new();
    let simulate = |methods: &str| {
        sandbox.json(&format!(
            "{SMALL} --json --unreadable 1 --methods {methods}"
        ))
    };
    let told = simulate("rankgpt,rankgpt:strict,tourrank:r1 --rng cpython");
    for name in ["rankgpt", "rankgpt:strict", "tourrank:r1:cpython"] {
        let failed = method(&told, name);
        assert_eq!(failed["failed_queries"], 8, "{name}");
        assert_eq!(
            (&failed["ndcg@10"], &failed["calls"]),
            (&Value::Null, &Value::Null)
        );
    }
    let ran = sandbox.done(&format!("{SMALL} --unreadable 1 --methods rankgpt:strict"));
    assert!(ran.text().contains('–'), "{}", ran.text());
}

#[rstest]
#[case("--methods", "prp:r2", "such as prp@20:p3")]
#[case("--methods", "cohere@100", "cannot stand for a service")]
#[case("--methods", "setwize:c3", "takes no options")]
#[case("--first-stage", "2", "from 0 to 1")]
#[case("--documents", "1", "2")]
fn what_cannot_be_simulated_is_refused(
    #[case] option: &str,
    #[case] value: &str,
    #[case] why: &str,
) {
    Sandbox::new().refused(&["lab", "methods", option, value], 2, &[why]);
}

#[test]
fn zelo_begins_with_the_order_of_a_good_first_stage() {
    let told = Sandbox::new().json(
        "lab methods --documents 20 --noise 0.8 --queries 40 --first-stage 0.8 --json --methods original,zelo:b1",
    );
    let mean = |name: &str, key: &str| method(&told, name)[key]["mean"].as_f64().unwrap();
    assert!(mean("zelo:b1", "ndcg@10") > 0.9 * mean("original", "ndcg@10"));
    assert!(mean("zelo:b1", "tau") > 0.95 * mean("original", "tau"));
}

/// The cells of a method's row in the table that comes `nth` in a document.
fn row(document: &str, name: &str, nth: usize) -> Vec<String> {
    let begins = format!("| `{name}` |");
    let mut rows = document.lines().filter(|line| line.starts_with(&begins));
    let row = rows.nth(nth).unwrap_or_else(|| panic!("no row {begins}"));
    row.trim_matches('|')
        .split('|')
        .skip(1)
        .map(|cell| cell.trim().to_owned())
        .collect()
}

#[test]
fn the_tables_of_the_manual_are_what_is_printed() {
    const MANUAL: &str = include_str!("../../assets/manual/methods.md");
    let names = [
        "original",
        "rankgpt",
        "tourrank:r2",
        "zelo:b2",
        "infogain:r10",
        "mohajer:k10",
    ];
    let told = Sandbox::new().json(&format!(
        "lab methods --documents 20 --json --methods {}",
        names.join(",")
    ));
    let short = |value: f64| format!("{value:.3}").trim_start_matches('0').to_owned();
    let estimate = |row: &Value, key: &str| {
        let [low, mean, high] = ["low", "mean", "high"].map(|of| row[key][of].as_f64().unwrap());
        (short(mean), short((high - low) / 2.0))
    };
    for name in names {
        let cases = told["cases"].as_array().unwrap();
        let rows: Vec<&Value> = cases
            .iter()
            .map(|case| {
                case["methods"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .find(|method| method["method"] == name)
                    .unwrap()
            })
            .collect();
        let count = |key: &str| format!("{:.0}", rows[1][key].as_f64().unwrap());
        let quality = rows.iter().map(|row| estimate(row, "ndcg@10"));
        let quality: Vec<(String, String)> = quality.collect();
        let with_error = |(mean, half): &(String, String)| format!("{mean} ± {half}");
        let mut cells = vec![count("calls"), count("texts"), count("waits")];
        cells.extend(quality.iter().map(with_error));
        cells.push(with_error(&estimate(rows[1], "tau")));
        // The first table of the manual says what a method asks.
        let nth = usize::from(MANUAL.matches(&format!("| `{name}` |")).count() > 2);
        assert_eq!(row(MANUAL, name, nth)[..7], cells, "{name}");
    }
}
