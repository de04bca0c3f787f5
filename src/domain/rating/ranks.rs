//! Ranks of scores, and how far a document's rank could be from the one shown.

use super::Covariance;
use super::uncertainty::LANES;
use crate::domain::numeric::best_first;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use std::fmt;

const DRAWS: usize = 1000;

/// What a rank interval leaves out on either side, in thousandths: 2.5 %.
const TAIL: usize = 25;

/// A document's rank and the span that holds its true rank with a probability of 95 %, on the average over documents.
/// Written as `95 %: 2–7`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankInterval {
    /// 1 for the best; equal scores share a rank.
    pub rank: usize,
    /// The 2.5 % mid-quantile of the rank, or `rank` where that is better.
    pub low: usize,
    /// The 97.5 % mid-quantile of the rank, or `rank` where that is worse.
    pub high: usize,
}

impl fmt::Display for RankInterval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "95 %: {}–{}", self.low, self.high)
    }
}

/// The rank of each score, 1 for the highest; equal scores share a rank and the next one is skipped (1, 2, 2, 4).
pub fn ranks(scores: &[f64]) -> Vec<usize> {
    let mut ranks = vec![0; scores.len()];
    let mut previous: Option<usize> = None;
    for (place, document) in best_first(scores).into_iter().enumerate() {
        ranks[document] = match previous {
            Some(other) if scores[other] == scores[document] => ranks[other],
            _ => place + 1,
        };
        previous = Some(document);
    }
    ranks
}

/// Halfway between the scores on rank `top` and the one below; −∞ where there are no more than `top` scores.
pub fn cut_below(scores: &[f64], top: usize) -> f64 {
    let mut sorted = scores.to_vec();
    sorted.sort_unstable_by(|x, y| y.total_cmp(x));
    match (sorted.get(top.wrapping_sub(1)), sorted.get(top)) {
        (Some(last), Some(next)) => 0.5 * (last + next),
        _ => f64::NEG_INFINITY,
    }
}

/// The 95 % rank intervals, from 1000 draws of the scores' joint normal distribution.
///
/// Ranks are whole numbers, so a span between plain quantiles holds more than it says, and in small pools much more. These
/// are quantiles of the mid-distribution, P(better) + ½ P(this rank), which hold what they say on the average (Parzen
/// 2004).
///
/// The same seed gives the same intervals everywhere. Empty where the covariance is of another pool.
pub fn rank_intervals(scores: &[f64], covariance: &Covariance, seed: u64) -> Vec<RankInterval> {
    let documents = scores.len();
    if covariance.documents() != documents {
        return Vec::new();
    }
    let mut order = vec![0; documents];
    let mut counts = vec![0u16; documents * documents];
    draws(scores, covariance, seed, |draw| {
        for (document, (entry, score)) in order.iter_mut().zip(draw).enumerate() {
            *entry = u128::from(descending(*score)) << 64 | document as u128;
        }
        order.sort_unstable();
        for (place, entry) in order.iter().enumerate() {
            let document = *entry as u64 as usize;
            counts[document * documents + place] += 1;
        }
    });
    // Place by place the share of draws that rank the document better, half of those at the place itself included, in
    // half draws.
    let middles = |document: usize| {
        let mut better = 0;
        counts[document * documents..][..documents]
            .iter()
            .map(move |&count| {
                let middle = 2 * better + usize::from(count);
                better += usize::from(count);
                middle * 1000
            })
    };
    let (left, right) = (2 * DRAWS * TAIL, 2 * DRAWS * (1000 - TAIL));
    ranks(scores)
        .into_iter()
        .enumerate()
        .map(|(document, rank)| RankInterval {
            rank,
            low: rank.min(1 + middles(document).take_while(|m| *m < left).count()),
            high: rank.max(middles(document).take_while(|m| *m <= right).count()),
        })
        .collect()
}

/// A number that is the smaller the larger the score is, in the order of [`f64::total_cmp`]: whole numbers sort faster.
fn descending(score: f64) -> u64 {
    let bits = score.to_bits();
    match bits >> 63 {
        0 => !bits & (u64::MAX >> 1),
        _ => bits,
    }
}

/// How often, in draws of the scores' joint normal distribution, the first places go to whom.
#[derive(Clone, Debug, PartialEq)]
pub struct TopDraws {
    /// How many draws were made.
    pub draws: usize,
    /// Draws in which the first places hold the documents that the scores put there, in any order.
    pub same: usize,
    /// For each document the draws in which it has one of the first places.
    pub inside: Vec<usize>,
}

/// Who is among the first `top` of 1000 draws from the scores' joint normal distribution; equal scores in pool order.
///
/// The same seed gives the same draws everywhere. `None` where the covariance is of another pool, and where `top` leaves
/// nothing to decide (0, or all documents).
pub fn top_draws(
    scores: &[f64],
    covariance: &Covariance,
    top: usize,
    seed: u64,
) -> Option<TopDraws> {
    let documents = scores.len();
    if covariance.documents() != documents || top == 0 || top >= documents {
        return None;
    }
    let mut order = best_first(scores);
    let mut first = vec![false; documents];
    order[..top].iter().for_each(|&d| first[d] = true);
    let (mut inside, mut same) = (vec![0; documents], 0);
    draws(scores, covariance, seed, |draw| {
        order.select_nth_unstable_by(top, |&i, &j| draw[j].total_cmp(&draw[i]).then(i.cmp(&j)));
        order[..top].iter().for_each(|&d| inside[d] += 1);
        same += usize::from(order[..top].iter().all(|&d| first[d]));
    });
    Some(TopDraws {
        draws: DRAWS,
        same,
        inside,
    })
}

/// Hands 1000 draws of the scores to `visit`.
fn draws(scores: &[f64], covariance: &Covariance, seed: u64, mut visit: impl FnMut(&[f64])) {
    let mut normals = Normals::new(seed);
    let columns = covariance.columns();
    let mut source = vec![[0.0; LANES]; scores.len()];
    let mut errors = vec![[0.0; LANES]; scores.len()];
    let mut draw = vec![0.0; scores.len()];
    for first in (0..DRAWS).step_by(LANES) {
        let lanes = LANES.min(DRAWS - first);
        for lane in 0..lanes {
            source.iter_mut().for_each(|z| z[lane] = normals.draw());
        }
        covariance.spread_lanes(&columns, &mut source, &mut errors);
        for lane in 0..lanes {
            for ((value, error), score) in draw.iter_mut().zip(&errors).zip(scores) {
                *value = error[lane] + score;
            }
            visit(&draw);
        }
    }
}

/// Standard normals by Marsaglia's polar method.
struct Normals {
    generator: ChaCha8Rng,
    spare: Option<f64>,
}

impl Normals {
    fn new(seed: u64) -> Self {
        Self {
            generator: ChaCha8Rng::seed_from_u64(seed),
            spare: None,
        }
    }

    fn draw(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        loop {
            let (x, y) = (self.side(), self.side());
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                let scale = (-2.0 * square.ln() / square).sqrt();
                self.spare = Some(y * scale);
                return x * scale;
            }
        }
    }

    /// Uniform in −1..1, in steps of 2⁻⁵².
    fn side(&mut self) -> f64 {
        (self.generator.next_u64() >> 11) as f64 * (2.0 / 9_007_199_254_740_992.0) - 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_scores_share_a_rank() {
        assert_eq!(ranks(&[0.5, 2.0, 0.5, -1.0]), vec![2, 1, 2, 4]);
        assert_eq!(ranks(&[0.0, -0.0]), vec![1, 1]);
        assert_eq!(ranks(&[]), Vec::<usize>::new());
    }

    #[test]
    fn a_rank_at_the_edge_counts_half() {
        use crate::domain::rating::{Observation, RatingOptions, covariance, fit};
        let (options, battle) = (RatingOptions::default(), [Observation::new(0, 1, 0.2, 1.0)]);
        let fitted = fit(2, &battle, &options, None).unwrap();
        let errors = covariance(2, &battle, &fitted, &options, 1.0).unwrap();
        let sure = (fitted.scores[0] - fitted.scores[1]) / errors.gap_se(0, 1);
        // 1.881 and 1.405 standard errors: the first document is truly the better one with 97 % and with 92 %.
        for (gap, high) in [(1.881, 1), (1.405, 2)] {
            let errors = errors.clone().with_phi((sure / gap).powi(2));
            let intervals = rank_intervals(&fitted.scores, &errors, 1);
            let spans = intervals
                .iter()
                .map(|interval| (interval.low, interval.high));
            assert_eq!(spans.collect::<Vec<_>>(), [(1, high), (3 - high, 2)]);
            assert_eq!(intervals[0].to_string(), format!("95 %: 1–{high}"));
        }
    }

    #[test]
    fn the_normals_have_mean_0_and_variance_1() {
        let mut normals = Normals::new(7);
        let draws: Vec<f64> = (0..40_000).map(|_| normals.draw()).collect();
        let mean = draws.iter().sum::<f64>() / 40_000.0;
        let variance = draws.iter().map(|z| z * z).sum::<f64>() / 40_000.0;
        let fourth = draws.iter().map(|z| z.powi(4)).sum::<f64>() / 40_000.0;
        assert!(mean.abs() < 0.015, "{mean}");
        assert!((variance - 1.0).abs() < 0.03, "{variance}");
        assert!((fourth - 3.0).abs() < 0.2, "{fourth}");
    }

    #[test]
    fn scores_descend_in_their_total_order() {
        let scores = [
            f64::INFINITY,
            2.5,
            1.0,
            1e-310,
            0.0,
            -0.0,
            -1e-310,
            -1.0,
            -3.0,
        ];
        assert!(scores.is_sorted_by_key(|score| descending(*score)));
        assert!(
            scores
                .windows(2)
                .all(|w| descending(w[0]) < descending(w[1]))
        );
    }

    #[test]
    fn draws_made_together_are_those_made_one_by_one() {
        use crate::domain::rating::{Observation, RatingOptions, covariance, fit};
        let options = RatingOptions::default();
        for documents in [1, 2, 7, 23] {
            let battle = |i: usize| Observation::new(i, (i * 5 + 1) % documents, 0.3, 1.0);
            let battles: Vec<_> = (0..documents).map(battle).filter(|o| o.a != o.b).collect();
            let fitted = fit(documents, &battles, &options, None).unwrap();
            let errors = covariance(documents, &battles, &fitted, &options, 0.37).unwrap();
            let mut normals = Normals::new(3);
            let mut count = 0;
            draws(&fitted.scores, &errors, 3, |draw| {
                let source: Vec<f64> = (0..documents).map(|_| normals.draw()).collect();
                let mut alone = vec![0.0; documents];
                errors.spread(&source, &mut alone);
                for ((alone, score), together) in alone.iter().zip(&fitted.scores).zip(draw) {
                    assert_eq!((alone + score).to_bits(), together.to_bits());
                }
                count += 1;
            });
            assert_eq!(count, DRAWS);
        }
    }
}
