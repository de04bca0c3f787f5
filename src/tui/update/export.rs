//! The export: its dialog, the question before a file is overwritten, and its result.

use crate::store::contents::ProjectContents;
use crate::tui::message::Effect;
use crate::tui::model::{ConfirmFor, Model, Overlay};
use crate::tui::widgets::export_dialog::{ExportDialog, ExportOrder};
use crate::tui::widgets::toast::Level;

/// The end of an export.
#[derive(Debug)]
pub(crate) enum Exported {
    /// A message about what was written.
    Written(String),
    /// The file already exists.
    Exists(ExportOrder, String),
}

pub(super) fn open(model: &mut Model) -> Vec<Effect> {
    let asked = |overlay: &Overlay| matches!(overlay, Overlay::Export(_));
    if model.export.going.is_some() {
        model.inform("an export is in progress; wait until it ends");
    } else if !model.overlays.iter().any(asked) {
        let behavior = model.behavior();
        let dialog = ExportDialog::new(behavior.exports(), behavior.picture(model));
        model.overlays.push(Overlay::Export(dialog));
        return model.read_contents();
    }
    Vec::new()
}

/// The project's content is known, so that an empty export is reported before it is written.
pub(crate) fn looked_up(model: &mut Model, held: ProjectContents) -> Vec<Effect> {
    for overlay in &mut model.overlays {
        if let Overlay::Export(dialog) = overlay {
            dialog.held = Some(held);
        }
    }
    Vec::new()
}

pub(super) fn begin(model: &mut Model, order: ExportOrder) -> Vec<Effect> {
    model.export.going = Some(order.path.clone());
    vec![model.export_file(order, false)]
}

fn ask_to_overwrite(model: &mut Model, order: ExportOrder, file: &str) {
    model.export.refused = Some(order);
    let question = format!("{file} exists. Write over it?");
    model.confirm("Export", &question, ConfirmFor::Overwrite);
}

pub(super) fn overwrite(model: &mut Model) -> Vec<Effect> {
    let Some(order) = model.export.refused.take() else {
        return Vec::new();
    };
    model.export.going = Some(order.path.clone());
    vec![model.export_file(order, true)]
}

pub(crate) fn ended(model: &mut Model, exported: Exported) -> Vec<Effect> {
    model.export.going = None;
    match exported {
        Exported::Written(words) => model.say(Level::Good, &words),
        Exported::Exists(order, file) => ask_to_overwrite(model, order, &file),
    }
    Vec::new()
}

pub(crate) fn failed(model: &mut Model, error: &str) {
    model.export.going = None;
    model.say(Level::Error, error);
}
