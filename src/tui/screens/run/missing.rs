//! What a run would ask now, with its price.

use super::begin::money_words;
use crate::domain::sanitize;
use crate::tui::keymap::{Command, key_on};
use crate::tui::model::Model;
use crate::tui::model::run::ALL_VOTES;
use crate::tui::screens::Screen;
use crate::tui::text;
use crate::tui::theme::Theme;
use ratatui::text::Line;

/// The calls whose votes are still to be fetched.
fn in_batches(calls: usize) -> String {
    let verb = if calls == 1 { "is" } else { "are" };
    format!(
        "{} {verb} in batches: {} fetches them.",
        text::counted(calls, "missing vote"),
        key_on(Command::Batches, Screen::RUN)
    )
}

/// Whether the sentence on how the run ended says that no vote is missing.
fn said_above(model: &Model) -> bool {
    let ended = model.run.ended.as_ref();
    model.run.progress.is_some() && ended.is_some_and(|end| end.words.ends_with(ALL_VOTES))
}

/// Empty during a run.
pub(super) fn lines(model: &Model, theme: &Theme, columns: usize) -> Vec<Line<'static>> {
    if model.run.running {
        return Vec::new();
    }
    if let Some(why) = &model.options.no_run {
        return text::lines(why, columns, theme.warn());
    }
    let estimate = match &model.run.next {
        None => {
            let words = "Counting the votes that are missing …";
            return vec![text::line(words, columns, theme.muted())];
        }
        Some(Err(why)) => {
            let words = format!(
                "The missing votes cannot be counted: {}",
                sanitize::line(why)
            );
            return text::lines(&words, columns, theme.warn());
        }
        Some(Ok(estimate)) => estimate,
    };
    let start = key_on(Command::StartRun, Screen::RUN);
    let words = match estimate.calls() {
        0 if estimate.free_votes() > 0 => format!(
            "Press {start} to store {} without a call: the judges already answered the same \
             questions.",
            text::counted(estimate.free_votes(), "missing vote")
        ),
        0 if estimate.pending > 0 => in_batches(estimate.pending),
        0 if model.queries.failures(None) > 0 => return Vec::new(),
        0 if said_above(model) => return Vec::new(),
        0 => format!("Nothing is missing: {ALL_VOTES}."),
        calls => {
            let most = if estimate.rounds { "at most " } else { "" };
            let price = if model.options.paid {
                money_words(model, estimate)
            } else {
                "at no cost.".to_owned()
            };
            let calls = text::counted(calls, "missing vote");
            let words = format!("Press {start} to ask for {most}{calls}: {price}");
            match estimate.pending {
                0 => words,
                pending => format!("{words} {}", in_batches(pending)),
            }
        }
    };
    text::lines(&words, columns, theme.strong())
}
