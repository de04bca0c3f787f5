//! Calibrates scores across queries: selects documents to grade, stores the judges' grades, and
//! derives comparable scores from a project's zELO.

mod anchors;
mod links;
mod log;
mod offered;
mod project_scale;
mod report;
mod simulate;
mod status;

pub use anchors::{anchors, prepare_anchor_run};
pub use links::{LinkEstimate, LinkRun, prepare_link_run};
pub use log::log_entries;
pub use offered::{ANCHOR_OFFER, ANCHORS, LINK_OFFER};
#[cfg(test)]
pub use offered::{Anchors, Links};
pub use project_scale::{GradeSource, project_scale, project_scale_of};
pub use report::{ScaleReport, scale_report};
pub use simulate::{SimulatedDesign, simulate_designs};
pub use status::status;
