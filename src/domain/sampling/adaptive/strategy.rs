//! How a campaign chooses its pairs and judges.

use crate::domain::named::{UnknownName, named};
use serde::{Deserialize, Serialize};

named! {
    "a sampler", "kebab-case";
    #[derive(Default)]
    pub enum Sampler {
        /// Random cycles: the [`plan`](crate::domain::sampling::plan) without its second games;
        /// under `Rotate`, those go to a second judge.
        #[default]
        Cycles,
        /// Neighbors in the current ranking that have not met.
        Swiss,
        /// The pairs whose outcome is most informative about the scores: maximum mutual information
        /// (BALD; Houlsby et al. 2011).
        Eig,
        /// As `Eig`, weighted toward pairs that may belong to the top.
        Top,
    }
}

impl Sampler {
    pub fn explanation(self) -> &'static str {
        match self {
            Self::Cycles => {
                "random cycles: every document has equally many battles, whatever its score"
            }
            Self::Swiss => {
                "neighbors in the current ranking: even precision everywhere, right for training \
                 targets"
            }
            Self::Eig => {
                "the pairs that are most informative about all scores: even precision everywhere, \
                 right for training targets"
            }
            Self::Top => {
                "the pairs that are most informative about the top ranks; scores below are rough: \
                 for training targets, use swiss or eig"
            }
        }
    }
}

named! {
    "a way of judging", "kebab-case";
    #[derive(Default)]
    pub enum JudgeChoice {
        #[default]
        All,
        /// One judge per pair, in rotation, so that judges share pairs and documents evenly; a pair
        /// gets a second judge only when all pairs have had one.
        Rotate,
        /// One judge per pair, and another only if that is more informative than a new pair.
        /// Requires `Eig` or `Top`; with the other samplers it is the same as `Rotate`.
        Escalate,
    }
}

impl JudgeChoice {
    pub fn explanation(self) -> &'static str {
        match self {
            Self::All => "every judge about every pair: each battle shows the ensemble's consensus",
            Self::Rotate => {
                "one judge per pair, in turn: more pairs for the same number of calls, but no \
                 consensus"
            }
            Self::Escalate => {
                "one judge first, the others only if they are more informative than a new pair \
                 (eig and top)"
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Strategy {
    pub sampler: Sampler,
    pub judging: JudgeChoice,
    /// `Top` only: the weight, in 0..=1, of a pair that cannot reach the top.
    pub floor: f64,
    /// `Top` only: number of ranks in the top, at least 1.
    pub top: usize,
    /// Pairs per round (calls under `Escalate`), at least 1. `None` is one per document for
    /// `Cycles` and if one judge is asked per pair, and otherwise one per two documents. Larger
    /// rounds mean less waiting; from three battles per document on they have no drawback
    /// (science.md § Choosing pairs), with fewer the top ranks suffer.
    pub size: Option<usize>,
}

impl Default for Strategy {
    fn default() -> Self {
        Self {
            sampler: Sampler::default(),
            judging: JudgeChoice::default(),
            floor: 0.3,
            top: 10,
            size: None,
        }
    }
}

/// Why a strategy cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum InvalidStrategy {
    #[error("floor = {0}: must be between 0 and 1")]
    Floor(f64),
    #[error("top = 0: must be at least 1")]
    Top,
    #[error("size = 0: must be at least 1")]
    Size,
    #[error(
        "judging = escalate weighs calls by their information, which {0} does not know: use eig or \
         top"
    )]
    Uninformed(Sampler),
    #[error("battles = {0}: must be above 0")]
    Battles(f64),
    #[error(transparent)]
    Name(#[from] UnknownName),
    /// Not written as `SAMPLER:BATTLES`.
    #[error(
        "{0:?} is not a strategy: expected SAMPLER:BATTLES or SAMPLER+JUDGING:BATTLES, such as \
         top+escalate:2"
    )]
    Malformed(String),
    /// Well-formed, but a value cannot be used.
    #[error("{text:?}: {why}")]
    In { text: String, why: Box<Self> },
}

impl Strategy {
    /// A sampler and a choice of judges, with defaults for the rest.
    pub fn new(sampler: Sampler, judging: JudgeChoice) -> Self {
        Self {
            sampler,
            judging,
            ..Self::default()
        }
    }

    /// Validates the strategy.
    pub fn checked(self) -> Result<Self, InvalidStrategy> {
        if !(0.0..=1.0).contains(&self.floor) {
            return Err(InvalidStrategy::Floor(self.floor));
        }
        if self.top == 0 {
            return Err(InvalidStrategy::Top);
        }
        if self.size == Some(0) {
            return Err(InvalidStrategy::Size);
        }
        if self.judging == JudgeChoice::Escalate && !self.is_informed() {
            return Err(InvalidStrategy::Uninformed(self.sampler));
        }
        Ok(self)
    }

    pub(super) fn asks_all(&self) -> bool {
        self.judging == JudgeChoice::All
    }

    /// Whether pairs depend on the scores, after an opening cycle in which every judge votes on
    /// every battle.
    pub fn opens_with_whole_battles(&self) -> bool {
        self.asks_all() && self.sampler != Sampler::Cycles
    }

    fn is_informed(&self) -> bool {
        matches!(self.sampler, Sampler::Eig | Sampler::Top)
    }

    /// Number of pairs per round (calls under `Escalate`), at least 1.
    pub(super) fn round_size(&self, documents: usize) -> usize {
        let usual = match (self.sampler, self.judging) {
            (Sampler::Cycles, _) => documents,
            (Sampler::Swiss, _) | (_, JudgeChoice::All) => documents / 2,
            (Sampler::Eig | Sampler::Top, JudgeChoice::Rotate | JudgeChoice::Escalate) => documents,
        };
        self.size.unwrap_or(usual).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strategy_that_makes_no_sense_is_refused() {
        let good = Strategy::new(Sampler::Top, JudgeChoice::Escalate);
        assert_eq!(good.checked(), Ok(good));
        for bad in [
            Strategy {
                floor: f64::NAN,
                ..good
            },
            Strategy { floor: 1.1, ..good },
            Strategy { top: 0, ..good },
            Strategy {
                size: Some(0),
                ..good
            },
            Strategy {
                sampler: Sampler::Swiss,
                ..good
            },
        ] {
            assert!(bad.checked().is_err(), "{bad:?}");
        }
    }
}
