//! `overrule fit`: battles in, scores out, and every refusal.

use crate::support::{Ran, Sandbox, dataset};
use rstest::rstest;
use serde_json::{Value, json};

fn fit(arguments: &str, input: impl AsRef<[u8]>) -> Ran {
    Sandbox::new().with_stdin(&format!("fit {arguments}"), input)
}

fn fitted(arguments: &str, input: &Value) -> Value {
    let ran = fit(arguments, input.to_string());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(ran.stderr, "");
    serde_json::from_slice(&ran.stdout).unwrap()
}

/// The battles of zBench's example notebook.
fn notebook() -> Value {
    json!({
        "documents": ["d1", "d2", "d3"],
        "battles": [
            { "a": "d2", "b": "d1", "score": 0, "weight": 4 },
            { "a": "d2", "b": "d3", "score": 0, "weight": 4 },
            { "a": "d1", "b": "d3", "score": 0.25, "weight": 4 },
        ],
    })
}

#[test]
fn zbench_scores_are_those_of_its_notebook() {
    let output = fitted("--model zbench", &notebook());
    let expected = [
        ("d1", -1.8984783374773527),
        ("d2", 4.8935459093094655),
        ("d3", -2.995067571832113),
    ];
    for (score, (id, zelo)) in output["scores"].as_array().unwrap().iter().zip(expected) {
        assert_eq!(score["document"], id);
        assert!(
            (score["zelo"].as_f64().unwrap() - zelo).abs() < 1e-9,
            "{score}"
        );
        assert!(
            score["se"].is_null() && score["rank_low"].is_null(),
            "zBench has no errors: {score}"
        );
    }
    assert_eq!(output["iterations"], 54);
    assert_eq!(output["model"], "zbench");
}

#[test]
fn the_default_model_gives_errors_and_rank_intervals() {
    let output = fitted("", &notebook());
    assert_eq!(output["model"], "map");
    let scores = output["scores"].as_array().unwrap();
    assert_eq!(
        scores
            .iter()
            .map(|score| score["rank"].as_u64().unwrap())
            .collect::<Vec<_>>(),
        [2, 1, 3]
    );
    let sum: f64 = scores
        .iter()
        .map(|score| score["zelo"].as_f64().unwrap())
        .sum();
    assert!(sum.abs() < 1e-9);
    for score in scores {
        let (low, rank) = (
            score["rank_low"].as_u64().unwrap(),
            score["rank"].as_u64().unwrap(),
        );
        assert!(score["se"].as_f64().unwrap() > 0.0);
        assert!(
            low >= 1 && low <= rank && rank <= score["rank_high"].as_u64().unwrap() && rank <= 3,
            "{score}"
        );
    }
    assert!(output["gradient"].as_f64().unwrap() < 1e-9);
    assert!(
        output["warnings"][0]
            .as_str()
            .unwrap()
            .contains("d2 won every battle")
    );
}

#[test]
fn a_larger_dispersion_widens_the_errors_and_moves_no_score() {
    let (narrow, wide) = (
        fitted("--phi 0.1", &notebook()),
        fitted("--phi 1", &notebook()),
    );
    for (narrow, wide) in narrow["scores"]
        .as_array()
        .unwrap()
        .iter()
        .zip(wide["scores"].as_array().unwrap())
    {
        assert_eq!(narrow["zelo"], wide["zelo"]);
        assert!(narrow["se"].as_f64().unwrap() < wide["se"].as_f64().unwrap());
    }
}

#[test]
fn maximum_likelihood_names_the_document_it_cannot_score() {
    let ran = fit("--model mle", notebook().to_string());
    ran.refused(2, &["do not fix the scores", ": d2"]);
}

#[test]
fn maximum_likelihood_answers_where_everyone_wins_and_loses() {
    let battles = json!([
        { "a": "x", "b": "y", "score": 0.4 }, { "a": "y", "b": "z", "score": 0.3 }, { "a": "z", "b": "x", "score": 0.6 },
    ]);
    let output = fitted(
        "--model mle",
        &json!({ "documents": ["x", "y", "z"], "battles": battles }),
    );
    assert_eq!(output["warnings"], json!([]));
    assert!(output["scores"][0]["se"].as_f64().unwrap() > 0.0);
}

#[test]
fn groups_that_never_met_are_said_not_to_be_comparable() {
    let battles =
        json!([{ "a": "a", "b": "b", "score": 0.3 }, { "a": "c", "b": "d", "score": 0.4 }]);
    let output = fitted(
        "",
        &json!({ "documents": ["a", "b", "c", "d"], "battles": battles }),
    );
    let warnings = output["warnings"].to_string();
    assert!(
        warnings.contains("c, d are not connected: their scores are not comparable"),
        "{warnings}"
    );
}

#[test]
fn a_document_without_a_battle_has_score_zero_and_a_warning() {
    let input =
        json!({ "documents": ["a", "b", "c"], "battles": [{ "a": "a", "b": "b", "score": 0.3 }] });
    let output = fitted("", &input);
    assert_eq!(output["scores"][2]["zelo"], 0.0);
    assert!(
        output["warnings"].to_string().contains("c has no vote yet"),
        "{output}"
    );
}

#[rstest]
#[case("")]
#[case("--model zbench")]
#[case("--model mle")]
#[case("--model thurstone")]
fn nothing_to_fit_is_no_error(#[case] arguments: &str) {
    let output = fitted(arguments, &json!({ "documents": [], "battles": [] }));
    assert_eq!(output["scores"], json!([]));
    let output = fitted(arguments, &json!({ "documents": ["only"], "battles": [] }));
    assert_eq!(output["scores"][0]["zelo"], 0.0);
}

#[rstest]
#[case::unknown_document(r#"{"documents":["x"],"battles":[{"a":"x","b":"y","score":0}]}"#, &["battles[0]", "\"y\""])]
#[case::duplicate(r#"{"documents":["x","y","x"],"battles":[]}"#, &["documents[2]", "\"x\"", "twice"])]
#[case::python_nan(r#"{"documents":["x","y"],"battles":[{"a":"x","b":"y","score":NaN}]}"#, &["stdin", "line 1"])]
#[case::infinity(r#"{"documents":["x","y"],"battles":[{"a":"x","b":"y","score":1e999}]}"#, &["stdin", "line 1"])]
#[case::above_one(r#"{"documents":["x","y"],"battles":[{"a":"x","b":"y","score":1.5}]}"#, &["0", "score", "0 to 1"])]
#[case::below_zero(r#"{"documents":["x","y"],"battles":[{"a":"x","b":"y","score":-0.1}]}"#, &["0", "score", "0 to 1"])]
#[case::negative_weight(
    r#"{"documents":["x","y"],"battles":[{"a":"x","b":"y","score":1,"weight":-2}]}"#,
    &["0", "weight"]
)]
#[case::weight_beyond_the_bound(
    r#"{"documents":["x","y"],"battles":[{"a":"x","b":"y","score":1,"weight":1e16}]}"#,
    &["0", "weight", "1e9"]
)]
#[case::no_score(r#"{"documents":["x","y"],"battles":[{"a":"x","b":"y"}]}"#, &["stdin", "score", "line 1"])]
#[case::text_score(r#"{"documents":["x","y"],"battles":[{"a":"x","b":"y","score":"1"}]}"#, &["stdin", "line 1"])]
#[case::no_battles(r#"{"documents":["x","y"]}"#, &["stdin", "battles"])]
#[case::cut_off(r#"{"documents":["x","y"],"#, &["stdin", "EOF", "line 1"])]
#[case::not_json("hello", &["stdin", "line 1"])]
#[case::empty("", &["stdin"])]
#[case::two_values(r#"{"documents":[],"battles":[]} {}"#, &["stdin", "trailing"])]
fn wrong_input_is_refused_and_the_message_names_the_place(
    #[case] input: &str,
    #[case] words: &[&str],
) {
    fit("", input).refused(2, words);
}

#[test]
fn input_that_is_not_text_is_refused() {
    fit("", b"{\"documents\":[\"\xff\"]}").refused(2, &["stdin", "UTF-8"]);
}

#[rstest]
#[case("--phi=-1", "--phi")]
#[case("--phi=NaN", "--phi")]
#[case("--lambda=inf", "--lambda")]
#[case("--lambda=0", "prior precision")]
#[case("--model=elo", "map, mle, zbench or thurstone")]
fn wrong_options_are_refused(#[case] arguments: &str, #[case] word: &str) {
    fit(arguments, notebook().to_string()).refused(2, &[word]);
}

#[test]
fn a_hostile_identifier_is_defused_in_the_message() {
    let input =
        r#"{"documents":["x"],"battles":[{"a":"x","b":"\u001b]0;owned\u0007\u202e","score":0}]}"#;
    let ran = fit("", input);
    ran.refused(2, &["battles[0]"]);
    assert!(
        !ran.stderr.contains(['\u{1b}', '\u{7}', '\u{202e}']),
        "{:?}",
        ran.stderr
    );
}

#[test]
fn status_says_where_margins_told_more_until_they_count() {
    let sandbox = Sandbox::new();
    sandbox.write("in.jsonl", dataset([4]));
    sandbox.done("annotate in.jsonl out.jsonl");
    let hint = || {
        sandbox
            .done("status")
            .text()
            .contains("margins       those of bm25 are informative")
    };
    assert!(!hint());
    // As a look at the judges keeps it.
    rusqlite::Connection::open(sandbox.project())
        .unwrap()
        .execute(
            "INSERT INTO report_part (name, state, value) VALUES ('telling margins', x'', x'020104626d3235')",
            [],
        )
        .unwrap();
    assert!(hint());
    assert_eq!(sandbox.json("status --json")["telling_margins"][0], "bm25");
    sandbox.done("config project --vote-rule calibrated");
    assert!(!hint());
}
