//! The input of a view: the query's rows, and the settings that turn them into numbers.

use super::prior::{LearnedPrior, PriorPrecision};
use super::tastes::Tastes;
use super::{CountedAnswer, CountedAnswers, PriorOpinion};
use crate::domain::battle::Battle;
use crate::domain::rating::{self, MAX_TASTE, MIN_TASTE, RatingModel};
use crate::domain::verdict::{OverrideMode, Verdict};
use crate::domain::vote::{JudgeId, MarginCurve, Vote, VoteRule, calibrated_score};
use serde::{Deserialize, Serialize};

/// How votes and verdicts become numbers; stored with the project, so that everyone gets the same
/// ones.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RankingSettings {
    pub model: RatingModel,
    /// Precision of the Gaussian prior on a score, per battle.
    pub lambda: PriorPrecision,
    /// The prior learned from the project's battles, if it is to be learned and there are enough
    /// battles.
    #[serde(skip)]
    pub learned: Option<LearnedPrior>,
    /// Dispersion: variance of a battle's score relative to one coin flip. `None` means one over
    /// the number of judges.
    pub phi: Option<f64>,
    /// Number of battles that `phi` was estimated from; `None` if it was set or derived from the
    /// number of judges.
    #[serde(skip)]
    pub phi_battles: Option<usize>,
    /// How margins become a battle's score.
    pub vote_rule: VoteRule,
    /// How verdicts are combined with the votes on their pairs.
    pub override_mode: OverrideMode,
    /// Number of battles that *equal*, and the win of *by far*, count as; above 0 and at most 3.
    pub override_weight: f64,
    /// Slope of a verdict's direction term. Only simulations change it.
    #[serde(skip, default = "direction_slope")]
    pub direction_slope: f64,
    pub judge_weights: JudgeWeights,
    /// Whether judges have tastes. Only `Map` models them.
    pub tastes: Tastes,
    /// The variance of tastes learned from the project's votes, relative to that of scores.
    #[serde(skip)]
    pub learned_taste: Option<f64>,
    /// The variance of tastes with which answers outside battles count, relative to that of scores.
    #[serde(skip)]
    pub counted_taste: Option<f64>,
    /// Number of ranks that count as the top, for stopping and for the value of a verdict. Does not
    /// affect scores.
    pub top: usize,
}

/// Slope β of the direction term log σ(β · gap). The term pulls while the gap is small or has the
/// wrong sign, and has almost no effect once the preferred document is clearly ahead.
/// `overrule lab override` measures it; the manual's chapter on numbers has the results.
pub const DIRECTION_SLOPE: f64 = 3.0;

/// The default number of ranks that count as the top.
pub const DEFAULT_TOP: usize = 10;

/// The maximum number of ranks that can count as the top.
pub const MOST_TOP: usize = 10_000;

fn direction_slope() -> f64 {
    DIRECTION_SLOPE
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum JudgeWeights {
    /// All judges have the same weight: a battle's score is the mean of its votes.
    #[default]
    Equal,
    /// Each judge with its own sharpness and position bias, fitted together with the documents
    /// (science.md § Judges).
    Joint,
}

impl Default for RankingSettings {
    fn default() -> Self {
        Self {
            model: RatingModel::default(),
            lambda: PriorPrecision::default(),
            learned: None,
            phi: None,
            phi_battles: None,
            vote_rule: VoteRule::default(),
            override_mode: OverrideMode::default(),
            override_weight: 3.0,
            direction_slope: DIRECTION_SLOPE,
            judge_weights: JudgeWeights::default(),
            tastes: Tastes::default(),
            learned_taste: None,
            counted_taste: None,
            top: DEFAULT_TOP,
        }
    }
}

/// Why the settings of a project cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum InvalidRankingSetting {
    #[error("{name} = {value}: expected a number above {above} and up to {most}")]
    OutOfRange {
        name: &'static str,
        value: f64,
        above: f64,
        most: f64,
    },
    #[error("tastes = {0}: expected off, auto, or a number from {MIN_TASTE} to {MAX_TASTE}")]
    Taste(f64),
    #[error("top = {0}: expected a number of ranks from 1 to {MOST_TOP}")]
    Top(usize),
}

impl RankingSettings {
    /// The override mode that applies. Judges' fitted slopes and tastes differ from those of a
    /// verdict's battles, so replacing votes or masking other answers could lower the preferred
    /// document: with joint judge weights or tastes, `replace` therefore counts as `alongside`.
    pub fn effective_override_mode(&self) -> OverrideMode {
        let is_direct = !self.has_joint_weights() && self.taste() == 0.0;
        if self.override_mode == OverrideMode::Replace && !is_direct {
            OverrideMode::Alongside
        } else {
            self.override_mode
        }
    }

    /// Whether each judge's fitted slope applies.
    pub(super) fn has_joint_weights(&self) -> bool {
        self.judge_weights == JudgeWeights::Joint && self.model != RatingModel::Zbench
    }

    /// Validates the settings.
    pub fn checked(self) -> Result<Self, InvalidRankingSetting> {
        let number = |name: &'static str, value: f64, above: f64, most: f64| {
            if value.is_finite() && value > above && value <= most {
                return Ok(());
            }
            Err(InvalidRankingSetting::OutOfRange {
                name,
                value,
                above,
                most,
            })
        };
        if let PriorPrecision::Set(lambda) = self.lambda {
            number("lambda", lambda, 0.0, 1e6)?;
        }
        number("override_weight", self.override_weight, 0.0, 3.0)?;
        if let Some(phi) = self.phi {
            number("phi", phi, 0.0, 100.0)?;
        }
        if let Tastes::Set(taste) = self.tastes {
            if taste < MIN_TASTE {
                return Err(InvalidRankingSetting::Taste(taste));
            }
            number("tastes", taste, 0.0, MAX_TASTE)?;
        }
        if !(1..=MOST_TOP).contains(&self.top) {
            return Err(InvalidRankingSetting::Top(self.top));
        }
        Ok(self)
    }

    /// Whether the prior is learned: only for `Map`, because the other models follow publications.
    pub fn learns_prior(&self) -> bool {
        self.model == RatingModel::Map && self.lambda == PriorPrecision::Auto
    }

    /// Whether tastes are learned: only for `Map`, which alone models them.
    pub fn learns_tastes(&self) -> bool {
        self.model == RatingModel::Map && self.tastes == Tastes::Auto
    }

    /// The model of the fit.
    pub fn rating(&self) -> rating::RatingOptions {
        rating::RatingOptions {
            model: self.model,
            lambda: self.lambda.value(self.learned),
            taste: self.taste(),
        }
    }

    /// The variance of judges' tastes in the fit, relative to that of scores; 0 without tastes. It is
    /// that of the settings; if these have none, the one with which other answers count.
    pub fn taste(&self) -> f64 {
        let set = self.tastes.value(self.learned_taste);
        match set.or(self.counted_taste) {
            Some(taste) if self.model == RatingModel::Map && taste >= MIN_TASTE => {
                taste.min(MAX_TASTE)
            }
            _ => 0.0,
        }
    }

    /// The settings of a model in which judges have no tastes.
    #[must_use]
    pub fn without_tastes(self) -> Self {
        Self {
            tastes: Tastes::Off,
            counted_taste: None,
            ..self
        }
    }
}

/// A battle with its judges' votes. Failures are recorded but do not count.
#[derive(Clone, Debug, PartialEq)]
pub struct BattleRecord {
    pub battle: Battle,
    /// The votes of the ensemble's judges, in ensemble order.
    pub votes: Vec<Vote>,
    /// Judges of the ensemble whose calls failed and that have not voted since.
    pub failed: Vec<JudgeId>,
    /// The judges of the ensemble that were asked, including those that have voted or failed, if a
    /// round chose them; `None` if all judges are.
    pub asked: Option<Vec<JudgeId>>,
}

impl BattleRecord {
    /// Whether this judge has voted on the battle or is asked to.
    pub fn is_asked(&self, judge: JudgeId) -> bool {
        self.asked
            .as_ref()
            .is_none_or(|asked| asked.contains(&judge))
    }

    /// Number of missing votes of an ensemble of `judges`, including failed calls.
    pub fn missing(&self, judges: usize) -> usize {
        let asked = self.asked.as_ref().map_or(judges, Vec::len);
        asked.saturating_sub(self.votes.len())
    }

    /// Weight of the votes in the fit: 1, or the share of the ensemble that has voted if a round
    /// chose the judges (science.md § Votes and battles).
    pub fn weight(&self, judges: usize) -> f64 {
        match self.asked {
            None => 1.0,
            Some(_) => self.votes.len() as f64 / judges.max(1) as f64,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueryRows {
    pub documents: usize,
    /// Number of documents, from the top, entered into battles; `None` before any plan.
    pub depth: Option<usize>,
    /// Pool indexes of the documents sorted by identifier. Errors are drawn in this order, so that
    /// the numbering in a file does not matter. Empty if identifiers are unknown; then pool order
    /// is used.
    pub by_identifier: Vec<usize>,
    /// The judges that count, in ensemble order.
    pub judges: Vec<JudgeId>,
    /// The battles in the order in which they were planned.
    pub battles: Vec<BattleRecord>,
    /// Battles that were asked again in the other order. They show the effect of the order on a
    /// judge; the fit ignores them, so that a pair counts once.
    pub probes: Vec<BattleRecord>,
    /// The effective verdicts, one per pair.
    pub verdicts: Vec<Verdict>,
    /// β and γ of each judge, in the order of `judges`; empty if all judges have the same weight.
    pub responses: Vec<(f64, f64)>,
    /// The calibration curve of each judge's margins, in the order of `judges`; empty if the vote
    /// rule does not use it.
    pub curves: Vec<Option<MarginCurve>>,
    /// The student that the project has named, if it has predictions for the query.
    pub student: Option<PriorOpinion>,
    /// Answers outside battles, if they count in the project.
    pub answers: Option<CountedAnswers>,
}

impl QueryRows {
    /// The answers that count in a fit of these rows: none under zBench's model.
    pub fn answers_in_fit(&self, settings: &RankingSettings) -> &[CountedAnswer] {
        match &self.answers {
            Some(counted) if settings.model != RatingModel::Zbench => &counted.answers,
            _ => &[],
        }
    }

    /// The dispersion φ of the query's battles.
    pub fn phi(&self, settings: &RankingSettings) -> f64 {
        settings.phi.unwrap_or_else(|| match &self.answers {
            Some(counted) if self.judges.is_empty() => counted.phi,
            _ => 1.0 / self.judges.len().max(1) as f64,
        })
    }

    /// The rows of battles and verdicts alone.
    pub(super) fn without_answers(&self) -> Self {
        Self {
            answers: None,
            ..self.clone()
        }
    }

    /// A battle's score under a rule in 0..=1 (1: B is better), or `None` without votes.
    pub fn score(&self, record: &BattleRecord, rule: VoteRule) -> Option<f64> {
        let votes = record.votes.iter();
        match rule {
            VoteRule::Calibrated if !self.curves.is_empty() => {
                calibrated_score(votes.map(|vote| (vote.margin, self.curve_of(vote.judge))))
            }
            _ => rule.score(votes.map(|vote| vote.margin)),
        }
    }

    /// The calibration curve of a judge's margins.
    pub fn curve_of(&self, judge: JudgeId) -> Option<&MarginCurve> {
        let seat = self.judges.iter().position(|id| *id == judge)?;
        self.curves.get(seat)?.as_ref()
    }
}
