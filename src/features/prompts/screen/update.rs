//! Opens, edits and stores the prompt of a judge.

use super::commands;
use super::state::{FoundPrompt, PromptState};
use super::use_prompt;
use crate::app::error::AppError;
use crate::domain::battle::Pair;
use crate::features::prompts::domain::PromptVersion;
use crate::tui::keymap::{Command, key_on};
use crate::tui::message::Effect;
use crate::tui::model::{Model, Overlay};
use crate::tui::navigation::scrolled;
use crate::tui::screens::Screen;
use crate::tui::widgets::text_editor::TextEditor;
use crate::tui::widgets::toast::Level;

/// Edits the prompt on screen, or opens that of the judge under the cursor.
pub(super) fn show(model: &mut Model) -> Vec<Effect> {
    while [Screen::PROMPT_TRIAL, Screen::PROMPT_REASONINGS].contains(&model.screen()) {
        model.stack.pop();
    }
    if model.screen() == Screen::PROMPT {
        return edit(model);
    }
    let judge = model.judge_under_cursor();
    let Some(judge) = judge.filter(|_| model.screen() == Screen::JUDGES) else {
        model.inform("choose a judge on the screen of judges first");
        return Vec::new();
    };
    let (name, hash) = (judge.name.clone(), judge.prompt_hash.clone());
    if judge.is_offline() || hash.is_empty() {
        model.inform(&format!("{name} is asked without a prompt"));
        return Vec::new();
    }
    let case = model.open.as_ref().and_then(|open| {
        let cursor = model.matrix.cursor;
        let (a, b) = model
            .battle
            .pair()
            .map_or(cursor, |of| (of.low(), of.high()));
        Some((open.info.key, Pair::new(a, b)?))
    });
    model.stack.push(Screen::PROMPT);
    if model.prompt().judge == name && model.prompt().version.is_some() {
        // The draft is kept.
        let state = model.prompt_mut();
        if case.is_some() && case != state.case {
            (state.case, state.preview) = (case, None);
        }
        let mut effects = model.preview_request();
        effects.extend(edit(model));
        return effects;
    }
    *model.prompt_mut() = PromptState {
        judge: name,
        case,
        ..PromptState::default()
    };
    model.open_prompt(hash)
}

/// The name under which the draft of a judge's prompt is kept for the next session: an edit of
/// another version is another draft.
fn unsaved_name(judge: &str, version: &PromptVersion) -> String {
    format!("prompt of {judge}, an edit of {}", version.hash)
}

/// Keeps a draft that is not stored, such as one that is not a valid prompt, for the next session.
pub(super) fn keep_draft(model: &mut Model) {
    let state = model.prompt();
    let Some(version) = &state.version else {
        return;
    };
    let (name, unsaved) = (unsaved_name(&state.judge, version), state.is_changed());
    let draft = unsaved.then(|| state.draft.clone());
    match draft {
        Some(draft) => drop(model.unsaved.insert(name, draft)),
        None => drop(model.unsaved.remove(&name)),
    }
}

/// The prompt was read; it is edited at once.
pub(super) fn opened(model: &mut Model, found: FoundPrompt) -> Vec<Effect> {
    let unsaved = unsaved_name(&model.prompt().judge, &found.version);
    let unsaved = model.unsaved.get(&unsaved).cloned();
    if unsaved.is_some() {
        model.inform("these changes were not stored when the workbench ended");
    }
    let state = model.prompt_mut();
    match &found.version.text {
        Some(text) => state.draft = unsaved.unwrap_or_else(|| text.clone()),
        None => {
            state.problem = Some(format!(
                "the text of prompt {} is unknown: an earlier version of Overrule stored only its \
                 hash",
                found.version.hash
            ));
        }
    }
    let has_text = found.version.text.is_some();
    state.version = Some(found.version);
    state.case = found.case;
    state.is_undoable = found.is_undoable;
    if !has_text {
        return Vec::new();
    }
    let mut effects = model.preview_request();
    if model.screen() == Screen::PROMPT && model.overlays.is_empty() {
        effects.extend(edit(model));
    }
    effects
}

/// Opens the draft in the user's editor, or in the text area if there is none.
fn edit(model: &mut Model) -> Vec<Effect> {
    if model.prompt().version.is_none() {
        return Vec::new();
    }
    if model.options.editor.is_some() {
        return vec![Effect::Edit(model.prompt().draft.clone())];
    }
    edit_here(model);
    Vec::new()
}

fn edit_here(model: &mut Model) {
    let editor = TextEditor::new(&model.prompt().draft);
    let overlay = Overlay::Editor(editor, Screen::PROMPT);
    model.overlays.push(overlay);
}

pub(super) fn offers(model: &Model, command: Command) -> bool {
    let has_text = model.prompt().version.is_some();
    match command {
        Command::Open | commands::EDIT_PROMPT | commands::TRY_PROMPT | commands::USE_PROMPT => {
            has_text
        }
        _ => true,
    }
}

pub(super) fn update(model: &mut Model, command: Command) -> Vec<Effect> {
    match command {
        Command::Open if model.prompt().version.is_some() => edit_here(model),
        commands::TRY_PROMPT => return super::trial::show(model),
        commands::USE_PROMPT => return use_prompt::ask(model),
        Command::NextPane | Command::PreviousPane => model.prompt_mut().in_preview ^= true,
        _ => {
            let pane = usize::from(model.prompt().in_preview);
            scroll(model, pane, command);
        }
    }
    Vec::new()
}

/// Scrolls the text or the preview.
pub(super) fn scroll(model: &mut Model, pane: usize, command: Command) {
    let (lines, page) = match pane {
        0 => (model.areas.sides[0], model.areas.panes[0].height),
        _ => (model.areas.sides[1], model.areas.panes[1].height),
    };
    if let Some(first) = model.prompt_mut().scroll.get_mut(pane) {
        *first = scrolled(*first, command, lines, usize::from(page));
    }
}

/// The text was edited: it is stored as a version if it is a prompt.
pub(super) fn edited(model: &mut Model, text: String) -> Vec<Effect> {
    let state = model.prompt_mut();
    state.draft = text;
    state.problem = None;
    let mut effects = model.preview_request();
    let state = model.prompt();
    let Some(parent) = state.version.clone().filter(|_| state.is_changed()) else {
        return effects;
    };
    let text = state.draft.clone();
    effects.extend(model.store_version(text, parent));
    effects
}

/// The edited text was stored, or is not a prompt.
pub(super) fn stored(model: &mut Model, stored: Result<PromptVersion, AppError>) {
    match stored {
        Ok(version) => {
            let key = key_on(commands::TRY_PROMPT, Screen::PROMPT);
            let words = format!("stored as prompt {}; {key} tries it", version.hash);
            let state = model.prompt_mut();
            if version.text.as_deref() == Some(state.draft.as_str()) {
                state.version = Some(version);
                state.problem = None;
            }
            model.say(Level::Good, &words);
        }
        Err(error) => {
            let words = format!("not stored: {error}");
            model.prompt_mut().problem = Some(words.clone());
            model.say(Level::Error, &words);
        }
    }
}
