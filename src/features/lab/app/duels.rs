//! Simulated duels: how often the better ranking is found, and how often one is named although
//! neither is better.

use super::every::every;
use crate::app::error::AppError;
use crate::domain::analysis::wilson;
use crate::domain::numeric::median;
use crate::features::duel::domain::Side;
use crate::features::lab::domain::{DuelPlay, SimulatedDuel};

/// Many duels of the same kind.
#[derive(Clone, Copy, Debug)]
pub struct DuelSimulation {
    pub duel: SimulatedDuel,
    /// Number of duels.
    pub duels: usize,
    /// Number of threads, which does not affect the result.
    pub threads: Option<usize>,
    pub seed: u64,
}

/// A share of the duels with its 95 % interval (Wilson).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DuelShare {
    pub count: usize,
    pub share: f64,
    pub interval: (f64, f64),
}

/// How often a rule names a ranking.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Claims {
    pub for_b: DuelShare,
    pub for_a: DuelShare,
    /// A is named or, if neither ranking is better, either one.
    pub false_ones: DuelShare,
}

#[derive(Clone, Debug, PartialEq)]
pub struct DuelSummary {
    pub simulated: SimulatedDuel,
    /// The stopping rule, checked after every judgment.
    pub stopped: Claims,
    /// Median number of judgments until it stopped, over the duels in which it did.
    pub judgments: Option<f64>,
    /// A sign test at 5 %, checked as often.
    pub peeked: Claims,
    /// Tests at 5 % at the end.
    pub sign: Claims,
    pub permutation: Claims,
    /// The mean preference: the simulation's own truth.
    pub preference: f64,
    /// How often its 95 % interval contains the truth.
    pub covered: Option<DuelShare>,
    /// How often the test for position bias is significant at 5 %.
    pub places: DuelShare,
}

impl DuelSimulation {
    /// Runs all duels. `progress` receives the number of finished ones.
    ///
    /// # Errors
    /// The number of duels is zero.
    pub fn run(&self, progress: &mut dyn FnMut(usize)) -> Result<DuelSummary, AppError> {
        let plays = every(self.duels, self.threads, progress, |index| {
            Ok(self.duel.play(self.seed, index))
        })?;
        let none = || AppError::Failed("no duels to play".to_owned());
        self.summary(&plays).ok_or_else(none)
    }

    fn summary(&self, plays: &[DuelPlay]) -> Option<DuelSummary> {
        let claims = |of: fn(&DuelPlay) -> Option<Side>| {
            let named = |side| share(plays.iter().map(|play| of(play) == Some(side)));
            let neither = self.duel.effect == 0.0;
            let untrue = |side: Side| neither || side == Side::A;
            Some(Claims {
                for_b: named(Side::B)?,
                for_a: named(Side::A)?,
                false_ones: share(plays.iter().map(|play| of(play).is_some_and(untrue)))?,
            })
        };
        let values = plays.iter().filter_map(|play| Some(play.preference?.value));
        let values: Vec<f64> = values.collect();
        let truth = values.iter().sum::<f64>() / values.len().max(1) as f64;
        let intervals = plays.iter().filter_map(|play| play.preference?.interval);
        let judgments = plays.iter().filter_map(|play| Some(play.stopped?.1));
        Some(DuelSummary {
            simulated: self.duel,
            stopped: claims(|play| Some(play.stopped?.0))?,
            judgments: median(judgments.map(|count| count as f64)),
            peeked: claims(|play| play.peeked)?,
            sign: claims(|play| play.sign)?,
            permutation: claims(|play| play.permutation)?,
            preference: truth,
            covered: share(intervals.map(|(low, high)| low <= truth && truth <= high)),
            places: share(plays.iter().map(|play| play.places))?,
        })
    }
}

fn share(which: impl Iterator<Item = bool>) -> Option<DuelShare> {
    let (count, all) = which.fold((0, 0), |(count, all), one| {
        (count + usize::from(one), all + 1)
    });
    Some(DuelShare {
        count,
        share: count as f64 / all as f64,
        interval: wilson(count, all, 0.95)?,
    })
}
