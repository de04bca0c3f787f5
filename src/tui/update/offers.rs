//! Determines the available commands; footer and palette show no others.

use super::verdict_state;
use crate::domain::sanitize;
use crate::registry;
use crate::tui::keymap::Command;
use crate::tui::model::Model;
use crate::tui::screens::Screen;
use crate::tui::screens::behavior::Find;
use crate::tui::screens::run::ask_pair;
use crate::tui::text;
use crate::tui::widgets::footer::Footer;

pub(crate) fn offers(model: &Model, command: Command) -> bool {
    let behavior = model.behavior();
    let found = || model.search.as_ref().map_or(0, |search| search.found.len());
    match command {
        Command::Filter => !matches!(behavior.find(), Find::Nothing),
        Command::NextMatch | Command::PreviousMatch => found() > 1,
        Command::AskJudges => ask_pair::is_offered(model),
        Command::BorderBack | Command::BorderForward => model.areas.border.is_some(),
        Command::PauseRun => model.run.running,
        Command::ShowRun => model.screen() != Screen::RUN,
        Command::ShowLog => !judges_blind(model),
        Command::Tour => model.options.sample.is_some(),
        Command::Undo => behavior.decisions().can_undo(model) || model.saving > 0,
        Command::Redo => behavior.decisions().can_redo(model),
        Command::Back => model.stack.len() > 1 || model.search.is_some() || filtered(model),
        command if behavior.decides(command) => {
            verdict_state::obstacle(model).is_none() && behavior.offers(model, command)
        }
        command => {
            let opened = registry::opened_from(model.screen(), command);
            behavior.offers(model, command) && opened.is_none_or(|screen| screen.can_open(model))
        }
    }
}

/// The keys of the current screen that do something now.
pub(crate) fn footer(model: &Model, columns: usize) -> Footer {
    let offered = |command| offers(model, command);
    let mut footer = Footer::new(model.scope()).only(offered);
    let find = match model.behavior().find() {
        Find::Rows { .. } => "filter",
        Find::Document => "find",
        Find::Texts(_) | Find::Nothing => "search",
    };
    footer = footer.relabel("filter", find);
    for (from, to) in model.behavior().labels(model) {
        footer = footer.relabel(from, to);
    }
    if let Some(search) = &model.search {
        let words = sanitize::line(&search.words);
        let words = text::truncate(&words, columns / 3);
        footer = footer.led_by(format!("/{words} · {}", search.count()));
    }
    if model.run.running && model.run.control.paused {
        footer = footer.relabel("pause", "resume");
    }
    footer
}

/// Whether something on screen is to be judged without knowing other opinions of it.
pub(crate) fn judges_blind(model: &Model) -> bool {
    model
        .stack
        .iter()
        .any(|screen| registry::screen(*screen).is_blind(model))
}

/// Whether rows are filtered.
fn filtered(model: &Model) -> bool {
    match model.behavior().find() {
        Find::Rows { filter, .. } => !filter(model).is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::corpus::{QueryInfo, QueryKey};
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
        let mut model = model(Screen::MATRIX);
        let info = model.open.as_ref().map(|open| open.info.clone()).unwrap();
        let mut offered = |verdicts, saving| {
            let summary = QuerySummary {
                verdicts,
                ..QuerySummary::default()
            };
            model.queries.set_rows(vec![(info.clone(), Some(summary))]);
            model.saving = saving;
            offers(&model, Command::Undo)
        };
        assert!(!offered(0, 0));
        assert!(offered(0, 1), "a verdict is on its way");
        assert!(offered(1, 0));
        let other = QueryInfo {
            key: QueryKey(info.key.0 + 1),
            ..info.clone()
        };
        let counted = Some(QuerySummary::default());
        model.queries.set_rows(vec![(info, counted), (other, None)]);
        model.saving = 0;
        assert!(offers(&model, Command::Undo), "not every query is counted");
    }
}
