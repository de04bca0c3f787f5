//! The import: its dialog and its result.

use super::leaving;
use crate::app::error::AppError;
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
    let project = model
        .options
        .sample
        .is_none()
        .then_some(model.options.project.as_str());
    let dialog = ImportDialog::new(project, purpose);
    model.overlays.push(Overlay::Import(dialog));
    look(model, Some(Wanted::Folder(String::new())))
}

/// Requests what the dialog needs from the disk.
pub(super) fn look(model: &mut Model, wanted: Option<Wanted>) -> Vec<Effect> {
    match wanted {
        Some(Wanted::Folder(folder)) => vec![model.list_folder(folder)],
        Some(Wanted::Check(path, purpose)) => vec![model.check_file(path, purpose)],
        None => Vec::new(),
    }
}

/// The dialog that waits for this answer.
pub(crate) fn dialog(model: &mut Model) -> Option<&mut ImportDialog> {
    model.overlays.iter_mut().find_map(|overlay| match overlay {
        Overlay::Import(dialog) => Some(dialog),
        _ => None,
    })
}

/// An error as lines: each problem of a file with its line number, then the consequence.
pub(crate) fn problems(error: AppError) -> Vec<String> {
    match error {
        AppError::Problems(problems) => problems
            .first
            .iter()
            .map(ToString::to_string)
            .chain([problems.to_string()])
            .collect(),
        error => vec![error.to_string()],
    }
}

/// A file was checked and accepted. In the sample, it becomes a separate project, for which a name
/// is requested.
pub(super) fn accepted(model: &mut Model, path: String, is_project: bool) -> Vec<Effect> {
    match (model.options.sample.is_some(), is_project) {
        (false, _) => {
            going(model, &path);
            vec![model.import_file(path)]
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
    vec![model.make_project(source, project)]
}

fn going(model: &mut Model, path: &str) {
    let file = path.rsplit('/').next().unwrap_or(path).to_owned();
    model.import.going = Some(GoingImport { file, share: None });
}

/// A project was created from a file: opens it in place of the sample.
pub(crate) fn made(model: &mut Model, result: Result<String, AppError>) -> Vec<Effect> {
    model.import.going = None;
    match result {
        Ok(project) => leave_for(model, &project),
        Err(error) => {
            let page = Page::new("No project was made", &problems(error).join("\n"));
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

pub(crate) fn progressed(model: &mut Model, share: Option<f64>) {
    if let Some(going) = &mut model.import.going {
        going.share = share;
    }
}

pub(crate) fn ended(model: &mut Model, result: Result<Vec<String>, AppError>) -> Vec<Effect> {
    model.import.going = None;
    match result {
        Ok(lines) if lines.len() > 1 => {
            let page = Page::new("Imported", &lines.join("\n"));
            model.overlays.push(Overlay::Page(page));
        }
        Ok(lines) => model.say(Level::Good, &lines.join(" ")),
        Err(error) => {
            let page = Page::new("Nothing was imported", &problems(error).join("\n"));
            model.overlays.push(Overlay::Page(page));
            return Vec::new();
        }
    }
    model.forget_prefetched();
    let mut effects = vec![model.list()];
    effects.extend(model.reload());
    effects
}
