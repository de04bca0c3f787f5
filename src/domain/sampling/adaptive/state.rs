//! The state of a query when a round is planned.

use crate::domain::battle::Pair;
use crate::domain::judge_set::{JudgeSet, MAX_JUDGES};
use crate::domain::rating::{
    self, Covariance, Dispersion, Fit, Observation, PriorEvidence, RatingOptions,
};
use crate::domain::vote::Outcome;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

/// The judges asked about a pair, and their votes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedPair {
    /// The two documents, as pool indexes.
    pub pair: Pair,
    /// All judges that were asked, including failed and pending calls. A judge that is not listed
    /// can be asked: leave out a failed judge to have it asked again.
    pub judges: JudgeSet,
    /// The votes received, with the pair's lower index as A and its higher as B.
    pub votes: Vec<Outcome>,
}

impl AskedPair {
    /// The pair as an observation for the fit: the mean of the votes, weighted so that the votes of
    /// `judges` judges make one battle. `None` without votes.
    pub fn observation(&self, judges: usize) -> Option<Observation> {
        let votes = self.votes.len();
        let half_points: u32 = self
            .votes
            .iter()
            .map(|vote| match vote {
                Outcome::A => 0,
                Outcome::Tie => 1,
                Outcome::B => 2,
            })
            .sum();
        (votes > 0).then(|| {
            let score = f64::from(half_points) / (2 * votes) as f64;
            let weight = votes as f64 / judges.max(1) as f64;
            Observation::new(self.pair.low(), self.pair.high(), score, weight)
        })
    }
}

/// The state of a query: its documents, its judges, what was asked, and the resulting scores.
///
/// Scores are the MAP fit under the given prior, in which the votes of all judges together have the
/// weight of one battle; the dispersion is one over the number of judges
/// (science.md § Choosing pairs).
#[derive(Clone, Debug, PartialEq)]
pub struct SamplingState {
    documents: usize,
    judges: usize,
    asked: HashMap<Pair, JudgeSet>,
    observations: Vec<Observation>,
    /// Observations from a student; they do not affect the dispersion and the prior.
    student: Vec<Observation>,
    options: RatingOptions,
    fit: Option<Fit>,
}

impl SamplingState {
    /// The state of `documents` documents and `judges` judges (at most [`MAX_JUDGES`] count), given
    /// what was asked.
    ///
    /// `lambda` is the precision of the prior. Several entries for one pair are combined; entries
    /// for documents outside the pool are ignored.
    pub fn new(documents: usize, judges: usize, asked: &[AskedPair], lambda: f64) -> Self {
        let judges = judges.min(MAX_JUDGES);
        let mut seats: HashMap<Pair, JudgeSet> = HashMap::new();
        let inside = asked.iter().filter(|entry| entry.pair.high() < documents);
        for entry in inside.clone() {
            let known = seats.entry(entry.pair).or_default();
            *known = known.with(entry.judges);
        }
        let observations: Vec<Observation> = inside
            .filter_map(|entry| entry.observation(judges))
            .collect();
        Self::fitted(documents, judges, seats, observations, lambda)
    }

    /// The state with scores from these observations, in which a full ensemble battle has weight 1.
    pub(crate) fn fitted(
        documents: usize,
        judges: usize,
        asked: HashMap<Pair, JudgeSet>,
        observations: Vec<Observation>,
        lambda: f64,
    ) -> Self {
        let options = RatingOptions {
            lambda,
            ..RatingOptions::default()
        };
        let fit = rating::fit(documents, &observations, &options, None).ok();
        Self {
            documents,
            judges,
            asked,
            observations,
            student: Vec::new(),
            options,
            fit,
        }
    }

    /// The state with scores that also include a student's predictions.
    #[must_use]
    pub fn with_student(mut self, student: Vec<Observation>) -> Self {
        self.student = student;
        self.refit();
        self
    }

    fn refit(&mut self) {
        self.fit = rating::fit(self.documents, &self.battles(), &self.options, None).ok();
    }

    /// Votes and student observations.
    fn battles(&self) -> Cow<'_, [Observation]> {
        if self.student.is_empty() {
            Cow::Borrowed(&self.observations)
        } else {
            let votes = self.observations.iter();
            Cow::Owned(votes.chain(&self.student).copied().collect())
        }
    }

    /// The votes as observations for the fit, without a student.
    pub fn votes(&self) -> &[Observation] {
        &self.observations
    }

    /// The precision of the prior used for the scores.
    pub fn lambda(&self) -> f64 {
        self.options.lambda
    }

    /// Refits the same answers with another prior.
    pub fn set_prior(&mut self, lambda: f64) {
        self.options.lambda = lambda;
        self.refit();
    }

    /// The evidence of the answers about the prior, to be pooled over queries.
    pub fn prior_evidence(&self) -> Option<PriorEvidence> {
        PriorEvidence::of(self.documents, &self.observations, self.options.model)
    }

    pub fn documents(&self) -> usize {
        self.documents
    }

    pub fn judges(&self) -> usize {
        self.judges
    }

    pub fn asked(&self, pair: Pair) -> JudgeSet {
        self.asked.get(&pair).copied().unwrap_or_default()
    }

    pub fn free(&self, pair: Pair) -> JudgeSet {
        JudgeSet::first(self.judges).without(self.asked(pair))
    }

    /// The current score of each document, 0 without information. Natural-log strength, mean 0.
    pub fn scores(&self) -> Vec<f64> {
        self.fit
            .as_ref()
            .map_or_else(|| vec![0.0; self.documents], |fit| fit.scores.clone())
    }

    /// All pairs that were asked about, in order.
    pub(super) fn all_asked(&self) -> BTreeMap<Pair, JudgeSet> {
        self.asked
            .iter()
            .map(|(pair, seats)| (*pair, *seats))
            .collect()
    }

    /// The covariance of the scores, with dispersion 1/judges, so that a vote at p adds p(1 − p) to
    /// the precision of its gap. `None` above [`MAX_DENSE`](crate::domain::rating::MAX_DENSE)
    /// documents.
    pub fn covariance(&self) -> Option<Covariance> {
        let phi = 1.0 / self.judges.max(1) as f64;
        let fit = self.fit.as_ref()?;
        rating::covariance(self.documents, &self.battles(), fit, &self.options, phi)
    }

    /// The observed dispersion of the battles, to be pooled over queries. `None` if there is no
    /// covariance.
    pub fn dispersion(&self) -> Option<Dispersion> {
        let fit = self.fit.as_ref()?;
        rating::dispersion(&self.observations, fit, &self.options, &self.covariance()?)
    }
}
