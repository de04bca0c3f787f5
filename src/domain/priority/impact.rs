//! Computes how flipping one pair's outcome changes a query's ranking.
//!
//! Flipping a pair mirrors every observation that counts on it, s → 1 − s, with its weight: the
//! votes, or the verdict that replaces them. For a tie, the worse of a win for either side is used.

use super::graded;
use crate::domain::battle::Pair;
use crate::domain::numeric::{best_first, sigma};
use crate::domain::ranking::View;
use crate::domain::rating::{self, Fit, Observation, RatingModel, RatingOptions};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum leverage of a pair in the estimate for large pools: how much of the fitted gap between
/// its documents the pair itself is assumed to determine.
const MOST_LEVERAGE: f64 = 0.95;

/// The differences between two rankings of the same documents.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Impact {
    /// Number of documents that leave the top, which equals the number that enter it.
    pub entering: usize,
    /// Size of that top.
    pub top: usize,
    /// The loss in graded NDCG of the top if the other ranking is the truth: 1 − NDCG of the
    /// current order, with gains from the other ranking (see [`graded::gains`]).
    pub ndcg_loss: f64,
    /// The largest change in rank of a document.
    pub places: usize,
    /// The largest change of a score, in score units.
    pub score: f64,
    /// Whether the other ranking was refitted; otherwise it comes from the secant estimate of
    /// science.md § Priorities.
    pub exact: bool,
}

impl Impact {
    /// The change from one set of scores, sorted by `order`, to another; equal scores are in pool
    /// order.
    pub(crate) fn between(
        present: &[f64],
        order: &[usize],
        other: &[f64],
        top: usize,
        exact: bool,
    ) -> Self {
        let top = top.min(order.len());
        let other_order = best_first(other);
        let mut place = vec![0; present.len().max(other.len())];
        for (at, document) in other_order.iter().enumerate() {
            place[*document] = at;
        }
        let moved = |(at, document): (usize, &usize)| place[*document].abs_diff(at);
        Self {
            entering: order[..top].iter().filter(|d| place[**d] >= top).count(),
            top,
            ndcg_loss: 1.0 - graded::ndcg(order, &graded::gains(&other_order), top),
            places: order.iter().enumerate().map(moved).max().unwrap_or(0),
            score: present
                .iter()
                .zip(other)
                .map(|(x, y)| (x - y).abs())
                .fold(0.0, f64::max),
            exact,
        }
    }

    /// The impact as one number in 0..2: the share of the top that is replaced plus the NDCG loss.
    pub(crate) fn size(&self) -> f64 {
        self.entering as f64 / self.top.max(1) as f64 + self.ndcg_loss
    }

    fn worse(self, other: Self) -> Self {
        let key = |impact: &Self| (impact.size(), impact.score);
        if key(&other) > key(&self) {
            other
        } else {
            self
        }
    }
}

/// The impact of every pair with an observation that counts, in pool order. The `exact` pairs with
/// the largest estimated impact are refitted; the others keep the secant estimate. If there is no
/// estimate (the erf model and zBench's model), all pairs are refitted. In pools of more than
/// [`rating::MAX_DENSE`] documents, where one refit takes as long as everything else together,
/// every impact only considers the pair's own two documents; under the erf model there is none.
pub(crate) fn impacts(view: &View, top: usize, exact: usize) -> Vec<(Pair, Impact)> {
    let Some(flips) = FlipContext::new(view, top) else {
        return Vec::new();
    };
    if view.entered().len() > rating::MAX_DENSE {
        return match flips.options.model {
            RatingModel::Thurstone => Vec::new(),
            _ => flips.near(),
        };
    }
    let refit = |(pair, indexes): (&Pair, &Vec<usize>)| Some((*pair, flips.exact(indexes)?));
    if exact >= flips.on.len() {
        return flips.on.iter().filter_map(refit).collect();
    }
    let estimates: Option<Vec<(Pair, Impact)>> = flips
        .on
        .iter()
        .map(|(pair, indexes)| Some((*pair, flips.estimate(indexes)?)))
        .collect();
    let Some(mut impacts) = estimates else {
        return flips.on.iter().filter_map(refit).collect();
    };
    let mut largest: Vec<usize> = (0..impacts.len()).collect();
    largest.sort_by(|x, y| {
        let (x, y) = (&impacts[*x].1, &impacts[*y].1);
        y.size()
            .total_cmp(&x.size())
            .then(y.score.total_cmp(&x.score))
    });
    for at in largest.into_iter().take(exact) {
        let (pair, impact) = &mut impacts[at];
        if let Some(found) = flips.on.get(pair).and_then(|indexes| flips.exact(indexes)) {
            *impact = found;
        }
    }
    impacts
}

/// A query prepared for many flips.
pub(crate) struct FlipContext<'a> {
    view: &'a View,
    fit: &'a Fit,
    options: RatingOptions,
    order: Vec<usize>,
    top: usize,
    /// The votes and verdicts of each pair, as indexes into the observations.
    on: BTreeMap<Pair, Vec<usize>>,
}

impl<'a> FlipContext<'a> {
    pub(crate) fn new(view: &'a View, top: usize) -> Option<Self> {
        let fit = view.fit.as_ref().ok()?;
        let entered = view.entered();
        let mut on: BTreeMap<Pair, Vec<usize>> = BTreeMap::new();
        for (index, o) in view.judged_observations().iter().enumerate() {
            let pair = Pair::new(*entered.get(o.a)?, *entered.get(o.b)?);
            on.entry(pair?).or_default().push(index);
        }
        Some(Self {
            view,
            fit,
            options: view.settings.rating(),
            order: best_first(&fit.scores),
            top,
            on,
        })
    }

    /// The impact of each pair's flip on its own two documents, while all others stay in place.
    pub(crate) fn near(&self) -> Vec<(Pair, Impact)> {
        let documents = self.fit.scores.len();
        let observations = self.view.observations();
        let firmness = rating::firmness(documents, observations, self.fit, &self.options);
        let sorted: Vec<f64> = self.order.iter().map(|at| self.fit.scores[*at]).collect();
        let mut place = vec![0; documents];
        for (at, document) in self.order.iter().enumerate() {
            place[*document] = at;
        }
        let pairs = self.on.iter().filter_map(|(pair, indexes)| {
            let merged = self.merged(indexes)?;
            let impacts = Self::turned(merged.score).into_iter().map(|score| {
                let moved = self.moved_near(&merged, score, &firmness)?;
                Some(self.impact_near(moved, &place, &sorted))
            });
            let impacts = impacts.collect::<Option<Vec<_>>>()?;
            Some((*pair, impacts.into_iter().reduce(Impact::worse)?))
        });
        pairs.collect()
    }

    /// The pair's two documents with their scores after the flip. The resistance between them is
    /// approximated by that of a well-connected pool, 1/h_aa + 1/h_bb, and each moves in proportion
    /// to its part.
    fn moved_near(
        &self,
        pair: &Observation,
        score: f64,
        firmness: &[f64],
    ) -> Option<[(usize, f64); 2]> {
        let scores = &self.fit.scores;
        let (give_a, give_b) = (firmness[pair.a].recip(), firmness[pair.b].recip());
        let together = give_a + give_b;
        // Cap the leverage, so that a pair that almost alone determines its documents leaves
        // something to the others.
        let p = sigma(scores[pair.b] - scores[pair.a]);
        let most = MOST_LEVERAGE / (pair.weight * p * (1.0 - p));
        let gap = flipped_gap(pair, score, scores, together.min(most))?;
        let moved = (gap - (scores[pair.b] - scores[pair.a])) / together;
        Some([
            (pair.a, scores[pair.a] - moved * give_a),
            (pair.b, scores[pair.b] + moved * give_b),
        ])
    }

    fn impact_near(&self, moved: [(usize, f64); 2], place: &[usize], sorted: &[f64]) -> Impact {
        let top = self.top.min(sorted.len());
        let bar = sorted[..top].last().copied().unwrap_or(f64::INFINITY);
        let below = |(document, score): &(usize, f64)| place[*document] >= top && *score < bar;
        if !moved.iter().all(below) {
            let mut scores = self.fit.scores.clone();
            for (document, score) in moved {
                scores[document] = score;
            }
            return self.impact(&scores, false);
        }
        let steps = moved.map(|(document, score)| {
            let above = sorted.partition_point(|other| *other > score);
            // A document that falls is itself among those above its new score.
            let fell = usize::from(score < self.fit.scores[document]);
            above.saturating_sub(fell).abs_diff(place[document])
        });
        let shifts = moved.map(|(document, score)| (score - self.fit.scores[document]).abs());
        Impact {
            entering: 0,
            top,
            ndcg_loss: 0.0,
            places: steps[0].max(steps[1]),
            score: shifts[0].max(shifts[1]),
            exact: false,
        }
    }

    fn impact(&self, scores: &[f64], exact: bool) -> Impact {
        Impact::between(&self.fit.scores, &self.order, scores, self.top, exact)
    }

    /// Merges the pair's observations into one: (a, b, score, weight). The likelihood of several
    /// games of one pair depends only on their sum; with tastes, that is an approximation.
    fn merged(&self, indexes: &[usize]) -> Option<Observation> {
        let observations = self.view.observations();
        let first = observations.get(*indexes.first()?)?;
        let (mut weight, mut won) = (0.0, 0.0);
        let (mut judged, mut judges) = (0.0, BTreeSet::new());
        for o in indexes.iter().filter_map(|index| observations.get(*index)) {
            weight += o.weight;
            if let Some(judge) = o.judge {
                judged += o.weight;
                judges.insert(judge);
            }
            won += o.weight
                * if o.b == first.b {
                    o.score
                } else {
                    1.0 - o.score
                };
        }
        (weight > 0.0).then(|| {
            let score = won / weight;
            if judged > 0.0 && self.options.taste > 0.0 {
                let p = rating::expected(self.options.model, &self.fit.scores, first.a, first.b);
                let v = p * (1.0 - p);
                let of_votes = rating::weight_with_tastes(judged, judges.len(), v, &self.options);
                weight += of_votes - judged;
            }
            Observation::new(first.a, first.b, score, weight)
        })
    }

    /// The scores that the pair may flip to.
    fn turned(score: f64) -> Vec<f64> {
        if super::intransitive::is_tie(score) {
            vec![0.0, 1.0]
        } else {
            vec![1.0 - score]
        }
    }

    fn exact(&self, indexes: &[usize]) -> Option<Impact> {
        let pair = self.merged(indexes)?;
        let tie = super::intransitive::is_tie(pair.score);
        let refitted = Self::turned(pair.score).into_iter().map(|score| {
            let mut observations = self.view.observations().to_vec();
            for index in indexes {
                let one = observations.get_mut(*index)?;
                // A tie of a win and a loss becomes two wins for the same side.
                one.score = match (tie, one.b == pair.b) {
                    (true, true) => score,
                    (true, false) => 1.0 - score,
                    (false, _) => 1.0 - one.score,
                };
            }
            let estimate = self.estimated(&pair, score);
            let warm = estimate.as_ref().unwrap_or(&self.fit.scores);
            let fit = rating::fit(warm.len(), &observations, &self.options, Some(warm)).ok()?;
            Some(self.impact(&fit.scores, true))
        });
        refitted.flatten().reduce(Impact::worse)
    }

    fn estimate(&self, indexes: &[usize]) -> Option<Impact> {
        let pair = self.merged(indexes)?;
        let estimated = Self::turned(pair.score)
            .into_iter()
            .map(|score| Some(self.impact(&self.estimated(&pair, score)?, false)));
        estimated
            .collect::<Option<Vec<_>>>()?
            .into_iter()
            .reduce(Impact::worse)
    }

    /// The scores after the flip by the secant step, if available.
    fn estimated(&self, pair: &Observation, score: f64) -> Option<Vec<f64>> {
        let logistic = matches!(self.options.model, RatingModel::Map | RatingModel::Mle);
        let covariance = self.view.covariance().filter(|_| logistic)?;
        let scores = &self.fit.scores;
        let resistance = covariance.resistance(pair.a, pair.b);
        let gap = flipped_gap(pair, score, scores, resistance)?;
        let moved = gap - (scores.get(pair.b)? - scores.get(pair.a)?);
        // The covariance includes φ, the resistance does not.
        let scale = moved / (resistance * covariance.phi());
        let shift = |i: usize| scale * (covariance.get(pair.b, i) - covariance.get(pair.a, i));
        Some((0..).zip(scores).map(|(i, e)| e + shift(i)).collect())
    }
}

/// The gap e_b − e_a of a pair after changing its score to `score`, with the accuracy of the secant
/// step of science.md § Priorities: the pair is removed from the fit to first order and added back
/// exactly. `scores` are those of the logistic fit that includes the pair, and `resistance` is its
/// effective resistance in that fit. `None` if the fit depends on the pair alone, and for a pair
/// without weight.
pub(crate) fn flipped_gap(
    pair: &Observation,
    score: f64,
    scores: &[f64],
    resistance: f64,
) -> Option<f64> {
    let sigma = |x: f64| 1.0 / (1.0 + (-x).exp());
    let gap = scores.get(pair.b)? - scores.get(pair.a)?;
    let p = sigma(gap);
    let without = resistance / (1.0 - pair.weight * p * (1.0 - p) * resistance);
    let sound = pair.weight > 0.0 && (0.0..=1.0).contains(&score) && gap.is_finite();
    if !(sound && resistance > 0.0 && without.is_finite() && without > 0.0) {
        return None;
    }
    let reach = without * pair.weight;
    let apart = gap - reach * (pair.score - p);
    // x − apart = reach · (score − σ(x)) has exactly one root, which lies between its two bounds.
    let (mut low, mut high) = (apart - reach * (1.0 - score), apart + reach * score);
    let mut x = gap.clamp(low, high);
    for _ in 0..60 {
        let p = sigma(x);
        let excess = x - apart - reach * (score - p);
        if excess > 0.0 {
            high = x;
        } else {
            low = x;
        }
        let newton = x - excess / (1.0 + reach * p * (1.0 - p));
        let next = if (low..=high).contains(&newton) {
            newton
        } else {
            0.5 * (low + high)
        };
        if (next - x).abs() <= 1e-14 * (1.0 + x.abs()) {
            x = next;
            break;
        }
        x = next;
    }
    Some(x)
}
