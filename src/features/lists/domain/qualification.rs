//! Decides from probes whether the lists of a judge may count.

use super::block::Block;
use super::estimator::{ListFit, ListModel, fit_blocks};
use super::kind::ListKind;
use crate::domain::agreement::Share;
use crate::domain::named::named;
use crate::domain::numeric::sigma;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::f64::consts::PI;

/// Steps of EM toward the variance of scores.
const PRECISION_ROUNDS: usize = 20;

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

/// The probes about one query, and all votes of the judge on it.
#[derive(Clone, Debug)]
pub struct ProbedQuery {
    /// Number of documents in the pool.
    pub documents: usize,
    /// Lists that were shown in two orders: the answers, best first, by pool index; `None` for a
    /// malformed one.
    pub lists: Vec<[Option<Vec<usize>>; 2]>,
    /// The judge's votes on pairs of the query that are not ties: the better document, and the
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
    /// Share of the judge's votes on held-out pairs that the scores of its lists predict. Held-out
    /// pairs are of two documents that lists have shown, but not together. `None` without any, and
    /// in figures that are older than this test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predictions: Option<ProbeShare>,
    /// The share of these votes that the scores expect to predict, given their errors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_predictions: Option<f64>,
}

impl ProbeFigures {
    /// The figures of lists of a kind. Pairs of one query are one cluster. `swaps` is how often the
    /// judge's votes stay the same in the other order.
    pub fn of(kind: ListKind, queries: &[ProbedQuery], swaps: Option<Share>) -> Self {
        let lists = || queries.iter().zip(0..).flat_map(ProbedQuery::numbered);
        let answers = || lists().flat_map(|(_, list)| list);
        let shuffles = lists().filter_map(|(number, list)| {
            let [Some(one), Some(other)] = list else {
                return None;
            };
            let pairs = decided(kind, one);
            let both = pairs.filter_map(|(better, worse)| prefers(kind, other, better, worse));
            Some((number, agreed(both)))
        });
        let votes = queries.iter().zip(0..).map(|(query, number)| {
            let answers = query.lists.iter().flatten().flatten();
            let same = answers.flat_map(|answer| {
                let votes = query.votes.iter();
                votes.filter_map(|(better, worse)| prefers(kind, answer, *better, *worse))
            });
            (number, agreed(same))
        });
        let model = scores_of(queries, kind);
        let predictions = queries.iter().zip(0..).filter_map(|(query, number)| {
            let found = query.predictions(kind, &model)?;
            Some((number, found))
        });
        let predictions: Vec<(usize, Predictions)> = predictions.collect();
        let expected: f64 = predictions.iter().map(|(_, of)| of.expected).sum();
        let predicted = predictions
            .iter()
            .map(|(number, of)| (*number, (of.right, of.votes)));
        let predicted = ProbeShare::of_lists(predicted);
        Self {
            calls: answers().count(),
            malformed: answers().filter(|answer| answer.is_none()).count(),
            shuffles: ProbeShare::of_lists(shuffles),
            votes: ProbeShare::of_lists(votes),
            swaps: swaps.map(ProbeShare::from),
            predictions: predicted,
            expected_predictions: predicted.map(|share| expected / share.comparisons as f64),
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

    /// Whether the scores of the lists predict votes on held-out pairs about as often as they expect
    /// to. The reference is not the votes in both orders: scores of a few lists are uncertain, and
    /// would predict votes less well even if the judge ordered lists exactly as it votes. Undecided
    /// without predictions.
    pub fn predictions(&self) -> Qualification {
        let expected = self.expected_predictions.map(|value| ProbeShare {
            value,
            low: value,
            high: value,
            comparisons: 0,
            queries: None,
        });
        compared(self.predictions, expected)
    }

    /// Failed if one test failed, passed if all passed. Predictions that are undecided do not count:
    /// if the judge has votes on many queries, there is one list about each, and no pair is held out.
    pub fn qualification(&self) -> Qualification {
        let tests = [self.malformed(), self.shuffles(), self.votes()];
        let is_failed = |test: &Qualification| *test == Qualification::Failed;
        if tests.iter().chain([&self.predictions()]).any(is_failed) {
            Qualification::Failed
        } else if tests.contains(&Qualification::Undecided) {
            Qualification::Undecided
        } else {
            Qualification::Passed
        }
    }
}

/// Compares an agreement with a reference, such as that of votes in both orders. It fails if it is
/// significantly lower and a loss of more than the margin is not excluded, or if it is significantly
/// below chance. It passes if it is significantly above chance, and above the other one less the
/// margin. With fewer than [`MIN_QUERIES`] queries, it is undecided. The limits of the difference are
/// Newcombe's (1998, method 10).
fn compared(agreement: Option<ProbeShare>, reference: Option<ProbeShare>) -> Qualification {
    let Some(found) = agreement else {
        return Qualification::Undecided;
    };
    if found.queries.is_none_or(|queries| queries < MIN_QUERIES) {
        return Qualification::Undecided;
    }
    if found.high <= 0.5 {
        return Qualification::Failed;
    }
    let Some(reference) = reference else {
        return Qualification::Undecided;
    };
    let difference = found.value - reference.value;
    let low = difference - (found.value - found.low).hypot(reference.high - reference.value);
    let high = difference + (found.high - found.value).hypot(reference.value - reference.low);
    if high < 0.0 && low < -MARGIN {
        Qualification::Failed
    } else if low > -MARGIN && found.low > 0.5 {
        Qualification::Passed
    } else {
        Qualification::Undecided
    }
}

/// Predictions of the judge's votes on held-out pairs of a query.
struct Predictions {
    votes: usize,
    /// The votes that are predicted correctly; a tie in the scores counts as half of one.
    right: f64,
    /// The number that the scores expect to predict correctly.
    expected: f64,
}

impl ProbedQuery {
    /// The lists with the number of their query.
    fn numbered(
        (query, number): (&Self, usize),
    ) -> impl Iterator<Item = (usize, &[Option<Vec<usize>>; 2])> {
        query.lists.iter().map(move |list| (number, list))
    }

    /// The scores that fit the answers.
    fn fit(&self, kind: ListKind, model: &ListModel) -> Option<ListFit> {
        let answers = self.lists.iter().flatten().flatten();
        let blocks: Vec<Block> = answers
            .filter_map(|order| Block::list(0, kind, order))
            .collect();
        fit_blocks(self.documents, &blocks, model)
    }

    /// Predicts the votes on pairs of two documents that answered lists have shown, but not together,
    /// from scores that are fitted to the lists. The probability of the better one is
    /// σ(g/√(1 + πv/8)) for the gap g of the scores and its variance v (MacKay, 1992).
    fn predictions(&self, kind: ListKind, model: &ListModel) -> Option<Predictions> {
        let answers = || self.lists.iter().flatten().flatten();
        let fit = self.fit(kind, model)?;
        let is_shown = |document: &usize| answers().any(|order| order.contains(document));
        let is_held_out = |(one, other): &&(usize, usize)| {
            let together = |order: &Vec<usize>| order.contains(one) && order.contains(other);
            is_shown(one) && is_shown(other) && !answers().any(together)
        };
        let mut found = Predictions {
            votes: 0,
            right: 0.0,
            expected: 0.0,
        };
        for (better, worse) in self.votes.iter().filter(is_held_out) {
            let gap = fit.scores.get(*better)? - fit.scores.get(*worse)?;
            let variance = fit.covariance.gap_se(*better, *worse).powi(2);
            let p = sigma(gap.abs() / (1.0 + PI * variance / 8.0).sqrt());
            found.votes += 1;
            found.right += if gap == 0.0 {
                0.5
            } else {
                f64::from(u8::from(gap > 0.0))
            };
            found.expected += p;
        }
        Some(found)
    }
}

/// The model of the answers about some queries: with the variance of scores that they support (EM), so
/// that scores expect no more than the documents differ.
fn scores_of(queries: &[ProbedQuery], kind: ListKind) -> ListModel {
    let mut model = ListModel::default();
    for _ in 0..PRECISION_ROUNDS {
        let (mut squares, mut documents) = (0.0, 0);
        for query in queries {
            let answers = query.lists.iter().flatten().flatten();
            let shown: BTreeSet<usize> = answers.flatten().copied().collect();
            let Some(fit) = query.fit(kind, &model) else {
                continue;
            };
            for document in shown {
                squares += fit.scores[document].powi(2) + fit.covariance.get(document, document);
                documents += 1;
            }
        }
        if documents > 0 {
            model.precision = f64::from(documents) / squares;
        }
    }
    model
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
        let mut probed = vec![
            ProbedQuery {
                documents: 5,
                lists: Vec::new(),
                votes: vec![(0, 1), (1, 3), (2, 4)],
            };
            queries
        ];
        for at in 0..30 {
            let answers = [Some(answer()).filter(|_| at >= malformed), Some(answer())];
            probed[at % queries].lists.push(answers);
        }
        let swaps =
            Share::of_clusters((0..120).map(|at| (if at % 10 == 0 { 0.0 } else { 1.0 }, 1)));
        ProbeFigures::of(kind, &probed, swaps)
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

    /// A judge that orders each list as it votes, with lists of 4 of 8 documents in two orders. If it
    /// is erratic, the scores of a document depend on the list, and votes are drawn.
    fn predicted(queries: usize, erratic: bool) -> ProbeFigures {
        let kind = ListKind::new(4, AnswerForm::Order).unwrap();
        let mut rng = SeededRng::new(2, &["held out"]);
        let probed: Vec<ProbedQuery> = (0..queries)
            .map(|_| {
                let mut votes = Vec::new();
                for one in 0..8 {
                    for other in 0..one {
                        let reversed = erratic && rng.below(2) == 0;
                        votes.push(if reversed { (one, other) } else { (other, one) });
                    }
                }
                let mut list = |documents: [usize; 4]| {
                    let mut order = documents.to_vec();
                    if erratic {
                        rng.shuffle(&mut order);
                    }
                    [Some(order.clone()), Some(order)]
                };
                ProbedQuery {
                    documents: 8,
                    lists: vec![list([0, 2, 4, 6]), list([1, 2, 4, 7]), list([0, 3, 5, 7])],
                    votes,
                }
            })
            .collect();
        let swaps = Share::of_clusters((0..120).map(|_| (1.0, 1)));
        ProbeFigures::of(kind, &probed, swaps)
    }

    #[test]
    fn the_scores_of_lists_predict_votes_on_other_pairs() {
        let sharp = predicted(12, false);
        assert_eq!(sharp.predictions(), Qualification::Passed, "{sharp:?}");
        let (found, expected) = (
            sharp.predictions.unwrap(),
            sharp.expected_predictions.unwrap(),
        );
        // 28 pairs, of which lists show 17.
        assert_eq!((found.comparisons, found.queries), (12 * 11, Some(12)));
        assert!(found.value > 0.9 && expected > 0.65, "{sharp:?}");
        assert_eq!(sharp.qualification(), Qualification::Passed);
        let erratic = predicted(12, true);
        assert_eq!(erratic.predictions(), Qualification::Failed, "{erratic:?}");
        // Only the predictions fail it.
        let failed = ProbeFigures {
            votes: sharp.votes,
            ..erratic
        };
        assert_eq!(failed.qualification(), Qualification::Failed);
        let few = predicted(9, true);
        assert_eq!(few.predictions(), Qualification::Undecided);
        let few = ProbeFigures {
            predictions: few.predictions,
            ..sharp
        };
        assert_eq!(few.qualification(), Qualification::Passed);
    }

    /// A judge whose lists and votes follow the model does not fail, however similar the documents
    /// are.
    #[test]
    fn similar_documents_do_not_make_a_judge_fail() {
        let kind = ListKind::new(5, AnswerForm::Order).unwrap();
        for spread in [0.5, 1.0, 2.0] {
            let mut failed = 0;
            for seed in 0..20 {
                let mut rng = SeededRng::new(seed, &["similar documents"]);
                let probed: Vec<ProbedQuery> = (0..10)
                    .map(|_| {
                        let scores: Vec<f64> = (0..12).map(|_| spread * rng.normal()).collect();
                        let mut order = |documents: &[usize]| {
                            let gumbel = |rng: &mut SeededRng| -(-rng.unit().ln()).ln();
                            let mut read: Vec<(f64, usize)> = documents
                                .iter()
                                .map(|document| (scores[*document] + gumbel(&mut rng), *document))
                                .collect();
                            read.sort_by(|x, y| y.0.total_cmp(&x.0));
                            Some(read.into_iter().map(|(_, document)| document).collect())
                        };
                        let shown = [[0, 1, 2, 3, 4], [4, 5, 6, 7, 8], [8, 9, 10, 11, 0]];
                        let lists = shown.map(|documents| [order(&documents), order(&documents)]);
                        let mut votes = Vec::new();
                        for one in 0..12 {
                            for other in 0..one {
                                let wins = rng.unit() < sigma(scores[one] - scores[other]);
                                votes.push(if wins { (one, other) } else { (other, one) });
                            }
                        }
                        ProbedQuery {
                            documents: 12,
                            lists: lists.to_vec(),
                            votes,
                        }
                    })
                    .collect();
                let figures = ProbeFigures::of(kind, &probed, None);
                failed += usize::from(figures.predictions() == Qualification::Failed);
            }
            assert!(failed <= 1, "{spread}: {failed} of 20");
        }
    }

    #[test]
    fn figures_without_predictions_are_read_and_written_as_they_were() {
        let text = r#"{"calls":60,"malformed":0,"shuffles":null,"votes":null,"swaps":null}"#;
        let figures: ProbeFigures = serde_json::from_str(text).unwrap();
        assert_eq!(figures.predictions, None);
        assert_eq!(serde_json::to_string(&figures).unwrap(), text);
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
