//! zBench's `ai_scores.json`: byte-exact output, and messages about invalid files.

use crate::domain::vote::Margin;
use crate::formats::ai_scores::{
    ExpectedJudges, RecordedVote, ScoredPairsWriter, ZbenchPair, read_scored_pairs,
};
use rstest::rstest;
use std::io::BufReader;

/// The output of pydantic 2.13's `model_dump_json(indent=4)`.
const AI_SCORES: &str = include_str!("../../../tests/golden/formats/ai_scores.json");

fn scored(input: impl AsRef<[u8]>, ensemble: ExpectedJudges) -> (Vec<ZbenchPair>, Vec<String>) {
    let (mut pairs, mut problems) = (Vec::new(), Vec::new());
    // A reader that returns three bytes at a time reveals dependence on buffer boundaries.
    let reader = BufReader::with_capacity(3, input.as_ref());
    for item in read_scored_pairs(reader, "ai_scores.json", ensemble) {
        match item {
            Ok(pair) => pairs.push(pair),
            Err(problem) => problems.push(problem.to_string()),
        }
    }
    (pairs, problems)
}

fn written(pairs: &[ZbenchPair]) -> String {
    let mut writer = ScoredPairsWriter::new(Vec::new()).unwrap();
    for pair in pairs {
        writer.write(pair).unwrap();
    }
    String::from_utf8(writer.finish().unwrap()).unwrap()
}

fn tie(swapped: bool, thought: &str) -> RecordedVote {
    RecordedVote::Vote {
        margin: Margin::new(0.0).unwrap(),
        swapped,
        thought: thought.into(),
    }
}

#[test]
fn a_file_is_read_and_written_byte_for_byte() {
    let (pairs, problems) = scored(AI_SCORES, ExpectedJudges::Zbench);
    assert_eq!(problems, [""; 0]);
    assert_eq!(pairs.len(), 3);
    let first = &pairs[0];
    assert_eq!(
        first.pair_id,
        ZbenchPair::zbench_id(&first.query_id, &first.a.id, &first.b.id)
    );
    let metadata = r#"{"url":"https://example.org/a b","tags":["x",{"n":1.0,"e":[]}],"none":{}}"#;
    assert_eq!(first.a.metadata.as_str(), metadata);
    let judges: Vec<_> = first
        .votes
        .iter()
        .map(|(judge, _)| judge.as_str())
        .collect();
    assert_eq!(judges, ["openai", "gemini", "anthropic"]);
    assert_eq!(written(&pairs), AI_SCORES);
    assert_eq!(written(&[]), "{\n    \"scored_pairs\": []\n}");
}

#[test]
fn votes_ties_and_failures_are_told_apart() {
    let (pairs, _) = scored(AI_SCORES, ExpectedJudges::Zbench);
    let swapped = RecordedVote::Vote {
        margin: Margin::new(-0.75).unwrap(),
        swapped: true,
        thought: "B names the \"cause\".\nA does not.".into(),
    };
    assert_eq!(pairs[0].votes[1].1, swapped);
    assert_eq!(pairs[0].votes[2].1, RecordedVote::Failure);
    assert_eq!(pairs[1].votes[0].1, tie(false, "Equal."));
    assert_eq!(pairs[1].votes[1].1, tie(true, "Equal."));
    assert_eq!(pairs[1].votes[2].1, tie(true, ""));
}

#[test]
fn other_ensembles_survive_and_a_silent_tie_stays_a_vote() {
    let (mut pairs, _) = scored(AI_SCORES, ExpectedJudges::Zbench);
    pairs.truncate(1);
    pairs[0].votes = vec![
        ("local \"8b\"".into(), tie(false, "")),
        ("coin".into(), RecordedVote::Failure),
    ];
    let text = written(&pairs);
    let spelled = "\"local \\\"8b\\\"_score\": {\n                \"thought\": \"(no reasoning)\"";
    assert!(text.contains(spelled), "{text}");
    assert_eq!(scored(&text, ExpectedJudges::Any), (pairs, vec![]));
    assert_eq!(scored(&text, ExpectedJudges::Zbench).1.len(), 3);
}

#[rstest]
#[case("1.7")]
#[case("-3.0")]
#[case("1.0000000000000002")]
fn a_score_outside_the_range_is_read_as_no_vote(#[case] score: &str) {
    let text = AI_SCORES.replacen("\"score\": -0.75", &format!("\"score\": {score}"), 1);
    let (pairs, problems) = scored(&text, ExpectedJudges::Zbench);
    assert_eq!(problems, [""; 0]);
    let found = &pairs[0].votes[1].1;
    let given = score.parse::<f64>().unwrap();
    assert!(
        matches!(found, RecordedVote::OutOfRange { score, .. } if *score == given),
        "{found:?}"
    );
    assert_eq!(written(&pairs), text);
}

#[test]
fn a_document_may_meet_itself() {
    let text = AI_SCORES.replacen("\"document_id\": \"d1\"", "\"document_id\": \"d2\"", 1);
    let (pairs, problems) = scored(&text, ExpectedJudges::Zbench);
    assert_eq!(problems, [""; 0]);
    let itself: Vec<bool> = pairs.iter().map(ZbenchPair::meets_itself).collect();
    assert_eq!(itself, [true, false, false]);
    assert_eq!(written(&pairs), text);
}

#[rstest]
#[case(
    "\"score\": -0.75",
    "\"score\": \"a\"",
    "35: scored_pairs[0].gemini_score.score: expected a number, found the string \"a\"; remove the quotes"
)]
#[case(
    "\"gemini_score\"",
    "\"gemini\"",
    "3: scored_pairs[0].gemini_score: is missing"
)]
#[case(
    "\"gemini_score\"",
    "\"openai_score\"",
    "33: scored_pairs[0].openai_score: occurs more than once; keep one"
)]
#[case(
    "\"query\": \"why?\"",
    "\"q\": 1",
    "4: scored_pairs[0].pair.query: is missing"
)]
#[case(
    "\"query_id\": \"q1\"",
    "\"query_id\": \"\"",
    "6: scored_pairs[0].pair.query_id: is empty"
)]
#[case(
    "\"document_id\": \"d1\"",
    "\"document_id\": 1.5",
    "9: scored_pairs[0].pair.document_a.document_id: expected a string, found the number \"1.5\"; put it in quotes"
)]
fn a_bad_pair_is_named_by_line_index_and_path(
    #[case] from: &str,
    #[case] to: &str,
    #[case] expected: &str,
) {
    let (pairs, problems) = scored(AI_SCORES.replacen(from, to, 1), ExpectedJudges::Zbench);
    assert_eq!(
        problems.first(),
        Some(&format!("ai_scores.json:{expected}"))
    );
    assert_eq!(pairs.len(), 2, "the other pairs are still read");
}

#[rstest]
#[case(
    "",
    "1: the file is cut off before the first pair; write or download it again"
)]
#[case(
    "[]",
    "1: expected an object with scored_pairs; is this ai_scores.json?"
)]
#[case("{}", " scored_pairs: is missing; is this ai_scores.json?")]
#[case(
    "{\"pairs\": [{}, \"]\"]}\n",
    " scored_pairs: is missing; is this ai_scores.json?"
)]
#[case("{\"pairs\": [{]}", "1: broken JSON: key must be a string")]
#[case("{\"scored_pairs\": 7}", "1: scored_pairs: expected an array")]
#[case("{\"scored_pairs\" 7}", "1: broken JSON: expected `:`")]
#[case("{7}", "1: broken JSON: expected the name of a member in quotes")]
#[case(
    "{\"scored_pairs\": [], }",
    "1: broken JSON: expected the name of a member in quotes"
)]
#[case("{\"scored_pairs\": []\n] }", "2: broken JSON: expected `,` or `}`")]
#[case(
    "{\"scored_pairs\": [],\n\"scored_pairs\": []}",
    "2: scored_pairs: occurs more than once; keep one"
)]
#[case(
    "{\"scored_pairs\": []} {",
    "1: broken JSON: more follows after the end of the object"
)]
#[case(
    "{\"scored_pairs\": [\n{],\n]}",
    "2: scored_pairs[0]: broken JSON: key must be a string"
)]
#[case(
    "{\"scored_pairs\": [\n,{}]}",
    "2: scored_pairs[0]: broken JSON: expected value"
)]
#[case(
    "{\"scored_pairs\": [7]}",
    "1: scored_pairs[0]: expected an object, found a number"
)]
#[case(
    "{\"scored_pairs\": [{\n\"a: 1},\n{}]}",
    "2: scored_pairs[0]: broken JSON: control character (\\u0000-\\u001F) found while parsing a string"
)]
fn a_file_that_is_something_else_is_refused(#[case] input: &str, #[case] expected: &str) {
    let problem = format!("ai_scores.json:{expected}");
    assert_eq!(
        scored(input, ExpectedJudges::Zbench),
        (vec![], vec![problem])
    );
}

#[rstest]
#[case("7 8]}", "1: broken JSON: expected `,` or `]`")]
#[case("7,]}", "1: broken JSON: a comma with no pair after it")]
fn one_comma_stands_between_two_pairs(#[case] pairs: &str, #[case] expected: &str) {
    let (_, problems) = scored(format!("{{\"scored_pairs\":[{pairs}"), ExpectedJudges::Any);
    assert_eq!(problems.last(), Some(&format!("ai_scores.json:{expected}")));
}

#[test]
fn invalid_utf8_is_named_by_line() {
    let (_, problems) = scored(
        b"{\"scored_pairs\":[\n{\"a\":1,\n\"b\":\"\xff\"}]}",
        ExpectedJudges::Any,
    );
    assert_eq!(
        problems,
        ["ai_scores.json:3: invalid UTF-8; save the file as UTF-8"]
    );
}

#[test]
fn a_cut_file_gives_what_it_has() {
    let cut = AI_SCORES.find("d1-d3").unwrap();
    let (pairs, problems) = scored(
        format!("\u{feff}{}", &AI_SCORES[..cut]),
        ExpectedJudges::Zbench,
    );
    assert_eq!(pairs.len(), 1);
    assert_eq!(
        problems,
        ["ai_scores.json:44: the file is cut off after pair 1; write or download it again"]
    );
}
