//! Writes a report in one of its formats.

use super::read_report;
use crate::app::error::AppError;
use crate::app::export::{AddedPage, OfferedPage};
use crate::features::report::domain::ProjectReport;
use crate::features::report::formats;
use crate::store::Store;
use std::sync::Arc;

/// The format of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageFormat {
    Html,
    Markdown,
}

/// The text of a report.
pub fn report_text(report: &ProjectReport, format: PageFormat) -> Result<String, AppError> {
    let text = match format {
        PageFormat::Html => formats::html(report),
        PageFormat::Markdown => formats::markdown(report),
    };
    text.map_err(AppError::failed)
}

/// The report with the usual queries, as an export of the workbench.
#[derive(Clone, Debug)]
struct UsualReport {
    annotator: String,
}

impl AddedPage for UsualReport {
    fn html(&self, store: &Store) -> Result<String, AppError> {
        let report = read_report(store, None, &self.annotator, &mut |_, _| {})?;
        report_text(&report, PageFormat::Html)
    }
}

/// The report in the dialog of exports.
pub const OFFERED: OfferedPage = OfferedPage {
    name: "report",
    doc: "the project as one web page to share",
    file: "report.html",
    page: |annotator| {
        Arc::new(UsualReport {
            annotator: annotator.to_owned(),
        })
    },
};
