//! What can be done now: footer and palette offer nothing else.

use super::verdict_state;
use crate::tui::keymap::Command;
use crate::tui::model::Model;
use crate::tui::screens::Screen;
use crate::tui::screens::registry::spec;
use crate::tui::screens::run::ask_pair;
use crate::tui::screens::spec::Find;

pub(crate) fn offers(model: &Model, command: Command) -> bool {
    let screen = model.screen();
    let found = || model.search.as_ref().map_or(0, |search| search.found.len());
    match command {
        Command::Filter => !matches!(spec(screen).find, Find::Nothing),
        Command::NextMatch | Command::PreviousMatch => found() > 1,
        Command::AskJudges => ask_pair::is_offered(model),
        Command::PauseRun => model.run.running,
        Command::ShowRun => screen != Screen::Run,
        Command::Redo => !super::redo::stack(model).is_empty(),
        Command::Back => model.stack.len() > 1 || model.search.is_some() || filtered(model),
        command if verdict_state::decides(screen, command) => {
            verdict_state::obstacle(model).is_none() && (spec(screen).offers)(model, command)
        }
        command => (spec(screen).offers)(model, command),
    }
}

/// Whether rows are kept by some words.
fn filtered(model: &Model) -> bool {
    match model.screen() {
        Screen::Queries => !model.queries.filter.is_empty(),
        Screen::Queue => !model.queue.filter.is_empty(),
        Screen::Adjudication => !model.adjudication.filter.is_empty(),
        _ => false,
    }
}
