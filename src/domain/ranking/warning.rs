//! What has to be said about scores: who is not connected, undefeated, winless, or not scored at all.

use crate::domain::rating::{self, Fit, Observation, RatingModel, Structure};

/// Something to be said plainly about a query's scores.
#[derive(Clone, Debug, PartialEq)]
pub enum ScoreWarning {
    /// These documents are not connected to the largest group: their scores are not comparable with it.
    NotConnected(Vec<usize>),
    /// No vote counts for these documents: their score is 0 by convention.
    Isolated(Vec<usize>),
    /// These documents never lost: only the prior, or a stopping rule, holds their score down.
    Undefeated(Vec<usize>),
    /// These documents never won: only the prior, or a stopping rule, holds their score up.
    Winless(Vec<usize>),
    /// The iteration stopped at its limit.
    NotConverged(usize),
    /// Standard errors are not computed for pools this large.
    TooLargeForErrors(usize),
}

impl ScoreWarning {
    /// The warning in words; `name` gives what a document is called.
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
    // The first of the largest components is the one that the others are compared with.
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

/// What is to be said about a fit of bare battles over `documents` documents.
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
