//! What is made of an answer: refused where it breaks the rules, or mended and counted.

use super::Answer;
use crate::domain::named::named;
use std::fmt;

named! {
    "a validation", "kebab-case";
    #[derive(Default)]
    pub enum Validation {
        /// What can be used of an answer is used. Numbers of nobody and numbers that were given before are dropped, candidates
        /// that are missing follow in their old order, and every answer that needed this is counted.
        #[default]
        Repair,
        /// A bad answer is the failure of its query.
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

/// What a check makes of an answer: the value, and whether it had to be mended.
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
        let numbers = match self.numbers(answer)? {
            Some(numbers) => numbers,
            None => &[],
        };
        let fault = AnswerFault::of(numbers, count, shown.len());
        if let (Self::Strict, Some(fault)) = (self, fault) {
            return Err(fault.to_string());
        }
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

    /// The answer to a question for the best of so many: its place among those shown, the first one's where there is no
    /// answer.
    pub(super) fn best(self, answer: &Answer, shown: usize) -> Checked<usize> {
        let numbers = self.numbers(answer)?.unwrap_or_default();
        let fault = AnswerFault::of(numbers, 1, shown);
        if let (Self::Strict, Some(fault)) = (self, fault) {
            return Err(fault.to_string());
        }
        let known = numbers.iter().find_map(|number| place(*number, shown));
        Ok((known.unwrap_or(0), fault.is_some()))
    }

    /// The answer to a comparison: whether the second one shown won, `None` for no preference.
    pub(super) fn compared(self, answer: &Answer) -> Checked<Option<bool>> {
        match answer {
            Answer::SecondWins(second) => Ok((Some(*second), false)),
            other => self.unusable(other).map(|()| (None, true)),
        }
    }

    /// The answer to a question for a grade, which is from 0 to 1.
    pub(super) fn graded(self, answer: &Answer) -> Checked<Option<f64>> {
        match answer {
            Answer::Grade(grade) if (0.0..=1.0).contains(grade) => Ok((Some(*grade), false)),
            other => self.unusable(other).map(|()| (None, true)),
        }
    }

    /// The answer to a battle, which is from −1 to 1.
    pub(super) fn margin(self, answer: &Answer) -> Checked<Option<f64>> {
        match answer {
            Answer::Margin(margin) if (-1.0..=1.0).contains(margin) => Ok((Some(*margin), false)),
            other => self.unusable(other).map(|()| (None, true)),
        }
    }

    fn numbers(self, answer: &Answer) -> Result<Option<&[i64]>, String> {
        match answer {
            Answer::Numbers(numbers) => Ok(Some(numbers)),
            other => self.unusable(other).map(|()| None),
        }
    }

    /// An answer of which nothing can be used: an error where answers are not mended.
    fn unusable(self, answer: &Answer) -> Result<(), String> {
        match self {
            Self::Repair => Ok(()),
            Self::Strict => Err(describe_unusable(answer)),
        }
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
