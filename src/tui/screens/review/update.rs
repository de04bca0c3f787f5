//! Deciding on a pair, blind first, then again with everything visible.

use super::panel::{CAUSES, CONFIDENCES};
use super::session::note_session;
use crate::app::review::review_queue::{QueueItem, QueueItemState};
use crate::domain::battle::Pair;
use crate::domain::priority::DrawReason;
use crate::domain::verdict::{Decision, ErrorCause};
use crate::store::assignments::NewAssignment;
use crate::store::corpus::QueryKey;
use crate::store::verdicts::NewVerdict;
use crate::tui::keymap::{Command, key_on};
use crate::tui::message::Effect;
use crate::tui::model::battle::BattleState;
use crate::tui::model::review::{CurrentItem, active_ms};
use crate::tui::model::{Model, Overlay, Subject};
use crate::tui::navigation::neighbor;
use crate::tui::requests;
use crate::tui::screens::battle::verdict::decision_of;
use crate::tui::screens::behavior::Copied;
use crate::tui::screens::{Screen, battle};
use crate::tui::widgets::page::Page;

pub(super) fn update(model: &mut Model, command: Command) -> Vec<Effect> {
    if let Some(decision) = decision_of(command) {
        return decide(model, decision);
    }
    if let Some(confidence) = CONFIDENCES.of(command) {
        if let Some(current) = &mut model.queue.current {
            current.unsaved |= !current.is_undecided() && current.confidence != Some(confidence);
            current.confidence = Some(confidence);
        }
        return Vec::new();
    }
    if let Some(cause) = CAUSES.of(command) {
        return blame(model, cause);
    }
    match command {
        Command::Open => keep(model),
        Command::PutOff => put_off(model),
        Command::NextBattle => step(model, true),
        Command::PreviousBattle => step(model, false),
        Command::Guideline => model.read_guideline(),
        Command::EditGuideline => model.edit_guideline(),
        Command::ChooseGuideline => {
            model.ask_for_guideline();
            Vec::new()
        }
        Command::WriteNote => ask_why(model),
        Command::NextReasoning
        | Command::PreviousPane
        | Command::ToggleRawReply
        | Command::ShowTables
            if is_hidden(model) =>
        {
            model.inform("the judges are hidden until you have decided");
            Vec::new()
        }
        command => battle::update::update(model, command),
    }
}

/// Why no verdict can be given on the pair under review, for example before both texts are visible.
pub(super) fn obstacle(model: &Model) -> Option<&'static str> {
    let current = model.queue.current.as_ref();
    let ready = current.is_some_and(|current| {
        let open = model.open.as_ref();
        current.since.is_some() && open.is_some_and(|open| open.info.key == current.item.query)
    });
    if ready {
        battle::update::obstacle(model)
    } else {
        Some("no verdict yet: the pair is still loading")
    }
}

/// Which commands are available for the pair now.
pub(super) fn offers(model: &Model, command: Command) -> bool {
    let current = model.queue.current.as_ref();
    let queued = current.is_some_and(|current| current.queued);
    let blind = current.is_none_or(CurrentItem::is_undecided);
    let hidden = is_hidden(model);
    match command {
        Command::Open => current.is_some() && !blind,
        Command::NextReasoning | Command::ToggleRawReply | Command::ShowTables => {
            current.is_some() && !hidden
        }
        Command::PutOff => queued && blind,
        Command::NextBattle | Command::PreviousBattle => queued && model.queue.items.len() > 1,
        Command::WriteNote => current.is_some(),
        Command::ToggleFullText => model.areas.lines > model.areas.page,
        command if CAUSES.of(command).is_some() => !blind,
        command if CONFIDENCES.of(command).is_some() => current.is_some(),
        _ => true,
    }
}

fn is_hidden(model: &Model) -> bool {
    model
        .queue
        .current
        .as_ref()
        .is_none_or(CurrentItem::is_hidden)
}

pub(super) fn copy(model: &Model) -> Copied {
    match (model.battle.blind, &model.open) {
        (true, Some(_)) => Copied::Hidden,
        _ => battle::update::copy(model),
    }
}

pub(crate) fn review_item(model: &mut Model, at: usize) -> Vec<Effect> {
    let Some(item) = model.queue.items.get(at).copied() else {
        model.queue.current = None;
        return Vec::new();
    };
    let is_first = free(model, 0, true).is_none_or(|first| at <= first) && !model.queue.narrowed;
    model.queue.current = Some(CurrentItem {
        in_sight: model.queue.conflicts || item.standing == QueueItemState::Again,
        ..CurrentItem::new(item, is_first)
    });
    show_pair(model, &item);
    let open = model.open.as_ref().map(|open| open.info.key);
    let mut effects = if open == Some(item.query) {
        requests::pair(model)
    } else {
        model.open_query(item.query)
    };
    ready(model);
    let next = free(model, at + 1, true).unwrap_or(at + 1);
    effects.extend(look_ahead(model, next));
    effects
}

/// The index of the first item shown from `at` on, or back from there, that nobody else is judging.
pub(crate) fn free(model: &Model, at: usize, forward: bool) -> Option<usize> {
    let (items, shown) = (&model.queue.items, model.shown_items());
    let from = match forward {
        true => shown.partition_point(|shown| *shown < at),
        false => shown.partition_point(|shown| *shown <= at).checked_sub(1)?,
    };
    let subject = |place: usize| subject(&items[shown[place]]);
    let place = model.first_free(subject, shown.len(), from, forward)?;
    Some(shown[place])
}

fn subject(item: &QueueItem) -> Subject {
    Subject::Pair(item.query, item.pair)
}

/// Shows an item's pair: blind, unless other people's verdicts are to be weighed.
fn show_pair(model: &mut Model, item: &QueueItem) {
    let blind = model.queue.current.as_ref();
    let blind = blind.is_none_or(CurrentItem::is_hidden);
    let (a, b) = item.sides(model.options.request.seed, &model.options.annotator);
    model.battle = BattleState {
        blind,
        ..model.battle.on(a, b)
    };
}

/// Loads the next item ahead.
fn look_ahead(model: &mut Model, at: usize) -> Vec<Effect> {
    let Some(next) = model.queue.items.get(at) else {
        return Vec::new();
    };
    let documents = vec![next.pair.low(), next.pair.high()];
    match &model.open {
        Some(open) if open.info.key == next.query => {
            requests::missing(open, &documents, open.view.battles_of(next.pair))
        }
        _ => vec![model.prefetch(next.query, documents)],
    }
}

/// Starts the clock once both texts are visible.
pub(crate) fn ready(model: &mut Model) {
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

/// Records a decision: a blind one is stored and reveals everything; a later one is pending until
/// it is confirmed.
fn decide(model: &mut Model, decision: Decision) -> Vec<Effect> {
    let now = model.now;
    let policy = model.queue.policy;
    let undecided = |current: &CurrentItem| current.is_undecided() && current.since.is_some();
    let note = if model.queue.current.as_ref().is_some_and(undecided) {
        model.take_draft()
    } else {
        None
    };
    let Some(current) = &mut model.queue.current else {
        return Vec::new();
    };
    if current.since.is_none() {
        return Vec::new();
    }
    if !current.is_undecided() {
        if current.decision == Some(decision) {
            return Vec::new();
        }
        current.unsaved = true;
        current.decision = Some(decision);
        let note = current.note.clone();
        let words = words_of(model, decision);
        if let Some(before) = &mut model.battle.before {
            before.change = words;
        }
        battle::verdict::apply(model, decision, note);
        return Vec::new();
    }
    let (active_ms, confidence) = (active_ms(&mut current.since, now), current.confidence);
    let named = (current.item.query, current.item.pair);
    current.note = note.clone();
    current.first_decision = Some(decision);
    current.decision = Some(decision);
    let (draw, blind) = (current.draw(), !current.in_sight);
    let item = current.queued.then_some(NewAssignment { policy, draw });
    let (query, a, b) = (current.item.query, model.battle.a, model.battle.b);
    model.battle.blind = false;
    note_session(model, named, decision, active_ms);
    battle::verdict::remember_ranking(model, words_of(model, decision));
    battle::verdict::apply(model, decision, note.clone());
    vec![model.save_verdict(NewVerdict {
        blind,
        note,
        active_ms,
        confidence,
        item,
        ..NewVerdict::open(query, a, b, decision, &model.options.annotator)
    })]
}

/// A decision on the pair under review in words.
fn words_of(model: &Model, decision: Decision) -> String {
    let (a, b) = (model.battle.a, model.battle.b);
    model
        .open
        .as_ref()
        .map_or(String::new(), |open| open.decision_text(decision, a, b))
}

fn blame(model: &mut Model, cause: ErrorCause) -> Vec<Effect> {
    match &mut model.queue.current {
        Some(current) if !current.is_undecided() => {
            current.cause = (current.cause != Some(cause)).then_some(cause);
            current.unsaved = true;
        }
        _ => model.inform("decide first, then give the reason"),
    }
    Vec::new()
}

fn ask_why(model: &mut Model) -> Vec<Effect> {
    if let Some(current) = &model.queue.current {
        let note = if current.is_undecided() {
            model.draft().map(str::to_owned)
        } else {
            current.note.clone()
        };
        model.ask_reason(&note.unwrap_or_default());
    }
    Vec::new()
}

pub(crate) fn note(model: &mut Model, text: &str) -> Vec<Effect> {
    match &mut model.queue.current {
        Some(current) if !current.is_undecided() => {
            let note = Some(text.trim().to_owned()).filter(|note| !note.is_empty());
            current.unsaved |= current.note != note;
            current.note = note;
            Vec::new()
        }
        _ => model.set_draft(text),
    }
}

/// The verdict after the reveal, to be stored.
fn final_verdict(model: &mut Model) -> Option<Effect> {
    let now = model.now;
    let (a, b) = (model.battle.a, model.battle.b);
    let current = model
        .queue
        .current
        .as_mut()
        .filter(|current| !current.is_undecided())?;
    let decision = current.decision?;
    let changed = current.first_decision.and_then(Decision::direction) != decision.direction();
    model
        .session
        .kept(current.item.query, current.item.pair, changed);
    if let Some(open) = &model.open {
        model.session.ranked(open);
    }
    current.unsaved = false;
    let active_ms = active_ms(&mut current.since, now);
    let new = NewVerdict {
        note: current.note.clone(),
        active_ms,
        confidence: current.confidence,
        cause: current.cause,
        after_reveal: true,
        ..NewVerdict::open(current.item.query, a, b, decision, &model.options.annotator)
    };
    model.overtake();
    Some(model.save_verdict(new))
}

/// Confirms the verdict and starts the next item.
fn keep(model: &mut Model) -> Vec<Effect> {
    let Some(effect) = final_verdict(model) else {
        if model.queue.current.is_some() {
            let enter = key_on(Command::Open, Screen::REVIEW);
            model.inform(&format!(
                "decide first; then {enter} keeps the verdict and opens the next pair"
            ));
        }
        return Vec::new();
    };
    let mut effects = vec![effect];
    effects.extend(finish_item(model));
    effects
}

/// Removes the item from the list and starts the next one.
fn finish_item(model: &mut Model) -> Vec<Effect> {
    let Some(done) = model.queue.current.take() else {
        return Vec::new();
    };
    let named = (done.item.query, done.item.pair);
    let queued = done.queued;
    model.queue.done.push(done);
    if !queued {
        model.stack.pop();
        close(model);
        return Vec::new();
    }
    remove(model, named);
    let mut effects = model.build_queue();
    if model.queue.items.is_empty() {
        // Either the list was incomplete or nothing is left: the answer will tell.
        model.queue.loaded = false;
        return effects;
    }
    let shown = model.shown_items();
    let at = shown.get(model.queue.cursor).or(shown.last()).copied();
    let at = at.unwrap_or(0);
    let free = free(model, at, true).or_else(|| free(model, at, false));
    effects.extend(review_item(model, free.unwrap_or(at)));
    effects
}

/// Postpones the pair until all others are done.
fn put_off(model: &mut Model) -> Vec<Effect> {
    let policy = model.queue.policy;
    match &model.queue.current {
        Some(current) if !current.queued => {
            model.inform("only a pair of the queue can be postponed");
            Vec::new()
        }
        Some(current) if current.is_undecided() => {
            let (query, pair, draw) = (current.item.query, current.item.pair, current.draw());
            let mut effects =
                vec![model.postpone_pair(query, pair, NewAssignment { policy, draw })];
            effects.extend(finish_item(model));
            effects
        }
        _ => {
            let enter = key_on(Command::Open, Screen::REVIEW);
            let undo = key_on(Command::Undo, Screen::REVIEW);
            model.inform(&format!(
                "you have decided: {enter} keeps the verdict, {undo} undoes it"
            ));
            Vec::new()
        }
    }
}

/// Starts a blind review of a pair of the open query, wherever it was chosen.
pub(crate) fn review_pair(model: &mut Model, pair: Pair) -> Vec<Effect> {
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
    begin_chosen(model, item);
    model.stack.push(Screen::REVIEW);
    requests::pair(model)
}

/// Starts the review of a pair that is not from the queue.
fn begin_chosen(model: &mut Model, item: QueueItem) {
    model.queue.current = Some(CurrentItem {
        queued: false,
        ..CurrentItem::new(item, false)
    });
    show_pair(model, &item);
    ready(model);
}

/// Resumes a pair whose verdict was undone. The judges' votes have been seen, so they stay visible,
/// and the next verdict is not blind.
pub(crate) fn take_up(model: &mut Model, query: QueryKey, pair: Pair, queued: bool) -> Vec<Effect> {
    let at = model
        .queue
        .done
        .iter()
        .rposition(|done| done.is_about(query, pair));
    model.session.undone(query, pair);
    let done = at.map(|at| model.queue.done.remove(at));
    let current = model.queue.current.as_ref();
    let done = done.or_else(|| current.filter(|now| now.is_about(query, pair)).cloned());
    let item = done.as_ref().map_or(
        QueueItem {
            query,
            pair,
            draw: DrawReason::Priority,
            priority: None,
            standing: QueueItemState::Fresh,
        },
        |done| done.item,
    );
    model.queue.current = Some(CurrentItem {
        queued,
        in_sight: true,
        ..CurrentItem::new(item, done.is_some_and(|done| done.first))
    });
    show_pair(model, &item);
    if queued {
        remove(model, (query, pair));
        model.queue.items.insert(0, item);
        model.queue.cursor = 0;
    }
    let open = model.open.as_ref().map(|open| open.info.key);
    let mut effects = if open == Some(query) {
        requests::pair(model)
    } else {
        model.open_query(query)
    };
    ready(model);
    if queued {
        effects.extend(model.build_queue());
    }
    effects
}

/// The verdict on the pair under review was redone, so the item is done.
pub(crate) fn done_again(model: &mut Model) -> Vec<Effect> {
    match model.screen() {
        Screen::REVIEW => finish_item(model),
        _ => Vec::new(),
    }
}

/// Ends the review and shows a summary.
pub(crate) fn close(model: &mut Model) {
    let session = std::mem::take(&mut model.session);
    if let Some(summary) = session
        .summary()
        .filter(|_| model.screen() == Screen::QUEUE)
    {
        model
            .overlays
            .push(Overlay::Page(Page::new("This session", &summary)));
    }
    model.queue.current = None;
    model.battle.blind = false;
}

/// Goes to the next or the previous item. Only a changed, unconfirmed verdict is stored.
fn step(model: &mut Model, forward: bool) -> Vec<Effect> {
    let current = model.queue.current.as_ref();
    if current.is_some_and(|current| !current.queued) {
        model.inform("only the queue has a next pair");
        return Vec::new();
    }
    let mut items = model.queue.items.iter();
    let here =
        current.and_then(|current| items.position(|item| current.is_about(item.query, item.pair)));
    let judged = current.filter(|current| !current.is_undecided());
    let judged = judged.map(|current| (current.item.query, current.item.pair));
    let count = model.queue.items.len();
    let next = match here {
        Some(here) => neighbor(here, forward, count),
        None => (count > 0).then_some(0),
    };
    let Some(mut next) = next else {
        let end = if forward { "last" } else { "first" };
        model.inform(&format!("this is the {end} pair"));
        return Vec::new();
    };
    let mut effects = leave(model);
    if let (Some(judged), Some(here)) = (judged, here) {
        // The item is done: returning would show it blind to someone who has seen everything.
        model.queue.done.extend(model.queue.current.clone());
        remove(model, judged);
        next -= usize::from(next > here);
    }
    next = free(model, next, forward).unwrap_or(next);
    model.queue.cursor = next;
    effects.extend(review_item(model, next));
    effects
}

fn remove(model: &mut Model, done: (QueryKey, Pair)) {
    let items = &mut model.queue.items;
    items.retain(|item| (item.query, item.pair) != done);
}

/// Stores an unconfirmed change made after the reveal.
pub(crate) fn leave(model: &mut Model) -> Vec<Effect> {
    let current = model.queue.current.as_ref();
    if current.is_some_and(|current| current.unsaved) {
        final_verdict(model).into_iter().collect()
    } else {
        Vec::new()
    }
}

/// Applies an unconfirmed changed verdict again after the query has been reloaded.
pub(crate) fn reapply(model: &mut Model) {
    if let Some(current) = &model.queue.current
        && current.unsaved
        && let Some(decision) = current.decision
    {
        let note = current.note.clone();
        battle::verdict::apply(model, decision, note);
    }
}
