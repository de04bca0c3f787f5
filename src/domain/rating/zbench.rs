//! zBench's iteration: Newman's update in log space with a decaying rate, stopped when the loss
//! hardly changes.
//!
//! Its fixed point is the maximum without a prior. If there is none (with an undefeated document,
//! for example), the scores are those of the last iteration.

use super::ties::merge_ties;
use super::{Fit, Observation};

const MAX_ITERATIONS: usize = 1000;
const LOSS_TOLERANCE: f64 = 1e-4;

/// The iteration treats documents with the same record equally, up to rounding errors far below
/// this value. Larger differences come from the battles: zBench sorts by them, although its
/// stopping rule allows for much larger errors.
const TIE_TOLERANCE: f64 = 1e-10;

/// Games of every document against itself, half of which it wins.
const DIAGONAL: f64 = 0.5;

/// The wins of two documents against each other.
struct PairWins {
    i: usize,
    j: usize,
    /// Wins of `i` over `j`.
    forth: f64,
    /// Wins of `j` over `i`.
    back: f64,
}

pub(super) fn fit(documents: usize, observations: &[Observation]) -> Fit {
    let mut own = vec![DIAGONAL; documents];
    let mut meetings = Vec::with_capacity(observations.len());
    for o in observations {
        let (to_a, to_b) = (o.weight * (1.0 - o.score), o.weight * o.score);
        if o.a == o.b {
            own[o.a] += to_a + to_b;
            continue;
        }
        let (i, j, forth, back) = if o.a < o.b {
            (o.a, o.b, to_a, to_b)
        } else {
            (o.b, o.a, to_b, to_a)
        };
        meetings.push(PairWins { i, j, forth, back });
    }
    meetings.sort_by_key(|m| (m.i, m.j));
    meetings.dedup_by(|later, kept| {
        let same = (later.i, later.j) == (kept.i, kept.j);
        if same {
            kept.forth += later.forth;
            kept.back += later.back;
        }
        same
    });
    let constant: f64 = own.iter().map(|w| w * std::f64::consts::LN_2).sum();
    let mut scores = vec![0.0; documents];
    let mut won = vec![0.0; documents];
    let mut lost = vec![0.0; documents];
    weigh(&scores, &own, &meetings, &mut won, &mut lost);
    let mut before = f64::INFINITY;
    let mut iterations = 0;
    let mut converged = false;
    while !converged && iterations < MAX_ITERATIONS {
        let rate = (1.0 + iterations as f64).powf(-0.125);
        for ((e, won), lost) in scores.iter_mut().zip(&won).zip(&lost) {
            *e += rate * (won.ln() - lost.ln());
        }
        let mean = scores.iter().sum::<f64>() / documents as f64;
        scores.iter_mut().for_each(|e| *e -= mean);
        let loss = constant + weigh(&scores, &own, &meetings, &mut won, &mut lost);
        converged = iterations >= 2 && (before - loss).abs() < LOSS_TOLERANCE;
        before = loss;
        iterations += 1;
    }
    let gradient = won
        .iter()
        .zip(&lost)
        .map(|(won, lost)| (won - lost).abs())
        .fold(0.0, f64::max);
    merge_ties(&mut scores, TIE_TOLERANCE);
    Fit {
        scores,
        tastes: Vec::new(),
        iterations,
        gradient,
        converged,
    }
}

/// Computes both sides of the update, the surprise-weighted wins and losses, and returns the loss
/// without the diagonal.
fn weigh(
    scores: &[f64],
    own: &[f64],
    meetings: &[PairWins],
    won: &mut [f64],
    lost: &mut [f64],
) -> f64 {
    for ((won, lost), own) in won.iter_mut().zip(&mut *lost).zip(own) {
        *won = 0.5 * own;
        *lost = 0.5 * own;
    }
    let mut loss = 0.0;
    for m in meetings {
        let gap = scores[m.i] - scores[m.j];
        let tail = (-gap.abs()).exp();
        let (near, far) = (1.0 / (1.0 + tail), tail / (1.0 + tail));
        let (above, below, against) = if gap >= 0.0 {
            (near, far, m.back)
        } else {
            (far, near, m.forth)
        };
        won[m.i] += m.forth * below;
        lost[m.j] += m.forth * below;
        won[m.j] += m.back * above;
        lost[m.i] += m.back * above;
        loss += (m.forth + m.back) * tail.ln_1p() + against * gap.abs();
    }
    loss
}
