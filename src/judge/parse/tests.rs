use super::*;
use crate::domain::vote::Margin;
use crate::judge::call::AnswerProbabilities;
use crate::judge::{FailureCause, Opinion};
use proptest::prelude::*;

fn opinion(score: f64, thoughts: &[&str]) -> Result<Opinion, ParseError> {
    let thoughts = thoughts
        .iter()
        .map(|thought| (*thought).to_owned())
        .collect();
    Ok(Opinion {
        margin: Margin::new(score).unwrap(),
        thoughts,
    })
}

#[test]
fn a_reply_by_the_contract_is_an_opinion() {
    for text in [
        r#"{"thoughts": ["a", "b"], "score": -0.25}"#,
        r#"{"score": -0.25, "thoughts": "a\n\n  b "}"#,
        "\u{feff}\n {\"thoughts\":[\"a\",\"b\"],\"confidence\":{\"score\":3},\"score\":-25e-2}\r\n",
        "```json\n{\"thoughts\": [\"a\", \"b\"], \"score\": -0.25}\n```",
        " ```json {\"thoughts\": [\"a\", \"b\"], \"score\": -0.25} ``` ",
    ] {
        assert_eq!(strict(text), opinion(-0.25, &["a", "b"]), "{text}");
        assert_eq!(parse(text), strict(text), "{text}");
    }
    assert_eq!(parse(r#"{"thoughts": [], "score": 1}"#), opinion(1.0, &[]));
    assert_eq!(
        parse(r#"{"thoughts": "", "score": -1.0}"#),
        opinion(-1.0, &[])
    );
    assert_eq!(
        parse(r#"{"thoughts": "``` {", "score": -0}"#),
        opinion(0.0, &["``` {"])
    );
}

#[test]
fn what_models_do_to_the_contract_is_read_all_the_same() {
    for text in [
        r#"Sure! {"thoughts": ["a {", "}"], "score": -0.25}"#,
        r#"{"thoughts": ["a {", "}"], "score": -0.25} I hope this helps."#,
        r#"[{"thoughts": ["a {", "}"], "score": -0.25}]"#,
        "```\n{\"thoughts\": [\"a {\", \"}\"], \"score\": -0.25}\n```",
        "```json\n{\"thoughts\": [\"a {\", \"}\"], \"score\": -0.25}",
        "Between {A} and {B}: {\"thoughts\": [\"a {\", \"}\"], \"score\": -0.25}",
        "<think>{\"thoughts\":[],\"score\":1}</think>{\"thoughts\": [\"a {\", \"}\"], \"score\": -0.25}",
        r#"{"thoughts": ["a {", "}"], "score": "-0.25"}"#,
        r#"{"thoughts": ["a {", "}"], "score": "−0.25"}"#,
        r#"{"thoughts": ["a {", "}"], "score": −0.25}"#,
        r#"{"thoughts": ["a {", "}"], "score": －.25}"#,
        r#"{"score":-.25,"thoughts": ["a {", "}"]}"#,
        r#"{"thoughts": ["a {", "}"], "score": -0.25}<score>-0.25</score>"#,
    ] {
        assert_eq!(parse(text), opinion(-0.25, &["a {", "}"]), "{text}");
        assert!(strict(text).is_err(), "{text}");
    }
    assert_eq!(
        parse(r#"{"thoughts":["\"score\""],"score":+1}"#),
        opinion(1.0, &["\"score\""])
    );
    assert_eq!(
        parse(r#"{"thoughts":["\"score\": 3"],"score":1.}"#),
        opinion(1.0, &["\"score\": 3"])
    );
    assert_eq!(
        parse("A says \"it\".\n<score> −1 </score>\nDone."),
        opinion(-1.0, &["A says \"it\".", "Done."])
    );
}

/// A reply, and what is wrong with it.
const NO_OPINIONS: &str = r#"<think>B, I would say => the reply is empty
<think>B</think> => the reply is empty
Document B is better. => the reply is not a JSON object
Score: 0.5 => the reply is not a JSON object
[1] => the reply is not a JSON object
0.5 => the reply is not a JSON object
I’m sorry, but I can’t help with that. => the model declined to answer: I’m sorry, but I can’t help with that.
{"score": 0,} => the reply is not valid JSON: trailing comma at line 1 column 13
{"thoughts":[],"score": NaN} => the reply is not valid JSON: expected value at line 1 column 25
{"thoughts":[],"score": Infinity} => the reply is not valid JSON: expected value at line 1 column 25
{"thoughts":["a"],"score": 0. => the reply is not valid JSON: the object does not end
{"thoughts":["a"],"score": 0.5 => the reply is not valid JSON: the object does not end
{"x": {"thoughts":[],"score":1}, "score": -1 => the reply is not valid JSON: the object does not end
{"x": {"thoughts":[],"score":1}} => the reply has no "score"
{"score":1,"score":-1} => the reply has more than one "score"
{"thoughts":[],"score":+1,"score":-1} => the reply is not valid JSON: expected value at line 1 column 24
{"thoughts":[],"score":1} {"thoughts":[],"score":1} => the reply has more than one "score"
<score>1</score> or <score>1</score> => the reply has more than one "score"
{"thoughts":[],"score":1}<score>0.5</score> => the reply has more than one "score"
<score>0.5 => the reply is not valid JSON: <score> does not end
<score>NaN</score> => "score" is not a number: NaN
<score>1.5</score> => "score" is not between -1 and 1: 1.5
<score>0.5 to 0.7</score> => "score" is not a number: 0.5 to 0.7
{"score":1,"thoughts":[],"thoughts":[]} => the reply has more than one "thoughts"
{} => the reply has no "score"
{"Score":1,"thoughts":[]} => the reply has no "score"
{"thoughts":[],"score":"NaN"} => "score" is not a number: "NaN"
{"thoughts":[],"score":"inf"} => "score" is not a number: "inf"
{"thoughts":[],"score":"50%"} => "score" is not a number: "50%"
{"thoughts":[],"score":"0,5"} => "score" is not a number: "0,5"
{"thoughts":[],"score":"1/2"} => "score" is not a number: "1/2"
{"thoughts":[],"score":"–1"} => "score" is not a number: "–1"
{"thoughts":[],"score":[0.5]} => "score" is not a number: [0.5]
{"thoughts":[],"score":null} => "score" is not a number: null
{"thoughts":[],"score":true} => "score" is not a number: true
{"thoughts":[],"score":1e999} => "score" is not a finite number: 1e999
{"thoughts":[],"score":-1.001} => "score" is not between -1 and 1: -1.001
{"thoughts":[],"score":75} => "score" is not between -1 and 1: 75
{"thoughts":[],"score":−75} => "score" is not between -1 and 1: "-75"
{"score":1} => the reply has no "thoughts"
{"thoughts":[1],"score":1} => "thoughts" is neither a string nor a list of strings
{"thoughts":{},"score":1} => "thoughts" is neither a string nor a list of strings"#;

#[test]
fn anything_else_says_what_is_wrong() {
    let rows = NO_OPINIONS.lines().filter_map(|row| row.split_once(" => "));
    let spaced = [
        ("", "the reply is empty"),
        ("\u{feff} \n", "the reply is empty"),
        ("```json\n```", "the reply is not a JSON object"),
        (
            "```json\n{}\n```\n```json\n{}\n```",
            "the reply is not valid JSON: trailing characters at line 2 column 1",
        ),
    ];
    for (text, message) in rows.chain(spaced) {
        assert_eq!(parse(text).unwrap_err().to_string(), message, "{text}");
    }
    assert_eq!(
        parse("I cannot judge this.").unwrap_err().cause(),
        FailureCause::Refused
    );
    assert_eq!(parse("").unwrap_err().cause(), FailureCause::Malformed);
}

#[test]
fn choices_are_read_in_any_case_and_nothing_else_is() {
    for (text, score) in [
        (r#"{"thoughts": ["x"], "choice": "A"}"#, -1.0),
        (r#"{"thoughts": ["x"], "choice": "b"}"#, 1.0),
        (r#"Well: {"thoughts": ["x"], "choice": "Tie"}"#, 0.0),
        ("x\n<choice>Document B</choice>", 1.0),
    ] {
        assert_eq!(choice(text), opinion(score, &["x"]), "{text}");
    }
    for text in [
        r#"{"thoughts": [], "choice": "C"}"#,
        r#"{"thoughts": [], "choice": 1}"#,
        r#"{"thoughts": [], "score": 1}"#,
        r#"{"choice": "A"}"#,
        "A",
        "A or B",
    ] {
        assert!(choice(text).is_err(), "{text}");
    }
}

#[test]
fn a_letter_is_read_and_probabilities_come_first() {
    let bare = [super::opinion::WITHOUT_PROBABILITIES];
    assert_eq!(letter(" A\n", None), opinion(-1.0, &bare));
    assert_eq!(letter("**B**.", None), opinion(1.0, &bare));
    assert_eq!(letter("T", None), opinion(0.0, &bare));
    assert_eq!(letter("<think>hm</think>\nB", None), opinion(1.0, &bare));
    assert!(letter("A and B", None).is_err());
    assert!(letter("Apple", None).is_err());
    let odds = AnswerProbabilities {
        a: 0.3,
        b: 0.1,
        tie: 0.1,
    };
    let read = letter("A", Some(odds)).unwrap();
    assert!((read.margin.get() + 0.4).abs() < 1e-12);
    assert_eq!(
        read.thoughts,
        ["the model's own probabilities: document A 0.600, document B 0.200, tie 0.200"]
    );
    for nothing in [0.0, f64::NAN, -1.0] {
        let odds = AnswerProbabilities {
            a: nothing,
            ..AnswerProbabilities::default()
        };
        assert_eq!(letter("B", Some(odds)), opinion(1.0, &bare));
    }
    let odds = AnswerProbabilities {
        a: 0.305,
        b: 0.235,
        tie: 0.46,
    };
    assert_eq!(letter("A", Some(odds)).unwrap().margin.get(), 0.0);
}

#[test]
fn deep_nesting_is_no_stack_overflow() {
    let deep = format!(
        "{{\"x\":{},\"thoughts\":[],\"score\":0}}",
        "[".repeat(100_000)
    );
    assert!(parse(&deep).is_err());
    let deep = format!(
        "{{\"thoughts\":{}{},\"score\":0}}",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    assert_eq!(parse(&deep), Err(ParseError::ThoughtsNotText));
    assert!(parse(&"{".repeat(200_000)).is_err());
    assert!(parse(&"{\"".repeat(200_000)).is_err());
}

proptest! {
    #[test]
    fn what_is_written_is_read(score in -1.0..=1.0f64, thoughts in prop::collection::vec(".*", 0..4), around in "[ a-z.,\n]*") {
        let text = serde_json::json!({"thoughts": &thoughts, "score": score}).to_string();
        for text in [text.clone(), format!("{around}{text}{around}")] {
            let opinion = parse(&text).unwrap();
            prop_assert_eq!(opinion.margin.get(), score);
            prop_assert_eq!(&opinion.thoughts, &thoughts);
        }
    }

    #[test]
    fn no_text_panics(
        text in "[ -~“\\u{0}\\u{202e}−]{0,40}",
        parts in prop::collection::vec(prop::sample::select(vec![
            "{", "}", "\"score\"", "\"thoughts\"", ":", ",", "[", "]", "\"", "\\", "−1", "+1", "0.5", "NaN", "<score>",
            "</score>", "<think>", "</think>", "```", "```json ", " ", "é",
        ]), 0..14),
    ) {
        for text in [text, parts.concat()] {
            let _ = (parse(&text), choice(&text), letter(&text, None));
        }
    }

    #[test]
    fn a_cut_object_is_never_a_vote(cut in 0..46usize) {
        let whole = r#"{"thoughts": ["a {b} c"], "score": 0.5, "x": 1}"#;
        prop_assert!(parse(&whole[..cut]).is_err());
    }
}
