//! An ordered probit for one judge: A, tie or B from a noisy reading of the gap.

use crate::domain::vote::Outcome;
use statrs::distribution::{Continuous, ContinuousCDF, Normal};

/// Maximum number of steps of Fisher scoring, which gains about one digit per step, and the step
/// size at which it stops.
const STEPS: usize = 50;
const LAST_STEP: f64 = 1e-9;

/// Maximum magnitude of a coefficient, because judges that never err have no finite estimate.
const LIMIT: f64 = 20.0;

/// Minimum tie threshold, because a judge without ties would give ties a likelihood of 0.
const LEAST_TIE: f64 = 1e-3;

/// A vote as input of the probit, with the lower index as A.
#[derive(Clone, Copy)]
pub(super) struct ProbitVote {
    /// The table and the pair.
    pub(super) battle: (usize, usize, usize),
    pub(super) seat: usize,
    /// Score of B minus that of A.
    pub(super) gap: f64,
    /// 1 if B was shown first, −1 if A was.
    pub(super) order: f64,
    pub(super) outcome: Outcome,
}

/// One judge, with noise of standard deviation 1.
#[derive(Clone, Copy)]
pub(super) struct Probit {
    pub(super) slope: f64,
    pub(super) order: f64,
    pub(super) tie: f64,
}

impl Probit {
    /// Maximum likelihood fit by Fisher scoring.
    pub(super) fn fit<'a>(votes: impl Iterator<Item = &'a ProbitVote> + Clone) -> Self {
        let mut at = Self {
            slope: 0.5,
            order: 0.0,
            tie: 0.1,
        };
        for _ in 0..STEPS {
            let (mut gradient, mut information) = ([0.0; 3], [[0.0; 3]; 3]);
            for vote in votes.clone() {
                for outcome in [Outcome::A, Outcome::Tie, Outcome::B] {
                    let (p, change) = at.slopes(vote, outcome);
                    for i in 0..3 {
                        if outcome == vote.outcome {
                            gradient[i] += change[i] / p;
                        }
                        for j in 0..3 {
                            information[i][j] += change[i] * change[j] / p;
                        }
                    }
                }
            }
            let step = solve(information, gradient).map(|step| step.clamp(-0.5, 0.5));
            at = Self {
                slope: (at.slope + step[0]).clamp(-LIMIT, LIMIT),
                order: (at.order + step[1]).clamp(-LIMIT, LIMIT),
                tie: (at.tie + step[2]).clamp(LEAST_TIE, LIMIT),
            };
            if step.iter().all(|step| step.abs() < LAST_STEP) {
                break;
            }
        }
        at
    }

    /// The probability of an outcome, and its derivatives with respect to slope, order and tie.
    fn slopes(&self, vote: &ProbitVote, outcome: Outcome) -> (f64, [f64; 3]) {
        let normal = Normal::standard();
        let lean = self.slope * vote.gap + self.order * vote.order;
        let (up, down) = (lean - self.tie, lean + self.tie);
        let (b, a) = (normal.pdf(up), normal.pdf(down));
        let (p, by_lean, by_tie) = match outcome {
            Outcome::B => (normal.cdf(up), b, -b),
            Outcome::A => (normal.cdf(-down), -a, -a),
            Outcome::Tie => (normal.cdf(down) - normal.cdf(up), a - b, a + b),
        };
        let by = [by_lean * vote.gap, by_lean * vote.order, by_tie];
        (p.max(1e-12), by)
    }

    /// The probabilities of A, tie and B if the part `common` of the noise is known and the rest
    /// has standard deviation `own`.
    pub(super) fn given(&self, vote: &ProbitVote, common: f64, own: f64) -> [f64; 3] {
        let normal = Normal::standard();
        let lean = self.slope * vote.gap + self.order * vote.order + common;
        let a = normal.cdf((-lean - self.tie) / own);
        let b = normal.cdf((lean - self.tie) / own);
        [a, 1.0 - a - b, b]
    }
}

/// Solves a positive semidefinite system by elimination; directions without information get no
/// step.
fn solve(mut matrix: [[f64; 3]; 3], mut right: [f64; 3]) -> [f64; 3] {
    for pivot in 0..3 {
        if matrix[pivot][pivot] <= 1e-9 {
            matrix[pivot] = [0.0; 3];
            matrix[pivot][pivot] = 1.0;
            right[pivot] = 0.0;
        }
        for row in pivot + 1..3 {
            let factor = matrix[row][pivot] / matrix[pivot][pivot];
            let above = matrix[pivot];
            for (cell, above) in matrix[row].iter_mut().zip(above) {
                *cell -= factor * above;
            }
            right[row] -= factor * right[pivot];
        }
    }
    for pivot in (0..3).rev() {
        let known: f64 = matrix[pivot]
            .iter()
            .zip(right)
            .skip(pivot + 1)
            .map(|(cell, x)| cell * x)
            .sum();
        right[pivot] = (right[pivot] - known) / matrix[pivot][pivot];
    }
    right
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::sampling::SeededRng;

    fn votes(judge: Probit, count: usize) -> Vec<ProbitVote> {
        let mut rng = SeededRng::new(3, &["probit"]);
        let mut vote = |at: usize| {
            let (gap, order) = (3.0 * rng.normal(), 1.0 - 2.0 * rng.below(2) as f64);
            let lean = judge.slope * gap + judge.order * order + rng.normal();
            let outcome = match lean {
                lean if lean > judge.tie => Outcome::B,
                lean if lean < -judge.tie => Outcome::A,
                _ => Outcome::Tie,
            };
            ProbitVote {
                battle: (0, at, at + 1),
                seat: 0,
                gap,
                order,
                outcome,
            }
        };
        (0..count).map(&mut vote).collect()
    }

    #[test]
    fn a_judge_is_found_again_from_its_votes() {
        let judge = Probit {
            slope: 0.6,
            order: 0.3,
            tie: 0.2,
        };
        let fit = Probit::fit(votes(judge, 6000).iter());
        assert!((fit.slope - judge.slope).abs() < 0.03, "{}", fit.slope);
        assert!((fit.order - judge.order).abs() < 0.05, "{}", fit.order);
        assert!((fit.tie - judge.tie).abs() < 0.03, "{}", fit.tie);
    }

    #[test]
    fn one_vote_and_perfect_votes_have_a_finite_fit() {
        let perfect = Probit {
            slope: 1e6,
            order: 0.0,
            tie: 0.0,
        };
        for count in [1, 50] {
            let fit = Probit::fit(votes(perfect, count).iter());
            assert!(fit.slope.is_finite() && fit.order.is_finite() && fit.tie >= LEAST_TIE);
        }
    }
}
