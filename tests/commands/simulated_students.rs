//! `overrule lab student`: a student beside the votes, in simulation.

use crate::support::Sandbox;

const SMALL: &str = "lab student --queries 20 --documents 12 --noise 1 --strategies cycles:2,top:2";

#[test]
fn a_good_student_betters_the_order_and_a_poor_one_is_given_little_weight() {
    let sandbox = Sandbox::new();
    let found = sandbox.json(&format!("{SMALL} --students 0.3,0.9 --json"));
    let cases = found["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 4);
    let good = &cases[2];
    assert_eq!(
        (good["student"].as_f64(), good["strategy"].as_str()),
        (Some(0.9), Some("cycles:2"))
    );
    assert!(
        good["in_fit"]["tau"]["low"].as_f64().unwrap() > 0.0,
        "{good}"
    );
    assert!(good["in_choice"].is_null() && !cases[3]["in_choice"].is_null());
    let weight = |at: usize| cases[at]["learned"]["weight"].as_f64().unwrap();
    assert!(weight(2) > weight(0), "{found}");
    // A good student's queue shows more wrong votes than chance does, and more than a poor one's.
    let wrong = |at: usize, name: &str| cases[at]["queue"][name]["mean"].as_f64().unwrap();
    assert!(
        cases[2]["queue"]["student_less_random"]["low"].as_f64() > Some(0.0),
        "{found}"
    );
    assert!(wrong(2, "wrong_by_student") > wrong(0, "wrong_by_student"));
    assert_eq!(wrong(2, "wrong_at_random"), wrong(0, "wrong_at_random"));
    // Without a weight nothing changes.
    for case in cases.iter().filter(|case| case["learned"]["weight"] == 0.0) {
        assert_eq!(case["in_fit"]["tau"]["mean"], 0.0);
    }
    let again = sandbox.json(&format!("{SMALL} --students 0.3,0.9 --threads 1 --json"));
    assert_eq!(again, found);
    sandbox
        .done(&format!("{SMALL} --students 0.9"))
        .prints("in both: NDCG@10");
    sandbox.refused(
        "lab student --students 1",
        2,
        &["expected a number above 0 and below 1"],
    );
}
