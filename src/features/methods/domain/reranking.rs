//! Reranking methods: the questions that a method asks about the candidates of a query, and the
//! order it derives from the answers.
//!
//! A method is a state machine without I/O: [`Strategy::next`] returns the questions that can be
//! asked now, all at once, [`Strategy::answer`] takes the answers in any order, and
//! [`Strategy::outcome`] returns the result at the end. The same machine drives live calls, the
//! replay of recorded calls and cost estimates. Candidates are indexes into the query's first-stage
//! order.

mod call_bounds;
mod call_list;
mod cpython_random;
mod front;
mod infogain;
mod method;
mod method_name;
mod mohajer;
mod played;
mod pointwise;
mod prp;
mod rankgpt;
mod scoring;
mod setwise;
mod single_comparison;
mod stages;
#[cfg(test)]
mod tests;
mod tourrank;
pub(crate) mod validation;
mod zelo;

pub use call_bounds::CallBounds;
pub(crate) use cpython_random::{CpythonRandom, stable_seed};
pub use front::pareto_front;
pub use method::{CandidateCountError, Method, MethodKind, MethodOptions, Shuffle};
pub use method_name::is_free_reranker_name;
pub use played::play;
pub use stages::StageConfig;
pub use validation::{AnswerError, Validation};

use crate::domain::candidate_question::{Answer, Question};

/// A question waiting for its answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Unique within the query.
    pub id: usize,
    pub question: Question,
}

/// The order that a method assigns to a query's candidates.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranking {
    /// All candidates, best first.
    pub order: Vec<usize>,
    /// The values behind the order, by candidate, if the method has them: points, grades, scores.
    /// `None` for candidates that were not looked at.
    pub scores: Option<Vec<Option<f64>>>,
}

impl Ranking {
    /// The same order, followed by the remaining candidates up to `total`, in their original order.
    #[must_use]
    pub fn with_rest(mut self, total: usize) -> Self {
        let known = self.order.len();
        self.order.extend(known..total);
        if let Some(scores) = &mut self.scores {
            scores.resize(total.max(known), None);
        }
        self
    }
}

/// A reranking method processing one query.
pub trait Strategy: Send + std::fmt::Debug {
    /// Questions that can be asked now and were not returned before. Empty while waiting for
    /// answers, and at the end.
    fn next(&mut self) -> Vec<Call>;

    /// Takes the answer to question `id`.
    ///
    /// # Errors
    /// If the query has failed, with the reason: the answer is unusable, violates the rules under
    /// [`Validation::Strict`], or belongs to no pending question. Nothing is asked after that.
    fn answer(&mut self, id: usize, answer: Answer) -> Result<(), AnswerError>;

    /// Why it asks nothing and has no order, if it cannot rank this number of candidates.
    fn refusal(&self) -> Option<AnswerError> {
        None
    }

    /// The order, once all questions are answered.
    fn outcome(&self) -> Option<Ranking>;

    /// Number of answers repaired so far.
    fn repairs(&self) -> usize;
}
