//! Records which pairs were shown and with what probability, so that a queue that starts with the
//! worst pairs still gives unbiased estimates.
//!
//! **The design.** The frame is the N pairs on which a judge has voted. A queue is a sequence of
//! slots, and the seed determines which slots are controls. A priority slot takes the most urgent
//! pair not shown yet, by any rule and based on anything known at that time. A control slot takes
//! one of the `of` pairs not shown yet, each with probability 1/`of`, so every pair has a positive
//! probability at every control slot.
//!
//! **The estimate.** Let y_i be 1 if the judge agrees with the person, and 0 otherwise. Just before
//! control slot t, everything shown so far, S_t, is known, and the control i represents the other
//! `of_t` = N − |S_t| pairs: T_t = Σ_{S_t} y + of_t · y_i has expectation Σ y over the whole frame
//! *given everything before it*, however the verdicts so far have changed the priorities. The
//! errors of the T_t are martingale differences and therefore uncorrelated, so their mean with
//! weights w_t ∝ 1 / (of_t (of_t − 1)), the inverse of their variance for equal spread, is unbiased
//! and uses all controls. Collected by pair, this is Σ ω_i y_i:
//!
//! - shown by priority: ω = Σ w_t over the controls after it;
//! - shown as control t: ω = w_t · of_t + Σ w over the controls after it.
//!
//! The ω sum to N, so Σ ω y / Σ ω is the same estimate (Hájek 1971), which stays consistent if some
//! y are missing. With controls only, each has ω = N/n: simple random sampling. One may stop after
//! any pair; only the pairs after the last control are lost. The sequential form follows Farquhar,
//! Gal & Rainforth 2021 and Kossen et al. 2021; a priority slot is the limiting case of a draw
//! without choice.
//!
//! A fixed inclusion probability cannot be computed in advance, because whether a pair is shown
//! depends on future verdicts. The ledger stores what is needed (the order, and `of` for controls),
//! and [`sampling_weights`] can compute the weights at any time. A queue without controls has no
//! weights: the pairs it never reached had probability 0, and nothing can correct for that.

use crate::domain::battle::Pair;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PairKey {
    /// A permanent number for the query, which seeds ties and controls.
    pub query: u64,
    pub pair: Pair,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DrawReason {
    /// It was the most urgent pair left, or the person chose it: not random.
    Priority,
    /// It was drawn at random.
    Control {
        /// The number of pairs of the frame that had not been shown, including itself.
        of: usize,
    },
    /// It had been shown before, and measures the person's self-consistency.
    Repeat,
}

impl DrawReason {
    /// The probability that this pair was drawn in its slot, given everything before: 1 by
    /// priority, 1/`of` for a control. `None` for a repeat, which is not part of the estimate.
    pub fn chance(self) -> Option<f64> {
        match self {
            Self::Priority => Some(1.0),
            Self::Control { of } => Some(1.0 / of.max(1) as f64),
            Self::Repeat => None,
        }
    }
}

/// A row of one person's ledger. It is written when a pair is shown, whether or not a verdict
/// follows: a skipped pair keeps its place but has no y.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assignment {
    pub key: PairKey,
    pub draw: DrawReason,
}

/// The weight ω of every row of a person's ledger, in order, for estimates over the frame of
/// `frame` pairs: Σ ω y / Σ ω.
///
/// `shown` contains the rows about pairs of the frame, oldest first; include verdicts given outside
/// of a queue as `Priority`. The weight is 0 for repeats, for later rows about the same pair, and
/// for pairs shown by priority after the last control. A control with a wrong `of` (it was drawn
/// from a part of the frame, or the frame has changed since) counts as shown by priority. `None` if
/// there are no valid controls and not everything was shown, because then there is no estimate.
pub(crate) fn sampling_weights(frame: usize, shown: &[Assignment]) -> Option<Vec<f64>> {
    let mut before = HashSet::new();
    let mut weights = vec![0.0; shown.len()];
    // The rows that count, each with `of` if it is a valid control.
    let mut lines: Vec<(usize, Option<f64>)> = Vec::with_capacity(shown.len());
    for (at, line) in shown.iter().enumerate() {
        if line.draw == DrawReason::Repeat || !before.insert(line.key) {
            continue;
        }
        let fits = |of: usize| of > 1 && of + lines.len() == frame;
        let of = match line.draw {
            DrawReason::Control { of } if fits(of) => Some(of as f64),
            _ => None,
        };
        lines.push((at, of));
    }
    if lines.len() > frame {
        return None;
    }
    if lines.len() == frame {
        lines.iter().for_each(|(at, _)| weights[*at] = 1.0);
        return (frame > 0).then_some(weights);
    }
    let share = |of: f64| 1.0 / (of * (of - 1.0));
    let total: f64 = lines.iter().filter_map(|(_, of)| of.map(share)).sum();
    if total <= 0.0 {
        return None;
    }
    let mut after = 0.0;
    for (at, of) in lines.into_iter().rev() {
        let own = of.map_or(0.0, share) / total;
        weights[at] = after + own * of.unwrap_or(0.0);
        after += own;
    }
    Some(weights)
}

/// The weights as inclusion probabilities in (0, 1], for estimators that divide by them: 1/ω. If
/// some ω is below 1, all are multiplied by the smallest positive ω; a Hájek estimate does not
/// depend on the common factor. `None` if the weight is 0 or there is no estimate.
pub fn inclusion_probabilities(frame: usize, shown: &[Assignment]) -> Vec<Option<f64>> {
    let Some(weights) = sampling_weights(frame, shown) else {
        return vec![None; shown.len()];
    };
    let positive = |weight: &&f64| **weight > 0.0;
    let factor = weights
        .iter()
        .filter(positive)
        .fold(1.0, |x: f64, y| x.min(*y));
    weights
        .iter()
        .map(|weight| (*weight > 0.0).then(|| (factor / weight).min(1.0)))
        .collect()
}
