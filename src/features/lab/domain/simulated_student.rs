//! A simulated student, which predicts the documents of a simulated query with a given accuracy and
//! knows how accurate it is.

use super::SimulatedQuery;
use crate::domain::battle::Pair;
use crate::domain::prediction::{OutcomeProbabilities, PairPrediction, QueryPredictions};
use crate::domain::sampling::SeededRng;
use statrs::function::erf::erfc;

/// Range of the average over a prediction's error, in standard deviations on each side, and number
/// of steps on each side.
const REACH: f64 = 5.0;
const STEPS: i32 = 20;

impl SimulatedQuery {
    /// The predictions for every pair of a student whose estimates of the documents have this
    /// correlation with the truth, in 0..1.
    ///
    /// It sees θ + η, with η normal with the corresponding variance, and believes the posterior
    /// N(ρ²(θ + η), σ²(1 − ρ²)) for each document, where σ is the standard deviation of the true
    /// scores. For a pair it predicts the mean soft target of three of the query's judges: P(B) = E
    /// q², P(A) = E (1 − q)², P(tie) = 2 E q(1 − q), where q is the probability that a judge votes
    /// B; it is therefore calibrated if the true scores are normal. Like real students, it is wrong
    /// about a document on all of its pairs.
    pub fn predicted_by_student(&self, correlation: f64) -> QueryPredictions {
        let count = self.truth.len().max(1) as f64;
        let mean = self.truth.iter().sum::<f64>() / count;
        let squares: f64 = self.truth.iter().map(|of| (of - mean).powi(2)).sum();
        let deviation = (squares / count).sqrt();
        let rho = correlation.clamp(0.01, 0.999);
        let unseen = deviation * (1.0 / (rho * rho) - 1.0).sqrt();
        let mut rng = SeededRng::new(self.seed, &["student", &self.name]);
        let believed: Vec<f64> = self
            .truth
            .iter()
            .map(|truth| rho * rho * (truth - mean + unseen * rng.normal()))
            .collect();
        let variance = deviation * deviation * (1.0 - rho * rho);
        let spread = (2.0 * variance + self.noise.pair * self.noise.pair).sqrt();
        let judges = self.noise.judges.len().max(1) as f64;
        let own: f64 = self
            .noise
            .judges
            .iter()
            .map(|judge| judge.own.powi(2))
            .sum();
        let own = (own / judges + self.noise.call.powi(2)).sqrt().max(1e-9);
        let places = 0..self.truth.len();
        places
            .flat_map(|low| {
                (low + 1..self.truth.len()).filter_map(move |high| Pair::new(low, high))
            })
            .filter_map(|pair| {
                let gap = believed[pair.high()] - believed[pair.low()];
                let predicted = predicted(gap, spread, own)?;
                Some((pair, PairPrediction::in_order(predicted)))
            })
            .collect()
    }
}

/// The mean soft target if the part of the gap that all judges perceive is N(`gap`, `spread`²) and
/// each judge adds N(0, `own`²).
fn predicted(gap: f64, spread: f64, own: f64) -> Option<OutcomeProbabilities> {
    let (mut weights, mut a, mut b) = (0.0, 0.0, 0.0);
    for step in -STEPS..=STEPS {
        let z = REACH * f64::from(step) / f64::from(STEPS);
        let weight = (-0.5 * z * z).exp();
        let q = 0.5 * erfc(-(gap + spread * z) / (own * std::f64::consts::SQRT_2));
        weights += weight;
        a += weight * (1.0 - q) * (1.0 - q);
        b += weight * q * q;
    }
    OutcomeProbabilities::new(a / weights, b / weights)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::vote::Outcome;
    use crate::features::lab::domain::{Noise, Theta};

    #[test]
    fn it_is_calibrated_and_the_better_one_knows_more() {
        let mut loss = Vec::new();
        for correlation in [0.3, 0.9] {
            let (mut sum, mut n) = (0.0, 0.0);
            let mut buckets = [(0.0, 0.0, 0.0); 5];
            for index in 0..60 {
                let world =
                    SimulatedQuery::synthetic(Theta::Gaussian, 20, Noise::standard(3), 9, index);
                for (pair, of) in world.predicted_by_student(correlation) {
                    let predicted = of.predicted().unwrap();
                    let points: f64 = (0..3)
                        .map(|seat| match world.vote(pair, seat).unwrap() {
                            Outcome::A => 0.0,
                            Outcome::Tie => 0.5,
                            Outcome::B => 1.0,
                        })
                        .sum();
                    let observed = points / 3.0;
                    sum += (predicted.score() - observed).powi(2);
                    n += 1.0;
                    let bucket = &mut buckets[((predicted.score() * 5.0) as usize).min(4)];
                    bucket.0 += predicted.score();
                    bucket.1 += observed;
                    bucket.2 += 1.0;
                }
            }
            for (expected, observed, n) in buckets.into_iter().filter(|(.., n)| *n > 400.0) {
                assert!(
                    ((expected - observed) / n).abs() < 0.04,
                    "{correlation}: {expected} {observed} {n}"
                );
            }
            loss.push(sum / n);
        }
        assert!(loss[1] < 0.7 * loss[0], "{loss:?}");
    }

    #[test]
    fn an_even_pair_is_even() {
        let even = predicted(0.0, 1.0, 1.0).unwrap();
        assert!((even.a() - even.b()).abs() < 1e-12 && even.tie() > 0.2);
    }
}
