//! Handles results: loaded queries, and stored or undone verdicts.

use crate::app::review::undo::Undo;
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
    let order = model.matrix_order();
    let before = model.open.take();
    let before = before.filter(|before| before.info.key == open.info.key);
    let same = before.is_some();
    if let Some(before) = before {
        open.texts = before.texts;
        open.votes = before.votes;
    }
    if same {
        matrix::update::follow(&mut model.matrix, &open, &order);
    }
    model.open = Some(open);
    let key = model.open.as_ref().map(|open| open.info.key);
    let wanted = model.wanted_pair.take_if(|(query, ..)| key == Some(*query));
    if let Some((_, a, b)) = wanted {
        model.look_at(a, b);
    } else if !same {
        matrix::update::look_at_first(model);
        let id = model.open.as_ref().map(|open| open.info.id.as_str());
        if let Some((_, (row, column))) = model.return_to.take_if(|(query, _)| id == Some(query)) {
            let count = model.matrix_order().len();
            model
                .matrix
                .heat
                .move_to(row.min(count), column.min(count), count);
        }
    }
    (spec(model.screen()).loaded)(model)
}

/// Shows the changes made by another program. A pair under review stays unchanged.
pub(super) fn changed_elsewhere(model: &mut Model) -> Vec<Effect> {
    let mut effects = vec![Effect::List];
    if model.screen() != Screen::Review {
        effects.extend(reload_when_all_is_stored(model));
    }
    effects
}

pub(super) fn saved(model: &mut Model, key: QueryKey) -> Vec<Effect> {
    model.saving = model.saving.saturating_sub(1);
    let mut effects = queries::update::summarise_anew(model, key);
    effects.extend(reload_when_all_is_stored(model));
    if model.screen() == Screen::Review {
        // Update the counts of judged items where they are shown.
        effects.extend(requests::queue(model));
    }
    effects
}

/// A verdict could not be stored: one that is under review is stored again when the person
/// continues.
pub(super) fn not_saved(model: &mut Model, error: &str) -> Vec<Effect> {
    model.saving = model.saving.saturating_sub(1);
    let words = format!("the verdict was not stored: {error}");
    model.say(Level::Error, &words);
    model.battle.before = None;
    if let Some(current) = &mut model.queue.current {
        current.unsaved |= !current.is_undecided();
    }
    reload_when_all_is_stored(model)
}

/// Reloads only when everything is stored, since an answer before that would lack the pending
/// verdict.
fn reload_when_all_is_stored(model: &mut Model) -> Vec<Effect> {
    match model.saving {
        0 => model.reload(),
        _ => Vec::new(),
    }
}

type Again = Option<(StoredVerdict, QueryInfo, String)>;

pub(super) fn undone(
    model: &mut Model,
    undone: Undo<(StoredVerdict, QueryInfo, String)>,
) -> Vec<Effect> {
    let (stored, info, words) = match undone {
        Undo::Nothing => {
            model.inform("no verdict of yours to undo");
            return Vec::new();
        }
        Undo::Beyond { uid, words } => {
            model.name_older(uid, &words);
            return Vec::new();
        }
        Undo::TakenBack(undone) => undone,
    };
    model.undone_verdicts.push(stored.verdict.uid.clone());
    let queued = stored.shown.is_some();
    let effects = show_again(model, &stored, &info, &words, true);
    let pair = Pair::new(stored.verdict.a, stored.verdict.b);
    match (model.screen(), pair) {
        (Screen::Review, Some(pair)) => [
            effects,
            review::update::take_up(model, info.key, pair, queued),
        ]
        .concat(),
        _ => effects,
    }
}

pub(super) fn redone(model: &mut Model, redone: Again) -> Vec<Effect> {
    let Some((stored, info, words)) = redone else {
        model.inform("this verdict cannot be redone");
        return Vec::new();
    };
    let mut effects = show_again(model, &stored, &info, &words, false);
    let pair = Pair::new(stored.verdict.a, stored.verdict.b);
    let current = model.queue.current.as_ref();
    let about = current.zip(pair);
    if let Some(pair) = pair {
        model.session.redone(info.key, pair);
    }
    if about.is_some_and(|(current, pair)| current.is_about(info.key, pair)) {
        effects.extend(review::update::done_again(model));
    }
    effects
}

/// Shows the pair whose verdict was undone or redone, and the effect.
fn show_again(
    model: &mut Model,
    stored: &StoredVerdict,
    info: &QueryInfo,
    words: &str,
    taken_back: bool,
) -> Vec<Effect> {
    let mut effects = queries::update::summarise_anew(model, info.key);
    let (a, b) = (stored.verdict.a, stored.verdict.b);
    let here = model
        .open
        .as_ref()
        .is_some_and(|open| open.info.key == info.key);
    let prefix = if here {
        String::new()
    } else {
        format!("{}: ", info.id)
    };
    model.say(Level::Good, &format!("{prefix}{words}"));
    let screen = model.screen();
    if screen == Screen::Battle {
        let before = model.open.as_ref().filter(|_| here);
        let before = before.map(|open| RankingBefore {
            taken_back,
            ..RankingBefore::of(open, sanitise::line(words).into_owned())
        });
        if !here || model.battle.pair() != Pair::new(a, b) {
            model.battle = model.battle.on(a, b);
        }
        model.battle.before = before;
    }
    match (screen, here) {
        (Screen::Battle, true) => {
            model.look_at(a, b);
            effects.extend(requests::pair(model));
        }
        (Screen::Matrix, true) => model.look_at(a, b),
        (Screen::Battle | Screen::Matrix, false) => {
            model.wanted_pair = Some((info.key, a, b));
            return [effects, model.open_query(info.key)].concat();
        }
        (Screen::Queries, _) => model.queries.select(info.key),
        (Screen::Queue, _) => {
            model.queue.current = None;
            effects.extend(requests::queue(model));
        }
        _ => {}
    }
    effects.extend(model.reload());
    effects
}
