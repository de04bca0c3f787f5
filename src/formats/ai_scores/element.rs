//! One element of `scored_pairs`: either a pair, or everything that is wrong with it.

use super::{
    ExpectedJudges, NO_REASONING, RecordedVote, SWAPPED, ScoredDocument, ZBENCH_JUDGES, ZbenchPair,
};
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::vote::Margin;
use crate::formats::json::{Members, number, object, string};
use crate::formats::problem::quoted;
use serde_json::value::RawValue;

/// Something wrong in an element, with the number of line breaks before it.
pub(super) struct ElementProblem {
    pub(super) lines_down: u64,
    pub(super) message: String,
}

/// Reads one element, noting what is wrong as it goes.
pub(super) struct ElementReader<'a> {
    text: &'a str,
    index: u64,
    findings: Vec<ElementProblem>,
}

/// The pair, or what is wrong with the element, at least one thing.
pub(super) fn parse(
    value: &RawValue,
    index: u64,
    ensemble: ExpectedJudges,
) -> Result<ZbenchPair, Vec<ElementProblem>> {
    let mut element = ElementReader {
        text: value.get(),
        index,
        findings: Vec::new(),
    };
    match element.pair(value, ensemble) {
        Some(pair) if element.findings.is_empty() => Ok(pair),
        _ => Err(element.findings),
    }
}

impl<'a> ElementReader<'a> {
    fn pair(&mut self, value: &'a RawValue, ensemble: ExpectedJudges) -> Option<ZbenchPair> {
        let mut members = self.members(value, "")?;
        let pair = self.required(&mut members, value, "", "pair");
        let votes = self.votes(members, value, ensemble);
        let pair = pair?;
        let mut members = self.members(pair, ".pair")?;
        let pair_id = self.text(&mut members, pair, ".pair", "pair_id");
        let query_id = self.identifier(&mut members, pair, ".pair", "query_id");
        let query = self.text(&mut members, pair, ".pair", "query");
        let a = self.document(&mut members, pair, "document_a");
        let b = self.document(&mut members, pair, "document_b");
        let (a, b) = (a?, b?);
        if a.id == b.id {
            let what = format!(
                "{} meets itself: both documents have this id",
                quoted(a.id.as_str())
            );
            self.add(pair, ".pair", &what);
        }
        Some(ZbenchPair {
            pair_id: pair_id?,
            query_id: QueryId::new(query_id?),
            query: query?,
            a,
            b,
            votes,
        })
    }

    fn document(
        &mut self,
        pair: &mut Members<'a>,
        parent: &'a RawValue,
        key: &str,
    ) -> Option<ScoredDocument> {
        let value = self.required(pair, parent, ".pair", key)?;
        let path = format!(".pair.{key}");
        let mut members = self.members(value, &path)?;
        let id = self.identifier(&mut members, value, &path, "document_id");
        let content = self.text(&mut members, value, &path, "content");
        let metadata = match members.take("metadata") {
            Ok(None) => Some(Default::default()),
            Ok(Some(metadata)) => {
                self.check(metadata, &format!("{path}.metadata"), object(metadata))
            }
            Err(what) => self.check(value, &format!("{path}.metadata"), Err(what)),
        };
        Some(ScoredDocument {
            id: DocId::new(id?),
            content: content?,
            metadata: metadata?,
        })
    }

    /// What is recorded of each judge, in the file's order.
    fn votes(
        &mut self,
        rest: Members<'a>,
        parent: &'a RawValue,
        ensemble: ExpectedJudges,
    ) -> Vec<(String, RecordedVote)> {
        let mut votes: Vec<(String, RecordedVote)> = Vec::new();
        let mut seen: Vec<&str> = Vec::new();
        for (key, value) in rest.iter() {
            let Some(judge) = key.strip_suffix("_score").filter(|name| !name.is_empty()) else {
                continue;
            };
            let path = format!(".{key}");
            if seen.contains(&judge) {
                self.add(value, &path, "occurs more than once; keep one");
                continue;
            }
            seen.push(judge);
            if let Some(vote) = self.vote(value, &path) {
                votes.push((judge.to_owned(), vote));
            }
        }
        match ensemble {
            ExpectedJudges::Zbench => {
                for judge in ZBENCH_JUDGES
                    .into_iter()
                    .filter(|judge| !seen.contains(judge))
                {
                    self.add(parent, &format!(".{judge}_score"), "is missing");
                }
            }
            ExpectedJudges::Any if seen.is_empty() => {
                self.add(parent, "", "has no judge: no member ends in _score")
            }
            ExpectedJudges::Any => {}
        }
        votes
    }

    fn vote(&mut self, value: &'a RawValue, path: &str) -> Option<RecordedVote> {
        let mut members = self.members(value, path)?;
        let thought = self.text(&mut members, value, path, "thought");
        let score = self
            .required(&mut members, value, path, "score")
            .and_then(|score| {
                let path = format!("{path}.score");
                let number = self.check(score, &path, number(score))?;
                let margin = Margin::new(number);
                if margin.is_none() {
                    self.add(
                        score,
                        &path,
                        &format!("{} is outside -1..1", quoted_number(score.get())),
                    );
                }
                margin
            });
        let (thought, margin) = (thought?, score?);
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

    fn members(&mut self, value: &'a RawValue, path: &str) -> Option<Members<'a>> {
        self.check(value, path, Members::of(value))
    }

    fn required(
        &mut self,
        members: &mut Members<'a>,
        parent: &'a RawValue,
        path: &str,
        key: &str,
    ) -> Option<&'a RawValue> {
        let path = format!("{path}.{key}");
        let value = self.check(parent, &path, members.take(key))?;
        if value.is_none() {
            self.add(parent, &path, "is missing");
        }
        value
    }

    fn text(
        &mut self,
        members: &mut Members<'a>,
        parent: &'a RawValue,
        path: &str,
        key: &str,
    ) -> Option<String> {
        let value = self.required(members, parent, path, key)?;
        self.check(value, &format!("{path}.{key}"), string(value))
    }

    fn identifier(
        &mut self,
        members: &mut Members<'a>,
        parent: &'a RawValue,
        path: &str,
        key: &str,
    ) -> Option<String> {
        let value = self.required(members, parent, path, key)?;
        let path = format!("{path}.{key}");
        let text = self.check(value, &path, string(value))?;
        if text.trim().is_empty() {
            self.add(value, &path, "is empty");
            return None;
        }
        Some(text)
    }

    fn check<T>(&mut self, at: &'a RawValue, path: &str, value: Result<T, String>) -> Option<T> {
        value.map_err(|what| self.add(at, path, &what)).ok()
    }

    fn add(&mut self, at: &'a RawValue, path: &str, what: &str) {
        let message = format!("scored_pairs[{}]{path}: {what}", self.index);
        self.findings.push(ElementProblem {
            lines_down: lines_before(self.text, at.get()),
            message,
        });
    }
}

/// A number as the file spells it, where that is short.
fn quoted_number(text: &str) -> &str {
    text.get(..24).unwrap_or(text)
}

/// The number of line breaks in `whole` before `part`, a slice of it.
fn lines_before(whole: &str, part: &str) -> u64 {
    let offset = (part.as_ptr() as usize).checked_sub(whole.as_ptr() as usize);
    let before = offset
        .and_then(|offset| whole.as_bytes().get(..offset))
        .unwrap_or_default();
    before.iter().filter(|byte| **byte == b'\n').count() as u64
}
