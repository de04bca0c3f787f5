//! Validates answers against their questions: invalid answers are rejected, or repaired and counted
//! if a part is usable.

use crate::domain::candidate_question::Answer;
use crate::domain::named::named;
use std::fmt;

named! {
    "a validation", "kebab-case";
    #[derive(Default)]
    pub enum Validation {
        /// Uses the valid part of an answer. Unknown and repeated numbers are dropped, missing
        /// candidates follow in their original order, and every repaired answer is counted. An
        /// answer without a usable part makes its query fail.
        #[default]
        Repair,
        /// An invalid answer makes its query fail.
        Strict,
    }
}

/// What is wrong with the numbers of an answer, in the order of the checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnswerFault {
    /// Not as many numbers as requested.
    Length {
        expected: usize,
        found: usize,
    },
    /// A number that belongs to no shown candidate.
    OutOfRange {
        number: i64,
        shown: usize,
    },
    Duplicate {
        number: i64,
    },
}

impl AnswerFault {
    /// Checks that `numbers` are `expected` distinct numbers from 1 to `shown`.
    pub fn of(numbers: &[i64], expected: usize, shown: usize) -> Option<Self> {
        let found = numbers.len();
        if found != expected {
            return Some(Self::Length { expected, found });
        }
        let stranger = numbers
            .iter()
            .find(|number| place(**number, shown).is_none());
        if let Some(&number) = stranger {
            return Some(Self::OutOfRange { number, shown });
        }
        (1..found)
            .find(|&at| numbers[..at].contains(&numbers[at]))
            .map(|at| Self::Duplicate {
                number: numbers[at],
            })
    }

    /// The name stored with a failed query.
    pub fn name(self) -> &'static str {
        match self {
            Self::Length { .. } => "length_mismatch",
            Self::OutOfRange { .. } => "out_of_range_rank",
            Self::Duplicate { .. } => "duplicate_rank",
        }
    }
}

impl fmt::Display for AnswerFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.name())?;
        match self {
            Self::Length { expected, found } => {
                write!(f, "expected {expected} numbers, found {found}")
            }
            Self::OutOfRange { number, shown } => {
                write!(f, "{number} is not a number from 1 to {shown}")
            }
            Self::Duplicate { number } => write!(f, "{number} occurs twice"),
        }
    }
}

/// Why an answer makes its query fail.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AnswerError {
    #[error("question {0} is not waiting for an answer")]
    NotAsked(usize),
    #[error("{0}")]
    Unreadable(String),
    #[error(transparent)]
    Fault(#[from] AnswerFault),
    #[error("an answer of another kind: numbers")]
    Numbers,
    #[error("an answer of another kind: a choice of two")]
    Choice,
    #[error("{0} is not a grade from 0 to 1, or no grade was requested")]
    Grade(f64),
    #[error("{0} is not a margin from -1 to 1, or no margin was requested")]
    Margin(f64),
    #[error("an answer of another kind: a text")]
    Text,
    #[error("an answer of another kind: {0} scores")]
    Scores(usize),
    #[error("expected {expected} scores, found {found}")]
    ScoreCount { expected: usize, found: usize },
    #[error("{0} is not a score: expected finite numbers")]
    NotFinite(f64),
    #[error(
        "its stages are for {required} candidates, and the query has {found}; nothing was asked"
    )]
    CandidateCount { required: usize, found: usize },
    #[error("the method asks nothing more and has no order")]
    NoOrder,
}

impl AnswerError {
    /// The error for an answer that does not fit its question.
    pub(super) fn unusable(answer: &Answer) -> Self {
        match answer {
            Answer::Unreadable(why) => Self::Unreadable(why.clone()),
            Answer::Numbers(_) => Self::Numbers,
            Answer::SecondWins(_) => Self::Choice,
            Answer::Grade(grade) => Self::Grade(*grade),
            Answer::Margin(margin) => Self::Margin(*margin),
            Answer::Scores(scores) => Self::Scores(scores.len()),
            Answer::Text(_) => Self::Text,
        }
    }
}

/// The value of an answer and whether it was repaired, or why the answer is unusable.
pub(super) type Checked<T> = Result<(T, bool), AnswerError>;

impl Validation {
    /// The answer to a question for a ranking of `shown`.
    pub(super) fn ranked(self, answer: &Answer, shown: &[usize]) -> Checked<Vec<usize>> {
        self.selected(answer, shown, shown.len(), shown)
    }

    /// The answer to a question for the `count` best of `shown`; missing ones are taken from
    /// `old_order`.
    pub(super) fn selected(
        self,
        answer: &Answer,
        shown: &[usize],
        count: usize,
        old_order: &[usize],
    ) -> Checked<Vec<usize>> {
        let (numbers, fault) = self.numbers(answer, count, shown.len())?;
        let mut chosen: Vec<usize> = Vec::with_capacity(count);
        let named = numbers
            .iter()
            .filter_map(|number| place(*number, shown.len()));
        let named = named.filter_map(|at| shown.get(at));
        for candidate in named.chain(old_order) {
            if chosen.len() < count && !chosen.contains(candidate) {
                chosen.push(*candidate);
            }
        }
        Ok((chosen, fault.is_some()))
    }

    /// The answer to a question for the best of `shown`, as an index into them.
    pub(super) fn best(self, answer: &Answer, shown: usize) -> Checked<usize> {
        let (numbers, fault) = self.numbers(answer, 1, shown)?;
        numbers
            .iter()
            .find_map(|number| place(*number, shown))
            .map(|at| (at, fault.is_some()))
            .ok_or_else(|| AnswerError::unusable(answer))
    }

    /// The numbers of an answer with at least one usable number, and what is wrong with them.
    fn numbers(
        self,
        answer: &Answer,
        expected: usize,
        shown: usize,
    ) -> Result<(&[i64], Option<AnswerFault>), AnswerError> {
        let Answer::Numbers(numbers) = answer else {
            return Err(AnswerError::unusable(answer));
        };
        let fault = AnswerFault::of(numbers, expected, shown);
        let usable = numbers.iter().any(|number| place(*number, shown).is_some());
        match fault {
            Some(fault) if self == Self::Strict || !usable => Err(fault.into()),
            fault => Ok((numbers, fault)),
        }
    }
}

/// The answer to a comparison: whether the second candidate won.
pub(super) fn compared(answer: &Answer) -> Result<bool, AnswerError> {
    match answer {
        Answer::SecondWins(second) => Ok(*second),
        other => Err(AnswerError::unusable(other)),
    }
}

/// The answer to a grading question, from 0 to 1.
pub(super) fn graded(answer: &Answer) -> Result<f64, AnswerError> {
    match answer {
        Answer::Grade(grade) if (0.0..=1.0).contains(grade) => Ok(*grade),
        other => Err(AnswerError::unusable(other)),
    }
}

/// The answer to a battle, from −1 to 1.
pub(super) fn margin(answer: &Answer) -> Result<f64, AnswerError> {
    match answer {
        Answer::Margin(margin) if (-1.0..=1.0).contains(margin) => Ok(*margin),
        other => Err(AnswerError::unusable(other)),
    }
}

/// The index of the shown candidate with this number (from 1).
fn place(number: i64, shown: usize) -> Option<usize> {
    let at = usize::try_from(number).ok()?.checked_sub(1)?;
    (at < shown).then_some(at)
}
