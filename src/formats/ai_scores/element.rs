//! Parses one element of `scored_pairs` into a pair, or into all of its problems.

use super::pair::{NO_REASONING, RecordedVote, SWAPPED, ScoredDocument, ZBENCH_JUDGES, ZbenchPair};
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::vote::Margin;
use crate::formats::json::{ValueError, number, object};
use crate::formats::object::{ObjectReader, ProblemNotes};
use serde_json::value::RawValue;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExpectedJudges {
    /// zBench's three judges, on every pair; other judges are allowed too.
    #[default]
    Zbench,
    /// Any judges, at least one per pair.
    Any,
}

/// The pair, or the problems of the element (at least one), each with the number of line breaks
/// before it.
pub(super) fn parse(
    value: &RawValue,
    index: u64,
    expected: ExpectedJudges,
) -> Result<ZbenchPair, Vec<(u64, String)>> {
    let mut notes = ProblemNotes::of_element(value.get());
    let reader = ObjectReader::of(value, format!("scored_pairs[{index}]"), &mut notes);
    let pair = reader.and_then(|reader| pair(reader, expected));
    notes.finish(pair)
}

fn pair(mut element: ObjectReader<'_, '_>, expected: ExpectedJudges) -> Option<ZbenchPair> {
    let value = element.required("pair");
    let votes = votes(&mut element, expected);
    let mut pair = element.enter("pair", value?)?;
    let pair_id = pair.string("pair_id");
    let query_id = pair.identifier("query_id");
    let query = pair.string("query");
    let a = pair.object("document_a").and_then(document);
    let b = pair.object("document_b").and_then(document);
    Some(ZbenchPair {
        pair_id: pair_id?,
        query_id: QueryId::new(query_id?),
        query: query?,
        a: a?,
        b: b?,
        votes,
    })
}

fn document(mut document: ObjectReader<'_, '_>) -> Option<ScoredDocument> {
    let (id, content) = (
        document.identifier("document_id"),
        document.string("content"),
    );
    let metadata = document.optional("metadata", object);
    Some(ScoredDocument {
        id: DocId::new(id?),
        content: content?,
        metadata: metadata.unwrap_or_default(),
    })
}

/// The record of each judge, in the order of the file.
fn votes(
    element: &mut ObjectReader<'_, '_>,
    expected: ExpectedJudges,
) -> Vec<(String, RecordedVote)> {
    let mut votes = Vec::new();
    let mut seen: Vec<String> = Vec::new();
    let members: Vec<(String, &RawValue)> = element
        .members()
        .map(|(key, value)| (key.to_owned(), value))
        .collect();
    for (key, value) in members {
        let Some(judge) = key.strip_suffix("_score").filter(|name| !name.is_empty()) else {
            continue;
        };
        if seen.iter().any(|earlier| earlier == judge) {
            let _: Option<()> = element.read(&key, value, |_| Err(ValueError::Repeated));
            continue;
        }
        seen.push(judge.to_owned());
        if let Some(vote) = element.enter(&key, value).and_then(vote) {
            votes.push((judge.to_owned(), vote));
        }
    }
    match expected {
        ExpectedJudges::Zbench => {
            for judge in ZBENCH_JUDGES {
                if !seen.iter().any(|earlier| earlier == judge) {
                    element.note(&format!("{judge}_score"), "is missing");
                }
            }
        }
        ExpectedJudges::Any if seen.is_empty() => {
            element.note_self("has no judge: no member ends in _score");
        }
        ExpectedJudges::Any => {}
    }
    votes
}

fn vote(mut vote: ObjectReader<'_, '_>) -> Option<RecordedVote> {
    let thought = vote.string("thought");
    let score = vote.required("score");
    let score = score.and_then(|score| vote.read("score", score, number));
    let (thought, score) = (thought?, score?);
    let Some(margin) = Margin::new(score) else {
        return Some(RecordedVote::OutOfRange { score, thought });
    };
    if margin.get() == 0.0 && thought.is_empty() {
        return Some(RecordedVote::Failure);
    }
    let (swapped, thought) = match thought.strip_prefix(SWAPPED) {
        Some(rest) => (true, rest.to_owned()),
        None if margin.get() == 0.0 && thought == NO_REASONING => (false, String::new()),
        None => (false, thought),
    };
    Some(RecordedVote::Vote {
        margin,
        swapped,
        thought,
    })
}
