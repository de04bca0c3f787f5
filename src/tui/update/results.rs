//! What has arrived is taken in: a query, an undo, the progress and the end of a run.

use super::{RELOAD_EVERY, SUMMARISE_EVERY};
use crate::domain::sanitise;
use crate::store::corpus::QueryInfo;
use crate::store::verdicts::StoredVerdict;
use crate::tui::model::{Effect, Model, RankingBefore, Screen};
use crate::tui::screens;
use crate::tui::widgets::toast::Level;

pub(super) fn on_opened(
    model: &mut Model,
    generation: u64,
    mut open: crate::tui::model::OpenQuery,
) -> Vec<Effect> {
    if generation != model.generation {
        return Vec::new();
    }
    model.loading = false;
    let same = model
        .open
        .as_ref()
        .is_some_and(|before| before.info.key == open.info.key);
    if same && let Some(before) = model.open.take() {
        open.texts = before.texts;
        open.votes = before.votes;
    }
    model.open = Some(open);
    if !same {
        screens::matrix::look_at_first(model);
    }
    if model.screen() == Screen::Review {
        screens::review::ready(model);
        screens::review::reapply(model);
    }
    model.refresh()
}

pub(super) fn on_undone(
    model: &mut Model,
    undone: Option<(StoredVerdict, QueryInfo, String)>,
) -> Vec<Effect> {
    let Some((stored, info, words)) = undone else {
        model.say(Level::Info, "no verdict of yours to take back".to_owned());
        return Vec::new();
    };
    let mut effects = model.forget_summary(info.key);
    match &model.open {
        Some(open) if open.info.key == info.key => {
            let before = RankingBefore::of(open, sanitise::line(&words).into_owned());
            let shown = (model.battle.a, model.battle.b);
            let verdict = (stored.verdict.a, stored.verdict.b);
            let here = shown == verdict || shown == (verdict.1, verdict.0);
            model.battle.before = (here && model.screen() == Screen::Battle).then_some(before);
            model.say(Level::Good, words);
        }
        _ => model.say(Level::Good, format!("{}: {words}", info.id)),
    }
    effects.extend(model.reload());
    if matches!(model.screen(), Screen::Queue | Screen::Review) {
        model.queue.current = None;
        effects.extend(screens::queue::ask(model));
    }
    effects
}

pub(super) fn on_progress(
    model: &mut Model,
    progress: crate::app::annotate::progress::RunProgress,
) -> Vec<Effect> {
    let before = model
        .progress
        .as_ref()
        .map_or(0, crate::app::annotate::progress::RunProgress::done);
    let changed = progress.done() != before;
    let planned = model
        .progress
        .as_ref()
        .map_or(0, |progress| progress.queries_planned)
        != progress.queries_planned;
    model.progress = Some(progress);
    if !changed && !planned {
        return Vec::new();
    }
    let mut effects = Vec::new();
    if model.screen() == Screen::Queries
        && !model.listing
        && model.now.duration_since(model.listed) >= SUMMARISE_EVERY
    {
        model.listed = model.now;
        model.listing = true;
        effects.push(Effect::List);
    }
    let watching = matches!(
        model.screen(),
        Screen::Matrix | Screen::Document | Screen::Battle
    );
    if watching
        && model.saving == 0
        && !model.loading
        && model.now.duration_since(model.loaded) >= RELOAD_EVERY
    {
        effects.extend(model.reload());
    }
    effects
}

pub(super) fn on_ended(
    model: &mut Model,
    result: Result<crate::app::annotate::RunOutcome, crate::app::annotate::RunError>,
) -> Vec<Effect> {
    model.running = false;
    model.control.cancelled = false;
    let (kind, words) = match result {
        Ok(outcome) => {
            model.progress = Some(outcome.progress);
            match (outcome.cancelled, outcome.missing) {
                (true, _) => (Level::Warn, "stopped; s goes on".to_owned()),
                (false, Some(0)) => (Level::Good, "every battle has all its votes".to_owned()),
                (false, missing) => {
                    let missing = missing.map_or(String::new(), |votes| format!("{votes} "));
                    let why = if outcome.budget_reached {
                        "the budget is reached: "
                    } else {
                        "done, but "
                    };
                    (Level::Warn, format!("{why}{missing}votes are missing"))
                }
            }
        }
        Err(error) => (Level::Error, error.to_string()),
    };
    model.ended = Some(words.clone());
    model.say(kind, words);
    let mut effects = vec![Effect::List];
    effects.extend(model.reload());
    effects
}
