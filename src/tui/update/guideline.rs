//! Edits the project's guideline in the workbench.

use super::requests::settings::NewGuideline;
use super::unsaved_guideline::{give_up, settled};
use crate::tui::message::Effect;
use crate::tui::model::{ConfirmFor, Model, Overlay};
use crate::tui::widgets::guideline_editor::GuidelineEditor;

/// Stores the text. The editor stays open until the project has it, so that a failed write loses
/// nothing.
pub(super) fn store(model: &mut Model, editor: GuidelineEditor, text: String) -> Vec<Effect> {
    if !editor.is_changed() {
        settled(model);
        model.inform("the guideline is unchanged");
        return Vec::new();
    }
    model.overlays.push(Overlay::Guideline(editor));
    vec![model.keep_guideline(NewGuideline::Typed(text))]
}

/// The user closes the editor. Changes that are not stored are given up only after a yes.
pub(super) fn close(model: &mut Model, editor: GuidelineEditor) {
    if editor.is_changed() {
        model.overlays.push(Overlay::Guideline(editor));
        let question = "Discard the changes to the guideline?";
        model.confirm("Guideline", question, ConfirmFor::DiscardGuideline);
    } else {
        settled(model);
    }
}

pub(super) fn discard(model: &mut Model) {
    give_up(model);
    model.inform("the guideline is unchanged");
}

/// Whether the editor has changes that are not stored.
pub(super) fn is_unsaved(model: &Model) -> bool {
    let unsaved = |overlay: &Overlay| matches!(overlay, Overlay::Guideline(of) if of.is_changed());
    model.overlays.iter().any(unsaved)
}
