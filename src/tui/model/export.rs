//! State of an export that is running, waits for permission to overwrite a file, or has just ended.

use crate::tui::widgets::export_dialog::ExportOrder;

#[derive(Debug, Default)]
pub struct ExportState {
    /// The file being written.
    pub going: Option<String>,
    /// An export whose file already exists.
    pub refused: Option<ExportOrder>,
    /// The files that were just written, one per line; copied if the next key copies.
    pub written: Option<String>,
}
