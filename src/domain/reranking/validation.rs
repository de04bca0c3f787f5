//! Checks an answer against its question: an answer that breaks the rules is refused, or repaired
//! and counted where a part of it can be used.

use super::Answer;
use crate::domain::named::named;
use std::fmt;

named! {
    "a validation", "kebab-case";
    #[derive(Default)]
    pub enum Validation {
        /// The usable part of an answer is used. Unknown numbers and numbers that were given before
        /// are dropped, candidates that are missing follow in their old order, and every answer
        /// that needed this is counted. An answer without a usable part fails its query.
        #[default]
        Repair,
        /// A bad answer fails its query.
        Strict,
    }
}

/// What is wrong with the numbers of an answer, in the order in which it is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerFault {
    /// Not as many numbers as were asked for.
    Length {
        expected: usize,
        found: usize,
    },
    /// A number of nobody that was shown.
    OutOfRange {
        number: i64,
        shown: usize,
    },
    Duplicate {
        number: i64,
    },
}

impl AnswerFault {
    /// What is wrong with `numbers` as `expected` different numbers from 1 to `shown`.
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
        let again = (1..found).find(|&at| numbers[..at].contains(&numbers[at]));
        again.map(|at| Self::Duplicate {
            number: numbers[at],
        })
    }

    /// The name that is kept with a failed query.
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
                write!(f, "{number} is none of the numbers from 1 to {shown}")
            }
            Self::Duplicate { number } => write!(f, "{number} is there twice"),
        }
    }
}

/// The value of an answer, and whether it had to be repaired; or why the answer cannot be used.
pub(super) type Checked<T> = Result<(T, bool), String>;

impl Validation {
    /// The answer to a question for an order of `shown`.
    pub(super) fn ranked(self, answer: &Answer, shown: &[usize]) -> Checked<Vec<usize>> {
        self.selected(answer, shown, shown.len(), shown)
    }

    /// The answer to a question for the `count` best of `shown`; those that are missing are taken from `old_order`.
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

    /// The answer to a question for the best of `shown`: its place among them.
    pub(super) fn best(self, answer: &Answer, shown: usize) -> Checked<usize> {
        let (numbers, fault) = self.numbers(answer, 1, shown)?;
        numbers
            .iter()
            .find_map(|number| place(*number, shown))
            .map(|at| (at, fault.is_some()))
            .ok_or_else(|| describe_unusable(answer))
    }

    /// The numbers of an answer of which at least one can be used, and what is wrong with them.
    fn numbers(
        self,
        answer: &Answer,
        expected: usize,
        shown: usize,
    ) -> Result<(&[i64], Option<AnswerFault>), String> {
        let Answer::Numbers(numbers) = answer else {
            return Err(describe_unusable(answer));
        };
        let fault = AnswerFault::of(numbers, expected, shown);
        let usable = numbers.iter().any(|number| place(*number, shown).is_some());
        match fault {
            Some(fault) if self == Self::Strict || !usable => Err(fault.to_string()),
            fault => Ok((numbers, fault)),
        }
    }
}

/// The answer to a comparison: whether the second one shown won.
pub(super) fn compared(answer: &Answer) -> Result<bool, String> {
    match answer {
        Answer::SecondWins(second) => Ok(*second),
        other => Err(describe_unusable(other)),
    }
}

/// The answer to a question for a grade, which is from 0 to 1.
pub(super) fn graded(answer: &Answer) -> Result<f64, String> {
    match answer {
        Answer::Grade(grade) if (0.0..=1.0).contains(grade) => Ok(*grade),
        other => Err(describe_unusable(other)),
    }
}

/// The answer to a battle, which is from −1 to 1.
pub(super) fn margin(answer: &Answer) -> Result<f64, String> {
    match answer {
        Answer::Margin(margin) if (-1.0..=1.0).contains(margin) => Ok(*margin),
        other => Err(describe_unusable(other)),
    }
}

/// Why an answer is no answer to its question.
pub(super) fn describe_unusable(answer: &Answer) -> String {
    match answer {
        Answer::Unreadable(why) => why.clone(),
        Answer::Numbers(_) => "an answer of another kind: numbers".to_owned(),
        Answer::SecondWins(_) => "an answer of another kind: a choice of two".to_owned(),
        Answer::Grade(grade) => format!("{grade} is no grade from 0 to 1 or none was asked for"),
        Answer::Margin(margin) => {
            format!("{margin} is no margin from -1 to 1 or none was asked for")
        }
        Answer::Scores(scores) => format!("an answer of another kind: {} scores", scores.len()),
    }
}

/// The place among those shown that a number from 1 stands for.
fn place(number: i64, shown: usize) -> Option<usize> {
    let at = usize::try_from(number).ok()?.checked_sub(1)?;
    (at < shown).then_some(at)
}
