//! What was looked at and by what chance, so that a queue that starts with the worst still yields an unbiased estimate.
//!
//! **The design.** The frame is the N pairs on which a judge has voted. A queue is a sequence of slots. Which slots are
//! controls is fixed by the seed. A priority slot takes the most urgent pair not shown yet, by whatever rule and whatever
//! is known by then; a control slot takes one of the `of` pairs not shown yet, each with probability 1/`of`. So every
//! pair has a positive chance at every control slot.
//!
//! **The estimate.** Let y_i be 1 where the judge agrees with the person. Just before the control slot t everything shown
//! so far, S_t, is known, and the control i stands for the other `of_t` = N − |S_t| pairs: T_t = Σ_{S_t} y + of_t · y_i has
//! expectation Σ y over the whole frame *given everything before it*, however the verdicts so far have changed the
//! priorities. The errors of the T_t are martingale differences, hence uncorrelated, so their mean with weights
//! w_t ∝ 1 / (of_t (of_t − 1)), the inverse of their variance for equal spread, is unbiased and uses all controls. Collected
//! by pair this is Σ ω_i y_i:
//!
//! - shown by priority: ω = Σ w_t over the controls after it;
//! - shown as the control t: ω = w_t · of_t + Σ w over the controls after it.
//!
//! The ω sum to N, so Σ ω y / Σ ω is the same thing (Hájek 1971), and stays consistent where some y are missing. Controls
//! alone get ω = N/n each: simple random sampling. One may stop after any pair: nothing is lost but what came after the
//! last control. The sequential form follows Farquhar, Gal & Rainforth 2021 and Kossen et al. 2021; a priority slot is
//! their limit of a draw without choice.
//!
//! A fixed inclusion probability cannot be told beforehand: whether a pair comes up depends on verdicts that are not given
//! yet. The ledger keeps what is needed (the order, and `of` for controls), and [`sampling_weights`] does the rest at any moment.
//! A queue without controls has no weights: the pairs it never reached had no chance, and nothing corrects that.

use crate::domain::battle::Pair;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PairKey {
    /// A number that names the query for good: ties and controls are drawn from it.
    pub query: u64,
    pub pair: Pair,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DrawReason {
    /// It was the most urgent one left, or the person chose it: no chance was involved.
    Priority,
    /// It was drawn at random.
    Control {
        /// From how many pairs of the frame, itself among them: each that had not been shown.
        of: usize,
    },
    /// It had been shown before, and measures the person's consistency with themselves.
    Repeat,
}

impl DrawReason {
    /// The probability that this pair came at its turn, given everything before: 1 by priority, 1/`of` for a control.
    /// `None` for a repeat, which is no part of the estimate.
    pub fn chance(self) -> Option<f64> {
        match self {
            Self::Priority => Some(1.0),
            Self::Control { of } => Some(1.0 / of.max(1) as f64),
            Self::Repeat => None,
        }
    }
}

/// A line of one person's ledger. It is written when a pair is shown, whether or not a verdict follows: a pair that was
/// passed over keeps its place and lacks its y.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assignment {
    pub key: PairKey,
    pub draw: DrawReason,
}

/// The weight ω of every line of a person's ledger, in order, for estimates over the frame of `frame` pairs: Σ ω y / Σ ω.
///
/// `shown` holds the lines about pairs of the frame, oldest first; verdicts given outside of a queue belong in it as
/// `Priority`. 0 for repeats, for later lines about the same pair, and for what was shown by priority after the last
/// control. A control whose `of` does not fit (it was drawn from a part of the frame, or the frame has changed since)
/// counts as shown by priority. `None` where no control fits and not everything was shown: then there is no estimate.
pub(crate) fn sampling_weights(frame: usize, shown: &[Assignment]) -> Option<Vec<f64>> {
    let mut before = HashSet::new();
    let mut weights = vec![0.0; shown.len()];
    // The lines that count, each with `of` where it is a control that fits.
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

/// The weights as inclusion probabilities in (0, 1], for estimators that divide by them: 1/ω, and where some ω is below 1,
/// all of them multiplied by the smallest positive ω. A Hájek estimate does not depend on the common factor. `None` where
/// the weight is 0 or there is no estimate.
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
