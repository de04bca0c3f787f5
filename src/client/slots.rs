//! Finds how many calls a local server processes at once.
//!
//! Servers rarely report this number, and calls beyond it queue inside the server while their
//! timeouts run. The search doubles the calls in flight as long as throughput clearly improves.

use super::lock;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::watch;

/// Minimum factor by which doubling the calls must raise throughput.
const WORTH_IT: f64 = 1.25;

/// The search for the number of calls that a server processes at once.
#[derive(Clone, Debug)]
pub(crate) struct SlotSearch {
    /// Calls in flight now.
    size: usize,
    /// Answers since the size last changed, and the sum of latencies of the counted ones in
    /// seconds.
    answers: usize,
    sum_s: f64,
    /// Answers per second at half the size.
    before: Option<f64>,
    settled: bool,
}

impl SlotSearch {
    /// Starts with one call in flight.
    pub(crate) fn new() -> Self {
        Self {
            size: 1,
            answers: 0,
            sum_s: 0.0,
            before: None,
            settled: false,
        }
    }

    /// Maximum number of calls in flight now.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Records an answer; at most `most` calls may be in flight.
    pub(crate) fn answered(&mut self, latency: Duration, most: usize) {
        if self.settled {
            return;
        }
        self.answers += 1;
        // Skip the first answers: their calls began at the previous size, and the very first call
        // loads the model.
        let Some(counted) = self.answers.checked_sub(self.size) else {
            return;
        };
        if counted == 0 {
            return;
        }
        self.sum_s += latency.as_secs_f64();
        if counted < 2 * self.size {
            return;
        }
        let per_s = self.size as f64 * counted as f64 / self.sum_s.max(1e-9);
        if self.before.is_some_and(|before| per_s < WORTH_IT * before) {
            (self.size, self.settled) = (self.size / 2, true);
        } else if 2 * self.size > most {
            self.settled = true;
        } else {
            (self.size, self.before) = (2 * self.size, Some(per_s));
            (self.answers, self.sum_s) = (0, 0.0);
        }
    }

    /// Records a timeout and reduces the number of calls that wait.
    pub(crate) fn timed_out(&mut self) {
        (self.size, self.settled) = ((self.size / 2).max(1), true);
    }
}

/// The slots of one server, shared by all judges that send calls to it.
#[derive(Debug)]
pub(crate) struct ServerSlots {
    state: Mutex<SlotState>,
    freed: watch::Sender<()>,
}

#[derive(Debug)]
struct SlotState {
    search: SlotSearch,
    in_flight: usize,
}

impl ServerSlots {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(SlotState {
                search: SlotSearch::new(),
                in_flight: 0,
            }),
            freed: watch::Sender::new(()),
        })
    }

    /// Maximum number of calls in flight now, over all judges together.
    pub(crate) fn size(&self) -> usize {
        lock(&self.state).search.size()
    }

    /// Takes a slot for a call if one is free; dropping it frees the slot.
    pub(crate) fn take(self: &Arc<Self>) -> Option<SlotPlace> {
        let mut state = lock(&self.state);
        (state.in_flight < state.search.size()).then(|| {
            state.in_flight += 1;
            SlotPlace(Arc::clone(self))
        })
    }

    /// A receiver that is notified whenever a slot becomes free.
    pub(crate) fn freed(&self) -> watch::Receiver<()> {
        self.freed.subscribe()
    }

    pub(crate) fn answered(&self, latency: Duration, most: usize) {
        lock(&self.state).search.answered(latency, most);
    }

    pub(crate) fn timed_out(&self) {
        lock(&self.state).search.timed_out();
    }
}

/// A slot of a server, held by a call in flight.
#[derive(Debug)]
pub(crate) struct SlotPlace(Arc<ServerSlots>);

impl Drop for SlotPlace {
    fn drop(&mut self) {
        lock(&self.0.state).in_flight -= 1;
        self.0.freed.send_replace(());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    /// Runs the search on a server that processes `slots` calls at once. Returns the final size and
    /// the number of answers it took.
    fn found(slots: usize, most: usize, service: Duration) -> (usize, usize) {
        let mut search = SlotSearch::new();
        for answers in 0..200 {
            if search.settled {
                return (search.size(), answers);
            }
            // Calls beyond that wait for the others.
            let waves = search.size().div_ceil(slots) as u32;
            search.answered(service * waves, most);
        }
        panic!("no end");
    }

    #[rstest]
    #[case(1, 1)]
    #[case(2, 2)]
    #[case(3, 2)]
    #[case(4, 4)]
    #[case(100, 4)]
    fn as_many_calls_as_the_server_works_on_are_in_flight(
        #[case] slots: usize,
        #[case] size: usize,
    ) {
        for service in [Duration::from_millis(20), Duration::from_secs(25)] {
            let (found, answers) = found(slots, 4, service);
            assert_eq!(found, size);
            assert!(answers <= 21, "{answers}");
        }
    }

    #[test]
    fn judges_of_one_server_share_its_places() {
        let slots = ServerSlots::new();
        let mut freed = slots.freed();
        let place = slots.take().unwrap();
        assert!(slots.take().is_none(), "it begins with one");
        assert!(!freed.has_changed().unwrap());
        drop(place);
        assert!(freed.has_changed().unwrap());
        freed.mark_unchanged();
        for _ in 0..3 {
            slots.answered(Duration::from_secs(1), 4);
        }
        let places = [slots.take(), slots.take()];
        assert!(places.iter().all(Option::is_some) && slots.take().is_none());
    }

    #[test]
    fn a_call_that_was_given_up_ends_the_search_with_fewer() {
        let mut search = SlotSearch::new();
        for _ in 0..3 {
            search.answered(Duration::from_secs(1), 4);
        }
        assert_eq!(search.size(), 2);
        search.timed_out();
        assert_eq!((search.size(), search.settled), (1, true));
    }
}
