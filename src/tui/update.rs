//! Messages change the model and request effects. Nothing here waits, reads a clock or draws.

mod annotator;
pub(crate) mod commands;
pub(crate) mod destination;
pub(crate) mod export;
mod filter;
mod guideline;
pub(crate) mod import;
pub(crate) mod leaving;
pub(crate) mod log_page;
mod mouse;
pub(crate) mod offers;
mod opening;
mod overlay;
mod palette_entries;
pub(crate) mod question_set;
pub(crate) mod requests;
pub(crate) mod results;
pub(crate) mod settings;
pub(crate) mod text_search;
mod unsaved_guideline;
pub(crate) mod verdict_state;

use super::key_gate::is_written;
use super::message::{Effect, Msg};
use super::model::Model;
use super::screens::run;
use super::widgets::toast::Level;
use crate::app::text_editor::{EditedText, EditorFailure};
use crate::registry::{self, SCREENS};
use std::time::Instant;

pub fn update(model: &mut Model, msg: Msg, now: Instant) -> Vec<Effect> {
    let before = model.subject();
    let mut effects = answer(model, msg, now);
    effects.extend(question_set::open_offered(model));
    if model.subject() != before {
        model.search = None;
        for service in registry::SERVICES {
            service.opened(model);
        }
    }
    effects
}

fn answer(model: &mut Model, msg: Msg, now: Instant) -> Vec<Effect> {
    model.now = now;
    if model.toast.as_ref().is_some_and(|toast| toast.expired(now)) {
        model.toast = None;
    }
    if matches!(msg, Msg::Key(_) | Msg::Mouse(_) | Msg::Paste(_)) {
        model.destination = None;
        for screen in SCREENS {
            screen.touched(model);
        }
        model.touch(now);
    }
    match msg {
        Msg::Key(key) if verdict_state::follows_line(model) => {
            model.typed = Some(now);
            // Esc, Ctrl-C and the like are not part of a pasted line.
            if !is_written(key) {
                return overlay::on_key(model, key);
            }
            model.inform(
                "keys pressed right after a line are treated as part of it and ignored; \
                          wait a moment",
            );
        }
        Msg::Key(key) => return overlay::on_key(model, key),
        Msg::TextAsKeys => model.inform(
            "many keys at once are treated as pasted text and ignored; wait a moment, then press \
             one",
        ),
        Msg::Paste(text) => return overlay::on_paste(model, &text),
        Msg::Mouse(event) => return mouse::on_mouse(model, event),
        Msg::Resize(columns, rows) => model.size = (columns, rows),
        Msg::Tick => {}
        Msg::ChangedElsewhere => return model.show_changes(),
        Msg::Answer(answer) => {
            let mut effects = answer.apply(model);
            effects.extend(destination::follow(model));
            return effects;
        }
        Msg::StillWriting => model.say(
            Level::Warn,
            "still storing: waiting for the disk, or for another program that has locked the \
             project",
        ),
        Msg::Progress(progress) => return run::update::progressed(model, progress),
        Msg::Ended(result) => return run::update::ended(model, result),
        Msg::QuestionsProgress(progress) => question_set::progressed(model, progress),
        Msg::QuestionsEnded(result) => return question_set::ended(model, result),
        Msg::GuidelineEdited { before, edited } => {
            return requests::settings::guideline_edited(model, &before, edited);
        }
        Msg::Edited(edited) => return text_edited(model, edited),
        Msg::Failed(error) => model.say(Level::Error, &error),
    }
    Vec::new()
}

/// The editor has ended: the screen takes the text.
fn text_edited(model: &mut Model, edited: Result<EditedText, EditorFailure>) -> Vec<Effect> {
    match edited {
        Ok(EditedText { text, draft }) => {
            if let Err(error) = std::fs::remove_file(draft) {
                model.say(Level::Error, &error.to_string());
            }
            model.behavior().edited(model, text)
        }
        Err(failure) => {
            model.say(Level::Error, &failure.kept_words());
            Vec::new()
        }
    }
}

#[cfg(test)]
mod import_tests;
#[cfg(test)]
mod settings_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod verdict_law;
