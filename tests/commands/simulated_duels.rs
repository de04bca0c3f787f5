//! `overrule lab duel`: duels in simulation.

use crate::support::Sandbox;
use serde_json::Value;

const SMALL: &str = "lab duel --duels 12 --queries 12";

fn share(of: &Value) -> (u64, f64) {
    let [low, share, high] = ["low", "share", "high"].map(|key| of[key].as_f64().unwrap());
    assert!(
        0.0 <= low && low <= share && share <= high && high <= 1.0,
        "{of}"
    );
    (of["duels"].as_u64().unwrap(), share)
}

#[test]
fn simulated_duels_depend_on_their_seed_and_not_on_threads() {
    let sandbox = Sandbox::new();
    let simulate = |more: &str| sandbox.json(&format!("{SMALL} --effects 0,3 --json {more}"));
    let one = simulate("--threads 1 --seed 3");
    assert_eq!(one, simulate("--threads 4 --seed 3"));
    assert_ne!(one, simulate("--threads 4 --seed 4"));
    assert_eq!(one["simulated"], true);
    let [nothing, much] = [0, 1].map(|at| &one["effects"][at]);
    assert!(share(&nothing["stop_rule"]["false"]).0 <= 2);
    for rule in [
        "stop_rule",
        "sign_test_at_the_end",
        "permutation_test_at_the_end",
    ] {
        assert!(share(&much[rule]["names_b"]).0 >= 10, "{rule} {much}");
        assert_eq!(share(&much[rule]["names_a"]), (0, 0.0), "{rule}");
    }
    assert!(much["median_judgments_to_stop"].as_f64().unwrap() >= 7.0);
    assert!(much["mean_preference_for_b"].as_f64() > nothing["mean_preference_for_b"].as_f64());
}

#[test]
fn rules_stand_in_a_table_with_what_was_simulated() {
    let sandbox = Sandbox::new();
    let ran = sandbox.done(&format!(
        "{SMALL} --effects 3 --participants 1 --place-bias 1"
    ));
    ran.prints("12 simulated duels of 12 queries with 1 participant");
    ran.prints("a place bias of 1, seed 0");
    for rule in [
        "stop rule",
        "sign test at every look",
        "permutation test at the end",
    ] {
        ran.prints(rule);
    }
    ran.prints("nobody was asked");
    let refused = ["lab", "duel", "--effects", "11"];
    sandbox.refused(&refused, 2, &["expected a number from 0 to 10"]);
}
