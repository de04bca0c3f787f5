//! Handles results: loaded queries, and stored or undone verdicts.

use crate::app::review::undo::Undo;
use crate::domain::battle::Pair;
use crate::domain::sanitize;
use crate::domain::verdict::Decision;
use crate::store::corpus::{QueryInfo, QueryKey};
use crate::store::verdicts::{NewVerdict, StoredVerdict};
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::model::battle::RankingBefore;
use crate::tui::model::open_query::OpenQuery;
use crate::tui::requests;
use crate::tui::screens::{Screen, matrix, review};
use crate::tui::widgets::toast::Level;
use std::sync::Arc;

pub(crate) fn opened(model: &mut Model, mut open: OpenQuery) -> Vec<Effect> {
    let before = model.open.take();
    let before = before.filter(|before| before.info.key == open.info.key);
    let same = before.is_some();
    if let Some(before) = before {
        open.texts = before.texts;
        open.votes = before.votes;
    }
    model.open = Some(open);
    let key = model.open.as_ref().map(|open| open.info.key);
    let wanted = model.wanted_pair.take_if(|(query, ..)| key == Some(*query));
    if let Some((_, a, b)) = wanted {
        model.look_at(a, b);
    } else if !same {
        matrix::update::look_at_first(model);
        go_back(model);
    }
    model.refresh_search();
    model.behavior().loaded(model)
}

/// Moves the cursor of the matrix to the pair that it was on in the last session.
fn go_back(model: &mut Model) {
    let Some(open) = &model.open else { return };
    let remembered = model
        .return_to
        .take_if(|(query, _)| open.info.id.as_str() == query);
    let place = |id: String| {
        open.documents
            .iter()
            .position(|document| document.id.as_str() == id)
    };
    let pair = remembered.and_then(|(_, pair)| pair);
    if let Some((row, column)) = pair.and_then(|(row, column)| place(row).zip(place(column))) {
        model.look_at(row, column);
    }
}

impl Model {
    /// Texts of a query have arrived.
    pub(crate) fn show_texts(
        &mut self,
        key: QueryKey,
        texts: Vec<(usize, Arc<str>)>,
    ) -> Vec<Effect> {
        if let Some(open) = self.open.as_mut().filter(|open| open.info.key == key) {
            open.texts.extend(texts);
        }
        review::update::ready(self);
        self.refresh_search();
        Vec::new()
    }
}

impl Model {
    /// Shows changes that were not made on the screen. A pair under review stays unchanged.
    pub(crate) fn show_changes(&mut self) -> Vec<Effect> {
        self.forget_prefetched();
        let mut effects = vec![self.list()];
        if self.screen() != Screen::REVIEW {
            effects.extend(reload_when_all_is_stored(self));
        }
        effects
    }
}

/// A verdict is on disk; `before` is what this person had decided on the pair elsewhere in the
/// meantime.
pub(crate) fn saved(model: &mut Model, key: QueryKey, before: Option<Decision>) -> Vec<Effect> {
    if let Some(before) = before {
        let words = before.words("A", "B");
        model.say(
            Level::Warn,
            &format!(
                "you have decided this pair elsewhere in the meantime: {words}; your latest \
                 decision counts"
            ),
        );
    }
    model.saving = model.saving.saturating_sub(1);
    let mut effects = model.summarize_anew(key);
    effects.extend(reload_when_all_is_stored(model));
    if model.screen() == Screen::REVIEW {
        // Update the counts of judged items where they are shown.
        effects.extend(model.build_queue());
    }
    effects
}

/// A verdict could not be stored: one that is under review is stored again when the person
/// continues. The reason of another one is kept as a draft.
pub(crate) fn not_saved(model: &mut Model, verdict: &NewVerdict, error: &str) -> Vec<Effect> {
    model.saving = model.saving.saturating_sub(1);
    let words = format!("the verdict was not stored: {error}");
    model.say(Level::Error, &words);
    model.battle.before = None;
    let pair = Pair::new(verdict.a, verdict.b);
    let reviewed = model.queue.current.as_mut().filter(|current| {
        !current.is_undecided() && pair.is_some_and(|pair| current.is_about(verdict.query, pair))
    });
    let mut effects = match reviewed {
        Some(current) => {
            current.unsaved = true;
            Vec::new()
        }
        None => model.restore_draft(verdict.subject(), verdict.note.clone()),
    };
    effects.extend(reload_when_all_is_stored(model));
    effects
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

pub(crate) fn undone(
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
    let mut effects = show_again(model, &stored, &info, &words, true);
    let pair = Pair::new(stored.verdict.a, stored.verdict.b);
    if let (Screen::REVIEW, Some(pair)) = (model.screen(), pair) {
        effects.extend(review::update::take_up(model, info.key, pair, queued));
    }
    effects
}

pub(crate) fn redone(model: &mut Model, redone: Again) -> Vec<Effect> {
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
    model.forget_prefetched();
    let mut effects = model.summarize_anew(info.key);
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
    if screen == Screen::BATTLE {
        let before = model.open.as_ref().filter(|_| here);
        let given = |open: &OpenQuery| {
            Pair::new(a, b)
                .and_then(|pair| open.people.by(&stored.verdict.annotator, pair))
                .is_some()
        };
        let before = before.map(|open| RankingBefore {
            taken_back,
            replaces: given(open),
            ..RankingBefore::of(open, sanitize::line(words).into_owned())
        });
        if !here || model.battle.pair() != Pair::new(a, b) {
            model.battle = model.battle.on(a, b);
        }
        model.battle.before = before;
    }
    match (screen, here) {
        (Screen::BATTLE, true) => {
            model.look_at(a, b);
            effects.extend(requests::pair(model));
        }
        (Screen::MATRIX, true) => model.look_at(a, b),
        (Screen::BATTLE | Screen::MATRIX, false) => {
            model.wanted_pair = Some((info.key, a, b));
            effects.extend(model.open_query(info.key));
            return effects;
        }
        (Screen::QUERIES, _) => model.queries.select(info.key),
        (Screen::QUEUE, _) => {
            model.queue.current = None;
            effects.extend(model.build_queue());
        }
        _ => {}
    }
    effects.extend(model.reload());
    effects
}
