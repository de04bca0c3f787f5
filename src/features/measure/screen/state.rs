//! State of the measurement on screen.

use crate::features::measure::app::{MeasureReport, MeasureRequest, NextDocument};
use crate::tui::model::Model;
use std::time::Instant;

/// Differences that can count as equal.
pub(super) const MARGINS: [f64; 4] = [0.05, 0.1, 0.01, 0.02];

/// The lowest relevant grade of the labels where people cannot tell.
pub(super) const LEVEL: i32 = 1;

/// A result, and the document to rule on next.
#[derive(Debug)]
pub(super) struct OpenMeasurement {
    pub(super) request: MeasureRequest,
    pub(super) report: MeasureReport,
    pub(super) next: Option<NextDocument>,
}

#[derive(Debug)]
pub(crate) struct MeasureState {
    /// `None` for the latest measurement of the project.
    pub(super) request: Option<MeasureRequest>,
    /// The largest difference that counts as equal.
    pub(super) margin: f64,
    /// The measurement, or why there is none; `None` while the first one is being read.
    pub(super) found: Option<Result<Box<OpenMeasurement>, String>>,
    /// Whether the shown document is outdated: a ruling or another measurement is on its way.
    pub(super) is_stale: bool,
    /// When the document became visible.
    pub(super) since: Option<Instant>,
    /// First visible line of the text; if `None`, that of the passage most similar to the query.
    pub(super) scroll: Option<usize>,
}

impl Default for MeasureState {
    fn default() -> Self {
        Self {
            request: None,
            margin: MARGINS[0],
            found: None,
            is_stale: false,
            since: None,
            scroll: None,
        }
    }
}

impl MeasureState {
    pub(super) fn open(&self) -> Option<&OpenMeasurement> {
        self.found.as_ref()?.as_deref().ok()
    }

    pub(super) fn report(&self) -> Option<&MeasureReport> {
        Some(&self.open()?.report)
    }

    /// The document to rule on, once it is shown.
    /// Whether a document is to be ruled on without knowing other opinions of it.
    pub(super) fn is_blind(&self) -> bool {
        self.next().is_some()
    }

    pub(super) fn next(&self) -> Option<&NextDocument> {
        self.open()?.next.as_ref().filter(|_| !self.is_stale)
    }
}

impl Model {
    pub(super) fn measure(&self) -> &MeasureState {
        self.state()
    }

    pub(super) fn measure_mut(&mut self) -> &mut MeasureState {
        self.state_mut()
    }
}
