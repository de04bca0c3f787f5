//! Simulates acceptances in worlds whose errors cluster by query.

use super::{CONTROLS, DEFAULT_ALPHA, DELTA, RuledControl, learn_threshold};
use crate::domain::sampling::SeededRng;

const QUERIES: usize = 20;
const BATTLES: usize = 48;
const REPEATS: usize = 150;

/// The battles of a project. The judges see each true gap with standard normal noise. An effect per
/// query, with this standard deviation, makes gaps smaller or larger, so that errors cluster.
fn world(spread: f64, rng: &mut SeededRng) -> Vec<RuledControl> {
    let mut battles = Vec::with_capacity(QUERIES * BATTLES);
    for _ in 0..QUERIES {
        let effect = spread * rng.normal();
        for _ in 0..BATTLES {
            let truth = 2.0 * rng.normal() * (-effect / 2.0).exp();
            let seen = truth + rng.normal();
            battles.push(RuledControl {
                score: seen.abs(),
                is_wrong: (seen > 0.0) != (truth > 0.0),
            });
        }
    }
    battles
}

/// The share of simulated projects in which more than α of the accepted decisions are wrong, and
/// the mean share of accepted decisions.
fn simulate(spread: f64, seed: u64) -> (f64, f64) {
    let mut rng = SeededRng::new(seed, &["acceptance"]);
    let (mut violations, mut accepted) = (0, 0.0);
    for _ in 0..REPEATS {
        let mut battles = world(spread, &mut rng);
        rng.shuffle(&mut battles);
        let (controls, others) = battles.split_at(CONTROLS);
        let Some(threshold) = learn_threshold(controls, DEFAULT_ALPHA, DELTA) else {
            continue;
        };
        let taken = others.iter().filter(|of| of.score >= threshold.score);
        let (count, wrong) = taken.fold((0, 0), |(count, wrong), of| {
            (count + 1, wrong + usize::from(of.is_wrong))
        });
        accepted += f64::from(count) / others.len() as f64;
        violations += usize::from(wrong as f64 > DEFAULT_ALPHA * f64::from(count));
    }
    let repeats = REPEATS as f64;
    (violations as f64 / repeats, accepted / repeats)
}

#[test]
fn accepted_decisions_exceed_the_share_of_errors_in_at_most_one_of_ten_projects() {
    for (spread, least_accepted) in [(0.0, 0.3), (0.75, 0.3), (1.5, 0.2)] {
        let (violated, accepted) = simulate(spread, 7);
        assert!(violated <= DELTA, "spread {spread}: {violated}");
        assert!(accepted > least_accepted, "spread {spread}: {accepted}");
    }
}
