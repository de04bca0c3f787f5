//! Leaves a screen or the workbench, and stores pending changes first.

use super::{settings, unsaved_guideline};
use crate::registry;
use crate::tui::message::Effect;
use crate::tui::model::{Model, Overlay, PromptFor};
use crate::tui::screens::run;

/// Stores unconfirmed changes on all screens, since another screen may be on top.
pub(super) fn leave_all(model: &mut Model) -> Vec<Effect> {
    let screens = model.stack.clone().into_iter();
    screens
        .flat_map(|screen| registry::screen(screen).leave(model))
        .collect()
}

/// Stores everything pending when the workbench ends for any reason. A reason that is being typed
/// and a text that is edited on a screen count as entered; an edited guideline, which changes the
/// project for everybody, is kept for the next session.
pub(crate) fn keep_all(model: &mut Model) -> Vec<Effect> {
    model.touch(model.now);
    let mut effects = Vec::new();
    for overlay in std::mem::take(&mut model.overlays) {
        match overlay {
            Overlay::Prompt(prompt, PromptFor::Reason) => {
                effects.extend(model.behavior().reason(model, prompt.text()));
            }
            Overlay::Editor(editor, screen) => {
                effects.extend(registry::screen(screen).edited(model, editor.text()));
            }
            Overlay::Guideline(editor) => unsaved_guideline::keep(model, &editor),
            _ => {}
        }
    }
    effects.extend(leave_all(model));
    effects.extend(settings::remember(model));
    effects
}

pub(super) fn quit(model: &mut Model) -> Vec<Effect> {
    // The person was asked.
    unsaved_guideline::give_up(model);
    let mut effects = keep_all(model);
    if model.run.running {
        effects.extend(run::update::stop(model));
    }
    effects.push(Effect::Quit);
    effects
}
