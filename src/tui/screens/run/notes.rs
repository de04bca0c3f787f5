//! Notes of features about the judges, such as that one has changed.

use crate::app::error::AppError;
use crate::domain::sanitize;
use crate::registry::RUN_NOTES;
use crate::tui::job::{Job, JobContext, Task};
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::screens::Screen;
use crate::tui::slot::Slot;
use crate::tui::text;
use crate::tui::theme::Theme;
use ratatui::text::Line;

const NOTES: Slot = Slot::of(Screen::RUN, "notes");

/// Reads the notes of all features.
#[derive(Debug, PartialEq)]
pub(crate) struct ReadRunNotes;

impl Task for ReadRunNotes {
    type Answer = Vec<String>;

    fn run(self, context: &JobContext) -> Result<Self::Answer, AppError> {
        let store = context.store();
        let mut notes = Vec::new();
        for read in RUN_NOTES {
            notes.extend(read(&store)?);
        }
        Ok(notes)
    }
}

impl Model {
    /// Requests the notes of features.
    pub(super) fn read_run_notes(&mut self) -> Effect {
        let then = |model: &mut Model, notes| {
            model.run.notes = notes;
            Vec::new()
        };
        Job::task(ReadRunNotes, then)
            .latest(&mut self.jobs, NOTES)
            .into()
    }
}

pub(super) fn lines(model: &Model, theme: &Theme, columns: usize) -> Vec<Line<'static>> {
    let notes = model.run.notes.iter();
    notes
        .flat_map(|note| text::lines(&sanitize::line(note), columns, theme.warn()))
        .collect()
}
