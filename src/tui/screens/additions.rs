//! What features add to screens and dialogs of the core.

use crate::store::{self, Db};
use crate::tui::canvas::Canvas;
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::theme::Theme;
use crate::tui::widgets::settings_dialog::{Setting, SettingsDialog};
use ratatui::text::Line;
use std::fmt::Debug;

/// Puts values that were read into the model.
pub(crate) type PutValues = Box<dyn FnOnce(&mut Model) + Send>;

/// Settings of a project in the dialog of settings.
pub(crate) trait AddedSettings: Sync {
    /// Reads the current values.
    fn read(&self, db: &Db) -> store::Result<PutValues>;

    /// Their rows, with the values in the model.
    fn rows(&self, model: &Model) -> Vec<Setting>;

    /// Stores the chosen values if they differ from those in the model.
    fn keep(&self, model: &mut Model, dialog: &SettingsDialog) -> Vec<Effect>;
}

/// Raters that are listed in a separate table below the judges.
pub(crate) trait AddedRaters: Debug + Send + Sync {
    fn count(&self) -> usize;

    /// Draws a header and one row per rater; `selected` is the row under the cursor.
    fn render(&self, selected: Option<usize>, canvas: Canvas<'_>);

    /// Text about a rater.
    fn lines(&self, at: usize, theme: &Theme, columns: usize) -> Vec<Line<'static>>;
}
