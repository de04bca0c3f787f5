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
        assert!(words.contains("leave it out with --judges"), "{words}");
        assert!(desk.path("out.jsonl").exists());
    }
    let words = told(&desk.run(&["judges"]));
    assert!(words.starts_with(finding), "{words}");
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
