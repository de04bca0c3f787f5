//! What people's and judges' votes of other files say about agreement.

use super::*;

#[test]
fn people_of_a_file_correct_nothing_unless_it_says_how_their_pairs_were_drawn() {
    let sandbox = Sandbox::new();
    let pairs: Vec<(String, String)> = (0..40)
        .map(|at| (format!("x{at}"), format!("y{at}")))
        .collect();
    let mut lines: Vec<String> = pairs
        .iter()
        .map(|(a, b)| llm(a, b, "m1", 0.5, "ab"))
        .collect();
    // Somebody was given the twenty pairs on which the judge is mostly wrong, and four of the other
    // twenty.
    let judged = pairs.iter().take(24).enumerate();
    let said = |at: usize| if at < 15 { -1.0 } else { 1.0 };
    let raw = judged
        .clone()
        .map(|(at, (a, b))| human(a, b, "ada", said(at)));
    lines.extend(raw);
    take_in(&sandbox, &lines);
    let agreement =
        |sandbox: &Sandbox| sandbox.json("judges --json")["judges"][0]["agreement"].clone();
    let told = agreement(&sandbox);
    assert_eq!((&told["raw"], &told["n"]), (&json!(0.375), &json!(24)));
    assert_eq!(
        (&told["corrected"], &told["without_probability"]),
        (&json!(null), &json!(24))
    );
    sandbox.done("override --query q --a x30 --b y30 --verdict b --annotator ada");
    let told = agreement(&sandbox);
    assert_eq!((&told["n"], &told["corrected"]), (&json!(25), &json!(null)));

    let sandbox = Sandbox::new();
    lines.truncate(40);
    lines.extend(judged.map(|(at, (a, b))| {
        let chance = if at < 20 { 1.0 } else { 0.2 };
        vote(
            a,
            b,
            "ada",
            "human",
            said(at),
            json!({ "inclusion": chance }),
        )
    }));
    take_in(&sandbox, &lines);
    // Five of twenty and four that stand for twenty.
    assert_eq!(agreement(&sandbox)["corrected"], json!(0.625));
    sandbox.done("override --query q --a x30 --b y30 --verdict a --annotator ada");
    let told = agreement(&sandbox);
    assert_eq!(
        (&told["corrected"], &told["n"]),
        (&json!(0.625), &json!(25))
    );
    sandbox
        .done("export verdicts --format jsonl")
        .prints("\"inclusion\":0.2");
    assert_eq!(sandbox.json("judges --json")["verdicts_never_blind"], 1);
}

#[test]
fn judges_agree_pair_by_pair_whatever_the_documents_are_called() {
    let votes = |turn: bool| {
        let mut lines = Vec::new();
        for at in 0..12 {
            let (a, b) = (format!("x{at}"), format!("y{at}"));
            for (judge, right) in [("m1", at % 4 != 0), ("m2", at % 3 != 0)] {
                let score = if right { 0.5 } else { -0.5 };
                for shown in ["ab", "ba"] {
                    lines.push(if turn && at % 2 == 0 {
                        llm(
                            &b,
                            &a,
                            judge,
                            -score,
                            if shown == "ab" { "ba" } else { "ab" },
                        )
                    } else {
                        llm(&a, &b, judge, score, shown)
                    });
                }
            }
        }
        lines
    };
    let told = |turn: bool| {
        let sandbox = Sandbox::new();
        take_in(&sandbox, &votes(turn));
        sandbox.json("judges --json")
    };
    let (there, back) = (told(false), told(true));
    assert_eq!(there["kappa"][0]["n"], 12);
    assert_eq!(there["alpha"]["judges_detail"]["units"], 12);
    for path in [
        "/kappa/0/kappa",
        "/alpha/judges",
        "/kappa/0/interval_95/low",
    ] {
        let number = |told: &Value| told.pointer(path).unwrap().as_f64().unwrap();
        assert!((number(&there) - number(&back)).abs() < 1e-9, "{path}");
    }
}
