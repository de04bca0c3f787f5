//! Reranking methods: which questions a method asks about the candidates of a query, and the order it makes of the answers.
//!
//! A method is a state machine without I/O: [`Strategy::next`] gives the questions that can be asked now, all at once,
//! [`Strategy::answer`] takes what came, in any order, and [`Strategy::outcome`] says when it is over. The same machine drives
//! live calls, the replay of recorded ones and estimates of cost. Candidates are positions in the query's first-stage order,
//! from 0.

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
pub use validation::Validation;

use serde::{Deserialize, Serialize};

/// A question about some candidates of a query, who are shown in the order given.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Question {
    /// Put all of them in order, best first.
    Rank { candidates: Vec<usize> },
    /// Which of two serves the query better. `a` is shown first.
    Compare { a: usize, b: usize },
    /// Name the `count` best, best first.
    Select {
        candidates: Vec<usize>,
        count: usize,
    },
    /// Name the single best.
    Best { candidates: Vec<usize> },
    /// How relevant one is, by itself.
    Grade { candidate: usize, scale: GradeScale },
    /// A battle of two, as the ensemble's judges fight it. `a` is shown first; `judge` is a place in the ensemble.
    Battle { a: usize, b: usize, judge: usize },
    /// Scores of all of them from a service, a program or a file.
    Score { candidates: Vec<usize> },
}

impl Question {
    /// The candidates that are shown, in this order.
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

/// The answers that a question for a grade allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GradeScale {
    /// Relevant or not. With log-probabilities the answer is the probability of yes.
    YesNo,
    /// A whole number from 0 (unrelated) to 3 (answers the query fully).
    ZeroToThree,
}

/// What was answered, as it was read and before it is checked against the question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// To [`Question::Rank`] and [`Question::Select`], one number to [`Question::Best`], and to [`Question::Score`] where an
    /// order came instead of scores: numbers of those shown, from 1, in the order of the answer.
    Numbers(Vec<i64>),
    /// To [`Question::Compare`]: whether the second one shown won.
    SecondWins(bool),
    /// To [`Question::Grade`]: from 0 to 1.
    Grade(f64),
    /// To [`Question::Battle`]: from −1 (the first one shown) to 1.
    Margin(f64),
    /// To [`Question::Score`]: one for each of those shown, higher is better.
    Scores(Vec<f64>),
    /// An answer came, and it is no answer to the question: why.
    Unreadable(String),
}

/// A question that waits for its answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// A number of its own within the query.
    pub id: usize,
    pub question: Question,
}

/// The order that a method gives a query's candidates.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranking {
    /// All candidates, best first.
    pub order: Vec<usize>,
    /// What the order rests on, by candidate, where the method has it: points, grades, scores. `None` for candidates
    /// that were not looked at.
    pub scores: Option<Vec<Option<f64>>>,
}

impl Ranking {
    /// The same order, followed by the candidates up to `total` that were cut off, in their old order.
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

/// A reranking method at work on one query.
pub trait Strategy: Send + std::fmt::Debug {
    /// Questions that can be asked now and were not handed out before. Empty while answers are awaited, and at the end.
    fn next(&mut self) -> Vec<Call>;

    /// Takes the answer to the question `id`.
    ///
    /// # Errors
    /// The query has failed, and why: an answer of which nothing can be used, one that breaks the
    /// rules under [`Validation::Strict`], or one to a question that does not wait for it. Nothing
    /// is asked after that.
    fn answer(&mut self, id: usize, answer: Answer) -> Result<(), String>;

    /// The order, once every question is answered.
    fn outcome(&self) -> Option<Ranking>;

    /// How many answers had to be repaired so far.
    fn repairs(&self) -> usize;
}
