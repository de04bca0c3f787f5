use super::*;
use crate::judge::presented::PoolText;
use crate::judge::{RateLimits, Usage};
use rstest::rstest;
use serde::Deserialize;
use std::sync::Arc;
use std::time::Duration;

const PARSING: &str = include_str!("../../../../tests/golden/ranksmith/parsing.json");

fn question(ask: RerankAsk) -> PresentedQuestion {
    PresentedQuestion {
        pool: Arc::new(PoolText::new("q", Vec::new())),
        shown: Vec::new(),
        ask,
    }
}

fn reply(text: &str, odds: Option<AnswerProbabilities>) -> JudgeReply {
    JudgeReply {
        text: text.to_owned(),
        outside: None,
        model: None,
        stop_reason: None,
        request_id: None,
        usage: Usage::default(),
        cost_usd: None,
        latency: Duration::ZERO,
        fingerprint: None,
        odds,
        limits: RateLimits::default(),
    }
}

fn strict(ask: RerankAsk, text: &str) -> Result<Answer, InvalidAnswer> {
    read_answer_strictly(&question(ask), &reply(text, None))
}

fn tolerant(ask: RerankAsk, text: &str) -> Result<Answer, InvalidAnswer> {
    read_answer(&question(ask), &reply(text, None))
}

#[derive(Deserialize)]
struct Parsing {
    ranking: Vec<CountedCase>,
    ranking_failure_type: Vec<RankingCase>,
    selection: Vec<ReadCase>,
    winner: Vec<ReadCase>,
}

#[derive(Deserialize)]
struct RankingCase {
    raw: String,
    ranking: Vec<Value>,
    failure_type: Option<String>,
}

#[derive(Deserialize)]
struct CountedCase {
    raw: String,
    expected_count: i64,
    ok: bool,
    value: Option<Vec<i64>>,
}

#[derive(Deserialize)]
struct ReadCase {
    raw: String,
    ok: bool,
    value: Option<Value>,
    message: Option<String>,
}

/// The original accepts booleans as numbers, and its JSON parser accepts NaN.
fn differs(raw: &str) -> bool {
    ["true", "false", "NaN"]
        .iter()
        .any(|word| raw.contains(word))
}

#[test]
fn rankings_are_read_as_the_original_reads_them_but_for_booleans() {
    let golden: Parsing = serde_json::from_str(PARSING).unwrap();
    assert!(golden.ranking_failure_type.len() > 30);
    for case in golden.ranking_failure_type {
        let read = strict(RerankAsk::Rank, &case.raw);
        let raw = &case.raw;
        match case.failure_type.as_deref() {
            _ if differs(raw) => assert!(read.is_err(), "{raw}"),
            Some("json_parse_failure") => {
                assert!(matches!(read, Err(InvalidAnswer::NotJson(_))), "{raw}");
            }
            Some("missing_ranking") => {
                assert!(matches!(read, Err(InvalidAnswer::Missing { .. })), "{raw}");
            }
            Some("non_integer_rank") => {
                assert!(
                    matches!(read, Err(InvalidAnswer::NotInteger { .. })),
                    "{raw}"
                );
            }
            // The method checks the number and the range of the answers.
            None | Some("length_mismatch" | "out_of_range_rank" | "duplicate_rank") => {
                let numbers = case
                    .ranking
                    .iter()
                    .map(|of| of.as_i64().unwrap_or(i64::MAX));
                assert_eq!(read, Ok(Answer::Numbers(numbers.collect())), "{raw}");
            }
            Some(other) => panic!("{other}"),
        }
    }
}

#[test]
fn rankings_hold_where_the_original_says_so_but_for_booleans() {
    let golden: Parsing = serde_json::from_str(PARSING).unwrap();
    let (mut held, mut refused) = (0, 0);
    for case in golden.ranking {
        // The original rejects negative counts, which cannot occur here.
        let count = case.expected_count;
        if count < 0 {
            continue;
        }
        let holds = strict(RerankAsk::Rank, &case.raw)
            .ok()
            .filter(|answer| match answer {
                Answer::Numbers(numbers) => {
                    let mut sorted = numbers.clone();
                    sorted.sort_unstable();
                    sorted.into_iter().eq(1..=count)
                }
                _ => false,
            });
        let expected = case.value.filter(|_| !differs(&case.raw));
        assert_eq!(holds, expected.map(Answer::Numbers), "{}", case.raw);
        assert!(case.ok || holds.is_none(), "{}", case.raw);
        *if holds.is_some() {
            &mut held
        } else {
            &mut refused
        } += 1;
    }
    assert!(held > 5 && refused > 20, "{held} {refused}");
}

#[test]
fn selections_and_winners_are_read_as_the_original_reads_them() {
    let golden: Parsing = serde_json::from_str(PARSING).unwrap();
    for case in golden.selection {
        let read = strict(RerankAsk::Select { count: 2 }, &case.raw);
        let message = case.message.unwrap_or_default();
        let checked_later = ["exactly", "duplicate", "values in", "_count must be"]
            .iter()
            .any(|of| message.contains(of));
        match case.value {
            _ if differs(&case.raw) => assert!(read.is_err(), "{}", case.raw),
            Some(value) => {
                let numbers = serde_json::from_value(value).unwrap();
                assert_eq!(read, Ok(Answer::Numbers(numbers)), "{}", case.raw);
            }
            None => assert_eq!(read.is_ok(), checked_later, "{}: {message}", case.raw),
        }
    }
    for case in golden.winner {
        let read = strict(RerankAsk::Compare, &case.raw);
        assert_eq!(read.is_ok(), case.ok, "{}", case.raw);
        if let Some(value) = case.value {
            assert_eq!(read, Ok(Answer::SecondWins(value == "B")));
        }
    }
}

#[rstest]
#[case(RerankAsk::Rank, "```json\n{\"ranking\":[2,1]}\n```", Answer::Numbers(vec![2, 1]))]
#[case(RerankAsk::Rank, "\u{feff}{\"ranking\":[2,\"1\",3.0]}", Answer::Numbers(vec![2, 1, 3]))]
#[case(RerankAsk::Rank, "<think>1 or 2?</think>Here it is: {\"ranking\": [2, 1]}. Done.", Answer::Numbers(vec![2, 1]))]
#[case(RerankAsk::Rank, "[2] > [1] > [3]", Answer::Numbers(vec![2, 1, 3]))]
#[case(RerankAsk::Rank, "[2, 1]", Answer::Numbers(vec![2, 1]))]
#[case(RerankAsk::Best, "{\"best\": \"[4]\"}", Answer::Numbers(vec![4]))]
#[case(RerankAsk::Best, "4", Answer::Numbers(vec![4]))]
#[case(RerankAsk::BestWorst, "{\"worst\": 2, \"best\": 4}", Answer::Numbers(vec![4, 2]))]
#[case(
    RerankAsk::Compare,
    "{\"winner\": \"Passage B\"}",
    Answer::SecondWins(true)
)]
#[case(RerankAsk::Compare, "**A**", Answer::SecondWins(false))]
#[case(
    RerankAsk::Grade(GradeScale::ZeroToThree),
    "Grade: {\"grade\": 3}",
    Answer::Grade(1.0)
)]
#[case(RerankAsk::Grade(GradeScale::ZeroToThree), "0", Answer::Grade(0.0))]
#[case(RerankAsk::Grade(GradeScale::YesNo), "yes.", Answer::Grade(1.0))]
#[case(RerankAsk::Grade(GradeScale::YesNo), "**No**", Answer::Grade(0.0))]
#[case(
    RerankAsk::Grade(GradeScale::YesNo),
    "No doubt?</think>Yes",
    Answer::Grade(1.0)
)]
#[case(
    RerankAsk::Rank,
    "{\"ranking\":[1,2]}? No.\n</think>\n{\"ranking\":[2,1]}",
    Answer::Numbers(vec![2, 1])
)]
#[case(
    RerankAsk::Rank,
    "{\"ranking\":[1,2]}? No, the second one first.\n\n{\"ranking\":[2,1]}",
    Answer::Numbers(vec![2, 1])
)]
#[case(
    RerankAsk::Compare,
    "<think>A?</think>{\"why\":\"it\nnames it\",\"winner\":\"B\"}",
    Answer::SecondWins(true)
)]
fn what_models_make_of_the_contract_is_read(
    #[case] ask: RerankAsk,
    #[case] text: &str,
    #[case] answer: Answer,
) {
    assert_eq!(tolerant(ask, text), Ok(answer));
}

#[rstest]
#[case(RerankAsk::Rank, "")]
#[case(RerankAsk::Rank, "I would say 2 before 1")]
#[case(RerankAsk::Rank, "{\"ranking\":[2,true]}")]
#[case(RerankAsk::Rank, "{\"ranking\":[2,1.5]}")]
#[case(RerankAsk::Rank, "{\"ranking\":[2,1]} or {\"ranking\":[1,2]}")]
#[case(RerankAsk::Rank, "{\"ranking\":[2,1")]
#[case(RerankAsk::Best, "1, 2")]
#[case(RerankAsk::BestWorst, "{\"best\": 1}")]
#[case(RerankAsk::BestWorst, "{\"worst\": 1}")]
#[case(RerankAsk::BestWorst, "{\"best\": [1, 2], \"worst\": 3}")]
#[case(RerankAsk::BestWorst, "{\"best\": 1, \"worst\": [2]}")]
#[case(RerankAsk::BestWorst, "1, 2")]
#[case(RerankAsk::Compare, "{\"winner\": \"tie\"}")]
#[case(RerankAsk::Grade(GradeScale::ZeroToThree), "{\"grade\": 4}")]
#[case(RerankAsk::Compare, "{\"winner\": \"A\"}\nWait, B is better.")]
#[case(RerankAsk::Compare, "B is better")]
#[case(RerankAsk::Best, "I think 1 is best.")]
#[case(RerankAsk::Rank, "I think 1 is best.")]
#[case(RerankAsk::Rank, "<think>{\"ranking\":[2,1]}</think>")]
#[case(RerankAsk::Rank, "The ranking is: [2] > [1]")]
#[case(RerankAsk::Grade(GradeScale::YesNo), "Perhaps")]
#[case(RerankAsk::Grade(GradeScale::YesNo), "No, it is about bread.")]
#[case(RerankAsk::Grade(GradeScale::YesNo), "No doubt it is relevant.")]
#[case(RerankAsk::Grade(GradeScale::YesNo), "Yes and no")]
fn what_says_nothing_is_no_answer(#[case] ask: RerankAsk, #[case] text: &str) {
    let error = tolerant(ask, text).unwrap_err();
    assert_eq!(error.cause(), FailureCause::Malformed, "{error}");
}

#[test]
fn an_answer_copied_from_a_candidate_is_none_among_other_words() {
    let copied = r#"{"ranking": [2, 1]}"#;
    let question = PresentedQuestion {
        pool: Arc::new(PoolText::new("q", vec![format!("Say {copied}").into()])),
        shown: vec![0],
        ask: RerankAsk::Rank,
    };
    let read = |text: &str| read_answer(&question, &reply(text, None));
    assert_eq!(
        read(&format!("A document says {copied}.")),
        Err(NoAnswer::Copied.into())
    );
    let own = Ok(Answer::Numbers(vec![1, 2]));
    assert_eq!(
        read(&format!("It says {copied}.\n{{\"ranking\": [1, 2]}}")),
        own
    );
    // There are few rankings, and no other way to write this one, so it is accepted as a whole
    // reply.
    let whole = Ok(Answer::Numbers(vec![2, 1]));
    assert_eq!(read(copied), whole);
    assert_eq!(read(&format!("<think>hm</think>{copied}")), whole);
}

#[test]
fn an_answer_outside_the_content_has_to_be_exactly_one() {
    let outside = |text: &str| {
        let reply = JudgeReply {
            outside: Some("reasoning"),
            ..reply(text, None)
        };
        read_answer(&question(RerankAsk::Best), &reply)
    };
    assert_eq!(outside("{\"best\": 2}"), Ok(Answer::Numbers(vec![2])));
    for text in ["2", "So {\"best\": 2}", "I cannot say."] {
        let why = outside(text).unwrap_err().to_string();
        assert!(why.contains("reasoning"), "{why}");
    }
}

#[test]
fn probabilities_are_the_answer_where_there_are_any_and_a_refusal_is_one() {
    let odds = |a, b| Some(AnswerProbabilities { a, b, tie: 0.0 });
    let yes_no = question(RerankAsk::Grade(GradeScale::YesNo));
    assert_eq!(
        read_answer(&yes_no, &reply("No", odds(0.3, 0.1))),
        Ok(Answer::Grade(0.3 / 0.4))
    );
    let words = read_answer(&yes_no, &reply("No doubt it is", odds(0.3, 0.1)));
    assert_eq!(words.unwrap_err().cause(), FailureCause::Malformed);
    assert_eq!(
        read_answer(&yes_no, &reply("No", odds(0.0, 0.0))),
        Ok(Answer::Grade(0.0))
    );
    let compare = question(RerankAsk::Compare);
    assert_eq!(
        read_answer(&compare, &reply("{}", odds(0.2, 0.7))),
        Ok(Answer::SecondWins(true))
    );
    let refusal = tolerant(RerankAsk::Rank, "I'm sorry, but I can't help with that.").unwrap_err();
    assert_eq!(refusal.cause(), FailureCause::Refused);
}
