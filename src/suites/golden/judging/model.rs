//! The joint judge model on simulated judges whose sharpness and position bias are known
//! (science.md § Judges, science.md § Simulations).

use crate::domain::judge_report::{JudgeModel, ParameterBasis, Rating, judge_model};
use crate::domain::rating::{self, Observation, RatingOptions};
use crate::domain::sampling::{SeededRng, plan, presentations};
use crate::domain::vote::Margin;

const SHIFTS: [f64; 3] = [0.25, -0.10, 0.15];

struct Simulation {
    ratings: Vec<Rating>,
    /// The true quality of the documents, by query.
    truth: Vec<Vec<f64>>,
}

fn normal(rng: &mut SeededRng) -> f64 {
    (-2.0 * rng.unit().ln()).sqrt() * (std::f64::consts::TAU * rng.unit()).cos()
}

/// Judges whose own noise has the standard deviations `noise`, voting on four cycles of each query.
fn simulate(
    seed: u64,
    queries: usize,
    documents: usize,
    noise: [f64; 3],
    shifts: [f64; 3],
) -> Simulation {
    let mut rng = SeededRng::new(seed, &["judges"]);
    let (mut ratings, mut truth) = (Vec::new(), Vec::new());
    for query in 0..queries {
        let quality: Vec<f64> = (0..documents).map(|_| 1.82 * normal(&mut rng)).collect();
        let name = query.to_string();
        let planned = plan(seed, &name, documents, 4);
        let shown = [0, 1, 2].map(|judge| presentations(seed, &name, &judge.to_string(), &planned));
        for (battle, planned) in planned.iter().enumerate() {
            let (a, b) = (planned.pair.low(), planned.pair.high());
            let shared = quality[b] - quality[a] + 0.498 * normal(&mut rng);
            for judge in 0..3 {
                let swapped = shown[judge][battle];
                let order = if swapped { 1.0 } else { -1.0 };
                let own = noise[judge] * normal(&mut rng) + 0.3 * normal(&mut rng);
                let felt = shared + own + shifts[judge] * order;
                let margin = if felt.abs() <= 0.05 {
                    0.0
                } else {
                    felt.signum()
                };
                ratings.push(Rating {
                    query,
                    battle,
                    a,
                    b,
                    judge,
                    margin: Margin::new(margin).unwrap(),
                    swapped,
                    length_a: 1,
                    length_b: 1,
                    gap: None,
                });
            }
        }
        truth.push(quality);
    }
    Simulation { ratings, truth }
}

fn kendall(x: &[f64], y: &[f64]) -> f64 {
    let (mut sum, mut pairs) = (0.0, 0.0);
    for i in 0..x.len() {
        for j in 0..i {
            sum += ((x[i] - x[j]) * (y[i] - y[j])).signum();
            pairs += 1.0;
        }
    }
    sum / pairs
}

impl Simulation {
    /// Mean Kendall τ between the fits with one observation per ballot and the truth.
    fn tau(&self, observations: impl Fn(usize) -> Vec<Observation>) -> f64 {
        let of = |(query, truth): (usize, &Vec<f64>)| {
            let fit = rating::fit(
                truth.len(),
                &observations(query),
                &RatingOptions::default(),
                None,
            );
            kendall(&fit.unwrap().scores, truth)
        };
        self.truth.iter().enumerate().map(of).sum::<f64>() / self.truth.len() as f64
    }

    /// τ for plain votes, and for votes weighted by the model's judges.
    fn taus(&self, model: &JudgeModel) -> (f64, f64) {
        let weighed = |query| model.observations(&self.ratings, query);
        let plain = |query| -> Vec<Observation> {
            let plain = |o: Observation| Observation {
                slope: 1.0,
                offset: 0.0,
                ..o
            };
            weighed(query).into_iter().map(plain).collect()
        };
        (self.tau(plain), self.tau(weighed))
    }
}

#[test]
fn equal_judges_are_found_equal_and_change_nothing() {
    let simulation = simulate(3, 12, 20, [1.0; 3], SHIFTS);
    let model = judge_model(&simulation.ratings, 0.05).unwrap();
    assert!(model.converged, "{model:?}");
    for row in &model.judges {
        assert_eq!((row.votes, row.basis), (960, ParameterBasis::Fitted));
        assert!((row.beta - 1.0).abs() < 0.1, "{row:?}");
    }
    let (plain, weighed) = simulation.taus(&model);
    assert!((plain - weighed).abs() < 0.005, "{plain} {weighed}");
}

#[test]
fn sharp_and_dull_judges_are_told_apart() {
    let simulation = simulate(5, 12, 20, [0.6, 1.0, 2.0], SHIFTS);
    let model = judge_model(&simulation.ratings, 0.05).unwrap();
    assert!(model.converged, "{model:?}");
    // Slopes are inversely proportional to the total noise √(.498² + sd² + .3²): 1.41, 1.02 and .57
    // of their mean.
    for (row, (beta, shift)) in model
        .judges
        .iter()
        .zip([1.41, 1.02, 0.57].into_iter().zip(SHIFTS))
    {
        assert!((row.beta - beta).abs() < 0.2, "{row:?}");
        // In units of quality; a unit of score is about two thirds of that.
        assert!((row.shift.unwrap() / 1.4665 - shift).abs() < 0.2, "{row:?}");
    }
    let mean = model.judges.iter().map(|row| row.beta).sum::<f64>() / 3.0;
    assert!((mean - 1.0).abs() < 1e-12);
    let (plain, weighed) = simulation.taus(&model);
    assert!(weighed > plain, "{plain} {weighed}");
}
