//! A query has arrived; a verdict is on disk or taken back.

use crate::domain::battle::Pair;
use crate::domain::sanitise;
use crate::store::corpus::{QueryInfo, QueryKey};
use crate::store::verdicts::StoredVerdict;
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::model::battle::RankingBefore;
use crate::tui::model::open_query::OpenQuery;
use crate::tui::requests;
use crate::tui::screens::registry::spec;
use crate::tui::screens::{Screen, matrix, queries, review};
use crate::tui::widgets::toast::Level;

pub(super) fn opened(model: &mut Model, generation: u64, mut open: OpenQuery) -> Vec<Effect> {
    if generation != model.generation {
        return Vec::new();
    }
    model.loading = false;
    let before = model.open.take();
    let before = before.filter(|before| before.info.key == open.info.key);
    let same = before.is_some();
    if let Some(before) = before {
        open.texts = before.texts;
        open.votes = before.votes;
    }
    model.open = Some(open);
    if !same {
        matrix::update::look_at_first(model);
    }
    (spec(model.screen()).loaded)(model)
}

pub(super) fn saved(model: &mut Model, key: QueryKey) -> Vec<Effect> {
    model.saving = model.saving.saturating_sub(1);
    let mut effects = queries::update::summarise_anew(model, key);
    effects.extend(reload_when_all_is_stored(model));
    if model.screen() == Screen::Review {
        // What has been judged is counted where it is shown.
        effects.extend(requests::queue(model));
    }
    effects
}

/// A verdict is not on disk: one that is under review is stored again when the person goes on.
pub(super) fn not_saved(model: &mut Model, error: &str) -> Vec<Effect> {
    model.saving = model.saving.saturating_sub(1);
    let words = format!("the verdict was not stored: {error}");
    model.say(Level::Error, &words);
    model.battle.before = None;
    if let Some(current) = &mut model.queue.current {
        current.unsaved |= !current.is_blind();
    }
    reload_when_all_is_stored(model)
}

/// An answer while a verdict is on its way would be without it.
fn reload_when_all_is_stored(model: &mut Model) -> Vec<Effect> {
    match model.saving {
        0 => model.reload(),
        _ => Vec::new(),
    }
}

pub(super) fn undone(
    model: &mut Model,
    undone: Option<(StoredVerdict, QueryInfo, String)>,
) -> Vec<Effect> {
    let Some((stored, info, words)) = undone else {
        model.inform("no verdict of yours to take back");
        return Vec::new();
    };
    let mut effects = queries::update::summarise_anew(model, info.key);
    match &model.open {
        Some(open) if open.info.key == info.key => {
            let before = RankingBefore::of(open, sanitise::line(&words).into_owned());
            let shown = (model.battle.a, model.battle.b);
            let verdict = (stored.verdict.a, stored.verdict.b);
            let here = shown == verdict || shown == (verdict.1, verdict.0);
            model.battle.before = (here && model.screen() == Screen::Battle).then_some(before);
            model.say(Level::Good, &words);
        }
        _ => model.say(Level::Good, &format!("{}: {words}", info.id)),
    }
    effects.extend(model.reload());
    let current = model.queue.current.as_ref();
    if let Some(chosen) = current.filter(|current| !current.queued) {
        let pair = Pair::new(stored.verdict.a, stored.verdict.b);
        if pair.is_some_and(|pair| chosen.is_about(info.key, pair)) {
            review::update::begin_again(model);
        }
    } else if matches!(model.screen(), Screen::Queue | Screen::Review) {
        model.queue.current = None;
        effects.extend(requests::queue(model));
    }
    effects
}
