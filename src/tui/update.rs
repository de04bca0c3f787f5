//! Messages change the model and ask for effects. Nothing here waits, reads a clock or draws.

mod mouse;
mod overlay;
mod requests;
mod results;

use results::{on_ended, on_opened, on_progress, on_undone};

use super::keymap::{self, Command, Scope};
use super::model::{ConfirmFor, Effect, Model, Msg, Overlay, PromptFor, Screen};
use super::screens;
use super::widgets::confirm::Confirm;
use super::widgets::help::Help;
use super::widgets::page::Page;
use super::widgets::palette::Palette;
use super::widgets::prompt::LinePrompt;
use super::widgets::toast::Level;
use std::time::{Duration, Instant};

/// The open query is asked for again at most this often while a run goes on.
const RELOAD_EVERY: Duration = Duration::from_millis(150);
/// Stale summaries are asked for at most this often while a run goes on.
const SUMMARISE_EVERY: Duration = Duration::from_millis(300);
/// Queries summarised at one time.
const SUMMARIES: usize = 16;

/// Takes a message in, at `now`.
pub fn update(model: &mut Model, msg: Msg, now: Instant) -> Vec<Effect> {
    model.now = now;
    if model.toast.as_ref().is_some_and(|toast| toast.expired(now)) {
        model.toast = None;
    }
    match msg {
        Msg::Key(key) => overlay::on_key(model, key),
        Msg::Paste(text) => {
            if let Some(Overlay::Prompt(prompt, _)) = model.overlays.last_mut() {
                prompt.paste(&text);
            } else if let Some(Overlay::Palette(palette)) = model.overlays.last_mut() {
                palette.paste(&text);
            }
            overlay::live_filter(model);
            Vec::new()
        }
        Msg::Mouse(event) => mouse::on_mouse(model, event),
        Msg::Resize(columns, rows) => {
            model.size = (columns, rows);
            Vec::new()
        }
        Msg::Tick => Vec::new(),
        Msg::Listed(rows) => {
            model.queries.rows = rows;
            model.queries.asked.clear();
            model.queries.loaded = true;
            model.listing = false;
            let last = model.shown_queries().len().saturating_sub(1);
            model.queries.cursor = model.queries.cursor.min(last);
            model.stale_summaries()
        }
        Msg::Summarised(summaries) => {
            for (key, summary) in summaries {
                model.queries.asked.remove(&key);
                if let Some((_, slot)) = model
                    .queries
                    .rows
                    .iter_mut()
                    .find(|(info, _)| info.key == key)
                {
                    *slot = Some(summary);
                }
            }
            if model.running {
                Vec::new()
            } else {
                model.stale_summaries()
            }
        }
        Msg::Opened(generation, open) => on_opened(model, generation, *open),
        Msg::Texts(key, texts) => {
            if let Some(open) = model.open.as_mut().filter(|open| open.info.key == key) {
                open.texts.extend(texts);
            }
            screens::review::ready(model);
            Vec::new()
        }
        Msg::Votes(key, votes) => {
            if let Some(open) = model.open.as_mut().filter(|open| open.info.key == key) {
                open.votes.extend(votes);
            }
            Vec::new()
        }
        Msg::Saved(key) => {
            model.saving = model.saving.saturating_sub(1);
            let mut effects = model.forget_summary(key);
            effects.extend(model.reload());
            if model.screen() == Screen::Review {
                // What has been judged is counted where it is shown.
                effects.extend(screens::queue::ask(model));
            }
            effects
        }
        Msg::NotSaved(_, error) => {
            model.saving = model.saving.saturating_sub(1);
            model.say(Level::Error, format!("the verdict was not stored: {error}"));
            model.battle.before = None;
            model.reload()
        }
        Msg::Undone(undone) => on_undone(model, undone),
        Msg::Progress(progress) => on_progress(model, progress),
        Msg::Queued(generation, items, stats) => {
            screens::queue::arrived(model, generation, items, stats)
        }
        Msg::JudgesReported(report) => {
            model.judges.report = Some(report);
            Vec::new()
        }
        Msg::Without(judge, without) => {
            model.judges.without = Some((judge, without));
            Vec::new()
        }
        Msg::Disagreements(generation, findings) => {
            screens::adjudication::arrived(model, generation, findings)
        }
        Msg::Evidence(exhibit) => screens::ruling::shown(model, exhibit),
        Msg::Ruled => {
            model.saving = model.saving.saturating_sub(1);
            Vec::new()
        }
        Msg::NotRuled(error) => {
            model.saving = model.saving.saturating_sub(1);
            model.say(Level::Error, format!("the ruling was not stored: {error}"));
            screens::adjudication::not_stored(model)
        }
        Msg::RulingUndone(undone) => screens::adjudication::undone(model, undone),
        Msg::Prefetched(open) => {
            if model
                .open
                .as_ref()
                .is_none_or(|now| now.info.key != open.info.key)
            {
                model.prefetched = Some(*open);
            }
            Vec::new()
        }
        Msg::GuidelineLoaded(text) => {
            match text {
                Some(text) => model
                    .overlays
                    .push(Overlay::Page(Page::new("Guideline", &text))),
                None => model.say(
                    Level::Info,
                    "this project has no guideline: overrule config project --guideline FILE"
                        .to_owned(),
                ),
            }
            Vec::new()
        }
        Msg::Estimated(estimate) => screens::run::ask_to_start(model, &estimate),
        Msg::Ended(result) => on_ended(model, result),
        Msg::Failed(error) => {
            model.say(Level::Error, error);
            model.loading = false;
            Vec::new()
        }
    }
}

/// Does what a key or the palette asks for.
pub fn on_command(model: &mut Model, command: Command) -> Vec<Effect> {
    let screen = model.screen();
    match command {
        Command::Quit if model.running => {
            let question =
                "A run is going on. Leave? What has been judged is kept; `s` goes on next time.";
            model.overlays.push(Overlay::Confirm(
                Confirm::new("Quit", question),
                ConfirmFor::Quit,
            ));
            Vec::new()
        }
        Command::Quit => {
            let mut effects = screens::review::leave(model);
            effects.extend(screens::ruling::leave(model));
            effects.extend(quit(model));
            effects
        }
        Command::ShowQueue => screens::queue::show(model),
        Command::ShowJudges => screens::judges::show(model),
        Command::ShowCycles => screens::cycles::show(model),
        Command::ShowAdjudication => screens::adjudication::show(model),
        Command::Suspend => vec![Effect::Suspend],
        Command::Redraw => {
            let mut effects = vec![Effect::Redraw, Effect::List];
            effects.extend(model.reload());
            effects
        }
        Command::Help => {
            model
                .overlays
                .push(Overlay::Help(Help::new(screen.scope())));
            Vec::new()
        }
        Command::Palette => {
            model.overlays.push(Overlay::Palette(Palette::new(
                screen.scope(),
                offered(screen.scope()),
            )));
            Vec::new()
        }
        Command::Filter => {
            let (prompt, purpose) = match screen {
                Screen::Queries => (
                    LinePrompt::new("/", "words of the query or its id")
                        .with_text(&model.queries.filter),
                    PromptFor::Filter,
                ),
                Screen::Matrix | Screen::Document => (
                    LinePrompt::new("/", "words of a document's title or its id"),
                    PromptFor::FindDocument,
                ),
                Screen::Queue => (
                    LinePrompt::new("/", "words of the query or its id")
                        .with_text(&model.queue.filter),
                    PromptFor::QueueFilter,
                ),
                Screen::Adjudication => (
                    LinePrompt::new("/", "words of the query or its id")
                        .with_text(&model.adjudication.filter),
                    PromptFor::AdjudicationFilter,
                ),
                Screen::Run
                | Screen::Battle
                | Screen::Review
                | Screen::Judges
                | Screen::Cycles
                | Screen::Ruling => {
                    model.say(
                        Level::Info,
                        "/ finds queries in the list and documents in the matrix".to_owned(),
                    );
                    return Vec::new();
                }
            };
            model.overlays.push(Overlay::Prompt(prompt, purpose));
            Vec::new()
        }
        Command::Undo if matches!(screen, Screen::Adjudication | Screen::Ruling) => {
            vec![Effect::UndoRuling]
        }
        Command::Undo => vec![Effect::Undo],
        Command::Back => back(model),
        Command::NextRamp => {
            model.ramp = model.ramp.next();
            model.say(Level::Info, format!("ramp: {}", model.ramp));
            Vec::new()
        }
        Command::PauseRun => {
            if !model.running {
                model.say(Level::Info, "no run is going on; s starts one".to_owned());
                return Vec::new();
            }
            model.control.paused = !model.control.paused;
            vec![Effect::Steer(model.control)]
        }
        Command::ShowRun => {
            if screen != Screen::Run {
                model.stack.push(Screen::Run);
            }
            Vec::new()
        }
        Command::Copy => copy(model),
        _ => match screen {
            Screen::Queries => screens::queries::update(model, command),
            Screen::Run => screens::run::update(model, command),
            Screen::Matrix => screens::matrix::update(model, command),
            Screen::Document => screens::document::update(model, command),
            Screen::Battle => screens::battle::update(model, command),
            Screen::Queue => screens::queue::update(model, command),
            Screen::Review => screens::review::update(model, command),
            Screen::Judges => screens::judges::update(model, command),
            Screen::Cycles => screens::cycles::update(model, command),
            Screen::Adjudication => screens::adjudication::update(model, command),
            Screen::Ruling => screens::ruling::update(model, command),
        },
    }
}

/// What the palette offers: everything that works in a scope but moving about and closing the palette.
fn offered(scope: Scope) -> Vec<Command> {
    let moving = [
        Command::Palette,
        Command::Down,
        Command::Up,
        Command::Left,
        Command::Right,
        Command::PageDown,
        Command::PageUp,
    ];
    let mut commands: Vec<Command> = Vec::new();
    for binding in keymap::active(scope) {
        if !commands.contains(&binding.command) && !moving.contains(&binding.command) {
            commands.push(binding.command);
        }
    }
    commands
}

fn quit(model: &mut Model) -> Vec<Effect> {
    if !model.running {
        return vec![Effect::Quit];
    }
    model.control.cancelled = true;
    vec![Effect::Steer(model.control), Effect::Quit]
}

fn back(model: &mut Model) -> Vec<Effect> {
    if model.screen() == Screen::Queue && !model.queue.filter.is_empty() {
        model.queue.filter.clear();
        model.queue.cursor = 0;
        return Vec::new();
    }
    if model.screen() == Screen::Adjudication && !model.adjudication.filter.is_empty() {
        model.adjudication.filter.clear();
        model.adjudication.cursor = 0;
        return Vec::new();
    }
    if model.stack.len() > 1 {
        let mut effects = screens::review::leave(model);
        effects.extend(screens::ruling::leave(model));
        match model.stack.pop() {
            Some(Screen::Review) => model.queue.current = None,
            Some(Screen::Ruling) => model.adjudication.current = None,
            _ => {}
        }
        model.battle.blind = false;
        if model.screen() == Screen::Queries {
            model.battle.before = None;
            effects.push(Effect::List);
            return effects;
        }
        if model.screen() == Screen::Queue {
            model.queue.current = None;
            model.battle.before = None;
            effects.extend(screens::queue::ask(model));
            return effects;
        }
        if model.screen() == Screen::Adjudication {
            effects.extend(screens::adjudication::ask(model));
            return effects;
        }
        if model.screen() == Screen::Document {
            return screens::document::enter(model);
        }
        return effects;
    }
    if !model.queries.filter.is_empty() {
        model.queries.filter.clear();
    }
    Vec::new()
}

fn copy(model: &mut Model) -> Vec<Effect> {
    if matches!(model.screen(), Screen::Adjudication | Screen::Ruling) {
        return screens::adjudication::copy(model);
    }
    let Some(open) = &model.open else {
        return model
            .selected_query()
            .map(|(info, _)| Effect::Copy(info.id.to_string()))
            .into_iter()
            .collect();
    };
    let order = model.matrix_order();
    let id = |document: usize| {
        open.documents
            .get(document)
            .map_or(String::new(), |d| d.id.to_string())
    };
    let text = match model.screen() {
        Screen::Queries
        | Screen::Run
        | Screen::Judges
        | Screen::Cycles
        | Screen::Adjudication
        | Screen::Ruling => {
            return model
                .selected_query()
                .map(|(info, _)| Effect::Copy(info.id.to_string()))
                .into_iter()
                .collect();
        }
        Screen::Matrix => {
            let (row, column) = model.matrix.heat.cursor;
            let at = |place: usize| {
                order
                    .get(place)
                    .map_or(String::new(), |document| id(*document))
            };
            format!("{}\t{}\t{}", open.info.id, at(row), at(column))
        }
        Screen::Document => id(model.document.document),
        Screen::Queue | Screen::Review if model.battle.blind || model.screen() == Screen::Queue => {
            model.say(
                Level::Info,
                "names are hidden until you have decided".to_owned(),
            );
            return Vec::new();
        }
        Screen::Battle | Screen::Queue | Screen::Review => format!(
            "{}\t{}\t{}",
            open.info.id,
            id(model.battle.a),
            id(model.battle.b)
        ),
    };
    model.say(Level::Good, "copied the identifiers".to_owned());
    vec![Effect::Copy(text)]
}
