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
mod method;
mod method_name;
mod played;
mod pointwise;
mod prp;
mod rankgpt;
mod scoring;
mod setwise;
mod stages;
#[cfg(test)]
mod tests;
mod tourrank;
pub(crate) mod validation;
mod zelo;

pub use call_bounds::CallBounds;
pub use front::pareto_front;
pub use method::{Method, MethodKind, MethodOptions, Shuffle};
pub use played::play;
pub use validation::{AnswerError, Validation};

use serde::{Deserialize, Serialize};

/// A question about some candidates of a query, which are shown in the order given.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Question {
    /// Rank all of them, best first.
    Rank { candidates: Vec<usize> },
    /// Which of two answers the query better? `a` is shown first.
    Compare { a: usize, b: usize },
    /// Select the `count` best, best first.
    Select {
        candidates: Vec<usize>,
        count: usize,
    },
    /// Select the best one.
    Best { candidates: Vec<usize> },
    /// How relevant is this one?
    Grade { candidate: usize, scale: GradeScale },
    /// A battle of two, as in the ensemble. `a` is shown first; `judge` is an index into the
    /// ensemble.
    Battle { a: usize, b: usize, judge: usize },
    /// Scores of all of them, from a service, a program or a file.
    Score { candidates: Vec<usize> },
}

impl Question {
    /// The candidates shown, in this order.
    pub fn shown(&self) -> Vec<usize> {
        match self {
            Self::Rank { candidates }
            | Self::Select { candidates, .. }
            | Self::Best { candidates }
            | Self::Score { candidates } => candidates.clone(),
            Self::Compare { a, b } | Self::Battle { a, b, .. } => vec![*a, *b],
            Self::Grade { candidate, .. } => vec![*candidate],
        }
    }
}

/// The possible answers to a grading question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GradeScale {
    /// Relevant or not. With log-probabilities, the answer is the probability of yes.
    YesNo,
    /// An integer from 0 (unrelated) to 3 (answers the query fully).
    ZeroToThree,
}

/// An answer as parsed, before it is validated against the question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// For [`Question::Rank`] and [`Question::Select`], one number for [`Question::Best`], and for
    /// [`Question::Score`] if an order was returned instead of scores: numbers of the candidates
    /// shown, from 1, in the order of the answer.
    Numbers(Vec<i64>),
    /// For [`Question::Compare`]: whether the second candidate won.
    SecondWins(bool),
    /// For [`Question::Grade`]: from 0 to 1.
    Grade(f64),
    /// For [`Question::Battle`]: from −1 (the first candidate) to 1.
    Margin(f64),
    /// For [`Question::Score`]: one for each candidate shown; higher is better.
    Scores(Vec<f64>),
    /// A reply that does not answer the question, with the reason.
    Unreadable(String),
}

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

    /// The order, once all questions are answered.
    fn outcome(&self) -> Option<Ranking>;

    /// Number of answers repaired so far.
    fn repairs(&self) -> usize;
}
