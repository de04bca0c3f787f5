//! What happens to the pair on the desk.

use super::super::{battle, queue};
use crate::domain::battle::Pair;
use crate::domain::priority::DrawReason;
use crate::domain::sampling::SeededRng;
use crate::domain::sanitise;
use crate::domain::verdict::{Decision, ErrorCause};
use crate::store::priority_cache::NewAssignment;
use crate::store::queue::{QueueItem, QueueItemState};
use crate::store::verdicts::NewVerdict;
use crate::tui::model::{BattleScreen, Desk, Effect, Model, Overlay, PromptFor, Screen};
use crate::tui::widgets::prompt::Prompt;
use crate::tui::widgets::toast::Level;
use std::time::Instant;

/// Lays an item of the queue on the desk, by its index.
pub fn take_up(model: &mut Model, at: usize) -> Vec<Effect> {
    let Some(item) = model.queue.items.get(at).copied() else {
        model.queue.desk = None;
        return Vec::new();
    };
    model.queue.desk = Some(Desk::new(item, at == 0));
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
    if let Some(desk) = &mut model.queue.desk
        && desk.since.is_none()
        && open.info.key == desk.item.query
        && open.texts.contains_key(&a)
        && open.texts.contains_key(&b)
    {
        desk.since = Some(now);
    }
}

fn spent(desk: &mut Desk, now: Instant) -> Option<i64> {
    let since = desk.since.replace(now)?;
    i64::try_from(now.duration_since(since).as_millis()).ok()
}

/// Takes a decision in: the blind one is stored and lifts the veil; a later one waits until it is kept.
pub(super) fn decide(model: &mut Model, decision: Decision) -> Vec<Effect> {
    let now = model.now;
    let policy = model.queue.policy;
    let Some(desk) = &mut model.queue.desk else {
        return Vec::new();
    };
    if desk.since.is_none() {
        return Vec::new();
    }
    if !desk.is_blind() {
        desk.unsaved |= desk.decision != Some(decision);
        desk.decision = Some(decision);
        let note = desk.note.clone();
        if let Some(moved) = &mut model.battle.moved {
            moved.words = decision.words("A", "B");
        }
        battle::put(model, decision, note);
        return Vec::new();
    }
    let (active_ms, confidence) = (spent(desk, now), desk.confidence);
    desk.blind = Some(decision);
    desk.decision = Some(decision);
    // An item that was chosen from further down came by nobody's chance.
    let draw = if desk.first {
        desk.item.draw
    } else {
        DrawReason::Priority
    };
    let item = desk.queued.then_some(NewAssignment { policy, draw });
    let (query, a, b) = (desk.item.query, model.battle.a, model.battle.b);
    model.battle.blind = false;
    battle::ghost(model, decision.words("A", "B"));
    battle::put(model, decision, None);
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
    match &mut model.queue.desk {
        Some(desk) if !desk.is_blind() => {
            desk.cause = (desk.cause != Some(cause)).then_some(cause);
            desk.unsaved = true;
        }
        _ => model.say(Level::Info, "decide first, then say why".to_owned()),
    }
    Vec::new()
}

pub(super) fn ask_why(model: &mut Model) -> Vec<Effect> {
    match &model.queue.desk {
        Some(desk) if !desk.is_blind() => {
            let note = desk.note.clone().unwrap_or_default();
            let prompt = Prompt::new("reason: ", "why, in a line; Enter keeps it")
                .with_text(&sanitise::line(&note));
            model
                .overlays
                .push(Overlay::Prompt(prompt, PromptFor::DeskReason));
        }
        _ => model.say(Level::Info, "decide first, then say why".to_owned()),
    }
    Vec::new()
}

/// Takes the reason in.
pub fn note(model: &mut Model, text: &str) -> Vec<Effect> {
    if let Some(desk) = &mut model.queue.desk {
        desk.note = Some(text.trim().to_owned()).filter(|note| !note.is_empty());
        desk.unsaved = true;
    }
    Vec::new()
}

/// The verdict after the reveal, to be stored.
fn settled(model: &mut Model) -> Option<Effect> {
    let now = model.now;
    let (a, b) = (model.battle.a, model.battle.b);
    let desk = model.queue.desk.as_mut().filter(|desk| !desk.is_blind())?;
    let decision = desk.decision?;
    desk.unsaved = false;
    let active_ms = spent(desk, now);
    let new = NewVerdict {
        note: desk.note.clone(),
        active_ms,
        confidence: desk.confidence,
        cause: desk.cause,
        after_reveal: true,
        ..NewVerdict::open(desk.item.query, a, b, decision, &model.options.annotator)
    };
    model.saving += 1;
    Some(Effect::Save(new))
}

/// Keeps the verdict and takes up the next item.
pub(super) fn keep(model: &mut Model) -> Vec<Effect> {
    let Some(effect) = settled(model) else {
        if model.queue.desk.is_some() {
            let words = "decide first: a, b, t or x; s puts the pair off";
            model.say(Level::Info, words.to_owned());
        }
        return Vec::new();
    };
    let mut effects = vec![effect];
    effects.extend(go_on(model));
    effects
}

/// Takes the item off the list and lays the next one on the desk.
fn go_on(model: &mut Model) -> Vec<Effect> {
    let Some(done) = model.queue.desk.take() else {
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
    effects.extend(take_up(model, at.unwrap_or(0)));
    effects
}

/// Puts the pair off until all others are done.
pub(super) fn put_off(model: &mut Model) -> Vec<Effect> {
    let policy = model.queue.policy;
    match &model.queue.desk {
        Some(desk) if !desk.queued => {
            model.say(Level::Info, "only the queue has a later".to_owned());
            Vec::new()
        }
        Some(desk) if desk.is_blind() => {
            let draw = if desk.first {
                desk.item.draw
            } else {
                DrawReason::Priority
            };
            let (query, pair) = (desk.item.query, desk.item.pair);
            let mut effects = vec![Effect::PutOff(query, pair, NewAssignment { policy, draw })];
            effects.extend(go_on(model));
            effects
        }
        _ => {
            let words = "you have decided; Enter keeps the verdict, u takes it back";
            model.say(Level::Info, words.to_owned());
            Vec::new()
        }
    }
}

/// Lays a pair of the open query on the desk, blind, from wherever it was chosen.
pub fn take_up_pair(model: &mut Model, pair: Pair) -> Vec<Effect> {
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
    model.queue.desk = Some(Desk {
        queued: false,
        ..Desk::new(item, false)
    });
    model.battle = BattleScreen {
        a: if turned { pair.high() } else { pair.low() },
        b: if turned { pair.low() } else { pair.high() },
        together: model.battle.together,
        blind: true,
        ..BattleScreen::default()
    };
    model.stack.push(Screen::Judge);
    ready(model);
    battle::enter(model)
}

/// Goes to the next or the previous item; nothing is written but a verdict that was changed and not kept.
pub(super) fn step(model: &mut Model, forward: bool) -> Vec<Effect> {
    if model.queue.desk.as_ref().is_some_and(|desk| !desk.queued) {
        model.say(Level::Info, "only the queue has a next pair".to_owned());
        return Vec::new();
    }
    let here = model.queue.desk.as_ref().and_then(|desk| {
        let items = &model.queue.items;
        items
            .iter()
            .position(|item| desk.is_about(item.query, item.pair))
    });
    let next = match (here, forward) {
        (Some(here), true) => Some(here + 1).filter(|next| *next < model.queue.items.len()),
        (Some(here), false) => here.checked_sub(1),
        (None, _) => (!model.queue.items.is_empty()).then_some(0),
    };
    let judged = model
        .queue
        .desk
        .as_ref()
        .filter(|desk| !desk.is_blind())
        .map(|desk| (desk.item.query, desk.item.pair));
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
    effects.extend(take_up(model, next));
    effects
}

/// Stores what was changed after the reveal and not kept.
pub fn leave(model: &mut Model) -> Vec<Effect> {
    let unsaved = model.queue.desk.as_ref().is_some_and(|desk| desk.unsaved);
    if unsaved {
        settled(model).into_iter().collect()
    } else {
        Vec::new()
    }
}

/// Lets a verdict that was changed and not kept count again after the query has been loaded anew.
pub fn reapply(model: &mut Model) {
    if let Some(desk) = &model.queue.desk
        && desk.unsaved
        && let Some(decision) = desk.decision
    {
        let note = desk.note.clone();
        battle::put(model, decision, note);
    }
}
