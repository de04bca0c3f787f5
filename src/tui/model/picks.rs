//! Picks that judges are being asked for.

use crate::app::pick::PickProgress;
use crate::tui::widgets::pick_dialog::PickOrder;

#[derive(Debug, Default)]
pub struct PickState {
    /// What the dialog asked for last, so that an overtaken answer is dropped.
    pub generation: u64,
    /// How far they are, while judges are asked.
    pub going: Option<PickProgress>,
    /// What a person is asked about, as it costs money.
    pub asked: Option<PickOrder>,
}
