//! Votes that were read from a file in another format, checked like those of a file of votes.

use super::texts::{KnownTexts, LookupError, TextRegistry};
use super::vote::ExternalVote;
use crate::formats::problem::Problem;
use std::collections::{HashMap, VecDeque};

/// An iterator over votes with valid texts and times, and the problems of the others.
pub struct GivenVotes<K> {
    votes: std::vec::IntoIter<Result<(u64, ExternalVote), Problem>>,
    file: String,
    registry: TextRegistry<K>,
    line: u64,
    pending: VecDeque<Problem>,
}

impl<K> GivenVotes<K>
where
    K: FnMut(&str) -> Result<Option<KnownTexts>, LookupError>,
{
    /// Checks votes with their lines in `file`. `known` returns the texts that a query has before
    /// this file, if any. Verdicts with a time after `latest_ms`, in milliseconds since the Unix
    /// epoch, are rejected.
    pub fn new(
        votes: Vec<Result<(u64, ExternalVote), Problem>>,
        file: &str,
        known: K,
        latest_ms: i64,
    ) -> Self {
        let mut registry = TextRegistry::new(known);
        registry.latest_ms = Some(latest_ms);
        Self {
            votes: votes.into_iter(),
            file: file.to_owned(),
            registry,
            line: 0,
            pending: VecDeque::new(),
        }
    }

    /// The line of the last vote, from 1.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// The texts of the queries that were read, for use with the next file.
    pub fn into_texts(self) -> HashMap<String, KnownTexts> {
        self.registry.known
    }
}

impl<K> Iterator for GivenVotes<K>
where
    K: FnMut(&str) -> Result<Option<KnownTexts>, LookupError>,
{
    type Item = Result<ExternalVote, Problem>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(problem) = self.pending.pop_front() {
            return Some(Err(problem));
        }
        let (line, vote) = match self.votes.next()? {
            Ok(placed) => placed,
            Err(problem) => return Some(Err(problem)),
        };
        self.line = line;
        let checked = self.registry.check_time(&vote);
        match checked.and_then(|()| self.registry.agree(&vote)) {
            Ok(()) => Some(Ok(vote)),
            Err(messages) => {
                let problems = messages.into_iter();
                let problem = |message| Problem::new(&self.file, Some(line), message);
                self.pending.extend(problems.map(problem));
                self.pending.pop_front().map(Err)
            }
        }
    }
}
