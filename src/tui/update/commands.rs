//! Executes the commands of keys and the palette that work on every screen.

use super::leaving::{leave_all, quit};
use super::palette_entries::palette_entries;
use super::{
    annotator, export, filter, guideline, import, offers, question_set, text_search, verdict_state,
};
use crate::app::manual::Chapter;
use crate::domain::sanitize;
use crate::registry::{self, QUESTIONS, SCREENS};
use crate::tui::keymap::{self, Command};
use crate::tui::message::Effect;
use crate::tui::model::panes::STEP;
use crate::tui::model::{ConfirmFor, Model, Overlay, PromptFor};
use crate::tui::screens::behavior::{Copied, Find};
use crate::tui::screens::queries::welcome;
use crate::tui::screens::run;
use crate::tui::tour;
use crate::tui::widgets::help::Help;
use crate::tui::widgets::import_dialog::ImportPurpose;
use crate::tui::widgets::page::Page;
use crate::tui::widgets::palette::Palette;
use crate::tui::widgets::toast::Level;

pub(crate) fn on_command(model: &mut Model, command: Command) -> Vec<Effect> {
    let scope = model.scope();
    welcome::note_use(model, command);
    tour::follow(model, command);
    if text_search::on_command(model, command) {
        return Vec::new();
    }
    if model.behavior().decides(command) {
        if let Some(why) = verdict_state::obstacle(model) {
            model.inform(why);
            return Vec::new();
        }
        if model.options.asks_name {
            annotator::ask_first(model);
            return Vec::new();
        }
    }
    match command {
        Command::Quit
            if model.run.running || model.stack.len() > 1 || guideline::is_unsaved(model) =>
        {
            let resume = keymap::key_name(Command::StartRun, scope);
            let question = if guideline::is_unsaved(model) {
                "Quit without storing the changes to the guideline?".to_owned()
            } else if model.run.running {
                format!(
                    "A run is in progress. Quit? What has been judged is kept; press {resume} next \
                     time to resume."
                )
            } else {
                "Quit Overrule? What you have decided is stored.".to_owned()
            };
            let asked =
                |overlay: &Overlay| matches!(overlay, Overlay::Confirm(_, ConfirmFor::Quit));
            if !model.overlays.iter().any(asked) {
                model.confirm("Quit", &question, ConfirmFor::Quit);
            }
        }
        Command::Quit => return quit(model),
        Command::Settings => return model.read_settings(),
        Command::ShowLog if offers::judges_blind(model) => {
            model.inform("the log shows what others decided; it opens after your own decision");
        }
        Command::ShowLog => return model.read_log(),
        Command::Export => return export::open(model),
        Command::Pick => return question_set::open_picks(model),
        Command::Batches => return question_set::open_batches(model),
        Command::Import => return import::open(model, ImportPurpose::Any),
        Command::Merge => return import::open(model, ImportPurpose::Merge),
        Command::BuildPools => return import::open(model, ImportPurpose::Pools),
        Command::AskJudges => return run::ask_pair::ask(model),
        Command::Suspend => {
            model.suspended = Some(model.now);
            return vec![Effect::Suspend];
        }
        Command::Redraw => {
            let mut effects = vec![Effect::Redraw, model.list()];
            effects.extend(model.reload());
            return effects;
        }
        Command::Help => model.overlays.push(Overlay::Help(Help::new(scope))),
        Command::Manual => read_manual(model),
        Command::Tour => return tour::toggle(model, back_to_list),
        Command::Palette => {
            let palette = Palette::new(scope, palette_entries(model));
            model.overlays.push(Overlay::Palette(palette));
        }
        Command::Filter => match model.behavior().find() {
            Find::Rows { list, .. } => {
                let filter = list(model).1.clone();
                model.ask(
                    "/",
                    "words of the query, or its id",
                    &filter,
                    PromptFor::Filter,
                );
            }
            Find::Document => {
                let placeholder = "words of a document's title, or its id";
                model.ask("/", placeholder, "", PromptFor::FindDocument);
            }
            Find::Texts(_) => text_search::ask(model),
            Find::Nothing => {}
        },
        Command::Undo => return model.behavior().decisions().undo(model),
        Command::Redo => return model.behavior().decisions().redo(model),
        Command::Back => return back(model),
        Command::NextRamp => {
            model.ramp = model.ramp.next();
            model.inform(&format!("colors: {}", model.ramp));
        }
        Command::BorderBack => model.move_border(-STEP),
        Command::BorderForward => model.move_border(STEP),
        Command::PauseRun => return run::update::pause(model),
        Command::Copy => return copy(model),
        _ => {
            let mut screens = SCREENS.iter();
            if let Some(screen) = screens.find(|screen| screen.opened_by() == Some(command)) {
                return screen.open(model);
            }
            let mut questions = QUESTIONS.iter();
            return match questions.find(|(opened_by, _)| *opened_by == command) {
                Some((_, offer)) => question_set::open_added(model, offer),
                None => model.behavior().update(model, command),
            };
        }
    }
    Vec::new()
}

/// Opens the manual's section on the current screen, on top of everything.
fn read_manual(model: &mut Model) {
    let behavior = model.behavior();
    let chapter = Chapter::find(behavior.chapter());
    let reading = matches!(model.overlays.last(), Some(Overlay::Page(_)));
    if let Some(chapter) = chapter.filter(|_| !reading) {
        let page = Page::of_manual(chapter, behavior.section(), model.size.0);
        model.overlays.push(Overlay::Page(page));
    }
}

fn back(model: &mut Model) -> Vec<Effect> {
    let screen = model.screen();
    let behavior = registry::screen(screen);
    if let Find::Rows { list, .. } = behavior.find()
        && !list(model).1.is_empty()
    {
        filter::set(model, String::new());
        return behavior.filtered(model);
    }
    if behavior.closes(model) || model.stack.len() == 1 {
        return Vec::new();
    }
    leave_top(model)
}

/// Leaves the screen on top, which is not the list of queries.
pub(super) fn leave_top(model: &mut Model) -> Vec<Effect> {
    let screen = model.screen();
    let behavior = registry::screen(screen);
    let mut effects = leave_all(model);
    model.stack.pop();
    model.jobs.leave(screen);
    behavior.closed(model);
    effects.extend(model.behavior().returned(model));
    effects
}

/// Leaves all screens above the list of queries.
fn back_to_list(model: &mut Model) -> Vec<Effect> {
    let mut effects = Vec::new();
    while model.stack.len() > 1 {
        effects.extend(back(model));
    }
    effects
}

/// Copies the paths of the files that were just written, or otherwise what the screen offers.
fn copy(model: &mut Model) -> Vec<Effect> {
    if let Some(files) = model.export.written.take() {
        let what = sanitize::line(&files).into_owned();
        model.say(Level::Good, &format!("copied {what}"));
        return vec![Effect::Copy(files)];
    }
    let (text, what) = match model.behavior().copy(model) {
        Copied::Table(table) if table.rows.is_empty() => {
            model.inform("there is nothing to copy yet");
            return Vec::new();
        }
        Copied::Table(table) => (table.tsv(), table.describe()),
        Copied::Text { text, what } => (text, what),
        Copied::Nothing => {
            model.inform("there is nothing to copy here");
            return Vec::new();
        }
        Copied::Hidden => {
            model.inform("names are hidden until you have decided");
            return Vec::new();
        }
    };
    model.say(Level::Good, &format!("copied {what}"));
    vec![Effect::Copy(text)]
}
