//! Passes keys to the topmost overlay or to the screen.

use super::commands::on_command;
use super::leaving::quit;
use super::{
    annotator, destination, export, filter, guideline, import, offers, question_set, settings,
    text_search,
};
use crate::registry;
use crate::tui::fuzzy::WordFilter;
use crate::tui::keymap::{self, Command, KeyChord, Scope};
use crate::tui::message::Effect;
use crate::tui::model::{ConfirmFor, Model, Overlay, PromptFor};
use crate::tui::screens::run;
use crate::tui::tour;
use crate::tui::widgets::KeyOutcome;
use crate::tui::widgets::export_dialog::ExportOrder;
use crate::tui::widgets::palette::PaletteEntry;
use crate::tui::widgets::prompt::LinePrompt;
use crate::tui::widgets::question_dialog::QuestionOrder;
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

pub(super) fn on_key(model: &mut Model, key: KeyEvent) -> Vec<Effect> {
    model.panes.text_first = 0;
    model.undo_named = model.toast.take().and_then(|toast| toast.asks);
    let screen = Scope::Screen(model.screen());
    let scope = model.scope();
    if keymap::resolve(scope, key) != Some(Command::Copy) {
        model.export.written = None;
    }
    let Some(overlay) = model.overlays.last_mut() else {
        let behavior = model.behavior();
        let decides = |command: &Command| behavior.decides(*command);
        let rests = || keymap::resolve(screen, key).filter(decides);
        let toured = || {
            let next = tour::next(model)?;
            let chord = keymap::key_of(next, scope);
            (chord == keymap::KeyChord::of(key)).then_some(next)
        };
        let command = keymap::resolve(scope, key).or_else(rests).or_else(toured);
        // A key that is held down decides only once.
        let command =
            command.filter(|command| !decides(command) || key.kind == KeyEventKind::Press);
        return match command {
            Some(command) => run_key(model, command, key),
            None => {
                say_idle(model, key, "does nothing on this screen");
                Vec::new()
            }
        };
    };
    let typed_into = overlay.is_typed_into();
    let Some(key) = without_alt(key, typed_into) else {
        return Vec::new();
    };
    if let Overlay::Page(page) = overlay
        && let Some(command) = keymap::resolve(screen, key).filter(|of| page.passes(*of))
    {
        model.overlays.pop();
        return on_command(model, command);
    }
    let mut wanted = None;
    let outcome = match overlay {
        Overlay::Import(dialog) => {
            let (outcome, asked) = dialog.handle(key);
            wanted = asked;
            outcome.map(OverlayResult::Typed)
        }
        Overlay::Settings(dialog) => dialog.handle(key).map(|()| OverlayResult::Closed),
        Overlay::Export(dialog) => dialog.handle(key).map(OverlayResult::Export),
        Overlay::Questions(dialog) => dialog.handle(key).map(OverlayResult::Questions),
        Overlay::Help(help) => help.handle(key).map(|()| OverlayResult::Closed),
        Overlay::Page(page) => page.handle(key).map(|()| OverlayResult::Closed),
        Overlay::Palette(palette) => palette.handle(key).map(OverlayResult::Run),
        Overlay::Prompt(prompt, _) => prompt.handle(key).map(OverlayResult::Typed),
        Overlay::Confirm(confirm, _) => confirm.handle(key).map(|()| OverlayResult::Closed),
        Overlay::Editor(editor, _) => editor.handle(key).map(OverlayResult::Typed),
        Overlay::Guideline(editor) => editor.handle(key).map(OverlayResult::Typed),
    };
    match outcome {
        KeyOutcome::Consumed => {
            let still_typed_into = model.overlays.last().is_some_and(Overlay::is_typed_into);
            if typed_into && !still_typed_into && key.code != KeyCode::Esc {
                model.typed = Some(model.now);
            }
            follow_filter(model);
            settings::preview(model);
            let mut effects = import::look(model, wanted);
            effects.extend(question_set::look(model));
            effects.extend(follow_editor(model));
            return effects;
        }
        KeyOutcome::Pass => match keymap::resolve(Scope::Global, key) {
            Some(command @ (Command::Suspend | Command::Redraw | Command::Manual)) => {
                return on_command(model, command);
            }
            Some(Command::Quit) if key.modifiers.contains(KeyModifiers::CONTROL) => {
                return on_command(model, Command::Quit);
            }
            _ => {}
        },
        KeyOutcome::Cancelled => match model.overlays.pop() {
            Some(Overlay::Prompt(_, PromptFor::Filter)) => {
                filter::set(model, String::new());
                return model.behavior().filtered(model);
            }
            Some(Overlay::Prompt(_, PromptFor::Search)) => model.search = None,
            Some(Overlay::Settings(dialog)) => settings::give_up(model, &dialog),
            Some(Overlay::Guideline(editor)) => guideline::close(model, editor),
            _ => {}
        },
        KeyOutcome::Submitted(result) => {
            if let OverlayResult::Typed(text) = &result
                && let Some(Overlay::Prompt(_, purpose)) = model.overlays.last()
                && let Some(why) = refusal(model, *purpose, text)
            {
                if let Some(Overlay::Prompt(prompt, _)) = model.overlays.last_mut() {
                    prompt.refuse(why);
                }
                return Vec::new();
            }
            if typed_into && key.code != KeyCode::Esc {
                model.typed = Some(model.now);
            }
            return on_submitted(model, result);
        }
    }
    Vec::new()
}

/// Runs the command of a key, and says so if that does nothing.
fn run_key(model: &mut Model, command: Command, key: KeyEvent) -> Vec<Effect> {
    let used = model.behavior().uses(command);
    let offered = offers::offers(model, command);
    let before = (model.stack.len(), model.overlays.len());
    let effects = on_command(model, command);
    let silent = effects.is_empty() && model.toast.is_none();
    if silent && before == (model.stack.len(), model.overlays.len()) {
        if !used {
            say_idle(model, key, "does nothing on this screen");
        } else if !offered {
            say_idle(model, key, "does nothing now");
        }
    }
    effects
}

fn say_idle(model: &mut Model, key: KeyEvent, words: &str) {
    if let Some(key) = KeyChord::of(key) {
        let help = keymap::key_name(Command::Help, model.scope());
        model.inform(&format!("{key} {words}; {help} lists the keys that work"));
    }
}

/// The meaning of a key while an overlay is open.
///
/// Terminals send Alt as Esc before the key, so Esc and a key that follows it closely look like
/// Alt: a chord with Alt means Esc, except for those that edit a line. Other modifiers mean
/// nothing.
fn without_alt(key: KeyEvent, typed_into: bool) -> Option<KeyEvent> {
    let others = KeyModifiers::SUPER | KeyModifiers::HYPER | KeyModifiers::META;
    if key.modifiers.intersects(others) {
        return None;
    }
    let edits = typed_into && LinePrompt::edits_with_alt(key.code);
    if !key.modifiers.contains(KeyModifiers::ALT) || edits {
        return Some(key);
    }
    // One press is one Esc, no matter which repeats and releases a terminal reports.
    (key.kind == KeyEventKind::Press).then(|| KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE))
}

pub(super) fn on_paste(model: &mut Model, text: &str) -> Vec<Effect> {
    let mut wanted = None;
    match model.overlays.last_mut() {
        Some(Overlay::Prompt(prompt, _)) => prompt.paste(text),
        Some(Overlay::Palette(palette)) => palette.paste(text),
        Some(Overlay::Export(dialog)) => dialog.paste(text),
        Some(Overlay::Import(dialog)) => wanted = dialog.paste(text),
        Some(Overlay::Editor(editor, _)) => editor.paste(text),
        Some(Overlay::Guideline(editor)) => editor.paste(text),
        _ => {}
    }
    follow_filter(model);
    let mut effects = import::look(model, wanted);
    effects.extend(follow_editor(model));
    effects
}

enum OverlayResult {
    Closed,
    Run(PaletteEntry),
    Typed(String),
    Export(ExportOrder),
    Questions(QuestionOrder),
}

/// Stores a reason for the subject that was on screen when it was requested.
fn keep_reason(model: &mut Model, text: &str) -> Vec<Effect> {
    if model.explained.take() != model.subject() {
        model.inform("the screen has changed since then; the reason was not stored");
        return Vec::new();
    }
    model.behavior().reason(model, text)
}

/// Why a line is rejected: its prompt stays open and shows the reason, so that nothing typed
/// afterwards reaches the screen.
fn refusal(model: &Model, purpose: PromptFor, text: &str) -> Option<String> {
    match purpose {
        PromptFor::Budget => run::update::typed_budget(text).err(),
        PromptFor::FindDocument if found(model, text).is_none() => {
            Some("no document has this in its id or title".to_owned())
        }
        PromptFor::NewProject if text.trim().is_empty() => {
            Some("a project needs a file name".to_owned())
        }
        PromptFor::Annotator => annotator::refusal(text),
        PromptFor::Guideline if text.trim().is_empty() => {
            Some("name a file, or - for no guideline".to_owned())
        }
        PromptFor::Screen(screen) => registry::screen(screen).refuses(model, text),
        PromptFor::Filter
        | PromptFor::Guideline
        | PromptFor::Search
        | PromptFor::Reason
        | PromptFor::FindDocument
        | PromptFor::NewProject => None,
    }
}

fn on_submitted(model: &mut Model, result: OverlayResult) -> Vec<Effect> {
    match (model.overlays.pop(), result) {
        (Some(Overlay::Palette(_)), OverlayResult::Run(entry)) => destination::run(model, entry),
        (Some(Overlay::Prompt(_, purpose)), OverlayResult::Typed(text)) => match purpose {
            PromptFor::Filter => {
                filter::set(model, text);
                model.behavior().filtered(model)
            }
            PromptFor::Search => {
                text_search::look_for(model, &text);
                Vec::new()
            }
            PromptFor::Reason => keep_reason(model, &text),
            PromptFor::FindDocument => {
                find(model, &text);
                Vec::new()
            }
            PromptFor::NewProject => import::make(model, &text),
            PromptFor::Annotator => annotator::named(model, &text),
            PromptFor::Budget => run::update::set_budget(model, &text),
            PromptFor::Guideline => vec![model.choose_guideline(text.trim())],
            PromptFor::Screen(screen) => registry::screen(screen).typed(model, &text),
        },
        (Some(Overlay::Settings(dialog)), _) => settings::keep(model, &dialog),
        (Some(Overlay::Export(_)), OverlayResult::Export(order)) => export::begin(model, order),
        (Some(Overlay::Questions(_)), OverlayResult::Questions(order)) => {
            question_set::chosen(model, order)
        }
        (Some(Overlay::Import(dialog)), OverlayResult::Typed(path)) => {
            import::accepted(model, path, dialog.is_project())
        }
        (Some(Overlay::Confirm(_, question)), _) => match question {
            ConfirmFor::Overwrite => export::overwrite(model),
            ConfirmFor::Questions => question_set::confirmed(model),
            ConfirmFor::StopQuestions => vec![Effect::StopQuestions],
            ConfirmFor::Start => run::begin::begin(model),
            ConfirmFor::Stop => run::update::stop(model),
            ConfirmFor::Quit => quit(model),
            ConfirmFor::Annotator => annotator::confirmed(model),
            ConfirmFor::DiscardGuideline => {
                guideline::discard(model);
                Vec::new()
            }
            ConfirmFor::Screen(screen) => registry::screen(screen).confirmed(model),
            ConfirmFor::Command(command) => on_command(model, command),
        },
        (Some(Overlay::Editor(_, screen)), OverlayResult::Typed(text)) => {
            registry::screen(screen).edited(model, text)
        }
        (Some(Overlay::Guideline(editor)), OverlayResult::Typed(text)) => {
            guideline::store(model, editor, text)
        }
        _ => Vec::new(),
    }
}

/// Index of the next document whose identifier or title contains the words.
fn found(model: &Model, text: &str) -> Option<usize> {
    let order = model.matrix_order();
    let open = model.open.as_ref()?;
    let words = WordFilter::new(text);
    let start = model.heat().cursor.0 + 1;
    (0..order.len())
        .map(|step| (start + step) % order.len())
        .find(|place| {
            let document = order[*place];
            words.matches(&format!(
                "{} {}",
                open.name(document),
                open.headline(document)
            ))
        })
}

/// Goes to the requested document.
fn find(model: &mut Model, text: &str) {
    if let Some(place) = found(model, text) {
        model.move_in_matrix(|heat, count| heat.move_to(place, heat.cursor.1, count));
    }
}

/// Passes a text on while it is typed.
fn follow_editor(model: &mut Model) -> Vec<Effect> {
    let Some(Overlay::Editor(editor, screen)) = model.overlays.last() else {
        return Vec::new();
    };
    let text = editor.text();
    registry::screen(*screen).typing(model, text)
}

/// Updates the filter of the list, and the search in the texts, while they are typed.
fn follow_filter(model: &mut Model) {
    if let Some(Overlay::Prompt(prompt, purpose)) = model.overlays.last() {
        let text = prompt.text().to_owned();
        match purpose {
            PromptFor::Filter => filter::set(model, text),
            PromptFor::Search => text_search::look_for(model, &text),
            _ => {}
        }
    }
}
