//! Determines the available commands; footer and palette show no others.

use super::verdict_state;
use crate::tui::keymap::Command;
use crate::tui::model::Model;
use crate::tui::model::review::CurrentItem;
use crate::tui::screens::Screen;
use crate::tui::screens::registry::spec;
use crate::tui::screens::run::ask_pair;
use crate::tui::screens::spec::{Find, Undoable};

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
        Command::Undo => undoable(model),
        Command::Redo => !super::redo::stack(model).is_empty(),
        Command::Back => model.stack.len() > 1 || model.search.is_some() || filtered(model),
        command if verdict_state::decides(screen, command) => {
            verdict_state::obstacle(model).is_none() && (spec(screen).offers)(model, command)
        }
        command => (spec(screen).offers)(model, command),
    }
}

/// Whether something on screen is to be judged without knowing other opinions of it.
pub(crate) fn judges_blind(model: &Model) -> bool {
    model.stack.iter().any(|screen| match screen {
        Screen::Review => model
            .queue
            .current
            .as_ref()
            .is_some_and(CurrentItem::is_hidden),
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

/// Whether the project may contain something that an undo on this screen can remove; also true for
/// a query without counts yet.
fn undoable(model: &Model) -> bool {
    let decided = match spec(model.screen()).undoes {
        Undoable::Verdict => {
            let totals = model.queries.totals();
            totals.verdicts > 0 || totals.counted < model.queries.rows.len()
        }
        Undoable::Ruling => {
            let overview = model.adjudication.overview.as_ref();
            let ruled = overview.is_some_and(|overview| overview.ruled > 0);
            ruled || !model.adjudication.ruled_since.is_empty()
        }
        Undoable::Duel => model
            .duel
            .open()
            .is_some_and(|duel| !duel.session.events.is_empty() || !duel.pending.is_empty()),
    };
    decided || model.saving > 0
}

/// Whether rows are filtered.
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
    use crate::store::summary_cache::QuerySummary;
    use crate::tui::job::only;
    use crate::tui::screens::testing::model;
    use crate::tui::screens::{review, ruling};
    use crate::tui::update::commands::on_command;
    use crate::tui::update::requests::pages::ReadLog;

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
            assert_eq!(only(&effects), Some(&ReadLog));
        }
    }

    #[test]
    fn undo_is_offered_once_there_is_something_to_undo() {
        let mut model = model(Screen::Matrix);
        let info = model.open.as_ref().map(|open| open.info.clone()).unwrap();
        let mut offered = |verdicts, saving| {
            let summary = QuerySummary {
                verdicts,
                ..QuerySummary::default()
            };
            model.queries.rows = vec![(info.clone(), Some(summary))];
            model.saving = saving;
            offers(&model, Command::Undo)
        };
        assert!(!offered(0, 0));
        assert!(offered(0, 1), "a verdict is on its way");
        assert!(offered(1, 0));
        model.queries.rows.push((info, None));
        model.queries.rows[0].1 = Some(QuerySummary::default());
        model.saving = 0;
        assert!(offers(&model, Command::Undo), "not every query is counted");
    }
}
