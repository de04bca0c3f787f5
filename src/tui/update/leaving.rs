//! Leaves a screen or the workbench, and stores pending changes first.

use super::settings;
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

/// Stores everything pending when the workbench ends for any reason; a reason that is being typed
/// counts as entered.
pub(crate) fn keep_all(model: &mut Model) -> Vec<Effect> {
    model.touch(model.now);
    let mut effects = Vec::new();
    for overlay in std::mem::take(&mut model.overlays) {
        if let Overlay::Prompt(prompt, PromptFor::Reason) = overlay {
            effects.extend(model.behavior().reason(model, prompt.text()));
        }
    }
    effects.extend(leave_all(model));
    effects.extend(settings::remember(model));
    effects
}

pub(super) fn quit(model: &mut Model) -> Vec<Effect> {
    let mut effects = keep_all(model);
    if model.run.running {
        effects.extend(run::update::stop(model));
    }
    effects.push(Effect::Quit);
    effects
}
