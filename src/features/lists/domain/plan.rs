//! Chooses the documents of the next list calls of a query.

use super::estimator::ListFit;
use crate::domain::named::named;
use crate::domain::numeric::best_first;
use crate::domain::rating::{self, RatingModel};
use crate::domain::sampling::SeededRng;
use crate::domain::sampling::adaptive::information::top_probabilities;

/// Weight of pairs that cannot reach the top, relative to pairs that are there.
const FLOOR: f64 = 0.1;

named! {
    "a list plan", "lowercase";
    #[derive(Default)]
    pub enum ListPlan {
        /// Random lists in which all documents appear equally often.
        Random,
        /// Lists of neighbors in an order drawn from the scores and their errors.
        #[default]
        Swiss,
        /// Lists of the pairs whose order matters most for the top.
        Top,
    }
}

/// What is known when a round is planned.
#[derive(Clone, Copy, Debug)]
pub struct PlanState<'a> {
    /// Number of documents in the pool.
    pub documents: usize,
    /// How often each document was shown; documents after the end of the slice never were.
    pub shown: &'a [usize],
    /// The fit of the answers so far; `None` in the first round, which is random in every plan.
    pub fit: Option<&'a ListFit>,
    /// Number of ranks that count as the top.
    pub top: usize,
}

/// Identifies a round, which determines its random choices.
#[derive(Clone, Copy, Debug)]
pub struct ListRound<'a> {
    pub seed: u64,
    /// Name of the query.
    pub query: &'a str,
    /// Number of the round, from 0.
    pub number: usize,
}

impl ListPlan {
    /// The lists of the next round: pool indexes in the order in which they are shown, all
    /// different within a list. Empty if the pool has fewer than `size` documents.
    ///
    /// A round of *top* has about half as many lists as show every document once, so that the next
    /// lists depend on its answers.
    pub fn next_lists(self, size: usize, state: &PlanState, round: &ListRound) -> Vec<Vec<usize>> {
        if size < 2 || state.documents < size {
            return Vec::new();
        }
        let number = round.number.to_string();
        let mut rng = SeededRng::new(round.seed, &["lists", self.name(), round.query, &number]);
        let mut lists = match (self, state.fit) {
            (Self::Random, _) | (_, None) => balanced(size, state, &mut rng),
            (Self::Swiss, Some(fit)) => neighbors(size, fit, &mut rng),
            (Self::Top, Some(fit)) => most_worth(size, state, fit, &mut rng),
        };
        lists.iter_mut().for_each(|list| rng.shuffle(list));
        lists
    }
}

/// Shows every document at least once, the least shown ones first.
fn balanced(size: usize, state: &PlanState, rng: &mut SeededRng) -> Vec<Vec<usize>> {
    let mut shown: Vec<usize> = (0..state.documents)
        .map(|document| state.shown.get(document).copied().unwrap_or(0))
        .collect();
    let lists = state.documents.div_ceil(size);
    (0..lists)
        .map(|_| {
            let mut order: Vec<usize> = (0..state.documents).collect();
            rng.shuffle(&mut order);
            order.sort_by_key(|document| shown[*document]);
            order.truncate(size);
            order.iter().for_each(|document| shown[*document] += 1);
            order
        })
        .collect()
}

/// Cuts a draw from the distribution of the scores into lists of neighbors. If the last list would
/// be short, it starts earlier.
fn neighbors(size: usize, fit: &ListFit, rng: &mut SeededRng) -> Vec<Vec<usize>> {
    let documents = fit.scores.len();
    let normals: Vec<f64> = (0..documents).map(|_| rng.normal()).collect();
    let mut drawn = vec![0.0; documents];
    fit.covariance.spread(&normals, &mut drawn);
    drawn
        .iter_mut()
        .zip(&fit.scores)
        .for_each(|(drawn, score)| *drawn += score);
    let order = best_first(&drawn);
    (0..documents)
        .step_by(size)
        .map(|from| from.min(documents - size))
        .map(|from| order[from..from + size].to_vec())
        .collect()
}

/// Builds lists greedily from the pairs with the largest focus · p(1 − p) · variance of the gap.
/// Every pair is used at most once in a round.
fn most_worth(
    size: usize,
    state: &PlanState,
    fit: &ListFit,
    rng: &mut SeededRng,
) -> Vec<Vec<usize>> {
    let n = state.documents;
    let focus = top_probabilities(&fit.scores, &fit.covariance, state.top);
    let mut worth = vec![0.0; n * n];
    for i in 0..n {
        for j in (0..n).filter(|j| *j != i) {
            let inside = 1.0 - (1.0 - focus[i]) * (1.0 - focus[j]);
            let p = rating::expected(RatingModel::Map, &fit.scores, i, j);
            let gap_se = fit.covariance.gap_se(i, j);
            worth[i * n + j] = (FLOOR + (1.0 - FLOOR) * inside) * p * (1.0 - p) * gap_se * gap_se;
        }
    }
    // Ties are broken at random.
    let mut order: Vec<usize> = (0..n).collect();
    rng.shuffle(&mut order);
    let lists = n.div_ceil(2 * size);
    (0..lists)
        .map(|_| {
            let mut list: Vec<usize> = Vec::with_capacity(size);
            let mut value: Vec<f64> = (0..n)
                .map(|i| {
                    worth[i * n..(i + 1) * n]
                        .iter()
                        .copied()
                        .fold(0.0, f64::max)
                })
                .collect();
            while list.len() < size {
                let free = order.iter().filter(|document| !list.contains(document));
                let Some(&next) = free.max_by(|x, y| value[**x].total_cmp(&value[**y])) else {
                    break;
                };
                if list.is_empty() {
                    value = vec![0.0; n];
                }
                list.push(next);
                (0..n).for_each(|i| value[i] += worth[next * n + i]);
            }
            for &i in &list {
                list.iter().for_each(|&j| worth[i * n + j] = 0.0);
            }
            list
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::lists::domain::{AnswerForm, Block, ListKind, ListModel, fit_blocks};

    fn fit() -> ListFit {
        let kind = ListKind::new(4, AnswerForm::Order).unwrap();
        let lists = [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [0, 4, 8, 12]];
        let blocks: Vec<Block> = lists
            .iter()
            .map(|order| Block::list(0, kind, order).unwrap())
            .collect();
        fit_blocks(13, &blocks, &ListModel::default()).unwrap()
    }

    #[test]
    fn every_list_shows_different_documents_and_a_round_shows_all() {
        let fit = fit();
        for plan in ListPlan::ALL {
            for fit in [None, Some(&fit)] {
                let state = PlanState {
                    documents: 13,
                    shown: &[3, 0, 0],
                    fit,
                    top: 4,
                };
                let round = ListRound {
                    seed: 1,
                    query: "q",
                    number: 2,
                };
                let lists = plan.next_lists(4, &state, &round);
                assert_eq!(lists, plan.next_lists(4, &state, &round));
                let mut seen = [false; 13];
                for list in &lists {
                    let mut sorted = list.clone();
                    sorted.sort_unstable();
                    sorted.dedup();
                    assert_eq!(sorted.len(), 4, "{plan}");
                    list.iter().for_each(|document| seen[*document] = true);
                }
                let half = plan == ListPlan::Top && fit.is_some();
                assert_eq!(lists.len(), if half { 2 } else { 4 }, "{plan}");
                assert!(half || seen.iter().skip(1).all(|seen| *seen), "{plan}");
                assert!(plan.next_lists(14, &state, &round).is_empty());
            }
        }
    }

    #[test]
    fn top_asks_about_the_better_half() {
        let kind = ListKind::new(4, AnswerForm::Order).unwrap();
        let blocks: Vec<Block> = (0..10)
            .map(|from| Block::list(0, kind, &[from, from + 1, from + 2, from + 3]).unwrap())
            .collect();
        let fit = fit_blocks(13, &blocks, &ListModel::default()).unwrap();
        let state = PlanState {
            documents: 13,
            shown: &[],
            fit: Some(&fit),
            top: 2,
        };
        let round = ListRound {
            seed: 1,
            query: "q",
            number: 1,
        };
        let first = &ListPlan::Top.next_lists(4, &state, &round)[0];
        assert!(first.iter().all(|document| *document < 7), "{first:?}");
    }
}
