//! What people have open: what is told to the server, and what of the others is skipped.

use crate::app::review::review_queue::{QueueItemState, is_overlapping};
use crate::domain::priority::{DrawReason, PairKey, Policy};
use crate::domain::sanitize;
use crate::features::remote::app::background::{EVERYONE, OpenItem, Order};
use crate::features::remote::client::Lease;
use crate::registry;
use crate::store::assignments::query_number;
use crate::tui::keymap::{Command, key_on};
use crate::tui::model::{Model, Subject};
use crate::tui::screens::Screen;
use crate::tui::text::duration;

/// The screens on which people decide on something that others may get too.
const PLACES: [Screen; 3] = [Screen::REVIEW, Screen::BATTLE, Screen::RULING];

/// Number of people who are to judge an item that is not meant for everyone.
const ALONE: i32 = 1;

/// Tells the server what is open now, if it is something else.
pub(super) fn opened(model: &mut Model) {
    if !model.team().is_shared() {
        return;
    }
    let open = open_item(model);
    if model.team().open != open {
        model.team_mut().open.clone_from(&open);
        model.team().order(Order::Open(open));
    }
}

/// The topmost thing to decide on, which another screen may cover.
fn open_item(model: &Model) -> Option<OpenItem> {
    let screens = model.stack.iter().rev();
    let mut places = screens.filter(|screen| PLACES.contains(screen));
    let (place, subject) = places.find_map(|screen| {
        let subject = registry::screen(*screen).subject(model)?;
        Some((screen.name(), subject))
    })?;
    let slots = slots(model, &subject);
    let current = model.queue.current.as_ref();
    let is_fresh = current.is_some_and(|current| {
        let policy = model.queue.policy;
        current.queued
            && current.item.standing == QueueItemState::Fresh
            && !model.queue.conflicts
            && !matches!(policy, Policy::Accept | Policy::Proposed)
    });
    Some(OpenItem {
        is_alone: slots == ALONE && is_fresh && place == Screen::REVIEW.name(),
        subject,
        slots,
        place,
    })
}

/// Number of people who are to judge it, and may have it open at a time: everyone if several are to
/// judge it, or if it was drawn for this person at random.
fn slots(model: &Model, subject: &Subject) -> i32 {
    let Subject::Pair(query, pair) = subject else {
        return ALONE;
    };
    let current = model.queue.current.iter().map(|current| &current.item);
    let is_drawn = current.chain(&model.queue.items).any(|item| {
        matches!(item.draw, DrawReason::Control { .. })
            && (item.query, item.pair) == (*query, *pair)
    });
    let (seed, overlap) = (model.options.request.seed, model.options.judging.overlap);
    let info = model.queries.info(*query);
    let key = info.map(|info| PairKey {
        query: query_number(info.id.as_str()),
        pair: *pair,
    });
    if is_drawn || key.is_some_and(|key| is_overlapping(seed, overlap, key)) {
        EVERYONE
    } else {
        ALONE
    }
}

/// Who has it open, if no more people are wanted. The person's own lease comes first.
pub(super) fn taken_by(model: &Model, subject: &Subject) -> Option<String> {
    let team = model.team();
    let held = team.leases.iter();
    let people = held.filter(|held| held.subject.as_ref() == Some(subject));
    let people: Vec<&str> = people.map(|held| held.lease.person.as_str()).collect();
    let last = people.last()?;
    let is_own = people.contains(&model.options.annotator.as_str());
    let is_full = people.len() as i32 >= slots(model, subject);
    (is_full && !is_own).then(|| (*last).to_owned())
}

/// Whether it is still what the person has open.
fn is_open(model: &Model, subject: &Subject) -> bool {
    let open = model.team().open.as_ref();
    open.is_some_and(|open| open.subject == *subject)
}

/// Says that other people have this open, or that they have judged it and the server does not tell
/// who.
pub(super) fn tell_taken(model: &mut Model, subject: &Subject, by: &[Lease]) {
    if !is_open(model, subject) {
        return;
    }
    let (noun, hint) = (noun(subject), hint(model));
    let words = match by.last() {
        Some(lease) => format!(
            "{} has had this {noun} open for {}{hint}",
            sanitize::line(&lease.person),
            duration(lease.held_s),
        ),
        None => format!("enough people have judged this {noun}, or are judging it{hint}"),
    };
    model.inform(&words);
}

/// Says that another person has decided on this in the meantime.
pub(super) fn tell_decided(model: &mut Model, subject: &Subject, by: &str) {
    if is_open(model, subject) {
        let words = format!(
            "{} has judged this {} in the meantime{}",
            sanitize::line(by),
            noun(subject),
            hint(model)
        );
        model.inform(&words);
    }
}

fn noun(subject: &Subject) -> &'static str {
    match subject {
        Subject::Pair(..) => "pair",
        Subject::Document(..) => "document",
    }
}

/// The key that goes on, on a screen that has one.
fn hint(model: &Model) -> String {
    let next = match model.screen() {
        Screen::REVIEW => Command::NextBattle,
        Screen::RULING => Command::NextDocument,
        _ => return String::new(),
    };
    format!("; {}: next", key_on(next, model.screen()))
}
