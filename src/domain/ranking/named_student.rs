//! The student that a project has named, and what it counts for: set, or what the votes bear out.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::str::FromStr;

const AUTO: &str = "auto";

/// The weights that are tried against the votes, in battles a document; 0 is no student.
pub const STUDENT_WEIGHTS: [f64; 8] = [0.0, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4];

/// What a student counts for where it only chooses pairs and no weight is known, in battles a document: in simulation the best
/// weight is about this one.
pub const CHOOSING_WEIGHT: f64 = 0.4;

/// The most that a student can be told to count for, in battles a document.
const MOST_STUDENT_WEIGHT: f64 = 100.0;

/// What a student counts for in the fit, in battles a document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StudentWeight {
    /// What the votes bear out.
    Auto,
    /// From 0, which is nothing, to [`MOST_STUDENT_WEIGHT`].
    Set(f64),
}

/// The student that a project has named, and what it counts for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NamedStudent {
    pub name: String,
    pub weight: StudentWeight,
    /// What the votes bear out, where that was asked for and there were enough.
    pub learned: Option<LearnedWeight>,
}

impl NamedStudent {
    /// The weight in force, in battles a document.
    pub fn in_force(&self) -> f64 {
        match self.weight {
            StudentWeight::Set(weight) => weight,
            StudentWeight::Auto => self.learned.map_or(0.0, |learned| learned.weight),
        }
    }

    /// Whether it counts, for how much, and why.
    pub fn words(&self) -> String {
        let weight = self.in_force();
        let counts = match weight > 0.0 {
            true => format!("counts {weight} battles a document in the fit"),
            false => "does not count in the fit".to_owned(),
        };
        let why = match (self.weight, self.learned) {
            (StudentWeight::Set(_), _) => "set".to_owned(),
            (StudentWeight::Auto, None) => "too few votes to tell".to_owned(),
            (StudentWeight::Auto, Some(of)) => format!(
                "held-out votes of a query are likelier by {:+.2} nats, 95 % {:+.2} to {:+.2}, {} queries",
                of.gain, of.low, of.high, of.queries
            ),
        };
        format!("{counts} ({why})")
    }
}

impl FromStr for StudentWeight {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == AUTO {
            return Ok(Self::Auto);
        }
        let number = text.parse::<f64>().ok();
        let number = number.filter(|weight| (0.0..=MOST_STUDENT_WEIGHT).contains(weight));
        number.map(Self::Set).ok_or_else(|| {
            format!("expected {AUTO} or a number of battles a document from 0 to {MOST_STUDENT_WEIGHT}, not {text}")
        })
    }
}

impl Serialize for StudentWeight {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Auto => serializer.serialize_str(AUTO),
            Self::Set(weight) => serializer.serialize_f64(*weight),
        }
    }
}

impl<'de> Deserialize<'de> for StudentWeight {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Number(f64),
            Word(String),
        }
        let text = match Written::deserialize(deserializer)? {
            Written::Number(weight) => weight.to_string(),
            Written::Word(word) => word,
        };
        text.parse().map_err(D::Error::custom)
    }
}

/// What a student's weight was chosen from.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LearnedWeight {
    /// In battles a document; 0 where no weight predicts votes better than none, beyond chance.
    pub weight: f64,
    /// What the best weight adds to the log-likelihood of a query's held-out votes, in nats, with the ends of its 95 % interval
    /// over queries.
    pub gain: f64,
    pub low: f64,
    pub high: f64,
    pub queries: usize,
}

impl LearnedWeight {
    /// The weight under which held-out votes are likeliest, where it is better than no student beyond chance: the 95 % interval
    /// of the mean gain over queries, by the normal distribution, is above 0. `None` for fewer than two queries.
    pub fn of(evidence: &[[f64; STUDENT_WEIGHTS.len()]]) -> Option<Self> {
        let queries = evidence.len();
        if queries < 2 {
            return None;
        }
        let total = |at: usize| evidence.iter().map(|of| of[at]).sum::<f64>();
        let best = (1..STUDENT_WEIGHTS.len()).max_by(|x, y| total(*x).total_cmp(&total(*y)))?;
        let n = queries as f64;
        let gains: Vec<f64> = evidence.iter().map(|of| of[best] - of[0]).collect();
        let mean = gains.iter().sum::<f64>() / n;
        let squares: f64 = gains.iter().map(|gain| (gain - mean).powi(2)).sum();
        let half = 1.96 * (squares / (n - 1.0) / n).sqrt();
        Some(Self {
            weight: if mean - half > 0.0 {
                STUDENT_WEIGHTS[best]
            } else {
                0.0
            },
            gain: mean,
            low: mean - half,
            high: mean + half,
            queries,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_weight_is_written_as_it_is_read() {
        for (text, weight) in [
            ("\"auto\"", StudentWeight::Auto),
            ("0.5", StudentWeight::Set(0.5)),
        ] {
            assert_eq!(serde_json::to_string(&weight).unwrap(), text);
            assert_eq!(serde_json::from_str::<StudentWeight>(text).unwrap(), weight);
        }
        for wrong in ["much", "-1", "nan", "1e9"] {
            assert!(wrong.parse::<StudentWeight>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn only_what_predicts_unseen_votes_is_given_a_weight() {
        let with = |gain: f64| {
            let mut of = [-10.0; STUDENT_WEIGHTS.len()];
            of[3] += gain;
            of
        };
        let sure = LearnedWeight::of(&[with(1.0), with(1.2), with(0.9)]).unwrap();
        assert_eq!((sure.weight, sure.queries), (0.4, 3));
        assert!((sure.gain - 3.1 / 3.0).abs() < 1e-12 && sure.low > 0.0);
        let chance = LearnedWeight::of(&[with(3.0), with(-2.0), with(0.1)]).unwrap();
        assert_eq!(chance.weight, 0.0);
        assert!(chance.low < 0.0 && chance.high > 0.0);
        assert_eq!(LearnedWeight::of(&[with(1.0)]), None);
    }
}
