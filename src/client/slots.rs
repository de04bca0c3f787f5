//! How many calls a server on one's own machine works on at a time. It seldom says so, and whatever it is sent beyond that
//! waits inside of it, where time runs against the time-outs. So it is found out: twice as many calls in flight, as long as
//! that brings clearly more answers in the same time.

use super::lock;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::watch;

/// How many times as many answers twice the calls have to bring.
const WORTH_IT: f64 = 1.25;

/// The search for the number of calls that a server works on at a time.
#[derive(Clone, Debug)]
pub(crate) struct SlotSearch {
    /// Calls in flight now.
    size: usize,
    /// Answers since that many are in flight, and the sum of the latencies of those that count, in seconds.
    answers: usize,
    sum_s: f64,
    /// Answers a second with half as many.
    before: Option<f64>,
    settled: bool,
}

impl SlotSearch {
    /// Begins with one call in flight.
    pub(crate) fn new() -> Self {
        Self {
            size: 1,
            answers: 0,
            sum_s: 0.0,
            before: None,
            settled: false,
        }
    }

    /// Calls in flight at most, now.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// An answer came; `most` calls may be in flight.
    pub(crate) fn answered(&mut self, latency: Duration, most: usize) {
        if self.settled {
            return;
        }
        self.answers += 1;
        // The first ones were begun while another number was in flight, and the very first loads the model.
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

    /// A call was given up, as no answer came in time: fewer are to wait.
    pub(crate) fn timed_out(&mut self) {
        (self.size, self.settled) = ((self.size / 2).max(1), true);
    }
}

/// The places of one server, for all judges that send calls to it: its slots are what they share.
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

    /// Calls in flight at most, now, of all judges together.
    pub(crate) fn size(&self) -> usize {
        lock(&self.state).search.size()
    }

    /// A place for a call, where one is free; it is given back when it is dropped.
    pub(crate) fn take(self: &Arc<Self>) -> Option<SlotPlace> {
        let mut state = lock(&self.state);
        (state.in_flight < state.search.size()).then(|| {
            state.in_flight += 1;
            SlotPlace(Arc::clone(self))
        })
    }

    /// Whoever waits for a place hears of each that comes free.
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

/// A place of a server, held by a call in flight.
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

    /// Where the search ends with a server that works on `slots` calls at a time, and how many answers that took.
    fn found(slots: usize, most: usize, service: Duration) -> (usize, usize) {
        let mut search = SlotSearch::new();
        for answers in 0..200 {
            if search.settled {
                return (search.size(), answers);
            }
            // What is more waits for the others.
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
