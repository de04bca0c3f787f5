//! What a screen says before it starts an acceptance.

use super::frame::startable_battles;
use super::report::{AcceptReport, AcceptState, percent, read_report};
use crate::app::error::AppError;
use crate::domain::number_words::counted;
use crate::features::accept::domain::{CONTROLS, DEFAULT_ALPHA, DELTA};
use crate::store::Store;

/// The acceptance of a project, and whether another one can be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AcceptanceOffer {
    /// One is in progress, or none can be started: its result with the conditions.
    Present(String),
    /// One can be started: the question, with the numbers of battles and controls.
    Start(String),
}

/// Reads the latest acceptance, and counts the battles of a new one unless controls are open.
///
/// # Errors
/// There is no acceptance, and none can be started.
pub fn acceptance_offer(store: &Store) -> Result<AcceptanceOffer, AppError> {
    let present = read_report(store)?;
    if let Some(report) = present
        .as_ref()
        .filter(|of| of.state == AcceptState::Incomplete)
    {
        return Ok(AcceptanceOffer::Present(words(report)));
    }
    let battles = match (startable_battles(store), &present) {
        (Ok(battles), _) => battles,
        (Err(AppError::Invalid(why)), Some(report)) => {
            let words = words(report);
            return Ok(AcceptanceOffer::Present(format!(
                "{words}\n\nAnother one cannot be started: {why}."
            )));
        }
        (Err(error), _) => return Err(error),
    };
    let before = present.map_or(String::new(), |report| {
        format!("{} Start another acceptance? ", report.sentence())
    });
    Ok(AcceptanceOffer::Start(format!(
        "{before}{} random controls are drawn from {} with votes and without a verdict, and alpha is \
         fixed: at most {} of the accepted decisions will contradict a person ({} sure). Rule on the controls \
         first. `overrule accept --alpha` fixes another share. Start?",
        CONTROLS,
        counted(battles, "battle"),
        percent(DEFAULT_ALPHA),
        percent(1.0 - DELTA),
    )))
}

fn words(report: &AcceptReport) -> String {
    format!("{}\n\n{}", report.sentence(), report.remarks().join("\n"))
}
