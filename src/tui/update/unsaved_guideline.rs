//! Changes to the guideline that were not stored when the workbench ended.

use crate::tui::model::{Model, Overlay};
use crate::tui::widgets::guideline_editor::GuidelineEditor;

/// The name under which a text that is not stored is kept for the next session.
const UNSAVED: &str = "guideline";

/// Opens an editor of the stored text, with the changes that the last session left.
pub(super) fn edit(model: &mut Model, stored: &str) {
    let mut editor = GuidelineEditor::new(stored);
    if let Some(unsaved) = model.unsaved.get(UNSAVED) {
        editor.replace(unsaved);
        model.inform("these changes were not stored when the workbench ended");
    }
    model.overlays.push(Overlay::Guideline(editor));
}

/// Whether changes of an earlier session wait to be stored.
pub(super) fn has_unsaved(model: &Model) -> bool {
    model.unsaved.contains_key(UNSAVED)
}

/// Keeps the changes for the next session.
pub(super) fn keep(model: &mut Model, editor: &GuidelineEditor) {
    if editor.is_changed() {
        model.unsaved.insert(UNSAVED.to_owned(), editor.text());
    }
}

/// No changes wait to be stored any more.
pub(super) fn settled(model: &mut Model) {
    model.unsaved.remove(UNSAVED);
}

/// Closes the editor, and drops its changes.
pub(super) fn give_up(model: &mut Model) {
    let before = model.overlays.len();
    let editing = |overlay: &Overlay| matches!(overlay, Overlay::Guideline(_));
    model.overlays.retain(|overlay| !editing(overlay));
    if model.overlays.len() < before {
        settled(model);
    }
}
