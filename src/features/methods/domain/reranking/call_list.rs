//! The questions of one query: numbered, each returned and answered once, with the purpose of their
//! answers.

use super::Call;
use super::validation::{AnswerError, Checked};
use crate::domain::candidate_question::Question;
use std::collections::HashMap;

/// The questions of a strategy. `T` is the context that the strategy needs when the answer arrives.
#[derive(Debug)]
pub(super) struct CallList<T> {
    next_id: usize,
    waiting: Vec<(Call, T)>,
    open: HashMap<usize, T>,
    repairs: usize,
    failed: bool,
}

impl<T> Default for CallList<T> {
    fn default() -> Self {
        Self {
            next_id: 0,
            waiting: Vec::new(),
            open: HashMap::new(),
            repairs: 0,
            failed: false,
        }
    }
}

impl<T> CallList<T> {
    /// Adds a question, unless the query has failed.
    pub(super) fn ask(&mut self, question: Question, purpose: T) {
        if self.failed {
            return;
        }
        let id = self.next_id;
        self.next_id += 1;
        self.waiting.push((Call { id, question }, purpose));
    }

    /// Returns the questions that were not returned before.
    pub(super) fn hand_out(&mut self) -> Vec<Call> {
        let handed = self.waiting.drain(..).map(|(call, purpose)| {
            self.open.insert(call.id, purpose);
            call
        });
        handed.collect()
    }

    /// Removes question `id` and returns the purpose of its answer.
    pub(super) fn take(&mut self, id: usize) -> Result<T, AnswerError> {
        self.open.remove(&id).ok_or(AnswerError::NotAsked(id))
    }

    /// Unwraps the value of an answer. An error makes the query fail.
    pub(super) fn accept<V>(&mut self, value: Result<V, AnswerError>) -> Result<V, AnswerError> {
        if value.is_err() {
            self.failed = true;
            self.waiting.clear();
            self.open.clear();
        }
        value
    }

    /// Unwraps the value of an answer that may have been repaired, and counts repairs. An error
    /// makes the query fail.
    pub(super) fn accept_repaired<V>(&mut self, checked: Checked<V>) -> Result<V, AnswerError> {
        let (value, repaired) = self.accept(checked)?;
        self.repairs += usize::from(repaired);
        Ok(value)
    }

    /// Whether every question is answered and the query has not failed.
    pub(super) fn is_over(&self) -> bool {
        !self.failed && self.waiting.is_empty() && self.open.is_empty()
    }

    pub(super) fn repairs(&self) -> usize {
        self.repairs
    }
}
