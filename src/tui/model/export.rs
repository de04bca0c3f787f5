//! State of an export that is running, or waits for permission to overwrite a file.

use crate::tui::widgets::export_dialog::ExportOrder;

#[derive(Debug, Default)]
pub struct ExportState {
    /// The file being written.
    pub going: Option<String>,
    /// An export whose file already exists.
    pub refused: Option<ExportOrder>,
}
