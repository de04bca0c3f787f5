//! zELO: adaptive rounds of battles that are most informative about the top ranks. Candidates are
//! sorted by their fitted scores, which start from the first-stage order.

use super::call_list::CallList;
use super::validation::margin;
use super::{AnswerError, Call, Ranking};
use crate::domain::battle::Pair;
use crate::domain::candidate_question::{Answer, Question};
use crate::domain::judge_set::JudgeSet;
use crate::domain::numeric::best_first;
use crate::domain::rating::{Observation, RatingOptions};
use crate::domain::sampling::adaptive::{
    AskedPair, JudgeChoice, Round, Sampler, SamplingState, Strategy, calls, next_round,
};
use crate::domain::sampling::{PlannedBattle, presentations};
use crate::domain::vote::Margin;
use statrs::distribution::{ContinuousCDF as _, Normal};
use std::collections::{HashMap, HashSet};

/// Default number of calls per candidate.
pub(super) const BUDGET: f64 = 4.0;

/// Weight of the first-stage order, in battles per candidate: enough to start with, but small
/// compared with the votes of a typical budget. Measured with `overrule lab methods`
/// at correlations of .2, .5 and .8: never worse than without, within the error.
const TRUST: f64 = 1.0;
/// The difference in strength for a difference of 1 in the normal scores of the ranks: half of
/// 1.82, the standard deviation of true scores in simulations, as for a first stage with a
/// correlation of .5.
const SLOPE: f64 = 0.9;
/// Approximate maximum number of other candidates that each candidate has met in the first stage.
const PARTNERS: usize = 50;

/// The rounds of `top+escalate`; in each, every judge sees either side first equally often.
#[derive(Debug)]
pub(super) struct Zelo {
    judges: usize,
    seed: u64,
    /// Calls left in the budget.
    left: usize,
    round: usize,
    asked: Vec<AskedPair>,
    /// Index of each pair in `asked`.
    places: HashMap<Pair, usize>,
    state: SamplingState,
    calls: CallList<Battle>,
}

#[derive(Debug)]
struct Battle {
    pair: Pair,
    /// Whether the higher candidate of the pair was shown first.
    swapped: bool,
}

impl Zelo {
    /// `budget` is in calls per candidate.
    pub(super) fn new(candidates: usize, budget: f64, judges: usize, seed: u64) -> Self {
        let judges = judges.max(1);
        let mut new = Self {
            judges,
            seed,
            left: calls(budget, candidates, 1),
            round: 0,
            asked: Vec::new(),
            places: HashMap::new(),
            state: fitted(candidates, judges, &[]),
            calls: CallList::default(),
        };
        new.ask();
        new
    }

    /// Number of calls for a query: the budget, or every judge on every pair if that is less.
    pub(super) fn calls(candidates: usize, budget: f64, judges: usize) -> usize {
        let pairs = candidates * candidates.saturating_sub(1) / 2;
        calls(budget, candidates, 1).min(pairs.saturating_mul(judges.max(1)))
    }

    /// Asks the battles of the next round, if there is one.
    fn ask(&mut self) {
        let round = Round {
            seed: self.seed,
            query: "",
            number: self.round,
            calls: self.left,
        };
        let strategy = Strategy::new(Sampler::Top, JudgeChoice::Escalate);
        let tasks = match self.left {
            0 => Vec::new(),
            _ => next_round(&self.state, &strategy, &round),
        };
        for task in &tasks {
            self.left = self.left.saturating_sub(task.judges.len());
            let entry = match self.places.get(&task.pair) {
                Some(at) => self.asked.get_mut(*at),
                None => {
                    self.places.insert(task.pair, self.asked.len());
                    self.asked.push(AskedPair {
                        pair: task.pair,
                        judges: JudgeSet::EMPTY,
                        votes: Vec::new(),
                    });
                    self.asked.last_mut()
                }
            };
            if let Some(entry) = entry {
                entry.judges = entry.judges.with(task.judges);
            }
        }
        for judge in 0..self.judges {
            let own = tasks.iter().filter(|task| task.judges.contains(judge));
            let planned: Vec<PlannedBattle> = own
                .map(|task| PlannedBattle {
                    pair: task.pair,
                    game: 0,
                    cycle: self.round,
                })
                .collect();
            let sides = presentations(self.seed, "", &judge.to_string(), &planned);
            for (battle, swapped) in planned.iter().zip(sides) {
                let (low, high) = (battle.pair.low(), battle.pair.high());
                let (a, b) = if swapped { (high, low) } else { (low, high) };
                let pair = battle.pair;
                let question = Question::Battle { a, b, judge };
                self.calls.ask(question, Battle { pair, swapped });
            }
        }
        self.round += 1;
    }
}

fn fitted(candidates: usize, judges: usize, asked: &[AskedPair]) -> SamplingState {
    let seats = asked.iter().map(|entry| (entry.pair, entry.judges));
    let votes = asked.iter().filter_map(|entry| entry.observation(judges));
    let observations = first_stage(candidates).chain(votes);
    let lambda = RatingOptions::default().lambda;
    SamplingState::fitted(
        candidates,
        judges,
        seats.collect(),
        observations.collect(),
        lambda,
    )
}

/// The first-stage order as battles: each candidate has met [`PARTNERS`] others (or all), with a
/// total weight of [`TRUST`]. The expected score of a pair comes from the normal scores of both
/// ranks.
fn first_stage(candidates: usize) -> impl Iterator<Item = Observation> {
    let normal = Normal::standard();
    let strength = |at: usize| {
        let share = (at as f64 + 0.5) / candidates as f64;
        -SLOPE * normal.inverse_cdf(share)
    };
    let strengths: Vec<f64> = (0..candidates).map(strength).collect();
    let step = candidates.div_ceil(PARTNERS).max(1);
    let weight = TRUST / (candidates.saturating_sub(1) / step).max(1) as f64;
    (0..candidates).flat_map(move |a| {
        let above = strengths.get(a).copied().unwrap_or(0.0);
        let others = strengths.iter().enumerate().skip(a + step).step_by(step);
        let others: Vec<Observation> = others
            .map(|(b, below)| {
                let score = 1.0 / (1.0 + (above - below).exp());
                Observation::new(a, b, score, weight)
            })
            .collect();
        others
    })
}

impl super::Strategy for Zelo {
    fn next(&mut self) -> Vec<Call> {
        self.calls.hand_out()
    }

    fn answer(&mut self, id: usize, answer: Answer) -> Result<(), AnswerError> {
        let battle = self.calls.take(id)?;
        let margin = Margin::new(self.calls.accept(margin(&answer))?);
        let entry = self.places.get(&battle.pair);
        let entry = entry.and_then(|at| self.asked.get_mut(*at));
        if let (Some(entry), Some(margin)) = (entry, margin) {
            let margin = if battle.swapped {
                margin.flipped()
            } else {
                margin
            };
            entry.votes.push(margin.outcome());
        }
        if self.calls.is_over() {
            self.state = fitted(self.state.documents(), self.judges, &self.asked);
            self.ask();
        }
        Ok(())
    }

    fn outcome(&self) -> Option<Ranking> {
        self.calls.is_over().then(|| {
            let scores = self.state.scores();
            let voted = self.asked.iter().filter(|entry| !entry.votes.is_empty());
            let met: HashSet<usize> = voted
                .flat_map(|entry| [entry.pair.low(), entry.pair.high()])
                .collect();
            let order = best_first(&scores);
            let scores = (0..).zip(scores);
            let scores = scores.map(|(at, score)| met.contains(&at).then_some(score));
            Ranking {
                order,
                scores: Some(scores.collect()),
            }
        })
    }

    fn repairs(&self) -> usize {
        self.calls.repairs()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_stage_counts_as_one_battle_of_each_candidate() {
        for n in [0, 1] {
            assert_eq!(first_stage(n).count(), 0);
        }
        for (n, most) in [(2, 1), (20, 190), (1000, 25_000)] {
            let battles: Vec<Observation> = first_stage(n).collect();
            assert!(battles.len() <= most, "{n}: {}", battles.len());
            let mut weights = vec![0.0; n];
            for battle in &battles {
                assert!(battle.a < battle.b && battle.score < 0.5 && battle.score > 0.0);
                weights[battle.a] += battle.weight;
                weights[battle.b] += battle.weight;
            }
            let all = weights
                .iter()
                .all(|weight| (weight / TRUST - 1.0).abs() < 0.1);
            assert!(all, "{n}: {weights:?}");
        }
    }
}
