//! Questions about the candidates of a query, and their answers.

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
    /// A text that was asked for.
    Text(String),
    /// A reply that does not answer the question, with the reason.
    Unreadable(String),
}
