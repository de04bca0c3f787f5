//! Evaluates queues that start with the votes that are least likely to a student: how often votes
//! are wrong on the first pairs.

use super::SimulatedQuery;
use crate::domain::battle::Pair;
use crate::domain::numeric::sigma;
use crate::domain::prediction::{QueryPredictions, prediction_of};
use crate::domain::sampling::adaptive::SamplingState;
use crate::domain::vote::Outcome;

/// The share of a query's voted pairs to look at, at least one pair.
const LOOKED_AT: f64 = 0.1;
/// Lower bound for probabilities, as in the queue of a project.
const LEAST_PROBABILITY: f64 = 1e-6;

/// How often the votes on a pair name the worse document, in 0..=1; a tied vote is half wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueWorth {
    /// Over all voted pairs: the expected value for random pairs.
    pub at_random: f64,
    /// Over the tenth with the votes that the student finds least likely.
    pub by_student: f64,
    /// Over the tenth with the votes that are least likely under the scores from all votes.
    pub by_scores: f64,
}

/// A voted pair: how wrong its votes are, and how much they surprise the student and the scores.
struct VotedPair {
    wrong: f64,
    student: f64,
    scores: f64,
}

/// Evaluates a query after its votes; `None` without a voted pair that the student has a prediction
/// for.
pub fn queue_worth(
    world: &SimulatedQuery,
    state: &SamplingState,
    predictions: &QueryPredictions,
) -> Option<QueueWorth> {
    let scores = state.scores();
    let pairs: Vec<VotedPair> = state
        .votes()
        .iter()
        .filter_map(|of| {
            let pair = Pair::new(of.a, of.b)?;
            let predicted = prediction_of(predictions, pair.low(), pair.high())?;
            let votes: Vec<Outcome> = (0..world.judges())
                .filter(|seat| state.asked(pair).contains(*seat))
                .filter_map(|seat| world.vote(pair, seat))
                .collect();
            let gap = scores.get(pair.high())? - scores.get(pair.low())?;
            let above = sigma(gap).clamp(LEAST_PROBABILITY, 1.0 - LEAST_PROBABILITY);
            let better = world.truth().get(pair.high())? - world.truth().get(pair.low())?;
            let (mut lean, mut student, mut fitted) = (0.0, 0.0, 0.0);
            for vote in &votes {
                let (side, p, share) = match vote {
                    Outcome::A => (-1.0, predicted.a(), 0.0),
                    Outcome::B => (1.0, predicted.b(), 1.0),
                    Outcome::Tie => (0.0, predicted.tie(), 0.5),
                };
                lean += side;
                student -= p.max(LEAST_PROBABILITY).log2();
                fitted -= share * above.log2() + (1.0 - share) * (1.0 - above).log2();
            }
            let n = votes.len() as f64;
            let right = lean * better;
            (n > 0.0).then(|| VotedPair {
                wrong: if lean == 0.0 {
                    0.5
                } else {
                    f64::from(u8::from(right < 0.0))
                },
                student: student / n,
                scores: fitted / n,
            })
        })
        .collect();
    let looked_at = ((pairs.len() as f64 * LOOKED_AT).ceil() as usize).max(1);
    let mean = |order: &dyn Fn(&VotedPair) -> f64, count: usize| {
        let mut first: Vec<&VotedPair> = pairs.iter().collect();
        first.sort_by(|x, y| order(y).total_cmp(&order(x)));
        first.iter().take(count).map(|of| of.wrong).sum::<f64>() / count as f64
    };
    (!pairs.is_empty()).then(|| QueueWorth {
        at_random: mean(&|_| 0.0, pairs.len()),
        by_student: mean(&|of| of.student, looked_at),
        by_scores: mean(&|of| of.scores, looked_at),
    })
}
