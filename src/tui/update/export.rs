//! The export: its dialog, the question before a file is overwritten, and its result.

use crate::store::contents::ProjectContents;
use crate::tui::keymap::{Command, key_on};
use crate::tui::message::Effect;
use crate::tui::model::{ConfirmFor, Model, Overlay};
use crate::tui::widgets::export_dialog::{ExportDialog, ExportOrder};
use crate::tui::widgets::toast::Level;
use std::path::PathBuf;

/// The end of an export.
#[derive(Debug)]
pub(crate) enum Exported {
    Written {
        /// The absolute paths of the files.
        files: Vec<PathBuf>,
        /// A message about them.
        words: String,
    },
    /// The file already exists.
    Exists(ExportOrder, String),
}

pub(super) fn open(model: &mut Model) -> Vec<Effect> {
    let asked = |overlay: &Overlay| matches!(overlay, Overlay::Export(_));
    if model.export.going.is_some() {
        model.inform("an export is in progress; wait until it ends");
    } else if !model.overlays.iter().any(asked) {
        let behavior = model.behavior();
        let dialog = ExportDialog::new(
            behavior.exports(),
            behavior.picture(model),
            &model.options.annotator,
        );
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
        Exported::Written { files, words } => {
            let files: Vec<String> = files
                .iter()
                .map(|file| file.display().to_string())
                .collect();
            let copy = key_on(Command::Copy, model.screen());
            let what = if files.len() == 1 { "path" } else { "paths" };
            model.say(Level::Good, &format!("{words} · {copy} copies the {what}"));
            model.export.written = Some(files.join("\n"));
        }
        Exported::Exists(order, file) => ask_to_overwrite(model, order, &file),
    }
    Vec::new()
}

pub(crate) fn failed(model: &mut Model, error: &str) {
    model.export.going = None;
    model.say(Level::Error, error);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::message::Msg;
    use crate::tui::screens::Screen;
    use crate::tui::screens::testing::model;
    use crate::tui::testing::key;
    use crate::tui::update::update;
    use crossterm::event::KeyCode;

    #[test]
    fn after_an_export_the_next_key_can_copy_the_paths_of_its_files() {
        let mut model = model(Screen::MATRIX);
        let now = model.now;
        let press = |model: &mut Model, ch| update(model, Msg::Key(key(KeyCode::Char(ch))), now);
        let written = || Exported::Written {
            files: vec!["/tmp/two-orders.svg".into(), "/tmp/notes.csv".into()],
            words: "wrote two-orders.svg and notes.csv".to_owned(),
        };
        ended(&mut model, written());
        let words = model
            .toast
            .as_ref()
            .map(|toast| toast.text.clone())
            .unwrap();
        assert!(words.ends_with("· y copies the paths"), "{words}");
        let paths = "/tmp/two-orders.svg\n/tmp/notes.csv";
        assert_eq!(press(&mut model, 'y'), [Effect::Copy(paths.to_owned())]);
        for other in ['y', 'o'] {
            ended(&mut model, written());
            press(&mut model, other);
            let effects = press(&mut model, 'y');
            assert!(
                matches!(&effects[..], [Effect::Copy(table)] if table.starts_with("query\t")),
                "{effects:?}"
            );
        }
    }
}
