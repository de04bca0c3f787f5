//! Decides from probes whether the lists of a judge may count.

use super::kind::ListKind;
use crate::domain::agreement::Share;
use crate::domain::named::named;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Largest share of malformed answers.
const MOST_MALFORMED: f64 = 0.05;

/// How far lists may agree less often than the judge's own votes in both orders, at most.
const MARGIN: f64 = 0.15;

/// Minimum number of queries of a comparison, below which it decides nothing.
pub const MIN_QUERIES: usize = 10;

named! {
    "a qualification", "lowercase";
    pub enum Qualification {
        Passed,
        Failed,
        Undecided,
    }
}

/// A list that was shown in two orders.
#[derive(Clone, Debug)]
pub struct ProbedList {
    /// The number of the query.
    pub query: usize,
    /// The answers, best first, in the same numbering of documents; `None` for a malformed one.
    pub answers: [Option<Vec<usize>>; 2],
    /// The judge's votes on pairs of the list that are not ties: the better document, and the
    /// other.
    pub votes: Vec<(usize, usize)>,
}

/// A share with the limits of its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProbeShare {
    pub value: f64,
    pub low: f64,
    pub high: f64,
    /// Number of comparisons.
    pub comparisons: usize,
    /// Number of queries with comparisons; `None` if it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queries: Option<usize>,
}

impl ProbeShare {
    /// The share of agreements, given as the query, the agreements and the comparisons of each
    /// list. `None` without comparisons.
    fn of_lists(lists: impl Iterator<Item = (usize, (f64, usize))>) -> Option<Self> {
        let mut queries: BTreeMap<usize, (f64, usize)> = BTreeMap::new();
        for (query, (part, n)) in lists.filter(|(_, (_, n))| *n > 0) {
            let sum = queries.entry(query).or_default();
            sum.0 += part;
            sum.1 += n;
        }
        let count = queries.len();
        let share = Self::from(Share::of_clusters(queries.into_values())?);
        Some(Self {
            queries: Some(count),
            ..share
        })
    }
}

impl From<Share> for ProbeShare {
    fn from(share: Share) -> Self {
        Self {
            value: share.value,
            low: share.interval.low,
            high: share.interval.high,
            comparisons: share.n,
            queries: None,
        }
    }
}

/// The figures of a qualification.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProbeFigures {
    /// Answered calls, malformed ones included.
    pub calls: usize,
    pub malformed: usize,
    /// Share of pairs with the same order in both answers to a list.
    pub shuffles: Option<ProbeShare>,
    /// Share of comparisons of an answer with a vote of the judge that prefer the same document.
    pub votes: Option<ProbeShare>,
    /// Share of the judge's votes that stay the same in the other order of the pair.
    pub swaps: Option<ProbeShare>,
}

impl ProbeFigures {
    /// The figures of lists of a kind. Pairs of one query are one cluster. `swaps` is how often the
    /// judge's votes stay the same in the other order.
    pub fn of(kind: ListKind, lists: &[ProbedList], swaps: Option<Share>) -> Self {
        let answers = lists.iter().flat_map(|list| &list.answers);
        let shuffles = lists.iter().filter_map(|list| {
            let [Some(one), Some(other)] = &list.answers else {
                return None;
            };
            let pairs = decided(kind, one);
            let both = pairs.filter_map(|(better, worse)| prefers(kind, other, better, worse));
            Some((list.query, agreed(both)))
        });
        let votes = lists.iter().map(|list| {
            let answers = list.answers.iter().flatten();
            let same = answers.flat_map(|answer| {
                let votes = list.votes.iter();
                votes.filter_map(|(better, worse)| prefers(kind, answer, *better, *worse))
            });
            (list.query, agreed(same))
        });
        Self {
            calls: answers.clone().count(),
            malformed: answers.filter(|answer| answer.is_none()).count(),
            shuffles: ProbeShare::of_lists(shuffles),
            votes: ProbeShare::of_lists(votes),
            swaps: swaps.map(ProbeShare::from),
        }
    }

    /// Whether more than 5 % of the answers are malformed. Undecided without answers.
    pub fn malformed(&self) -> Qualification {
        if self.calls == 0 {
            Qualification::Undecided
        } else if self.malformed as f64 > MOST_MALFORMED * self.calls as f64 {
            Qualification::Failed
        } else {
            Qualification::Passed
        }
    }

    /// Whether the two answers to a list agree about as often as votes in both orders of a pair.
    pub fn shuffles(&self) -> Qualification {
        compared(self.shuffles, self.swaps)
    }

    /// Whether lists agree with votes about as often as votes in both orders of a pair.
    pub fn votes(&self) -> Qualification {
        compared(self.votes, self.swaps)
    }

    /// Failed if one test failed, passed if all passed.
    pub fn qualification(&self) -> Qualification {
        let tests = [self.malformed(), self.shuffles(), self.votes()];
        if tests.contains(&Qualification::Failed) {
            Qualification::Failed
        } else if tests.contains(&Qualification::Undecided) {
            Qualification::Undecided
        } else {
            Qualification::Passed
        }
    }
}

/// Compares an agreement with that of votes in both orders. It fails if it is significantly lower and
/// a loss of more than the margin is not excluded, or if it is significantly below chance. It passes
/// if it is significantly above chance, and above the other one less the margin. With fewer than
/// [`MIN_QUERIES`] queries, it is undecided. The limits of the difference are Newcombe's (1998, method 10).
fn compared(agreement: Option<ProbeShare>, swaps: Option<ProbeShare>) -> Qualification {
    let Some(found) = agreement else {
        return Qualification::Undecided;
    };
    if found.queries.is_none_or(|queries| queries < MIN_QUERIES) {
        return Qualification::Undecided;
    }
    if found.high <= 0.5 {
        return Qualification::Failed;
    }
    let Some(swaps) = swaps else {
        return Qualification::Undecided;
    };
    let difference = found.value - swaps.value;
    let low = difference - (found.value - found.low).hypot(swaps.high - swaps.value);
    let high = difference + (found.high - found.value).hypot(swaps.value - swaps.low);
    if high < 0.0 && low < -MARGIN {
        Qualification::Failed
    } else if low > -MARGIN && found.low > 0.5 {
        Qualification::Passed
    } else {
        Qualification::Undecided
    }
}

/// The pairs that an answer decides: the better document, and the other.
fn decided(kind: ListKind, answer: &[usize]) -> impl Iterator<Item = (usize, usize)> {
    let places = (0..answer.len()).flat_map(|i| (0..answer.len()).map(move |j| (i, j)));
    places
        .filter(move |(better, worse)| kind.decides(*better, *worse))
        .map(|(better, worse)| (answer[better], answer[worse]))
}

/// Whether an answer prefers the first document; `None` if it does not decide the pair.
fn prefers(kind: ListKind, answer: &[usize], one: usize, other: usize) -> Option<bool> {
    let place = |document| answer.iter().position(|of| *of == document);
    let (one, other) = (place(one)?, place(other)?);
    (kind.decides(one, other) || kind.decides(other, one)).then_some(one < other)
}

/// The number of agreements, and of all comparisons.
fn agreed(of: impl Iterator<Item = bool>) -> (f64, usize) {
    of.fold((0.0, 0), |(part, n), same| {
        (part + f64::from(u8::from(same)), n + 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::sampling::SeededRng;
    use crate::features::lists::domain::AnswerForm;

    /// Lists of a judge with this error in lists, whose votes are always right.
    fn figures(error: f64, malformed: usize) -> ProbeFigures {
        about(30, error, malformed)
    }

    /// The same with lists about this many queries.
    fn about(queries: usize, error: f64, malformed: usize) -> ProbeFigures {
        let kind = ListKind::new(5, AnswerForm::Order).unwrap();
        let mut rng = SeededRng::new(1, &["probes"]);
        let mut answer = || {
            let read: Vec<f64> = (0..5)
                .map(|at| -f64::from(at) + error * rng.normal())
                .collect();
            let mut order: Vec<usize> = (0..5).collect();
            order.sort_by(|i, j| read[*j].total_cmp(&read[*i]));
            order
        };
        let lists: Vec<ProbedList> = (0..30)
            .map(|at| ProbedList {
                query: at % queries,
                answers: [Some(answer()).filter(|_| at >= malformed), Some(answer())],
                votes: vec![(0, 1), (1, 3), (2, 4)],
            })
            .collect();
        let swaps =
            Share::of_clusters((0..120).map(|at| (if at % 10 == 0 { 0.0 } else { 1.0 }, 1)));
        ProbeFigures::of(kind, &lists, swaps)
    }

    #[test]
    fn a_judge_that_is_random_in_lists_fails() {
        let random = figures(1e6, 0);
        assert_eq!(random.shuffles(), Qualification::Failed, "{random:?}");
        assert_eq!(random.votes(), Qualification::Failed, "{random:?}");
        assert_eq!(random.qualification(), Qualification::Failed);
    }

    #[test]
    fn a_judge_that_orders_lists_as_it_votes_passes() {
        let sharp = figures(0.3, 0);
        assert_eq!(sharp.qualification(), Qualification::Passed, "{sharp:?}");
        let unknown = ProbeFigures {
            swaps: None,
            ..sharp
        };
        assert_eq!(unknown.qualification(), Qualification::Undecided);
        let untested = ProbeFigures {
            votes: None,
            ..sharp
        };
        assert_eq!(untested.qualification(), Qualification::Undecided);
    }

    #[test]
    fn few_queries_decide_nothing() {
        for error in [0.3, 1e6] {
            let (few, enough) = (about(9, error, 0), about(10, error, 0));
            assert_eq!(few.qualification(), Qualification::Undecided, "{few:?}");
            assert_ne!(enough.votes(), Qualification::Undecided, "{enough:?}");
            let of = |figures: ProbeFigures| figures.votes.and_then(|share| share.queries);
            assert_eq!((of(few), of(enough)), (Some(9), Some(10)));
        }
    }

    #[test]
    fn no_answers_decide_nothing() {
        let kind = ListKind::new(5, AnswerForm::Order).unwrap();
        let none = ProbeFigures::of(kind, &[], None);
        assert_eq!(none.malformed(), Qualification::Undecided);
        assert_eq!(none.qualification(), Qualification::Undecided);
    }

    #[test]
    fn more_than_5_percent_malformed_answers_fail() {
        assert_eq!(figures(0.3, 3).qualification(), Qualification::Passed);
        let four = figures(0.3, 4);
        assert_eq!((four.calls, four.malformed), (60, 4));
        assert_eq!(four.qualification(), Qualification::Failed);
    }
}
