//! The kinds of list calls: how many documents are shown, and which part of their order the judge
//! answers.

use crate::domain::number_words::ordinal;
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// Minimum number of documents of a list call.
pub const MIN_LIST: usize = 2;

/// Maximum number of documents of a list call.
pub const MAX_LIST: usize = 20;

/// Which part of the order the judge answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AnswerForm {
    /// All documents, best first.
    #[default]
    Order,
    /// The best and the worst document.
    BestWorst,
    /// The set of the `k` best documents, in no order.
    Best(usize),
}

/// The number of documents shown, and the form of the answer. Answers of one kind share a
/// dispersion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ListKind {
    size: usize,
    form: AnswerForm,
}

#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum KindError {
    #[error("a list shows {MIN_LIST} to {MAX_LIST} documents, not {0}")]
    Size(usize),
    #[error("the best {best} of {size} is not a choice: expected 1 to {}", size - 1)]
    Best { best: usize, size: usize },
    #[error("\"{0}\" is not an answer form: expected order, best-worst or best:K")]
    Form(String),
}

impl ListKind {
    /// A vote on a pair.
    pub const PAIR: Self = Self {
        size: 2,
        form: AnswerForm::Order,
    };

    /// Validates the kind.
    pub fn new(size: usize, form: AnswerForm) -> Result<Self, KindError> {
        match form {
            _ if !(MIN_LIST..=MAX_LIST).contains(&size) => Err(KindError::Size(size)),
            AnswerForm::Best(best) if !(1..size).contains(&best) => {
                Err(KindError::Best { best, size })
            }
            _ => Ok(Self { size, form }),
        }
    }

    /// Number of documents shown, from [`MIN_LIST`] to [`MAX_LIST`].
    pub fn size(self) -> usize {
        self.size
    }

    pub fn form(self) -> AnswerForm {
        self.form
    }

    /// The weight of each decided pair, in votes: w = 4(m − H_m) / (m(m − 1)) for m documents,
    /// where H_m is the harmonic number; 1 for two documents.
    ///
    /// With this weight, the pairs of a full order have the information of its Plackett–Luce
    /// likelihood at equal scores.
    pub fn weight(self) -> f64 {
        let size = self.size as f64;
        let harmonic: f64 = (1..=self.size).map(|rank| 1.0 / rank as f64).sum();
        4.0 * (size - harmonic) / (size * (size - 1.0))
    }

    /// Number of votes with the same information at equal scores: the weight of all decided pairs.
    /// Equal information over the same documents gives intervals of the same expected width.
    pub fn votes(self) -> f64 {
        let places = || 0..self.size;
        let pairs = places().flat_map(|i| places().map(move |j| (i, j)));
        let decided = pairs.filter(|(i, j)| self.decides(*i, *j)).count();
        decided as f64 * self.weight()
    }

    /// Whether the answer decides between the documents at two places of its order, the first of
    /// which is better.
    pub fn decides(self, better: usize, worse: usize) -> bool {
        better < worse
            && match self.form {
                AnswerForm::Order => true,
                AnswerForm::BestWorst => better == 0 || worse + 1 == self.size,
                AnswerForm::Best(best) => better < best && best <= worse,
            }
    }

    /// What the answer says about the document at a place of its order: `ranked 2nd`, `chosen`.
    pub fn place_words(self, place: usize) -> String {
        match self.form {
            AnswerForm::Order => format!("ranked {}", ordinal(place + 1)),
            AnswerForm::BestWorst if place == 0 => "chosen as best".to_owned(),
            AnswerForm::BestWorst if place + 1 == self.size => "chosen as worst".to_owned(),
            AnswerForm::Best(best) if place < best => "chosen".to_owned(),
            AnswerForm::BestWorst | AnswerForm::Best(_) => "not chosen".to_owned(),
        }
    }
}

impl fmt::Display for AnswerForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Order => f.write_str("order"),
            Self::BestWorst => f.write_str("best-worst"),
            Self::Best(best) => write!(f, "best:{best}"),
        }
    }
}

impl FromStr for AnswerForm {
    type Err = KindError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let unknown = || KindError::Form(text.to_owned());
        match text {
            "order" => Ok(Self::Order),
            "best-worst" => Ok(Self::BestWorst),
            _ => {
                let best = text.strip_prefix("best:").ok_or_else(unknown)?;
                best.parse().map(Self::Best).map_err(|_| unknown())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decided(kind: ListKind) -> Vec<(usize, usize)> {
        let size = kind.size();
        (0..size)
            .flat_map(|i| (0..size).map(move |j| (i, j)))
            .filter(|(i, j)| kind.decides(*i, *j))
            .collect()
    }

    #[test]
    fn an_answer_decides_only_what_it_says() {
        let kind = |form| ListKind::new(4, form).unwrap();
        assert_eq!(decided(kind(AnswerForm::Order)).len(), 6);
        assert_eq!(
            decided(kind(AnswerForm::BestWorst)),
            [(0, 1), (0, 2), (0, 3), (1, 3), (2, 3)]
        );
        assert_eq!(
            decided(kind(AnswerForm::Best(2))),
            [(0, 2), (0, 3), (1, 2), (1, 3)]
        );
    }

    #[test]
    fn a_list_is_worth_as_many_votes_as_its_pairs_weigh() {
        assert_eq!(ListKind::PAIR.votes(), 1.0);
        let five = |form| ListKind::new(5, form).unwrap();
        let order = five(AnswerForm::Order);
        assert!((order.votes() - 5.43333).abs() < 1e-5);
        assert!((five(AnswerForm::Best(2)).votes() - 0.6 * order.votes()).abs() < 1e-12);
    }

    #[test]
    fn impossible_kinds_are_refused() {
        for (size, form) in [
            (1, AnswerForm::Order),
            (21, AnswerForm::Order),
            (5, AnswerForm::Best(5)),
            (5, AnswerForm::Best(0)),
        ] {
            assert!(ListKind::new(size, form).is_err(), "{size} {form}");
        }
    }

    #[test]
    fn forms_are_read_back() {
        for form in [
            AnswerForm::Order,
            AnswerForm::BestWorst,
            AnswerForm::Best(2),
        ] {
            assert_eq!(form.to_string().parse(), Ok(form));
        }
        for bad in ["", "best", "best:", "best:-1", "Order"] {
            assert!(bad.parse::<AnswerForm>().is_err(), "{bad}");
        }
    }
}
