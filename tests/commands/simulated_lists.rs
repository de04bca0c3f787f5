//! `overrule lab lists`: list calls in simulation.

use crate::support::Sandbox;

const SMALL: &str =
    "lab lists --documents 12 --queries 6 --campaigns top:2:24,swiss:4:12,random:4:12:best:2";

#[test]
fn a_simulation_of_lists_depends_on_its_seed_and_not_on_threads() {
    let sandbox = Sandbox::new();
    let simulate = |more: &str| sandbox.json(&format!("{SMALL} --json {more}"));
    let one = simulate("--threads 1 --seed 3");
    assert_eq!(one, simulate("--threads 4 --seed 3"));
    assert_ne!(one, simulate("--threads 4 --seed 4"));
    assert_eq!(one["simulated"], true);
    let results = one["results"].as_array().unwrap();
    assert_eq!(results.len(), 4 * 3);
    for result in results {
        let texts = result["texts"].as_u64().unwrap();
        assert_eq!(texts, 48, "{result}");
        for value in [&result["tau"], &result["rank_intervals"]["covered"]] {
            let mean = value["mean"].as_f64().unwrap();
            assert!((0.0..=1.0).contains(&mean), "{result}");
        }
        assert!(result["phi"].as_f64().unwrap() > 0.0);
    }
}

#[test]
fn impossible_campaigns_are_refused() {
    let sandbox = Sandbox::new();
    for campaign in ["top", "top:5", "best:5:60", "top:1:60", "top:5:60:best:5"] {
        sandbox.refused(&format!("lab lists --campaigns {campaign}"), 2, &[campaign]);
    }
    sandbox.refused(
        "lab lists --documents 4 --campaigns top:5:9",
        2,
        &["4 documents"],
    );
}
