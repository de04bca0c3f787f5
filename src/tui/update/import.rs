//! The import: its dialog and its result.

use super::leaving;
use crate::tui::message::Effect;
use crate::tui::model::import::GoingImport;
use crate::tui::model::{Model, Overlay, PromptFor};
use crate::tui::widgets::import_dialog::{ImportDialog, ImportPurpose, Wanted};
use crate::tui::widgets::page::Page;
use crate::tui::widgets::toast::Level;

/// Opens the dialog with the files of the working directory.
pub(super) fn open(model: &mut Model, purpose: ImportPurpose) -> Vec<Effect> {
    if model.import.going.is_some() {
        model.inform("an import is in progress; wait until it ends");
        return Vec::new();
    }
    if model
        .overlays
        .iter()
        .any(|overlay| matches!(overlay, Overlay::Import(_)))
    {
        return Vec::new();
    }
    let project = (!model.options.sample).then_some(model.options.project.as_str());
    let dialog = ImportDialog::new(project, purpose);
    model.overlays.push(Overlay::Import(dialog));
    look(model, Some(Wanted::Folder(String::new())))
}

/// Requests what the dialog needs from the disk.
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
    let dialog = model.overlays.iter_mut().find_map(|overlay| match overlay {
        Overlay::Import(dialog) => Some(dialog),
        _ => None,
    });
    dialog.filter(|_| wanted)
}

/// A file was checked and accepted. In the sample, it becomes a separate project, for which a name
/// is requested.
pub(super) fn accepted(model: &mut Model, path: String, is_project: bool) -> Vec<Effect> {
    match (model.options.sample, is_project) {
        (false, _) => {
            going(model, &path);
            vec![Effect::Import(path)]
        }
        (true, true) => leave_for(model, &path),
        (true, false) => {
            let name = model.options.new_project.clone();
            let placeholder = "the file of the new project";
            model.ask("new project: ", placeholder, &name, PromptFor::NewProject);
            model.import.source = Some(path);
            Vec::new()
        }
    }
}

/// The name of a new project was entered.
pub(super) fn make(model: &mut Model, project: &str) -> Vec<Effect> {
    let project = project.trim().to_owned();
    let Some(source) = model.import.source.take() else {
        return Vec::new();
    };
    going(model, &source);
    vec![Effect::MakeProject { source, project }]
}

fn going(model: &mut Model, path: &str) {
    let file = path.rsplit('/').next().unwrap_or(path).to_owned();
    model.import.going = Some(GoingImport { file, share: None });
}

/// A project was created from a file: opens it in place of the sample.
pub(super) fn made(model: &mut Model, result: Result<String, Vec<String>>) -> Vec<Effect> {
    model.import.going = None;
    match result {
        Ok(project) => leave_for(model, &project),
        Err(problems) => {
            let page = Page::new("No project was made", &problems.join("\n"));
            model.overlays.push(Overlay::Page(page));
            Vec::new()
        }
    }
}

/// Ends the workbench on this project, and starts it again on another.
fn leave_for(model: &mut Model, project: &str) -> Vec<Effect> {
    model.next_project = Some(project.to_owned());
    leaving::quit(model)
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
