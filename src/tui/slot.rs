//! Request numbers, which show whether an answer is still wanted.

use crate::client::lock;
use crate::tui::keymap::Screen;
use std::collections::HashMap;
use std::fmt::{self, Debug, Formatter};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// A place that only the answer to the latest request may fill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Slot {
    /// Leaving this screen cancels its requests.
    owner: Option<Screen>,
    name: &'static str,
    /// Distinguishes slots of the same name, such as those of different queries.
    key: i64,
}

impl Slot {
    /// A slot of a screen.
    pub(crate) const fn of(screen: Screen, name: &'static str) -> Self {
        Self {
            owner: Some(screen),
            name,
            key: 0,
        }
    }

    /// A slot for something that several screens show.
    pub(crate) const fn shared(name: &'static str) -> Self {
        Self {
            owner: None,
            name,
            key: 0,
        }
    }

    pub(crate) const fn keyed(self, key: i64) -> Self {
        Self { key, ..self }
    }
}

#[derive(Debug, Default)]
struct Requests {
    /// Number of the latest request; also advanced by a cancellation.
    latest: AtomicU64,
    /// Held by the task that is running, so that superseded ones do not pile up.
    turn: Mutex<()>,
}

/// The number of a request in its slot; without a slot, its answer is always wanted.
#[derive(Clone, Default)]
pub(crate) struct Ticket(Option<(Slot, Arc<Requests>, u64)>);

impl Ticket {
    /// Whether no later request has superseded this one.
    pub(crate) fn is_current(&self) -> bool {
        let current = |(_, requests, number): &(Slot, Arc<Requests>, u64)| {
            requests.latest.load(Ordering::Relaxed) == *number
        };
        self.0.as_ref().is_none_or(current)
    }

    /// Waits until no other task holds the turn of the slot.
    pub(crate) fn turn(&self) -> Option<MutexGuard<'_, ()>> {
        let (_, requests, _) = self.0.as_ref()?;
        Some(lock(&requests.turn))
    }
}

impl Debug for Ticket {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some((Slot { name, key: 0, .. }, _, number)) => write!(formatter, "{name} {number}"),
            Some((Slot { name, key, .. }, _, number)) => {
                write!(formatter, "{name} of {key} {number}")
            }
            None => formatter.write_str("always wanted"),
        }
    }
}

#[derive(Debug, Default)]
struct SlotState {
    requests: Arc<Requests>,
    is_pending: bool,
}

/// The requests of all slots.
#[derive(Debug, Default)]
pub(crate) struct Jobs(HashMap<Slot, SlotState>);

impl Jobs {
    /// Numbers a new request, which supersedes earlier ones.
    pub(crate) fn begin(&mut self, slot: Slot) -> Ticket {
        let state = self.0.entry(slot).or_default();
        let number = state.requests.latest.fetch_add(1, Ordering::Relaxed) + 1;
        state.is_pending = true;
        Ticket(Some((slot, Arc::clone(&state.requests), number)))
    }

    /// The number of the current request.
    pub(crate) fn join(&mut self, slot: Slot) -> Ticket {
        let state = self.0.entry(slot).or_default();
        let number = state.requests.latest.load(Ordering::Relaxed);
        state.is_pending = true;
        Ticket(Some((slot, Arc::clone(&state.requests), number)))
    }

    /// Supersedes all requests of a slot.
    pub(crate) fn cancel(&mut self, slot: Slot) {
        if let Some(state) = self.0.get_mut(&slot) {
            state.requests.latest.fetch_add(1, Ordering::Relaxed);
            state.is_pending = false;
        }
    }

    /// Supersedes all requests of a screen that was left.
    pub(crate) fn leave(&mut self, screen: Screen) {
        let slots: Vec<Slot> = self.0.keys().copied().collect();
        for slot in slots.into_iter().filter(|slot| slot.owner == Some(screen)) {
            self.cancel(slot);
        }
    }

    /// Whether the latest request of a slot was not answered yet.
    pub(crate) fn is_pending(&self, slot: Slot) -> bool {
        self.0.get(&slot).is_some_and(|state| state.is_pending)
    }

    /// Whether a request of one of these screens was not answered yet.
    pub(crate) fn is_any_pending(&self, screens: &[Screen]) -> bool {
        self.0.iter().any(|(slot, state)| {
            state.is_pending && slot.owner.is_some_and(|owner| screens.contains(&owner))
        })
    }

    /// The request of this number was answered.
    pub(crate) fn ended(&mut self, ticket: &Ticket) {
        if let Some((slot, ..)) = &ticket.0
            && let Some(state) = self.0.get_mut(slot)
        {
            state.is_pending = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: Slot = Slot::of(Screen::QUEUE, "own");
    const SHARED: Slot = Slot::shared("shared");

    #[test]
    fn leaving_a_screen_supersedes_what_it_asked_and_nothing_else() {
        let mut jobs = Jobs::default();
        let slots = [OWN, OWN.keyed(1), SHARED, Slot::of(Screen::JUDGES, "own")];
        let tickets = slots.map(|slot| jobs.begin(slot));
        jobs.leave(Screen::QUEUE);
        assert!(!jobs.is_any_pending(&[Screen::QUEUE]));
        assert!(jobs.is_any_pending(&[Screen::QUEUE, Screen::JUDGES]));
        let current = tickets.map(|ticket| ticket.is_current());
        assert_eq!(current, [false, false, true, true]);
        assert_eq!(slots.map(|slot| jobs.is_pending(slot)), current);
    }

    #[test]
    fn requests_that_join_are_superseded_together() {
        let mut jobs = Jobs::default();
        let joined = [jobs.join(SHARED), jobs.join(SHARED)];
        assert!(joined.iter().all(Ticket::is_current));
        let later = jobs.begin(SHARED);
        assert!(!joined.iter().any(Ticket::is_current) && later.is_current());
        assert!(jobs.join(SHARED).is_current() && later.is_current());
    }
}
