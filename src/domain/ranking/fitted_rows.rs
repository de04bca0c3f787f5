//! The fit of a query's rows and its errors, without anything that only a screen needs.

use super::fit_inputs::FitInputs;
use super::opinion_battles::opinion_observations;
use super::{QueryRows, RankingSettings};
use crate::domain::rating::{self, Covariance, Fit, RatingError, Structure};

pub(super) struct FittedRows {
    /// The votes, other answers and verdicts in the fit, followed by the predictions of a student.
    pub(super) inputs: FitInputs,
    /// Of votes and verdicts alone: gaps are reported even if a student fills them.
    pub(super) structure: Structure,
    /// Number of observations that are predictions.
    pub(super) opinion_pairs: usize,
    pub(super) phi: f64,
    pub(super) fit: Result<Fit, RatingError>,
    /// Of the scores based on votes and verdicts only.
    pub(super) covariance: Option<Covariance>,
}

impl FittedRows {
    /// Fits the rows, starting from zero. There are errors for at most `errors_up_to` documents.
    pub(super) fn new(rows: &QueryRows, settings: &RankingSettings, errors_up_to: usize) -> Self {
        let mut inputs = FitInputs::new(rows, settings);
        let entered = inputs.entered.len();
        let structure = rating::structure(entered, &inputs.observations);
        let student = opinion_observations(rows, settings, entered, &inputs.compact);
        let opinion_pairs = student.len();
        inputs.observations.extend(student);
        let options = settings.rating();
        let phi = rows.phi(settings);
        let fit = rating::fit(entered, &inputs.observations, &options, None);
        let covariance = fit
            .as_ref()
            .ok()
            .filter(|_| entered <= errors_up_to)
            .and_then(|fit| {
                // A student's predictions share their errors, and the size of these is unknown:
                // they move scores but narrow no interval.
                let judged = &inputs.observations[..inputs.observations.len() - opinion_pairs];
                let order = drawing_order(&rows.by_identifier, &inputs.compact, entered);
                rating::covariance_drawn_in(order, judged, fit, &options, phi)
            });
        Self {
            inputs,
            structure,
            opinion_pairs,
            phi,
            fit,
            covariance,
        }
    }
}

/// The documents of the fit in the order in which their errors are drawn.
fn drawing_order(by_identifier: &[usize], compact: &[Option<usize>], entered: usize) -> Vec<usize> {
    let order: Vec<usize> = by_identifier
        .iter()
        .filter_map(|document| compact.get(*document).copied().flatten())
        .collect();
    if order.len() == entered {
        order
    } else {
        (0..entered).collect()
    }
}
