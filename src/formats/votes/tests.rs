use super::*;
use crate::domain::vote::Margin;
use rstest::rstest;

const GOOD: &str = r#"{"query":{"id":"q","query":"which?"},"a":{"id":"x","content":"one"},"b":{"id":"y","content":"two"},"by":"gpt","kind":"llm","score":-0.5}"#;

fn read(text: &str) -> Vec<Result<ExternalVote, String>> {
    let votes = read_votes(text.as_bytes(), "f.jsonl", |_: &str| Ok(None));
    votes
        .map(|vote| vote.map_err(|problem| problem.to_string()))
        .collect()
}

fn only(text: &str) -> ExternalVote {
    read(text).pop().unwrap().unwrap()
}

#[test]
fn what_is_left_out_has_a_meaning() {
    let vote = only(GOOD);
    let score = |vote: &ExternalVote| match vote.answer {
        ExternalAnswer::Vote(margin) => margin.get(),
        _ => panic!("{vote:?} is no vote of a model"),
    };
    assert_eq!(score(&vote), -0.5);
    assert!(!vote.swapped && vote.reasoning.is_empty() && vote.created_ms.is_none());
    let person = GOOD.replace("\"llm\"", r#""human","inclusion":0.25"#);
    assert_eq!(only(&person).inclusion, Some(0.25));
    assert_eq!(
        only(&GOOD.replace("\"llm\"", r#""llm","inclusion":7"#)),
        vote
    );
    assert!(only(&person).blind);
    let seen = GOOD.replace("\"llm\"", r#""human","blind":false"#);
    assert!(!only(&seen).blind);
    let nulls = GOOD.replace(
        "\"score\"",
        r#""shown":null,"reasoning":null,"created_ms":null,"cost":[1],"score""#,
    );
    assert_eq!(only(&nulls), vote);
    let all = GOOD.replace(
        "\"score\"",
        r#""shown":"ba","reasoning":["first","second"],"created_ms":1700000000000,"score""#,
    );
    let vote = only(&all);
    assert!(vote.swapped);
    assert_eq!(vote.reasoning, "first\nsecond");
    assert_eq!(vote.created_ms, Some(1_700_000_000_000));
    assert_eq!(score(&only(&GOOD.replace("-0.5", "-0.0"))).to_bits(), 0);
}

#[rstest]
#[case::score_out_of_range("-0.5", "1.5", "score: \"1.5\" is outside -1..1")]
#[case::score_as_text("-0.5", "\"-0.5\"", "score: expected a number")]
#[case::score_too_large("-0.5", "1e999", "score: ")]
#[case::not_a_number("-0.5", "NaN", "NaN")]
#[case::kind(
    "\"llm\"",
    "\"robot\"",
    "kind: expected \"llm\" or \"human\", found \"robot\""
)]
#[case::no_kind(",\"kind\":\"llm\"", "", "kind: is missing")]
#[case::inclusion(
    "\"llm\"",
    "\"human\",\"inclusion\":0",
    "inclusion: \"0\" is not a probability above 0"
)]
#[case::blind(
    "\"llm\"",
    "\"human\",\"blind\":\"no\"",
    "blind: expected true or false, found a string"
)]
#[case::nobody("\"gpt\"", "\" \"", "by: is empty")]
#[case::one_document("\"id\":\"y\"", "\"id\":\"x\"", "b.id: \"x\" meets itself")]
#[case::no_id("\"id\":\"y\"", "\"id\":\"\"", "b.id: is empty")]
#[case::number_as_id("\"id\":\"y\"", "\"id\":7.5", "b.id: expected a string")]
#[case::no_text(
    ",\"content\":\"two\"",
    "",
    "b.content: is missing, and \"y\" has not been seen"
)]
#[case::no_query_text(",\"query\":\"which?\"", "", "query.query: is missing")]
#[case::shown(
    "\"score\"",
    "\"shown\":\"first\",\"score\"",
    "shown: expected \"ab\" or \"ba\""
)]
#[case::reasoning(
    "\"score\"",
    "\"reasoning\":{},\"score\"",
    "reasoning: expected a string or an array"
)]
#[case::moment(
    "\"score\"",
    "\"created_ms\":1.5,\"score\"",
    "created_ms: expected whole milliseconds"
)]
#[case::moment_as_text(
    "\"score\"",
    "\"created_ms\":\"2020\",\"score\"",
    "created_ms: expected a number"
)]
#[case::twice("\"score\"", "\"score\":1,\"score\"", "score: occurs more than once")]
fn a_bad_line_is_named_and_the_next_is_read(
    #[case] from: &str,
    #[case] to: &str,
    #[case] words: &str,
) {
    let bad = GOOD.replacen(from, to, 1);
    assert_ne!(bad, GOOD);
    let read = read(&format!("{bad}\n\n{GOOD}\n"));
    let error = read[0].as_ref().unwrap_err();
    assert!(
        error.starts_with("f.jsonl:1: ") && error.contains(words),
        "{error}"
    );
    assert!(read.last().unwrap().is_ok());
}

#[test]
fn a_text_is_needed_once_and_may_not_change() {
    let bare = GOOD
        .replace(",\"query\":\"which?\"", "")
        .replace(",\"content\":\"one\"", "")
        .replace(",\"content\":\"two\"", "");
    let good = read(&format!("{GOOD}\n{bare}\n"));
    assert!(good.iter().all(Result::is_ok), "{good:?}");
    let changed = GOOD.replace("\"two\"", "\"three\"");
    let read_back = read(&format!("{GOOD}\n{changed}\n{GOOD}\n"));
    let error = read_back[1].as_ref().unwrap_err();
    assert_eq!(
        error,
        "f.jsonl:2: b.content: \"y\" has a different text than before; give it another id"
    );
    assert!(read_back[2].is_ok());
    // A rejected line adds nothing.
    let refused = GOOD.replace("-0.5", "-1.5");
    let read_back = read(&format!("{refused}\n{bare}\n"));
    assert!(read_back[1].is_err());
}

#[test]
fn an_array_and_whole_numbers_as_identifiers_are_read() {
    let numbers = GOOD.replace("\"id\":\"y\"", "\"id\":7");
    let array = read(&format!("[{GOOD},\n{numbers}]"));
    let ids: Vec<&str> = array
        .iter()
        .map(|vote| vote.as_ref().unwrap().b.id.as_str())
        .collect();
    assert_eq!(ids, ["y", "7"]);
    let cut = read(&format!("[{GOOD}\n{GOOD}"));
    let error = cut[1].as_ref().unwrap_err();
    assert_eq!(
        error,
        "f.jsonl:2: broken JSON: expected `,` or `]` after an element of the array"
    );
}

#[test]
fn a_table_that_was_exported_is_read_and_needs_texts() {
    let header = "query,a,b,game,judge,counts,provider,model,margin,failure,swapped,attempt,tokens_input,tokens_output,cost_usd,latency_ms,reasoning,raw,message,asked";
    let rows = "q,'-x,\''=y,0,gpt,true,openai,m,-0.5,,true,1,7,2,,,\"two\nlines\",,,\"[\"\"gpt\"\"]\"\n\
                q,'-x,\''=y,0,other,true,openai,m,,timed-out,false,1,0,0,,,,,no answer,\n";
    let table = format!("{header}\n{rows}");
    let known = |_: &str| {
        Ok(Some(KnownTexts {
            query: text_hash("which?"),
            documents: ["-x", "'=y"]
                .map(|id| (id.to_owned(), text_hash(id)))
                .into(),
        }))
    };
    let votes: Vec<ExternalVote> = read_votes(table.as_bytes(), "v.csv", known)
        .map(Result::unwrap)
        .collect();
    let vote = &votes[0];
    assert_eq!((vote.a.id.as_str(), vote.b.id.as_str()), ("-x", "'=y"));
    assert_eq!(
        vote.answer,
        ExternalAnswer::Vote(Margin::new(-0.5).unwrap())
    );
    assert!(vote.swapped);
    assert_eq!(vote.reasoning, "two\nlines");
    let place = vote.exported.as_ref().unwrap();
    assert_eq!(place.asked, Some(vec!["gpt".to_owned()]));
    let failure = RecordedFailure {
        cause: "timed-out".to_owned(),
        message: "no answer".to_owned(),
    };
    assert_eq!(votes[1].answer, ExternalAnswer::Failure(failure));
    let error = read(&table)[0].as_ref().unwrap_err().clone();
    assert!(
        error.contains("import its dataset first, or export the votes as JSON lines"),
        "{error}"
    );
    let error = read(&table.replace(",-0.5,", ",\"-0,5\","))[0]
        .as_ref()
        .unwrap_err()
        .clone();
    assert_eq!(
        error,
        "f.jsonl:2: margin: expected a number, found \"-0,5\"; write it with a decimal point: -0.5"
    );
    let error = read("query,a,b\n")[0].as_ref().unwrap_err().clone();
    assert!(
        error.starts_with("f.jsonl:1: has no column game, judge"),
        "{error}"
    );
}

#[test]
fn texts_that_are_known_from_elsewhere_count() {
    let known = |id: &str| {
        Ok((id == "q").then(|| KnownTexts {
            query: text_hash("which?"),
            documents: [("x".to_owned(), text_hash("one"))].into(),
        }))
    };
    let bare = GOOD.replace(",\"content\":\"one\"", "");
    let mut votes = read_votes(bare.as_bytes(), "f", known);
    assert!(votes.next().unwrap().is_ok());
    let other = GOOD.replace("\"one\"", "\"another\"");
    let mut votes = read_votes(other.as_bytes(), "f", known);
    assert!(votes.next().unwrap().is_err());
    let mut votes = read_votes(GOOD.as_bytes(), "f", |_: &str| Err("gone".into()));
    assert_eq!(votes.next().unwrap().unwrap_err().to_string(), "f:1: gone");
}

const EXPORTED: &str = r#"{"query":"q","a":"x","b":"y","game":0,"judge":"gpt","counts":true,"provider":"openai","model":"m","margin":-0.5,"failure":null,"swapped":true,"reasoning":"why","message":null,"asked":null,"pool":{"query":{"id":"q","query":"which?"},"documents":[{"id":"y","content":"two"},{"id":"x","content":""}]}}"#;

#[rstest]
#[case::neither("-0.5", "null", "margin: expected either a margin or a failure")]
#[case::both(
    "\"failure\":null",
    "\"failure\":\"timed-out\"",
    "margin: expected either"
)]
#[case::game("\"game\":0", "\"game\":0.5", "game: expected a whole number")]
#[case::order(
    "\"swapped\":true",
    "\"swapped\":\"ba\"",
    "swapped: expected true or false"
)]
#[case::asked("\"asked\":null", "\"asked\":[1]", "asked: expected a list of names")]
#[case::one_document("\"b\":\"y\"", "\"b\":\"x\"", "b: is the same document as a")]
#[case::pool_of_another("{\"id\":\"q\"", "{\"id\":\"r\"", "pool: is of query \"r\"")]
#[case::not_in_the_pool("\"a\":\"x\"", "\"a\":\"z\"", "a.content: is missing")]
fn a_bad_exported_line_is_named(#[case] from: &str, #[case] to: &str, #[case] words: &str) {
    let good = only(EXPORTED);
    let margin = Margin::new(-0.5).unwrap();
    assert_eq!(
        (good.answer, good.swapped),
        (ExternalAnswer::Vote(margin), true)
    );
    let bad = EXPORTED.replacen(from, to, 1);
    assert_ne!(bad, EXPORTED);
    let read = read(&bad);
    let error = read[0].as_ref().unwrap_err();
    assert!(error.contains(words), "{error}");
}
