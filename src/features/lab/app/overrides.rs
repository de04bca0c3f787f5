//! Simulates the value of people's verdicts under each way of counting them.

use super::every::every;
use crate::app::error::AppError;
use crate::domain::ranking::{PriorPrecision, RankingSettings};
use crate::domain::verdict::OverrideMode;
use crate::features::lab::domain::{Noise, ReviewedQuery, Reviewer, SimulatedQuery, Theta};

/// Judges in a simulated ensemble.
const JUDGES: usize = 3;

/// A way of counting verdicts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VerdictRule {
    pub mode: OverrideMode,
    /// Slope of the direction term; `None` for the legacy modes, which have their own.
    pub slope: Option<f64>,
}

#[derive(Debug)]
pub struct OverrideSimulation {
    pub theta: Theta,
    pub documents: usize,
    pub queries: usize,
    /// Standard deviation of each judge's own error on a pair.
    pub noise: f64,
    pub reviewer: Reviewer,
    pub rules: Vec<VerdictRule>,
    /// Precision of the prior for all scores.
    pub lambda: f64,
    pub threads: Option<usize>,
}

impl OverrideSimulation {
    /// Reviews every query under every rule. Returns one row per rule, in order, with one result
    /// per query.
    pub fn run(
        &self,
        progress: &mut dyn FnMut(usize),
    ) -> Result<Vec<Vec<ReviewedQuery>>, AppError> {
        let played = every(self.queries, self.threads, progress, |index| {
            let noise = Noise::standard(JUDGES).with_own(self.noise);
            let world = SimulatedQuery::synthetic(
                self.theta,
                self.documents,
                noise,
                self.reviewer.seed,
                index,
            );
            Ok(self
                .rules
                .iter()
                .map(|rule| self.reviewer.review(&world, self.settings(*rule)))
                .collect::<Vec<_>>())
        })?;
        Ok((0..self.rules.len())
            .map(|rule| played.iter().map(|query| query[rule]).collect())
            .collect())
    }

    fn settings(&self, rule: VerdictRule) -> RankingSettings {
        let default = RankingSettings::default();
        RankingSettings {
            lambda: PriorPrecision::Set(self.lambda),
            override_mode: rule.mode,
            direction_slope: rule.slope.unwrap_or(default.direction_slope),
            ..default
        }
    }
}
