//! The standing of each document of a query: score, error, rank and rank interval.

use crate::domain::rating::{self, Covariance, Fit, RankInterval};

/// The seed of the draws behind rank intervals, fixed so that the same rows always give the same
/// intervals.
const INTERVAL_SEED: u64 = 0x5eed;

/// The standing of one document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standing {
    /// Log-strength; the mean over the query's scored documents is 0.
    pub zelo: f64,
    /// Standard error of `zelo`, if the model has one and the pool is not too large.
    pub se: Option<f64>,
    /// Competition rank from 1; equal scores share a rank.
    pub rank: usize,
    /// 95 % interval of the rank.
    pub interval: Option<RankInterval>,
}

/// The standing of each entered document, by pool index; all `None` without a fit.
pub(super) fn standings(
    documents: usize,
    entered: &[usize],
    fit: Option<&Fit>,
    covariance: Option<&Covariance>,
) -> Vec<Option<Standing>> {
    let mut standings = vec![None; documents];
    let Some(fit) = fit else {
        return standings;
    };
    let ranks = rating::ranks(&fit.scores);
    let intervals =
        covariance.map(|covariance| rating::rank_intervals(&fit.scores, covariance, INTERVAL_SEED));
    for (index, document) in entered.iter().enumerate() {
        standings[*document] = Some(Standing {
            zelo: fit.scores[index],
            se: covariance.map(|covariance| covariance.se(index)),
            rank: ranks[index],
            interval: intervals.as_ref().map(|intervals| intervals[index]),
        });
    }
    standings
}
