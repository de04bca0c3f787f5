//! An export that goes on, or waits for leave to write over a file.

use crate::tui::widgets::export_dialog::ExportOrder;

#[derive(Debug, Default)]
pub struct ExportState {
    /// The file that is being written.
    pub going: Option<String>,
    /// An export whose file exists.
    pub refused: Option<ExportOrder>,
}
