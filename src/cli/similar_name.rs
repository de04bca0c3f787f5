//! Points out names that are easily confused with someone else's.

use super::command::{CommandContext, CommandResult};
use super::output;
use crate::app::review::similar_names::similar_name_note;
use crate::store::Store;

/// Prints a note if the annotator's name resembles someone else's in the project.
pub(super) fn note_similar_name(context: &CommandContext, store: &Store) -> CommandResult {
    let annotator = context.annotator();
    let note = store.read_blocking(move |db| similar_name_note(db, &annotator))?;
    if let Some(note) = note {
        output::message(&format!("note: {note}"));
    }
    Ok(())
}
