//! Counts whether a judge names the first document, the second or neither.
//!
//! This alone exposes a judge whose answers do not depend on the documents, since each document
//! comes first about as often as second.

use crate::domain::analysis::wilson;
use crate::domain::number_words::count;
use crate::domain::vote::Outcome;
use serde::Serialize;

/// Confidence level of the interval behind a finding.
const LEVEL: f64 = 0.95;
/// A share that no judge reaches that actually reads the documents.
const ALWAYS: f64 = 0.85;
/// From this share of the votes without a tie, the order matters more than it should.
const LEANS: f64 = 0.6;

/// Number of votes for each position, as presented to the judge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PositionCounts {
    pub first: usize,
    pub second: usize,
    pub ties: usize,
}

/// A problem with a judge's answers that does not depend on the documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AnswerFinding {
    /// Names the document shown first nearly always.
    AlwaysFirst,
    AlwaysSecond,
    /// Nearly always calls a tie.
    AlwaysTie,
    /// Names the first document clearly more often than the second.
    LeansFirst,
    LeansSecond,
}

impl AnswerFinding {
    /// Whether the votes carry no information about the documents.
    pub fn is_void(self) -> bool {
        matches!(
            self,
            Self::AlwaysFirst | Self::AlwaysSecond | Self::AlwaysTie
        )
    }
}

impl PositionCounts {
    pub fn votes(&self) -> usize {
        self.first + self.second + self.ties
    }

    /// Counts a vote for A, B or neither; `swapped` means that B was shown first.
    pub fn count(&mut self, outcome: Outcome, swapped: bool) {
        match (outcome, swapped) {
            (Outcome::Tie, _) => self.ties += 1,
            (Outcome::A, false) | (Outcome::B, true) => self.first += 1,
            (Outcome::A, true) | (Outcome::B, false) => self.second += 1,
        }
    }

    /// The finding that these votes support: the lower end of a 95 % Wilson interval exceeds the
    /// threshold. `None` if there is no problem, or if there are too few votes to tell (about 22 if
    /// all are alike).
    pub fn finding(&self) -> Option<AnswerFinding> {
        let past = |part: usize, whole: usize, bound: f64| {
            wilson(part, whole, LEVEL).is_some_and(|(low, _)| low > bound)
        };
        let (all, decided) = (self.votes(), self.first + self.second);
        if past(self.ties, all, ALWAYS) {
            Some(AnswerFinding::AlwaysTie)
        } else if past(self.first, all, ALWAYS) {
            Some(AnswerFinding::AlwaysFirst)
        } else if past(self.second, all, ALWAYS) {
            Some(AnswerFinding::AlwaysSecond)
        } else if past(self.first, decided, LEANS) {
            Some(AnswerFinding::LeansFirst)
        } else if past(self.second, decided, LEANS) {
            Some(AnswerFinding::LeansSecond)
        } else {
            None
        }
    }

    /// The finding in a short form.
    pub fn finding_in_short(&self) -> Option<String> {
        let share = |part: usize, whole: usize| 100.0 * part as f64 / whole.max(1) as f64;
        let (all, decided) = (self.votes(), self.first + self.second);
        Some(match self.finding()? {
            AnswerFinding::AlwaysFirst => {
                format!("position only: {:.0} % first", share(self.first, all))
            }
            AnswerFinding::AlwaysSecond => {
                format!("position only: {:.0} % second", share(self.second, all))
            }
            AnswerFinding::AlwaysTie => format!("ties only: {:.0} %", share(self.ties, all)),
            AnswerFinding::LeansFirst => {
                format!("prefers the first: {:.0} %", share(self.first, decided))
            }
            AnswerFinding::LeansSecond => {
                format!("prefers the second: {:.0} %", share(self.second, decided))
            }
        })
    }

    /// The finding as a clause to be appended to the judge's name.
    pub fn finding_words(&self) -> Option<String> {
        let finding = self.finding()?;
        let share = |part: usize, whole: usize| {
            format!(
                "{:.0} % of {}",
                100.0 * part as f64 / whole.max(1) as f64,
                count(whole)
            )
        };
        let (all, decided) = (self.votes(), self.first + self.second);
        Some(match finding {
            AnswerFinding::AlwaysFirst => format!(
                "names the first document in {} battles: position only; its votes carry no \
                 information",
                share(self.first, all)
            ),
            AnswerFinding::AlwaysSecond => format!(
                "names the second document in {} battles: position only; its votes carry no \
                 information",
                share(self.second, all)
            ),
            AnswerFinding::AlwaysTie => format!(
                "calls {} battles a tie; its votes carry no information",
                share(self.ties, all)
            ),
            AnswerFinding::LeansFirst => format!(
                "prefers the document shown first in {} decided battles",
                share(self.first, decided)
            ),
            AnswerFinding::LeansSecond => format!(
                "prefers the document shown second in {} decided battles",
                share(self.second, decided)
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn counts(first: usize, second: usize, ties: usize) -> PositionCounts {
        PositionCounts {
            first,
            second,
            ties,
        }
    }

    #[rstest]
    #[case(counts(40, 0, 0), Some(AnswerFinding::AlwaysFirst))]
    #[case(counts(0, 40, 0), Some(AnswerFinding::AlwaysSecond))]
    #[case(counts(0, 0, 40), Some(AnswerFinding::AlwaysTie))]
    #[case(counts(21, 0, 0), Some(AnswerFinding::LeansFirst))]
    #[case(counts(75, 25, 0), Some(AnswerFinding::LeansFirst))]
    #[case(counts(25, 75, 100), Some(AnswerFinding::LeansSecond))]
    #[case(counts(60, 40, 0), None)]
    #[case(counts(3, 0, 0), None)]
    #[case(counts(0, 0, 0), None)]
    fn what_is_beyond_doubt_is_said(
        #[case] counts: PositionCounts,
        #[case] finding: Option<AnswerFinding>,
    ) {
        assert_eq!(counts.finding(), finding);
        assert_eq!(counts.finding_words().is_some(), finding.is_some());
    }

    #[test]
    fn the_first_document_is_the_one_shown_first() {
        let mut found = PositionCounts::default();
        found.count(Outcome::A, false);
        found.count(Outcome::B, true);
        found.count(Outcome::B, false);
        found.count(Outcome::Tie, true);
        assert_eq!(found, counts(2, 1, 1));
        let words = counts(40, 0, 0).finding_words().unwrap();
        assert_eq!(
            words,
            "names the first document in 100 % of 40 battles: position only; its votes carry no \
             information"
        );
    }
}
