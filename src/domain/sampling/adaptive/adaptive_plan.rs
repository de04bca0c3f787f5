//! A sampling strategy with its budget.

use super::{InvalidStrategy, Sampler, Strategy, calls};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A strategy, and its budget for each query.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AdaptivePlan {
    #[serde(flatten)]
    pub strategy: Strategy,
    /// The budget in ensemble battles per document, see [`calls`].
    pub battles: f64,
    /// Whether the scores that pairs are chosen by include the project's student.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub student: bool,
}

impl AdaptivePlan {
    /// Total number of calls allowed for a query of this size.
    pub fn calls(&self, documents: usize, judges: usize) -> usize {
        calls(self.battles, documents, judges)
    }

    /// Maximum number of calls that can be asked: every judge on every pair once, or fewer.
    pub fn askable(&self, documents: usize, judges: usize) -> usize {
        let judges = match self.strategy.sampler {
            // The plain plan has each pair twice; `Judging::All` skips the second battles.
            Sampler::Cycles if !self.strategy.asks_all() => judges.min(2),
            _ => judges,
        };
        documents * documents.saturating_sub(1) / 2 * judges
    }

    /// Validates the plan.
    pub fn checked(self) -> Result<Self, InvalidStrategy> {
        self.strategy.checked()?;
        if !(self.battles.is_finite() && self.battles > 0.0) {
            return Err(InvalidStrategy::Battles(self.battles));
        }
        Ok(self)
    }
}

/// `SAMPLER:BATTLES` or `SAMPLER+JUDGING:BATTLES`.
impl fmt::Display for AdaptivePlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.strategy.sampler)?;
        if !self.strategy.asks_all() {
            write!(f, "+{}", self.strategy.judging)?;
        }
        write!(f, ":{}", self.battles)
    }
}

impl FromStr for AdaptivePlan {
    type Err = InvalidStrategy;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || InvalidStrategy::Malformed(text.to_owned());
        let (name, battles) = text.split_once(':').ok_or_else(wrong)?;
        let (sampler, judging) = match name.split_once('+') {
            Some((sampler, judging)) => (sampler.parse()?, judging.parse()?),
            None => (name.parse()?, super::JudgeChoice::All),
        };
        Self {
            strategy: Strategy::new(sampler, judging),
            battles: battles.parse().map_err(|_| wrong())?,
            student: false,
        }
        .checked()
        .map_err(|why| InvalidStrategy::In {
            text: text.to_owned(),
            why: Box::new(why),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for name in ["cycles:4", "swiss+rotate:1.5", "top+escalate:2"] {
            assert_eq!(name.parse::<AdaptivePlan>().unwrap().to_string(), name);
        }
        for bad in [
            "top",
            "top:",
            "top:0",
            "top:inf",
            "best:2",
            "top+some:2",
            "swiss+escalate:2",
        ] {
            assert!(bad.parse::<AdaptivePlan>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_campaign_is_kept_as_one_object() {
        let campaign: AdaptivePlan = "top+escalate:2".parse().unwrap();
        let text = serde_json::to_string(&campaign).unwrap();
        assert!(text.starts_with(r#"{"sampler":"top","judging":"escalate""#));
        assert_eq!(
            serde_json::from_str::<AdaptivePlan>(&text).unwrap(),
            campaign
        );
    }
}
