//! Logistic regression on two predictors without an intercept; votes may be 0, ½ or 1.

use crate::domain::agreement::{ClusteredError, Interval};
use serde::{Deserialize, Serialize};

const MAX_STEPS: usize = 60;

/// Maximum number of step lengths to try.
const MAX_HALVED: usize = 40;

/// A fit has converged when a step moves no coefficient by more than this fraction of 1 + its
/// magnitude.
const TOLERANCE: f64 = 1e-11;

/// One vote with its predictors.
#[cfg(test)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RegressionTrial {
    /// The gap e_b − e_a of the two documents.
    pub gap: f64,
    /// Whether B was shown first.
    pub b_first: bool,
    /// The vote in 0..=1: 0 for A, ½ for a tie, 1 for B.
    pub vote: f64,
}

/// One judge's response to the score gap and to the order of presentation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct JudgeRegression {
    /// β, the slope on the gap: how sharply the judge distinguishes the documents; the gaps assume
    /// 1.
    pub beta: f64,
    /// γ, in logits: positive favors the document shown first.
    pub gamma: f64,
    /// Standard error of β, treating the gaps as known.
    pub beta_se: f64,
    /// Standard error of γ, treating the gaps as known.
    pub gamma_se: f64,
    pub n: usize,
}

/// β and γ of P(vote for B) = σ(β (e_b − e_a) + γ o), with o = +1 if B was shown first and −1 if A
/// was (science.md § Judges).
///
/// The maximum likelihood estimate, with a vote of ½ counting as half a vote for each document.
/// Errors are clustered by query if there are several queries, and otherwise come from the
/// information matrix. Trials that are not finite, or whose vote is not in 0..=1, are skipped.
/// `None` without two trials that distinguish the predictors, and if the likelihood has no finite
/// maximum because the predictors separate the votes.
#[cfg(test)]
pub fn judge_regression(trials: &[RegressionTrial]) -> Option<JudgeRegression> {
    let cases: Vec<RegressionCase> = trials
        .iter()
        .filter(|trial| trial.gap.is_finite() && (0.0..=1.0).contains(&trial.vote))
        .map(|trial| RegressionCase {
            x: [trial.gap, if trial.b_first { 1.0 } else { -1.0 }],
            vote: trial.vote,
            weight: 1.0,
        })
        .collect();
    JudgeRegression::of(searched(&cases))
}

impl JudgeRegression {
    /// The response found by a search over cases of (gap, order).
    pub(super) fn of(search: LogisticSearch) -> Option<Self> {
        let n = search.cases();
        search.found().map(|fit| Self {
            beta: fit.coefficients[0],
            gamma: fit.coefficients[1],
            beta_se: fit.se[0],
            gamma_se: fit.se[1],
            n,
        })
    }
}

/// A weighted observation of the regression.
#[derive(Clone, Copy, Debug)]
pub(super) struct RegressionCase {
    pub(super) x: [f64; 2],
    pub(super) vote: f64,
    pub(super) weight: f64,
}

/// Coefficients and their standard errors.
#[derive(Clone, Copy, Debug)]
pub(super) struct LogisticFit {
    pub(super) coefficients: [f64; 2],
    pub(super) se: [f64; 2],
    /// The degrees of freedom of clustered errors; `None` if the errors come from the information
    /// matrix.
    degrees: Option<usize>,
}

impl LogisticFit {
    /// The interval of a coefficient.
    pub(super) fn interval(&self, at: usize) -> Option<Interval> {
        let (value, se) = (self.coefficients[at], self.se[at]);
        let (least, most) = (f64::NEG_INFINITY, f64::INFINITY);
        match self.degrees {
            Some(degrees) => ClusteredError { se, degrees }.interval(value, least, most),
            None => Interval::normal(value, se, least, most),
        }
    }
}

/// The negative log-likelihood of cases at some coefficients, with its first two derivatives.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LikelihoodTerms {
    cases: usize,
    loss: f64,
    gradient: [f64; 2],
    /// The information matrix: its two diagonal entries and the off-diagonal one.
    information: [f64; 3],
    /// Σ of the squared gradients of the clusters, in the same layout as the information, and the
    /// number of clusters.
    scores: [f64; 3],
    clusters: usize,
}

/// Newton's method with step halving. If the predictors separate the votes, the steps never shrink,
/// and it gives up.
pub(super) fn regression(cases: &[RegressionCase]) -> Option<LogisticFit> {
    searched(cases).found()
}

fn searched(cases: &[RegressionCase]) -> LogisticSearch {
    let mut search = LogisticSearch::default();
    while let Some(at) = search.trial() {
        let mut terms = LikelihoodTerms::default();
        for case in cases {
            terms.add(case, at);
        }
        search.take(terms);
    }
    search
}

/// A search for the maximum that sees all cases once per round, so that they need not be in memory
/// together: [`Self::trial`] returns the next point to evaluate, [`Self::take`] receives the
/// result.
#[derive(Clone, Debug, Default)]
pub(super) struct LogisticSearch {
    at: [f64; 2],
    /// The terms at `at`; `None` before the first evaluation.
    here: Option<LikelihoodTerms>,
    step: [f64; 2],
    /// The fraction of the step being tried, and how often it was halved.
    length: f64,
    halved: usize,
    steps: usize,
    /// The result, once the search has ended.
    end: Option<Option<LogisticFit>>,
}

impl LogisticSearch {
    /// The next point to evaluate; `None` once the search has ended.
    pub(super) fn trial(&self) -> Option<[f64; 2]> {
        self.end.is_none().then(|| match self.here {
            // Start at 0, where no vote is treated as certain, however large its gap.
            None => [0.0; 2],
            Some(_) => [0, 1].map(|k| self.at[k] + self.length * self.step[k]),
        })
    }

    /// Continues with the likelihood at [`Self::trial`].
    pub(super) fn take(&mut self, there: LikelihoodTerms) {
        let Some(trial) = self.trial() else {
            return;
        };
        if let Some(here) = &self.here {
            let slack = 1e-13 * (1.0 + here.loss.abs());
            let worse = there.loss.is_nan() || there.loss > here.loss + slack;
            if worse && self.halved + 1 < MAX_HALVED {
                self.length *= 0.5;
                self.halved += 1;
                return;
            }
            self.steps += 1;
            let still =
                |k: usize| (trial[k] - self.at[k]).abs() <= TOLERANCE * (1.0 + self.at[k].abs());
            if still(0) && still(1) {
                self.end = Some(errors(trial, &there));
            } else if self.steps == MAX_STEPS {
                self.end = Some(None);
            }
        }
        (self.at, self.length, self.halved) = (trial, 1.0, 0);
        let [xx, yy, xy] = there.information;
        let [gx, gy] = there.gradient;
        let determinant = xx * yy - xy * xy;
        if self.end.is_none() && (determinant.is_nan() || determinant <= 1e-12 * xx * yy) {
            self.end = Some(None);
        }
        self.step = [
            (yy * gx - xy * gy) / determinant,
            (xx * gy - xy * gx) / determinant,
        ];
        self.here = Some(there);
    }

    pub(super) fn found(self) -> Option<LogisticFit> {
        self.end.flatten()
    }

    /// Number of cases.
    pub(super) fn cases(&self) -> usize {
        self.here.map_or(0, |here| here.cases)
    }
}

/// The errors at the maximum: from the sandwich of the clusters' gradients if there are several
/// clusters, at least one of them with several cases (Liang & Zeger 1986, with the factor G / (G −
/// 1)); otherwise from the information matrix.
fn errors(coefficients: [f64; 2], there: &LikelihoodTerms) -> Option<LogisticFit> {
    let [xx, yy, xy] = there.information;
    let determinant = xx * yy - xy * xy;
    let clustered = there.clusters > 1 && there.clusters < there.cases;
    let variances = if clustered {
        let [gg, hh, gh] = there.scores;
        let of = |x: f64, y: f64| {
            let spread = x * x * gg + y * y * hh + 2.0 * x * y * gh;
            spread / determinant.powi(2) * there.clusters as f64 / (there.clusters - 1) as f64
        };
        [of(yy, -xy), of(-xy, xx)]
    } else {
        [yy / determinant, xx / determinant]
    };
    let se = variances.map(f64::sqrt);
    se.iter()
        .all(|se| se.is_finite() && *se > 0.0)
        .then_some(LogisticFit {
            coefficients,
            se,
            degrees: clustered.then(|| there.clusters - 1),
        })
}

impl LikelihoodTerms {
    /// Adds the contribution of a case at some coefficients.
    pub(super) fn add(&mut self, case: &RegressionCase, at: [f64; 2]) {
        let RegressionCase { x, vote, weight } = case;
        let z = at[0] * x[0] + at[1] * x[1];
        self.cases += 1;
        // Compute one exponential for the loss and both tails: a search visits every vote several
        // times.
        let tail = (-z.abs()).exp();
        self.loss += weight * surprise_beside(tail, z, *vote);
        let (near, far) = (1.0 / (1.0 + tail), tail / (1.0 + tail));
        let (p, q) = if z >= 0.0 { (near, far) } else { (far, near) };
        let pull = weight * (vote * q - (1.0 - vote) * p);
        let stiffness = weight * p * q;
        self.gradient[0] += pull * x[0];
        self.gradient[1] += pull * x[1];
        self.information[0] += stiffness * x[0] * x[0];
        self.information[1] += stiffness * x[1] * x[1];
        self.information[2] += stiffness * x[0] * x[1];
    }

    /// Makes all cases added since the last call one cluster.
    pub(super) fn close_cluster(&mut self) {
        let [gx, gy] = self.gradient;
        self.scores = [gx * gx, gy * gy, gx * gy];
        self.clusters = usize::from(self.cases > 0);
    }

    /// Adds the contributions of other cases at the same coefficients, which belong to other
    /// clusters.
    pub(super) fn join(&mut self, other: &Self) {
        self.cases += other.cases;
        self.loss += other.loss;
        for (sum, part) in self.gradient.iter_mut().zip(other.gradient) {
            *sum += part;
        }
        for (sum, part) in self.information.iter_mut().zip(other.information) {
            *sum += part;
        }
        for (sum, part) in self.scores.iter_mut().zip(other.scores) {
            *sum += part;
        }
        self.clusters += other.clusters;
    }
}

/// The negative log-likelihood of a vote at the logit `z`: −[vote · ln σ(z) + (1 − vote) · ln
/// σ(−z)].
pub(super) fn surprise(z: f64, vote: f64) -> f64 {
    surprise_beside((-z.abs()).exp(), z, vote)
}

/// [`surprise`] with a precomputed `tail` = exp(−|z|).
fn surprise_beside(tail: f64, z: f64, vote: f64) -> f64 {
    let against = if z >= 0.0 { 1.0 - vote } else { vote };
    tail.ln_1p() + against * z.abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(gap: f64, b_first: bool, vote: f64) -> RegressionTrial {
        RegressionTrial { gap, b_first, vote }
    }

    #[test]
    fn one_gap_and_two_orders_have_a_closed_form() {
        // Three of four votes for B at logit β + γ, one of four at β − γ: β = 0, γ = ln 3.
        let mut trials = Vec::new();
        for votes in [[1.0, 1.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]] {
            let first = votes[0] == 1.0;
            trials.extend(votes.map(|vote| trial(1.0, first, vote)));
        }
        let fit = judge_regression(&trials).unwrap();
        assert!(fit.beta.abs() < 1e-10 && (fit.gamma - 3.0f64.ln()).abs() < 1e-10);
        // The information is 8 · 3/16 on the diagonal and 0 off it.
        assert!((fit.beta_se - (1.0f64 / 1.5).sqrt()).abs() < 1e-10);
        assert_eq!(fit.n, 8);
    }

    #[test]
    fn separated_or_idle_votes_have_no_answer() {
        let split: Vec<RegressionTrial> = (1..20)
            .map(|i| trial(f64::from(i) - 9.5, i % 2 == 0, f64::from(u8::from(i > 9))))
            .collect();
        assert_eq!(judge_regression(&split), None);
        assert_eq!(judge_regression(&[]), None);
        assert_eq!(judge_regression(&[trial(1.0, true, 0.5)]), None);
        let parallel = [trial(1.0, true, 0.0), trial(-1.0, false, 0.5)];
        assert_eq!(judge_regression(&parallel), None);
    }

    #[test]
    fn far_away_gaps_overflow_nothing() {
        let trials: Vec<RegressionTrial> = (0..40)
            .map(|i| trial(f64::from(i - 20) * 1e3, i % 3 == 0, f64::from(i % 2)))
            .chain([trial(f64::NAN, true, 1.0), trial(0.0, true, 7.0)])
            .collect();
        let fit = judge_regression(&trials).unwrap();
        assert!(fit.beta.is_finite() && fit.gamma_se.is_finite() && fit.n == 40);
    }
}
