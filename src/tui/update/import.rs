//! The import: its dialog, and what it brought.

use crate::tui::message::Effect;
use crate::tui::model::import::GoingImport;
use crate::tui::model::{Model, Overlay};
use crate::tui::widgets::import_dialog::{ImportDialog, ImportPurpose, Wanted};
use crate::tui::widgets::page::Page;
use crate::tui::widgets::toast::Level;

/// Opens the dialog, on the files of the working folder.
pub(super) fn open(model: &mut Model, purpose: ImportPurpose) -> Vec<Effect> {
    if model.import.going.is_some() {
        model.inform("an import is going on; wait for its end");
        return Vec::new();
    }
    if model
        .overlays
        .iter()
        .any(|overlay| matches!(overlay, Overlay::Import(_)))
    {
        return Vec::new();
    }
    let dialog = ImportDialog::new(&model.options.project, purpose);
    model.overlays.push(Overlay::Import(dialog));
    look(model, Some(Wanted::Folder(String::new())))
}

/// Asks the disk for what the dialog needs.
pub(super) fn look(model: &mut Model, wanted: Option<Wanted>) -> Vec<Effect> {
    let Some(wanted) = wanted else {
        return Vec::new();
    };
    model.import.generation += 1;
    vec![Effect::LookAtFiles(wanted, model.import.generation)]
}

/// The dialog that waits for this answer.
pub(super) fn dialog(model: &mut Model, generation: u64) -> Option<&mut ImportDialog> {
    let wanted = generation == model.import.generation;
    let mut overlays = model.overlays.iter_mut();
    let dialog = overlays.find_map(|overlay| match overlay {
        Overlay::Import(dialog) => Some(dialog),
        _ => None,
    });
    dialog.filter(|_| wanted)
}

pub(super) fn begin(model: &mut Model, path: String) -> Vec<Effect> {
    let file = path.rsplit('/').next().unwrap_or(&path).to_owned();
    model.import.going = Some(GoingImport { file, share: None });
    vec![Effect::Import(path)]
}

pub(super) fn progressed(model: &mut Model, share: Option<f64>) {
    if let Some(going) = &mut model.import.going {
        going.share = share;
    }
}

pub(super) fn ended(model: &mut Model, result: Result<Vec<String>, Vec<String>>) -> Vec<Effect> {
    model.import.going = None;
    match result {
        Ok(lines) if lines.len() > 1 => {
            let page = Page::new("Imported", &lines.join("\n"));
            model.overlays.push(Overlay::Page(page));
        }
        Ok(lines) => model.say(Level::Good, &lines.join(" ")),
        Err(problems) => {
            let page = Page::new("Nothing was imported", &problems.join("\n"));
            model.overlays.push(Overlay::Page(page));
            return Vec::new();
        }
    }
    let mut effects = vec![Effect::List];
    effects.extend(model.reload());
    effects
}
