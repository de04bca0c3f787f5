//! Ranks of scores, and intervals for the true ranks.

use super::Covariance;
use super::uncertainty::LANES;
use crate::domain::numeric::best_first;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use std::fmt;

const DRAWS: usize = 1000;

/// The probability outside a rank interval on either side, in thousandths: 2.5 %.
const TAIL: usize = 25;

/// Number of draws that the simultaneous intervals must cover: 95 %, plus one for the error of the
/// quantile.
const HELD: usize = DRAWS * 95 / 100 + 1;

/// Relative difference below which two gaps are equal.
const ROUNDING: f64 = 1e-9;

/// A document's rank, an interval that covers its true rank with probability 95 % on average over
/// documents, and the wider one of simultaneous intervals that cover the true ranks of all
/// documents with that probability. Written as `95 %: 2–7`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankInterval {
    /// 1 is best; equal scores share a rank.
    pub rank: usize,
    /// The 2.5 % mid-quantile of the rank, or `rank` if that is better.
    pub low: usize,
    /// The 97.5 % mid-quantile of the rank, or `rank` if that is worse.
    pub high: usize,
    /// The best rank of the simultaneous interval, at most `low`.
    pub low_at_once: usize,
    /// The worst rank of the simultaneous interval, at least `high`.
    pub high_at_once: usize,
}

impl fmt::Display for RankInterval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "95 %: {}–{}", self.low, self.high)
    }
}

/// The rank of each score, 1 for the highest; equal scores share a rank, and the next ones are
/// skipped (1, 2, 2, 4).
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

/// Halfway between the scores at rank `top` and the one below; −∞ if there are at most `top`
/// scores.
pub fn cut_below(scores: &[f64], top: usize) -> f64 {
    let mut sorted = scores.to_vec();
    sorted.sort_unstable_by(|x, y| y.total_cmp(x));
    match (sorted.get(top.wrapping_sub(1)), sorted.get(top)) {
        (Some(last), Some(next)) => 0.5 * (last + next),
        _ => f64::NEG_INFINITY,
    }
}

/// The 95 % rank intervals, individual and simultaneous, from 1000 draws of the joint normal
/// distribution of the scores.
///
/// Ranks are integers, so an interval between plain quantiles covers more than its level, and much
/// more in small pools. These are quantiles of the mid-distribution, P(better) + ½ P(this rank),
/// whose coverage is right on average (Parzen 2004).
///
/// The simultaneous intervals are [`SimultaneousRanks`]. The same seed always gives the same
/// intervals. Empty if the covariance belongs to another pool.
pub fn rank_intervals(scores: &[f64], covariance: &Covariance, seed: u64) -> Vec<RankInterval> {
    let documents = scores.len();
    if covariance.documents() != documents {
        return Vec::new();
    }
    let mut order = vec![0; documents];
    let mut counts = vec![0u16; documents * documents];
    let sets = SimultaneousRanks::new(scores, covariance);
    let mut needed = Vec::with_capacity(DRAWS);
    draws(scores, covariance, seed, |draw| {
        for (document, (entry, score)) in order.iter_mut().zip(draw).enumerate() {
            *entry = u128::from(descending(*score)) << 64 | document as u128;
        }
        order.sort_unstable();
        let mut critical = 0.0f64;
        for (place, entry) in order.iter().enumerate() {
            let document = *entry as u64 as usize;
            counts[document * documents + place] += 1;
            critical = critical.max(sets.needed(document, place));
        }
        needed.push(critical);
    });
    needed.sort_unstable_by(f64::total_cmp);
    let critical = needed.get(HELD - 1).copied().unwrap_or(0.0);
    // For each rank, twice the number of draws that rank the document better, plus those at the
    // rank itself.
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
        .map(|(document, rank)| {
            let low = rank.min(1 + middles(document).take_while(|m| *m < left).count());
            let high = rank.max(middles(document).take_while(|m| *m <= right).count());
            let (best, worst) = sets.span(document, critical);
            RankInterval {
                rank,
                low,
                high,
                low_at_once: low.min(best),
                high_at_once: high.max(worst),
            }
        })
        .collect()
}

/// Simultaneous rank intervals: with a critical value c, a document's true rank is taken to be
/// worse than the ranks of the documents that are more than c standard errors of the gap above it,
/// and better than those that are as far below (Mogstad, Romano, Shaikh & Wilhelm 2024).
///
/// They choose the c that covers all gaps simultaneously. Here, c is the smallest value that covers
/// all *ranks* in 95 % of the draws, which is what the intervals claim. It is one number from 1000
/// draws; a quantile for each document would need many more.
struct SimultaneousRanks {
    documents: usize,
    /// For each document, the gaps to the others divided by their standard errors, largest first.
    gaps: Vec<f64>,
}

impl SimultaneousRanks {
    fn new(scores: &[f64], covariance: &Covariance) -> Self {
        let documents = scores.len();
        let mut gaps = Vec::with_capacity(documents * documents.saturating_sub(1));
        for (i, own) in scores.iter().enumerate() {
            let start = gaps.len();
            let others = scores.iter().enumerate().filter(|(j, _)| *j != i);
            gaps.extend(others.map(|(j, other)| match own - other {
                0.0 => 0.0,
                gap => gap / covariance.gap_se(i, j),
            }));
            gaps[start..].sort_unstable_by(|x, y| y.total_cmp(x));
        }
        Self { documents, gaps }
    }

    fn of(&self, document: usize) -> &[f64] {
        let others = self.documents - 1;
        &self.gaps[document * others..][..others]
    }

    /// The critical value from which the document's interval includes a rank, 0 being the first.
    fn needed(&self, document: usize, place: usize) -> f64 {
        let (gaps, others) = (self.of(document), self.documents - 1);
        // Documents after the rank may be surely worse, and documents before it surely better.
        let worst = gaps.get(others - place).copied().unwrap_or(0.0);
        let best = others.checked_sub(place + 1).map_or(0.0, |at| -gaps[at]);
        worst.max(best).max(0.0)
    }

    /// The best and the worst rank of a document for a critical value.
    fn span(&self, document: usize, critical: f64) -> (usize, usize) {
        let gaps = self.of(document);
        // The critical value is itself a gap; rounding must not separate it from an equal one.
        let critical = critical * (1.0 + ROUNDING);
        let worse = gaps.partition_point(|gap| *gap > critical);
        let not_better = gaps.partition_point(|gap| *gap >= -critical);
        (1 + gaps.len() - not_better, self.documents - worse)
    }
}

/// An integer that decreases with the score, in the order of [`f64::total_cmp`], because integers
/// sort faster.
fn descending(score: f64) -> u64 {
    let bits = score.to_bits();
    match bits >> 63 {
        0 => !bits & (u64::MAX >> 1),
        _ => bits,
    }
}

/// How often documents are at the top in draws from the joint normal distribution of the scores.
#[derive(Clone, Debug, PartialEq)]
pub struct TopDraws {
    /// Number of draws.
    pub draws: usize,
    /// Draws whose top contains the documents that the scores put there, in any order.
    pub same: usize,
    /// For each document, one bit per draw: whether it is in the top.
    inside: Vec<[u64; DRAWS.div_ceil(64)]>,
}

impl TopDraws {
    /// The number of draws in which a document is in the top.
    pub fn inside(&self, document: usize) -> usize {
        self.either(document, document)
    }

    /// The number of draws in which at least one of two documents is in the top; 0 if there are no
    /// such documents.
    pub fn either(&self, x: usize, y: usize) -> usize {
        self.inside
            .get(x)
            .zip(self.inside.get(y))
            .map_or(0, |(x, y)| {
                let bits = x.iter().zip(y).map(|(x, y)| (x | y).count_ones());
                bits.sum::<u32>() as usize
            })
    }
}

/// The members of the first `top` ranks in 1000 draws from the joint normal distribution of the
/// scores; equal scores are in pool order.
///
/// The same seed always gives the same draws. `None` if the covariance belongs to another pool, and
/// if `top` leaves nothing to decide (0, or all documents).
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
    let mut inside = vec![[0u64; DRAWS.div_ceil(64)]; documents];
    let (mut same, mut number) = (0, 0);
    draws(scores, covariance, seed, |draw| {
        order.select_nth_unstable_by(top, |&i, &j| draw[j].total_cmp(&draw[i]).then(i.cmp(&j)));
        order[..top]
            .iter()
            .for_each(|&d| inside[d][number / 64] |= 1 << (number % 64));
        number += 1;
        same += usize::from(order[..top].iter().all(|&d| first[d]));
    });
    Some(TopDraws {
        draws: DRAWS,
        same,
        inside,
    })
}

/// Calls `visit` with each of 1000 draws of the scores.
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

/// Generates standard normal numbers with Marsaglia's polar method.
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
        // 1.881 and 1.405 standard errors: the first document is truly better with probability 97 %
        // and 92 %.
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
    fn simultaneous_spans_hold_the_ranks_of_95_in_100_draws_and_of_nearly_no_more() {
        use crate::domain::rating::{Observation, RatingOptions, covariance, fit};
        let options = RatingOptions::default();
        let battles: Vec<Observation> = (0..30usize)
            .flat_map(|a| (a + 1..30.min(a + 4)).map(move |b| (a, b)))
            .map(|(a, b)| Observation::new(a, b, 0.25, 1.0))
            .collect();
        let fitted = fit(30, &battles, &options, None).unwrap();
        let errors = covariance(30, &battles, &fitted, &options, 1.0 / 3.0).unwrap();
        let intervals = rank_intervals(&fitted.scores, &errors, 1);
        let mut held = 0;
        // Draws independent of those behind the intervals.
        draws(&fitted.scores, &errors, 2, |draw| {
            let all = intervals
                .iter()
                .zip(ranks(draw))
                .all(|(i, rank)| i.low_at_once <= rank && rank <= i.high_at_once);
            held += usize::from(all);
        });
        assert!((930..=985).contains(&held), "{held}");
        for interval in intervals {
            assert!(interval.low_at_once <= interval.low);
            assert!(interval.high <= interval.high_at_once);
        }
    }

    #[test]
    fn a_sure_order_leaves_one_rank_each_and_no_order_leaves_all() {
        use crate::domain::rating::{Observation, RatingOptions, covariance, fit};
        let options = RatingOptions::default();
        let battles = [(0, 1), (1, 2), (2, 3)].map(|(a, b)| Observation::new(a, b, 0.1, 1.0));
        let fitted = fit(4, &battles, &options, None).unwrap();
        let errors = covariance(4, &battles, &fitted, &options, 1.0).unwrap();
        let spans = |phi: f64| -> Vec<(usize, usize)> {
            let errors = errors.clone().with_phi(phi);
            rank_intervals(&fitted.scores, &errors, 1)
                .into_iter()
                .map(|i| (i.low_at_once, i.high_at_once))
                .collect()
        };
        assert_eq!(spans(1e-6), [(1, 1), (2, 2), (3, 3), (4, 4)]);
        assert_eq!(spans(0.0), spans(1e-6));
        assert_eq!(spans(1e6), [(1, 4); 4]);
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
