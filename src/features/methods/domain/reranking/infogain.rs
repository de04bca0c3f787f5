//! Swiss InfoGain: rounds of matches between candidates with similar Elo ratings (Chouliaras and
//! Chatzopoulos 2025, arXiv:2511.12796).

use super::call_list::CallList;
use super::single_comparison::SingleComparison;
use super::validation::compared;
use super::{AnswerError, Call, CallBounds, Ranking, Strategy};
use crate::domain::battle::{Pair, all_pairs};
use crate::domain::candidate_question::{Answer, Question};
use crate::domain::numeric::best_first;
use std::collections::HashSet;

/// Default number of rounds.
pub(super) const ROUNDS: usize = 10;

/// Rating of a candidate that has not played.
const START: f64 = 1000.0;

/// In each round, the pairs that have not met are taken in the order of p(1 − p), highest first,
/// where p is the expected score of Elo. A pair plays if neither candidate plays in this round yet.
/// All matches of a round are asked at once. Pairs with the same p(1 − p) are taken in first-stage
/// order, so the first round compares neighbors.
///
/// No pair plays twice, as the paper says; in the authors' code, the set of pairs to avoid stays
/// empty. A match is one call that shows the two candidates in random order, and the answer always
/// names a winner, so there are no draws. The order is by rating; equal ratings keep their
/// first-stage order.
#[derive(Debug)]
pub(super) struct InfoGain {
    seed: u64,
    /// Rounds that are still to be played.
    rounds: usize,
    players: Vec<Player>,
    met: HashSet<Pair>,
    calls: CallList<SingleComparison>,
}

#[derive(Clone, Copy, Debug)]
struct Player {
    rating: f64,
    matches: usize,
}

impl InfoGain {
    pub(super) fn new(candidates: usize, rounds: usize, seed: u64) -> Self {
        let player = Player {
            rating: START,
            matches: 0,
        };
        let mut new = Self {
            seed,
            rounds,
            players: vec![player; candidates],
            met: HashSet::new(),
            calls: CallList::default(),
        };
        new.ask();
        new
    }

    /// Maximum number of calls: one per two candidates and round, and one per pair.
    pub(super) fn most_calls(candidates: usize, rounds: usize) -> usize {
        let pairs = candidates.saturating_mul(candidates.saturating_sub(1)) / 2;
        rounds.saturating_mul(candidates / 2).min(pairs)
    }

    /// The expected number of calls is the mean over simulated queries, the others are bounds.
    ///
    /// Candidates that do not play in a round have all met each other, so after r rounds they are
    /// at most r + 1.
    pub(super) fn calls(candidates: usize, rounds: usize) -> CallBounds {
        let least = (0..rounds.min(candidates))
            .map(|round| candidates.saturating_sub(round + 1).div_ceil(2))
            .sum();
        CallBounds {
            least,
            most: Self::most_calls(candidates, rounds),
            ..CallBounds::simulated(candidates, |n| Box::new(Self::new(n, rounds, 0)))
        }
    }

    /// Asks the matches of the next round, if there is one.
    fn ask(&mut self) {
        let Some(rounds) = self.rounds.checked_sub(1) else {
            return;
        };
        self.rounds = rounds;
        for pair in self.matches() {
            self.met.insert(pair);
            let comparison = SingleComparison::new(pair, self.seed);
            let question = Question::Compare {
                a: comparison.first,
                b: comparison.second,
            };
            self.calls.ask(question, comparison);
        }
    }

    /// The pairs that play in the next round. Elo's p(1 − p) falls as the gap of the ratings grows.
    fn matches(&self) -> Vec<Pair> {
        let rating = |at: usize| self.players.get(at).map_or(START, |player| player.rating);
        let mut pairs: Vec<(f64, Pair)> = all_pairs(self.players.len())
            .filter(|pair| !self.met.contains(pair))
            .map(|pair| ((rating(pair.low()) - rating(pair.high())).abs(), pair))
            .collect();
        pairs.sort_unstable_by(|(x, one), (y, other)| x.total_cmp(y).then(one.cmp(other)));
        let mut playing = HashSet::new();
        pairs
            .into_iter()
            .map(|(_, pair)| pair)
            .filter(|pair| {
                let free = !playing.contains(&pair.low()) && !playing.contains(&pair.high());
                free && playing.insert(pair.low()) && playing.insert(pair.high())
            })
            .collect()
    }

    /// Updates the ratings of a match. Nobody plays twice in a round, so no other match of the
    /// round depends on them.
    fn rate(&mut self, winner: usize, loser: usize) {
        let pair = [winner, loser].map(|at| self.players.get(at).copied());
        let [Some(won), Some(lost)] = pair else {
            return;
        };
        let surprise = 1.0 - expected_score(won.rating, lost.rating);
        for (at, player, change) in [(winner, won, surprise), (loser, lost, -surprise)] {
            if let Some(place) = self.players.get_mut(at) {
                *place = Player {
                    rating: player.rating + player.step() * change,
                    matches: player.matches + 1,
                };
            }
        }
    }
}

impl Player {
    /// Elo's K in the next match, as in the authors' code: 40 in the first four, then 20 between
    /// ratings of 800 and 1200, and 10 outside.
    fn step(self) -> f64 {
        match self.rating {
            _ if self.matches < 4 => 40.0,
            800.0..=1200.0 => 20.0,
            _ => 10.0,
        }
    }
}

/// The expected score of the first of two ratings, 1/(1 + 10^(−gap/400)).
fn expected_score(one: f64, other: f64) -> f64 {
    1.0 / (1.0 + 10f64.powf((other - one) / 400.0))
}

impl Strategy for InfoGain {
    fn next(&mut self) -> Vec<Call> {
        self.calls.hand_out()
    }

    fn answer(&mut self, id: usize, answer: Answer) -> Result<(), AnswerError> {
        let SingleComparison { first, second, .. } = self.calls.take(id)?;
        if self.calls.accept(compared(&answer))? {
            self.rate(second, first);
        } else {
            self.rate(first, second);
        }
        if self.calls.is_over() {
            self.ask();
        }
        Ok(())
    }

    fn outcome(&self) -> Option<Ranking> {
        self.calls.is_over().then(|| {
            let ratings: Vec<f64> = self.players.iter().map(|player| player.rating).collect();
            let scores = self.players.iter();
            let scores = scores.map(|player| (player.matches > 0).then_some(player.rating));
            Ranking {
                order: best_first(&ratings),
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

    /// The pairs of the next round. The candidate with the lower index wins each match.
    fn round(strategy: &mut InfoGain) -> Vec<(usize, usize)> {
        let calls = strategy.next();
        let pairs = calls.iter().map(|call| {
            let shown = call.question.shown();
            (shown[0].min(shown[1]), shown[0].max(shown[1]))
        });
        let pairs: Vec<_> = pairs.collect();
        for call in calls {
            let shown = call.question.shown();
            let answer = Answer::SecondWins(shown[1] < shown[0]);
            strategy.answer(call.id, answer).unwrap();
        }
        pairs
    }

    #[test]
    fn candidates_with_similar_ratings_meet_and_no_pair_meets_twice() {
        let mut strategy = InfoGain::new(5, 9, 0);
        let mut rounds = Vec::new();
        loop {
            let pairs = round(&mut strategy);
            if pairs.is_empty() {
                break;
            }
            rounds.push(pairs);
        }
        // Winners meet winners, and the last candidate, which has not played, meets whoever is
        // left.
        assert_eq!(rounds[..2], [vec![(0, 1), (2, 3)], vec![(0, 2), (1, 3)]]);
        let mut all = rounds.concat();
        all.sort_unstable();
        let pairs = all_pairs(5).map(|pair| (pair.low(), pair.high()));
        assert_eq!(all, pairs.collect::<Vec<_>>());
        assert_eq!(strategy.outcome().unwrap().order, [0, 1, 2, 3, 4]);
    }

    #[test]
    fn ratings_are_those_of_the_authors_code() {
        let mut strategy = InfoGain::new(2, 0, 0);
        let mut gaps = Vec::new();
        for _ in 0..6 {
            strategy.rate(1, 0);
            let [low, high] = [0, 1].map(|at| strategy.players[at].rating);
            assert!((low + high - 2000.0).abs() < 1e-9);
            gaps.push(high - low);
        }
        for (gap, expected) in gaps.iter().zip(EXPECTED_GAPS) {
            assert!((gap - expected).abs() < 1e-9, "{gap} {expected}");
        }
        let far = Player {
            rating: 1200.5,
            matches: 9,
        };
        assert_eq!(far.step(), 10.0);
    }

    /// Computed with the rating update of the authors' code.
    const EXPECTED_GAPS: [f64; 6] = [
        40.0,
        75.41506929901652,
        106.86642778439284,
        134.9368406465278,
        147.53759418828758,
        159.52082775124552,
    ];
}
