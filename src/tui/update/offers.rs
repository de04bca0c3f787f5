//! What can be done now: footer and palette offer nothing else.

use super::verdict_state;
use crate::tui::keymap::Command;
use crate::tui::model::Model;
use crate::tui::model::review::CurrentItem;
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
        Command::ShowLog => !judges_blind(model),
        Command::Redo => !super::redo::stack(model).is_empty(),
        Command::Back => model.stack.len() > 1 || model.search.is_some() || filtered(model),
        command if verdict_state::decides(screen, command) => {
            verdict_state::obstacle(model).is_none() && (spec(screen).offers)(model, command)
        }
        command => (spec(screen).offers)(model, command),
    }
}

/// Whether something is in sight that is to be judged without knowing what others say of it.
pub(super) fn judges_blind(model: &Model) -> bool {
    model.stack.iter().any(|screen| match screen {
        Screen::Review => {
            let current = model.queue.current.as_ref();
            current.is_some_and(CurrentItem::is_hidden)
        }
        Screen::Ruling => {
            let current = model.adjudication.current.as_ref();
            current.is_some_and(|current| !current.open)
        }
        Screen::Duel => {
            let duel = model.duel.open();
            duel.is_some_and(|duel| !duel.all_done() && !duel.has_seen_result())
        }
        _ => false,
    })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::message::Effect;
    use crate::tui::screens::{review, ruling};
    use crate::tui::update::commands::on_command;

    #[test]
    fn the_log_opens_after_the_decision_and_not_before() {
        let rulings = (ruling::tests::current(), Command::RuleRelevant);
        let reviews = (review::tests::reviewing(), Command::JudgeA);
        for (mut model, decides) in [rulings, reviews] {
            assert!(!offers(&model, Command::ShowLog));
            assert_eq!(on_command(&mut model, Command::ShowLog), []);
            on_command(&mut model, decides);
            assert!(offers(&model, Command::ShowLog));
            let effects = on_command(&mut model, Command::ShowLog);
            assert_eq!(effects, [Effect::ReadLog]);
        }
    }
}
