//! Warnings about scores: documents that are not connected, undefeated, winless or isolated, and
//! fits with problems.

use super::{BattleRecord, PriorPrecision, RankingSettings};
use crate::domain::number_words::{count, counted, fixed};
use crate::domain::rating::{self, Fit, Observation, RatingModel, Structure};
use crate::domain::vote::{Outcome, Vote};

/// A warning about a query's scores.
#[derive(Clone, Debug, PartialEq)]
pub enum ScoreWarning {
    /// These documents are not connected to the largest group, so their scores cannot be compared
    /// with its scores.
    NotConnected(Vec<usize>),
    /// No votes count for these documents: their score is 0 by convention.
    Isolated(Vec<usize>),
    /// These documents never lost: only the prior, or a stopping rule, limits their score.
    Undefeated(Vec<usize>),
    /// These documents never won: only the prior, or a stopping rule, limits their score.
    Winless(Vec<usize>),
    /// The iteration stopped at its limit.
    NotConverged(usize),
    /// Standard errors are not computed for pools of this size.
    TooLargeForErrors(usize),
    /// The votes hardly distinguish documents, and the prior pulls the scores together. `battles`
    /// is the number of battles that the prior was learned from; `None` if it was set.
    WeakSignal { lambda: f64, battles: Option<usize> },
    /// Many battles are ties in all votes, and the dispersion estimated from them is smaller than
    /// single votes can give: if some documents always tie and others never do, the errors of the
    /// others are far too small.
    ManyTies {
        ties: usize,
        battles: usize,
        judges: usize,
    },
}

/// From this precision of the prior, the signal is weak: the standard deviation of scores is about
/// .6 or less in the units of a three-judge battle.
const WEAK_SIGNAL: f64 = 1.0;

/// From this share of ties, one dispersion cannot fit all pairs.
const MANY_TIES: f64 = 0.5;

impl ScoreWarning {
    /// The warning if the prior in use indicates that documents are hard to distinguish.
    pub(super) fn weak_signal(settings: &RankingSettings) -> Option<Self> {
        let lambda = settings.rating().lambda;
        let battles = match settings.lambda {
            PriorPrecision::Set(_) => None,
            PriorPrecision::Auto => Some(settings.learned?.battles),
        };
        let has_prior = matches!(settings.model, RatingModel::Map | RatingModel::Thurstone);
        (has_prior && lambda >= WEAK_SIGNAL).then_some(Self::WeakSignal { lambda, battles })
    }

    /// The warning if too many battles are ties in all votes for an estimated dispersion `phi`,
    /// given the number of judges per battle.
    ///
    /// In simulations with 47 to 93 % ties, where some documents tie and others do not, 95 %
    /// intervals between the two kinds covered the truth in 8 to 94 of 100 cases; with φ = 1 over
    /// the number of judges, in 76 to 100.
    pub(super) fn many_ties(battles: &[BattleRecord], phi: f64, judges: usize) -> Option<Self> {
        let voted = || battles.iter().filter(|battle| !battle.votes.is_empty());
        let tie = |vote: &Vote| vote.margin.outcome() == Outcome::Tie;
        let ties = voted()
            .filter(|battle| battle.votes.iter().all(tie))
            .count();
        let battles = voted().count();
        let many = ties as f64 >= MANY_TIES * battles as f64 && ties > 0;
        (many && phi * (judges.max(1) as f64) < 1.0 - 1e-9).then_some(Self::ManyTies {
            ties,
            battles,
            judges: judges.max(1),
        })
    }
}

impl ScoreWarning {
    /// The warning as text; `name` returns the name of a document.
    pub fn words(&self, name: impl Fn(usize) -> String) -> String {
        let list = |documents: &[usize]| {
            let shown: Vec<String> = documents.iter().take(5).map(|d| name(*d)).collect();
            let rest = documents.len().saturating_sub(shown.len());
            let more = if rest > 0 {
                format!(" and {rest} more")
            } else {
                String::new()
            };
            format!("{}{more}", shown.join(", "))
        };
        match self {
            Self::NotConnected(documents) => match documents.len() {
                1 => format!(
                    "{} is not connected: its score is not comparable",
                    list(documents)
                ),
                _ => format!(
                    "{} are not connected: their scores are not comparable",
                    list(documents)
                ),
            },
            Self::Isolated(documents) => match documents.len() {
                1 => format!(
                    "{} has no vote yet: its score is 0 by convention",
                    list(documents)
                ),
                _ => format!(
                    "{} have no vote yet: their score is 0 by convention",
                    list(documents)
                ),
            },
            Self::Undefeated(documents) => {
                format!(
                    "{} won every battle: {}",
                    list(documents),
                    match documents.len() {
                        1 => "its true score may be higher",
                        _ => "their true scores may be higher",
                    }
                )
            }
            Self::Winless(documents) => {
                format!(
                    "{} lost every battle: {}",
                    list(documents),
                    match documents.len() {
                        1 => "its true score may be lower",
                        _ => "their true scores may be lower",
                    }
                )
            }
            Self::NotConverged(iterations) => {
                format!("the fit stopped after {iterations} iterations without converging")
            }
            Self::TooLargeForErrors(documents) => {
                format!(
                    "{documents} documents: standard errors are computed up to {}",
                    rating::MAX_DENSE
                )
            }
            Self::WeakSignal {
                lambda,
                battles: Some(battles),
            } => format!(
                "weak signal: the votes hardly tell documents apart (prior λ = {lambda}, learned \
                 from {}), so scores are close together and ranks uncertain",
                counted(*battles, "battle")
            ),
            Self::WeakSignal {
                lambda,
                battles: None,
            } => format!(
                "weak signal assumed: the prior is set to λ = {lambda}, which pulls scores together"
            ),
            Self::ManyTies {
                ties,
                battles,
                judges,
            } => {
                format!(
                    "{} of {} are ties in all votes: intervals of documents that do not tie are \
                     too narrow; `overrule config project --phi {}` widens them",
                    count(*ties),
                    counted(*battles, "battle"),
                    // Round up, so that it is enough.
                    fixed((100.0 / *judges as f64).ceil() / 100.0, 2)
                )
            }
        }
    }
}

pub(super) fn warnings(
    entered: &[usize],
    structure: &Structure,
    fit: Option<&Fit>,
    has_errors: bool,
    model: RatingModel,
) -> Vec<ScoreWarning> {
    let pool =
        |indexes: &[usize]| -> Vec<usize> { indexes.iter().map(|index| entered[*index]).collect() };
    let mut warnings = Vec::new();
    let mut sizes = vec![0usize; structure.component_count];
    for component in &structure.components {
        sizes[*component] += 1;
    }
    // The others are compared with the first of the largest components.
    let main = (0..sizes.len())
        .rev()
        .max_by_key(|component| sizes[*component]);
    let apart: Vec<usize> = (0..entered.len())
        .filter(|index| {
            Some(structure.components[*index]) != main && sizes[structure.components[*index]] > 1
        })
        .collect();
    let fought = sizes.iter().any(|size| *size > 1);
    if !apart.is_empty() {
        warnings.push(ScoreWarning::NotConnected(pool(&apart)));
    }
    if entered.len() > 1 && !structure.isolated.is_empty() {
        warnings.push(ScoreWarning::Isolated(pool(&structure.isolated)));
    }
    if fought && model != RatingModel::Mle {
        if !structure.undefeated.is_empty() {
            warnings.push(ScoreWarning::Undefeated(pool(&structure.undefeated)));
        }
        if !structure.winless.is_empty() {
            warnings.push(ScoreWarning::Winless(pool(&structure.winless)));
        }
    }
    if let Some(fit) = fit {
        if !fit.converged {
            warnings.push(ScoreWarning::NotConverged(fit.iterations));
        }
        if !has_errors && entered.len() > rating::MAX_DENSE {
            warnings.push(ScoreWarning::TooLargeForErrors(entered.len()));
        }
    }
    warnings
}

/// The warnings about a fit of plain battles over `documents` documents.
pub fn fit_warnings(
    documents: usize,
    observations: &[Observation],
    fit: &Fit,
    options: &rating::RatingOptions,
) -> Vec<ScoreWarning> {
    let everyone: Vec<usize> = (0..documents).collect();
    let structure = rating::structure(documents, observations);
    warnings(
        &everyone,
        &structure,
        Some(fit),
        documents <= rating::MAX_DENSE,
        options.model,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::battle::{Battle, BattleId};
    use crate::domain::vote::{JudgeId, Margin};

    #[test]
    fn many_exact_ties_are_told_where_the_dispersion_follows_from_them() {
        let battle = |at: usize, margins: &[f64]| {
            let vote = |(judge, margin): (usize, &f64)| Vote {
                judge: JudgeId(judge as i64),
                margin: Margin::new(*margin).unwrap(),
                swapped: false,
            };
            BattleRecord {
                battle: Battle {
                    id: BattleId(at as i64),
                    a: at,
                    b: at + 1,
                    game: 0,
                },
                votes: margins.iter().enumerate().map(vote).collect(),
                failed: Vec::new(),
                asked: None,
            }
        };
        let battles = |ties: usize, others: usize| -> Vec<BattleRecord> {
            (0..ties + others)
                .map(|at| {
                    battle(
                        at,
                        if at < ties {
                            &[0.0; 3]
                        } else {
                            &[1.0, 1.0, 0.0]
                        },
                    )
                })
                .collect()
        };
        let found = ScoreWarning::many_ties(&battles(1_900, 100), 0.05, 3);
        let words = found.map(|found| found.words(|at| at.to_string()));
        assert_eq!(
            words.as_deref(),
            Some(
                "1,900 of 2,000 battles are ties in all votes: intervals of documents that do not \
                 tie are too narrow; \
                 `overrule config project --phi 0.34` widens them"
            )
        );
        // Few ties; a dispersion that was assumed instead of estimated; and no battles.
        assert_eq!(ScoreWarning::many_ties(&battles(900, 1_100), 0.2, 3), None);
        assert_eq!(
            ScoreWarning::many_ties(&battles(1_900, 100), 1.0 / 3.0, 3),
            None
        );
        assert_eq!(ScoreWarning::many_ties(&[], 0.05, 3), None);
    }
}
