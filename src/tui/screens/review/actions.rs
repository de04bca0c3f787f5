//! What happens to the pair under review.

use super::super::{battle, queue};
use crate::app::review::queue::{QueueItem, QueueItemState};
use crate::domain::battle::Pair;
use crate::domain::priority::DrawReason;
use crate::domain::sampling::SeededRng;
use crate::domain::sanitise;
use crate::domain::verdict::{Decision, ErrorCause};
use crate::store::assignments::NewAssignment;
use crate::store::verdicts::NewVerdict;
use crate::tui::model::{BattleScreen, CurrentItem, Effect, Model, Overlay, PromptFor, Screen};
use crate::tui::widgets::prompt::LinePrompt;
use crate::tui::widgets::toast::Level;
use std::time::Instant;

/// Begins the review of an item of the queue, by its index.
pub fn review_item(model: &mut Model, at: usize) -> Vec<Effect> {
    let Some(item) = model.queue.items.get(at).copied() else {
        model.queue.current = None;
        return Vec::new();
    };
    model.queue.current = Some(CurrentItem::new(item, at == 0));
    let turned = side(model, &item);
    let (low, high) = (item.pair.low(), item.pair.high());
    model.battle = BattleScreen {
        a: if turned { high } else { low },
        b: if turned { low } else { high },
        together: model.battle.together,
        full: false,
        blind: true,
        ..BattleScreen::default()
    };
    let mut effects = if model
        .open
        .as_ref()
        .is_some_and(|open| open.info.key == item.query)
    {
        battle::enter(model)
    } else {
        model.open_query(item.query)
    };
    ready(model);
    effects.extend(look_ahead(model, at + 1));
    effects
}

/// Which of the two is shown as A: drawn by seed, annotator and pair, so that it is the same after a restart and
/// another one for a repeat.
fn side(model: &Model, item: &QueueItem) -> bool {
    let again = if item.draw == DrawReason::Repeat {
        "again"
    } else {
        ""
    };
    let pair = format!("{}/{}/{}", item.query.0, item.pair.low(), item.pair.high());
    let purpose = ["side", &model.options.annotator, &pair, again];
    SeededRng::new(model.options.request.seed, &purpose).below(2) == 1
}

/// Loads the next item before it is wanted.
fn look_ahead(model: &Model, at: usize) -> Vec<Effect> {
    let Some(next) = model.queue.items.get(at) else {
        return Vec::new();
    };
    let documents = vec![next.pair.low(), next.pair.high()];
    match &model.open {
        Some(open) if open.info.key == next.query => {
            battle::wanted(open, &documents, open.view.battles_of(next.pair))
        }
        _ => vec![Effect::Prefetch(next.query, documents)],
    }
}

/// Starts the clock once both texts are in sight.
pub fn ready(model: &mut Model) {
    let (a, b, now) = (model.battle.a, model.battle.b, model.now);
    let Some(open) = &model.open else { return };
    if let Some(current) = &mut model.queue.current
        && current.since.is_none()
        && open.info.key == current.item.query
        && open.texts.contains_key(&a)
        && open.texts.contains_key(&b)
    {
        current.since = Some(now);
    }
}

fn spent(current: &mut CurrentItem, now: Instant) -> Option<i64> {
    let since = current.since.replace(now)?;
    i64::try_from(now.duration_since(since).as_millis()).ok()
}

/// Takes a decision in: the blind one is stored and lifts the veil; a later one waits until it is kept.
pub(super) fn decide(model: &mut Model, decision: Decision) -> Vec<Effect> {
    let now = model.now;
    let policy = model.queue.policy;
    let Some(current) = &mut model.queue.current else {
        return Vec::new();
    };
    if current.since.is_none() {
        return Vec::new();
    }
    if !current.is_blind() {
        current.unsaved |= current.decision != Some(decision);
        current.decision = Some(decision);
        let note = current.note.clone();
        if let Some(before) = &mut model.battle.before {
            before.change = decision.words("A", "B");
        }
        battle::apply(model, decision, note);
        return Vec::new();
    }
    let (active_ms, confidence) = (spent(current, now), current.confidence);
    current.blind = Some(decision);
    current.decision = Some(decision);
    // An item that was chosen from further down came by nobody's chance.
    let draw = if current.first {
        current.item.draw
    } else {
        DrawReason::Priority
    };
    let item = current.queued.then_some(NewAssignment { policy, draw });
    let (query, a, b) = (current.item.query, model.battle.a, model.battle.b);
    model.battle.blind = false;
    battle::remember_ranking(model, decision.words("A", "B"));
    battle::apply(model, decision, None);
    model.saving += 1;
    vec![Effect::Save(NewVerdict {
        blind: true,
        active_ms,
        confidence,
        item,
        ..NewVerdict::open(query, a, b, decision, &model.options.annotator)
    })]
}

pub(super) fn blame(model: &mut Model, cause: ErrorCause) -> Vec<Effect> {
    match &mut model.queue.current {
        Some(current) if !current.is_blind() => {
            current.cause = (current.cause != Some(cause)).then_some(cause);
            current.unsaved = true;
        }
        _ => model.say(Level::Info, "decide first, then say why".to_owned()),
    }
    Vec::new()
}

pub(super) fn ask_why(model: &mut Model) -> Vec<Effect> {
    match &model.queue.current {
        Some(current) if !current.is_blind() => {
            let note = current.note.clone().unwrap_or_default();
            let prompt = LinePrompt::new("reason: ", "why, in a line; Enter keeps it")
                .with_text(&sanitise::line(&note));
            model
                .overlays
                .push(Overlay::Prompt(prompt, PromptFor::ReviewReason));
        }
        _ => model.say(Level::Info, "decide first, then say why".to_owned()),
    }
    Vec::new()
}

/// Takes the reason in.
pub fn note(model: &mut Model, text: &str) -> Vec<Effect> {
    if let Some(current) = &mut model.queue.current {
        current.note = Some(text.trim().to_owned()).filter(|note| !note.is_empty());
        current.unsaved = true;
    }
    Vec::new()
}

/// The verdict after the reveal, to be stored.
fn final_verdict(model: &mut Model) -> Option<Effect> {
    let now = model.now;
    let (a, b) = (model.battle.a, model.battle.b);
    let current = model
        .queue
        .current
        .as_mut()
        .filter(|current| !current.is_blind())?;
    let decision = current.decision?;
    current.unsaved = false;
    let active_ms = spent(current, now);
    let new = NewVerdict {
        note: current.note.clone(),
        active_ms,
        confidence: current.confidence,
        cause: current.cause,
        after_reveal: true,
        ..NewVerdict::open(current.item.query, a, b, decision, &model.options.annotator)
    };
    model.saving += 1;
    Some(Effect::Save(new))
}

/// Keeps the verdict and takes up the next item.
pub(super) fn keep(model: &mut Model) -> Vec<Effect> {
    let Some(effect) = final_verdict(model) else {
        if model.queue.current.is_some() {
            let words = "decide first: a, b, t or x; s puts the pair off";
            model.say(Level::Info, words.to_owned());
        }
        return Vec::new();
    };
    let mut effects = vec![effect];
    effects.extend(finish_item(model));
    effects
}

/// Takes the item off the list and begins the next one.
fn finish_item(model: &mut Model) -> Vec<Effect> {
    let Some(done) = model.queue.current.take() else {
        return Vec::new();
    };
    if !done.queued {
        model.stack.pop();
        model.battle.blind = false;
        return Vec::new();
    }
    let (query, pair) = (done.item.query, done.item.pair);
    model
        .queue
        .items
        .retain(|item| (item.query, item.pair) != (query, pair));
    let mut effects = queue::ask(model);
    if model.queue.items.is_empty() {
        // The list was short of what is left, or nothing is: the answer tells.
        model.queue.loaded = false;
        return effects;
    }
    let shown = queue::shown(model);
    let at = shown.get(model.queue.cursor).or(shown.last()).copied();
    effects.extend(review_item(model, at.unwrap_or(0)));
    effects
}

/// Puts the pair off until all others are done.
pub(super) fn put_off(model: &mut Model) -> Vec<Effect> {
    let policy = model.queue.policy;
    match &model.queue.current {
        Some(current) if !current.queued => {
            model.say(Level::Info, "only the queue has a later".to_owned());
            Vec::new()
        }
        Some(current) if current.is_blind() => {
            let draw = if current.first {
                current.item.draw
            } else {
                DrawReason::Priority
            };
            let (query, pair) = (current.item.query, current.item.pair);
            let mut effects = vec![Effect::PutOff(query, pair, NewAssignment { policy, draw })];
            effects.extend(finish_item(model));
            effects
        }
        _ => {
            let words = "you have decided; Enter keeps the verdict, u takes it back";
            model.say(Level::Info, words.to_owned());
            Vec::new()
        }
    }
}

/// Begins the review of a pair of the open query, blind, from wherever it was chosen.
pub fn review_pair(model: &mut Model, pair: Pair) -> Vec<Effect> {
    let Some(query) = model.open.as_ref().map(|open| open.info.key) else {
        return Vec::new();
    };
    let item = QueueItem {
        query,
        pair,
        draw: DrawReason::Priority,
        priority: None,
        standing: QueueItemState::Fresh,
    };
    let turned = side(model, &item);
    model.queue.current = Some(CurrentItem {
        queued: false,
        ..CurrentItem::new(item, false)
    });
    model.battle = BattleScreen {
        a: if turned { pair.high() } else { pair.low() },
        b: if turned { pair.low() } else { pair.high() },
        together: model.battle.together,
        blind: true,
        ..BattleScreen::default()
    };
    model.stack.push(Screen::Review);
    ready(model);
    battle::enter(model)
}

/// Goes to the next or the previous item; nothing is written but a verdict that was changed and not kept.
pub(super) fn step(model: &mut Model, forward: bool) -> Vec<Effect> {
    if model
        .queue
        .current
        .as_ref()
        .is_some_and(|current| !current.queued)
    {
        model.say(Level::Info, "only the queue has a next pair".to_owned());
        return Vec::new();
    }
    let here = model.queue.current.as_ref().and_then(|current| {
        let items = &model.queue.items;
        items
            .iter()
            .position(|item| current.is_about(item.query, item.pair))
    });
    let next = match (here, forward) {
        (Some(here), true) => Some(here + 1).filter(|next| *next < model.queue.items.len()),
        (Some(here), false) => here.checked_sub(1),
        (None, _) => (!model.queue.items.is_empty()).then_some(0),
    };
    let judged = model
        .queue
        .current
        .as_ref()
        .filter(|current| !current.is_blind())
        .map(|current| (current.item.query, current.item.pair));
    let Some(mut next) = next else {
        let words = if forward {
            "that was the last item"
        } else {
            "that was the first item"
        };
        model.say(Level::Info, words.to_owned());
        return Vec::new();
    };
    let mut effects = leave(model);
    if let (Some(judged), Some(here)) = (judged, here) {
        // It is done: coming back would show it blind to somebody who has seen everything.
        model
            .queue
            .items
            .retain(|item| (item.query, item.pair) != judged);
        next -= usize::from(next > here);
    }
    model.queue.cursor = next;
    effects.extend(review_item(model, next));
    effects
}

/// Stores what was changed after the reveal and not kept.
pub fn leave(model: &mut Model) -> Vec<Effect> {
    let unsaved = model
        .queue
        .current
        .as_ref()
        .is_some_and(|current| current.unsaved);
    if unsaved {
        final_verdict(model).into_iter().collect()
    } else {
        Vec::new()
    }
}

/// Lets a verdict that was changed and not kept count again after the query has been loaded anew.
pub fn reapply(model: &mut Model) {
    if let Some(current) = &model.queue.current
        && current.unsaved
        && let Some(decision) = current.decision
    {
        let note = current.note.clone();
        battle::apply(model, decision, note);
    }
}
