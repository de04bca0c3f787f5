//! The orders in which a person can look at battles.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// What comes first in a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// P(the ensemble is wrong) × P(one of the two is in the top k) (SCIENCE §9e).
    #[default]
    Value,
    /// How much the top of the ranking changes if the pair's outcome is turned around and everything is fitted again.
    Impact,
    /// The smaller of P(A is truly better) and P(B is truly better).
    Uncertain,
    /// Entropy of the judges' votes over A, tie and B, in bits (SCIENCE §9a).
    Split,
    /// Size of the standardised residual: votes that the other battles contradict (SCIENCE §9b).
    Surprise,
    /// The weakest pair of every cycle of three (SCIENCE §9d).
    Cycle,
    /// Battles with votes missing.
    Failed,
    /// A uniformly random order.
    Random,
    /// The order of `Value` with random controls, and some battles twice.
    Mixed,
}

impl Policy {
    /// Every policy, the default first.
    pub const ALL: [Self; 9] = [
        Self::Value,
        Self::Impact,
        Self::Uncertain,
        Self::Split,
        Self::Surprise,
        Self::Cycle,
        Self::Failed,
        Self::Random,
        Self::Mixed,
    ];

    /// The name used on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Value => "value",
            Self::Impact => "impact",
            Self::Uncertain => "uncertain",
            Self::Split => "split",
            Self::Surprise => "surprise",
            Self::Cycle => "cycle",
            Self::Failed => "failed",
            Self::Random => "random",
            Self::Mixed => "mixed",
        }
    }

    /// The policy in one line.
    pub fn words(self) -> &'static str {
        match self {
            Self::Value => "likely wrong, and about a document that may be in the top k",
            Self::Impact => "turned around, it changes the top of the ranking most",
            Self::Uncertain => "nobody can say yet which of the two is better",
            Self::Split => "the judges disagree",
            Self::Surprise => "the votes contradict all other battles",
            Self::Cycle => "the weakest link of A over B over C over A",
            Self::Failed => "votes are missing",
            Self::Random => "every battle alike, in random order",
            Self::Mixed => "most valuable first, with random controls and a few repeats",
        }
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Policy {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|policy| policy.name() == text)
            .ok_or_else(|| {
                let names: Vec<&str> = Self::ALL.iter().map(|policy| policy.name()).collect();
                format!("{text:?} is not a policy: expected {}", names.join(", "))
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_are_spelled_alike_everywhere() {
        for policy in Policy::ALL {
            assert_eq!(policy.to_string().parse(), Ok(policy));
            assert_eq!(
                serde_json::to_string(&policy).unwrap(),
                format!("{:?}", policy.name())
            );
            assert!(!policy.words().is_empty());
        }
        assert!("best".parse::<Policy>().unwrap_err().contains("mixed"));
    }
}
