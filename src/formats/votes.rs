//! Other systems' pairwise judgments as JSON Lines, one vote of a model or a person a line.
//!
//! `{"query":{"id","query"},"a":{"id","content"},"b":{"id","content"},"by","kind":"llm"|"human","score",`
//! `"shown"?:"ab"|"ba","reasoning"?,"created_ms"?}`; the score is in −1..1, negative where `a` is better. A text may be
//! left out once it is known, and must not change. Members the format does not know are passed over.

mod line;
mod texts;

pub use texts::{KnownTexts, text_hash};

use super::lines::TextLines;
use super::problem::Problem;
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::vote::Margin;
use std::collections::{HashMap, VecDeque};
use std::io::BufRead;
use texts::TextRegistry;

/// Who judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VoterKind {
    /// A language model, or another program.
    Llm,
    /// A person.
    Human,
}

/// A document as a vote names it.
#[derive(Clone, Debug, PartialEq)]
pub struct ExternalDocument {
    /// Unique in its pool.
    pub id: DocId,
    /// Its text, where this line has it.
    pub content: Option<String>,
}

/// One vote.
#[derive(Clone, Debug, PartialEq)]
pub struct ExternalVote {
    /// The query.
    pub query: QueryId,
    /// Its text, where this line has it.
    pub query_text: Option<String>,
    /// One document.
    pub a: ExternalDocument,
    /// The other.
    pub b: ExternalDocument,
    /// The model's or the person's name.
    pub by: String,
    /// Which of the two it is.
    pub kind: VoterKind,
    /// Negative prefers `a`.
    pub score: Margin,
    /// Whether `b` was shown first.
    pub swapped: bool,
    /// The reasoning, one thought a line; empty where there is none.
    pub reasoning: String,
    /// When, in milliseconds since the Unix epoch, where the line says so.
    pub created_ms: Option<i64>,
}

/// The votes of a file, one at a time; see [`read_votes`].
pub struct VoteRecords<R, K> {
    lines: TextLines<R>,
    texts: TextRegistry<K>,
    pending: VecDeque<Problem>,
}

/// Reads votes from JSON Lines. A bad line gives its problems, up to five of them and a count, and the next line
/// follows. Only one line is in memory at a time, with the hashes of the texts before it.
///
/// `file` is what problems call the file. `known` gives the texts that a query has before this file, where it has any, or
/// why they cannot be looked up.
pub fn read_votes<R, K>(reader: R, file: &str, known: K) -> VoteRecords<R, K>
where
    R: BufRead,
    K: FnMut(&str) -> Result<Option<KnownTexts>, String>,
{
    VoteRecords {
        lines: TextLines::new(reader, file),
        texts: TextRegistry::new(known),
        pending: VecDeque::new(),
    }
}

impl<R, K> VoteRecords<R, K> {
    /// The texts of the queries that were read, for the file after this one.
    pub fn into_texts(self) -> HashMap<String, KnownTexts> {
        self.texts.known
    }
}

impl<R, K> Iterator for VoteRecords<R, K>
where
    R: BufRead,
    K: FnMut(&str) -> Result<Option<KnownTexts>, String>,
{
    type Item = Result<ExternalVote, Problem>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(problem) = self.pending.pop_front() {
                return Some(Err(problem));
            }
            let parsed = match self.lines.next()? {
                Ok(line) => line::parse(&line),
                Err(problem) => return Some(Err(problem)),
            };
            let vote = parsed.and_then(|vote| self.texts.agree(&vote).map(|()| vote));
            match vote {
                Ok(vote) => return Some(Ok(vote)),
                Err(messages) => {
                    let problems = messages.iter().map(|message| self.lines.problem(message));
                    self.pending.extend(problems);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
