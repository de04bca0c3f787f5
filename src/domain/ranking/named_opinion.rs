//! The source of predictions that a project has named (a student), and its weight: set, or learned
//! from the votes.

use super::opinion_effect::{CAP, OpinionEffect};
use crate::domain::auto_or_number::{AUTO, AutoOrNumber, NeitherAutoNorNumber};
use crate::domain::number_words::{counted, signed};
use crate::domain::prediction::OTHER_BATTLES;
use crate::domain::sanitize;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};
use std::str::FromStr;

/// Minimum number of queries for estimating a weight: with fewer, a mean over queries is too far
/// from normal for its interval.
const ENOUGH_QUERIES: usize = 5;

/// The candidate weights, in battles per document; 0 means that predictions do not count.
pub const OPINION_WEIGHTS: [f64; 8] = [0.0, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4];

/// Weight of predictions that only choose pairs while no weight is known, in battles per document;
/// close to the best weight in simulation.
pub const CHOOSING_WEIGHT: f64 = 0.4;

/// Maximum weight that can be set, in battles per document.
const MOST_OPINION_WEIGHT: f64 = 100.0;

/// The weight of predictions in the fit, in battles per document: set, or learned from the votes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "AutoOrNumber", into = "AutoOrNumber")]
pub enum OpinionWeight {
    /// Learned from the votes.
    Auto,
    /// Between 0 (not used) and [`MOST_OPINION_WEIGHT`].
    Set(f64),
}

/// The source of predictions that a project has named, and its weight.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NamedOpinion {
    pub name: String,
    pub weight: OpinionWeight,
    /// The learned weight, if requested and if there were enough votes.
    pub learned: Option<LearnedWeight>,
    /// Why no weight was learned although it was requested.
    #[serde(default)]
    pub not_learned: Option<NotLearned>,
}

/// Why no weight was estimated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NotLearned {
    /// Fewer than [`ENOUGH_QUERIES`] queries have enough battles and predictions of unjudged pairs.
    FewQueries,
    /// It predicts from the votes of the same query, so its predictions cannot be tested on
    /// held-out votes.
    SawVotes,
    /// The predictions have changed since, and the estimate was not completed.
    Changed,
}

impl NotLearned {
    fn words(self) -> String {
        match self {
            Self::FewQueries => format!(
                "too few votes to tell: {ENOUGH_QUERIES} queries with votes are needed, and \
                 predictions of their other pairs"
            ),
            Self::SawVotes => format!(
                "no weight is estimated: it predicts from {OTHER_BATTLES}, so it has seen every \
                 vote that could test it"
            ),
            Self::Changed => "no weight has been estimated since the student changed; estimate it \
                              with `overrule config project --student-weight auto`"
                .to_owned(),
        }
    }
}

impl NamedOpinion {
    /// The weight that applies, in battles per document.
    pub fn in_force(&self) -> f64 {
        match self.weight {
            OpinionWeight::Set(weight) => weight,
            OpinionWeight::Auto => self.learned.map_or(0.0, |learned| learned.weight),
        }
    }

    /// The note printed with scores that the predictions affect; `None` if they affect none.
    pub fn in_scores(&self, effect: &OpinionEffect) -> Option<String> {
        let in_some = match effect.counted {
            0 => return None,
            all if all == effect.queries => String::new(),
            some => format!(" in {some} of {}", counted(effect.queries, "query")),
        };
        Some(format!(
            "scores count student {} too: {}{in_some}, on pairs that nobody has judged{}",
            sanitize::line(&self.name),
            effect.words(),
            self.cap(effect)
        ))
    }

    /// Why it counts for less than its weight, after a semicolon; empty if it does not.
    fn cap(&self, effect: &OpinionEffect) -> String {
        let set = self.in_force();
        if effect.is_capped(set) {
            format!("; the weight is {set}, but {CAP}")
        } else {
            String::new()
        }
    }

    /// Whether it counts in the fits, with what weight, and why.
    pub fn words(&self, effect: &OpinionEffect) -> String {
        let weight = self.in_force();
        let counts = if weight <= 0.0 {
            "does not count in the fit".to_owned()
        } else if effect.counted == 0 {
            format!(
                "counts in no query yet: none has both votes and predictions of pairs that nobody \
                 has judged; \
                 the weight is {weight} battles per document"
            )
        } else if effect.counted == effect.queries {
            format!("counts {} in the fit", effect.words())
        } else {
            format!(
                "counts {} in the fit of {} of {}",
                effect.words(),
                effect.counted,
                counted(effect.queries, "query")
            )
        };
        let counts = counts + &self.cap(effect);
        let why = match (self.weight, self.learned) {
            (OpinionWeight::Set(_), _) => "set".to_owned(),
            (OpinionWeight::Auto, None) => {
                self.not_learned.unwrap_or(NotLearned::FewQueries).words()
            }
            (OpinionWeight::Auto, Some(of)) => format!(
                "held-out votes of a query are likelier by {} nats, 95 % {} to {}, {} queries",
                signed(of.gain, 2),
                signed(of.low, 2),
                signed(of.high, 2),
                of.queries
            ),
        };
        format!("{counts} ({why})")
    }
}

impl FromStr for OpinionWeight {
    type Err = NeitherAutoNorNumber;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == AUTO {
            return Ok(Self::Auto);
        }
        text.parse::<f64>()
            .ok()
            .filter(|weight| (0.0..=MOST_OPINION_WEIGHT).contains(weight))
            .map(Self::Set)
            .ok_or_else(|| NeitherAutoNorNumber {
                expected: format!(
                    "a number of battles per document from 0 to {MOST_OPINION_WEIGHT}"
                ),
                found: text.to_owned(),
            })
    }
}

impl From<OpinionWeight> for AutoOrNumber {
    fn from(of: OpinionWeight) -> Self {
        match of {
            OpinionWeight::Auto => Self::Word(AUTO.to_owned()),
            OpinionWeight::Set(weight) => Self::Number(weight),
        }
    }
}

impl TryFrom<AutoOrNumber> for OpinionWeight {
    type Error = NeitherAutoNorNumber;

    fn try_from(written: AutoOrNumber) -> Result<Self, Self::Error> {
        match written {
            AutoOrNumber::Number(weight) => weight.to_string().parse(),
            AutoOrNumber::Word(word) => word.parse(),
        }
    }
}

/// A learned weight and the evidence for it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LearnedWeight {
    /// In battles per document; 0 if no weight predicts votes significantly better than none.
    pub weight: f64,
    /// The gain of the best weight in the log-likelihood of a query's held-out votes, in nats, with
    /// the ends of its 95 % interval over queries. The interval accounts for choosing the best of
    /// the weights.
    pub gain: f64,
    pub low: f64,
    pub high: f64,
    pub queries: usize,
}

impl LearnedWeight {
    /// The weight that maximizes the likelihood of held-out votes, if it is significantly better
    /// than no predictions: the t interval of the mean gain over queries is above 0. As the best of
    /// several weights on the same queries is chosen, the intervals cover all of them
    /// simultaneously in 95 of 100 cases (Bonferroni): each is at the level 1 − .05 / 7. `None` for
    /// fewer than [`ENOUGH_QUERIES`].
    pub fn of(evidence: &[[f64; OPINION_WEIGHTS.len()]]) -> Option<Self> {
        let queries = evidence.len();
        if queries < ENOUGH_QUERIES {
            return None;
        }
        let total = |at: usize| evidence.iter().map(|of| of[at]).sum::<f64>();
        let best = (1..OPINION_WEIGHTS.len()).max_by(|x, y| total(*x).total_cmp(&total(*y)))?;
        let n = queries as f64;
        let gains: Vec<f64> = evidence.iter().map(|of| of[best] - of[0]).collect();
        let mean = gains.iter().sum::<f64>() / n;
        let squares: f64 = gains.iter().map(|gain| (gain - mean).powi(2)).sum();
        let tried = (OPINION_WEIGHTS.len() - 1) as f64;
        let t = StudentsT::new(0.0, 1.0, n - 1.0).ok()?;
        let half = t.inverse_cdf(1.0 - 0.025 / tried) * (squares / (n - 1.0) / n).sqrt();
        Some(Self {
            weight: if mean - half > 0.0 {
                OPINION_WEIGHTS[best]
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
            ("\"auto\"", OpinionWeight::Auto),
            ("0.5", OpinionWeight::Set(0.5)),
        ] {
            assert_eq!(serde_json::to_string(&weight).unwrap(), text);
            assert_eq!(serde_json::from_str::<OpinionWeight>(text).unwrap(), weight);
        }
        for wrong in ["much", "-1", "nan", "1e9"] {
            assert!(wrong.parse::<OpinionWeight>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn only_what_predicts_unseen_votes_is_given_a_weight() {
        let with = |gain: f64| {
            let mut of = [-10.0; OPINION_WEIGHTS.len()];
            of[3] += gain;
            of
        };
        let evidence = |gains: [f64; 5]| {
            [gains, gains]
                .concat()
                .into_iter()
                .map(with)
                .collect::<Vec<_>>()
        };
        let sure = LearnedWeight::of(&evidence([1.0, 1.2, 0.9, 1.1, 0.8])).unwrap();
        assert_eq!((sure.weight, sure.queries), (0.4, 10));
        assert!((sure.gain - 1.0).abs() < 1e-12 && sure.low > 0.0);
        // Student's t with 9 degrees of freedom at 1 − .025 / 7 is 3.4616; the standard error is
        // √(.2 / 9 / 10).
        assert!((sure.high - sure.gain - 3.461_6 * (0.2f64 / 90.0).sqrt()).abs() < 1e-4);
        let chance = LearnedWeight::of(&evidence([3.0, -2.0, 0.1, 1.0, 0.2])).unwrap();
        assert_eq!(chance.weight, 0.0);
        assert!(chance.low < 0.0 && chance.high > 0.0);
        assert_eq!(LearnedWeight::of(&evidence([1.0; 5])[..4]), None);
    }

    #[test]
    fn what_helps_by_chance_is_seldom_given_a_weight() {
        // Each weight changes the likelihood of a query only by noise. At most 5 of 200 projects
        // may be misled by it; the normal distribution without a correction for the choice misleads
        // about 20.
        let mut seed = 7u64;
        let mut noise = || {
            (0..12)
                .map(|_| {
                    seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    (seed >> 33) as f64 / (1u64 << 31) as f64
                })
                .sum::<f64>()
                - 6.0
        };
        let fooled = (0..200).filter(|_| {
            let evidence: Vec<_> = (0..ENOUGH_QUERIES)
                .map(|_| {
                    let mut of = [0.0; OPINION_WEIGHTS.len()];
                    of.iter_mut().skip(1).for_each(|gain| *gain = noise());
                    of
                })
                .collect();
            LearnedWeight::of(&evidence).unwrap().weight > 0.0
        });
        let fooled = fooled.count();
        assert!(fooled <= 10, "{fooled}");
    }

    #[test]
    fn the_weight_that_is_reported_is_that_of_the_fits() {
        let student = |weight| NamedOpinion {
            name: "own".to_owned(),
            weight: OpinionWeight::Set(weight),
            learned: None,
            not_learned: None,
        };
        let effect = |weights: &[Option<f64>]| weights.iter().copied().collect::<OpinionEffect>();
        let all = effect(&[Some(0.5), Some(0.5)]);
        assert_eq!(
            student(0.5).words(&all),
            "counts 0.5 battles per document in the fit (set)"
        );
        assert_eq!(
            student(0.5).in_scores(&all).unwrap(),
            "scores count student own too: 0.5 battles per document, on pairs that nobody has judged"
        );
        let capped = effect(&[Some(0.21), None]);
        let words = student(30.0).words(&capped);
        assert!(
            words.starts_with(
                "counts 0.21 battles per document in the fit of 1 of 2 queries; the weight is 30, \
                 but a prediction"
            ),
            "{words}"
        );
        let note = student(30.0).in_scores(&capped).unwrap();
        assert!(
            note.contains("0.21 battles per document in 1 of 2 queries"),
            "{note}"
        );
        let nowhere = effect(&[None, None]);
        assert_eq!(student(30.0).in_scores(&nowhere), None);
        assert!(
            student(30.0)
                .words(&nowhere)
                .starts_with("counts in no query yet")
        );
    }

    #[test]
    fn why_a_student_counts_for_nothing_is_said() {
        let words = |not_learned| {
            NamedOpinion {
                name: "own".to_owned(),
                weight: OpinionWeight::Auto,
                learned: None,
                not_learned: Some(not_learned),
            }
            .words(&OpinionEffect::default())
        };
        assert!(words(NotLearned::SawVotes).contains("it has seen every vote"));
        assert!(words(NotLearned::FewQueries).contains("5 queries with votes"));
        assert!(words(NotLearned::Changed).contains("--student-weight auto"));
    }
}
