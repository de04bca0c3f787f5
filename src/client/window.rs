//! The number of calls in flight. The window starts large, doubles by time until the first answers
//! arrive, grows while latency stays low, and shrinks when many calls are refused.
//!
//! Times are arguments so that tests need not wait.

use super::slots::{ServerSlots, SlotPlace};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Initial number of calls in flight for a service.
pub const FIRST: usize = 64;
/// In small runs, calls beyond the first `FIRST` begin at this rate per second at first.
const BEGUN_PER_S: f64 = 100.0;
/// The rate quadruples after each such period (in seconds), however fast answers arrive, so that
/// few calls are in flight when a limit is met. After two seconds this limit is lifted.
const FASTER_AFTER: f64 = 0.2;
/// In runs of this many calls, those in flight when a limit is met are a small share.
const MANY_CALLS: usize = 800;
/// In such runs, a full window doubles each time this much time has passed, until a call is refused
/// or `SETTLED` answers have arrived: slow models would keep it at its first size for seconds.
const DOUBLED_AFTER: Duration = Duration::from_millis(500);
/// Slots that an answer adds before the first sign of strain.
const QUICK: f64 = 7.0;
/// Slots that an answer adds after it.
const STEADY: f64 = 0.25;
/// Answers slower than the best mean by this factor mean that the server's queue is growing. While
/// a window grows, the fast answers arrive first, so the mean rises to two or three times its first
/// value even without a queue.
const SLOWER: f64 = 4.0;
/// Weight of the newest latency in the running mean.
const NEWEST: f64 = 0.1;
/// Number of answers needed before the running mean is meaningful.
const SETTLED: u32 = 32;
/// Above this share of refusals, the window stops growing quickly.
const SOME: f64 = 0.1;
/// Above this share, the window is halved.
const MANY: f64 = 0.5;

/// Whether time alone opens the window.
#[derive(Clone, Copy, Debug)]
enum Doubling {
    No,
    /// Yes, from the first call on.
    FromFirstCall,
    /// Yes, if the window is full at this time.
    Due(Instant),
}

/// Maximum number of calls in flight, which never exceeds the configured limit.
#[derive(Clone, Debug)]
pub struct CallWindow {
    limit: usize,
    size: f64,
    /// Calls that may begin at once, calls begun, and when the first of them began; `None` if calls
    /// may begin freely.
    start: Option<(usize, usize, Option<Instant>)>,
    doubling: Doubling,
    strained: bool,
    /// Answers and refusals since the share was last checked.
    answered: u32,
    refused: u32,
    /// Current and best mean latency in seconds, and the number of answers so far.
    mean_s: f64,
    best_s: f64,
    seen: u32,
    /// Set if the number of calls that the server processes at once must be found.
    slots: Option<Arc<ServerSlots>>,
}

impl CallWindow {
    /// Creates a window with `first` slots; `adapts` is false for services that run on this
    /// machine's own cores.
    pub fn new(limit: usize, first: usize, adapts: bool) -> Self {
        let limit = limit.max(1);
        let first = if adapts { first.clamp(1, limit) } else { limit };
        Self {
            limit,
            size: first as f64,
            start: adapts.then_some((first, 0, None)),
            doubling: Doubling::No,
            strained: false,
            answered: 0,
            refused: 0,
            mean_s: 0.0,
            best_s: f64::INFINITY,
            seen: 0,
            slots: None,
        }
    }

    /// Creates a window for a server whose number of parallel calls is unknown.
    pub(crate) fn of_slots(limit: usize, slots: Arc<ServerSlots>) -> Self {
        Self {
            slots: Some(slots),
            ..Self::new(limit, 1, true)
        }
    }

    /// Maximum number of calls in flight now.
    pub fn size(&self) -> usize {
        let size = self
            .slots
            .as_ref()
            .map_or(self.size as usize, |slots| slots.size());
        size.clamp(1, self.limit)
    }

    /// The slots of the server, if judges share them.
    pub(crate) fn slots(&self) -> Option<&Arc<ServerSlots>> {
        self.slots.as_ref()
    }

    /// Takes a shared slot for a call. Returns `Err` if none is free.
    pub(crate) fn take_place(&self) -> Result<Option<SlotPlace>, ()> {
        self.slots
            .as_ref()
            .map(|slots| slots.take().ok_or(()))
            .transpose()
    }

    /// Answers per second with all slots in use, if known.
    pub(crate) fn per_s(&self) -> Option<f64> {
        (self.mean_s > 0.0).then(|| self.size() as f64 / self.mean_s)
    }

    /// Changes the configured limit.
    pub fn set_limit(&mut self, limit: usize) {
        self.limit = limit.max(1);
        self.size = self.size.min(self.limit as f64).max(1.0);
    }

    /// Announces how many calls are to be made.
    pub fn expect(&mut self, calls: usize) {
        if calls >= MANY_CALLS {
            self.start = None;
            if self.slots.is_none() {
                self.doubling = Doubling::FromFirstCall;
            }
        }
    }

    /// When the window doubles if all slots are in use then; `None` if only answers open it.
    pub(crate) fn doubles_at(&self) -> Option<Instant> {
        match self.doubling {
            Doubling::Due(at) => Some(at),
            Doubling::No | Doubling::FromFirstCall => None,
        }
    }

    /// Doubles the window if it is due and all slots are in use.
    pub(crate) fn double_if_due(&mut self, in_flight: usize, now: Instant) {
        if self.doubles_at().is_some_and(|at| at <= now) {
            if in_flight >= self.size() {
                self.size = (2.0 * self.size).min(self.limit as f64);
            }
            self.doubling = Doubling::Due(now + DOUBLED_AFTER);
        }
    }

    /// Lets only answers open the window from now on.
    pub(crate) fn stop_doubling(&mut self) {
        self.doubling = Doubling::No;
    }

    /// When the next call may begin, provided that the window has room.
    pub fn ready(&self, now: Instant) -> Instant {
        let Some((first, begun, Some(began))) = self.start else {
            return now;
        };
        let more = begun.saturating_sub(first) as f64;
        let growth = 4f64.ln() / FASTER_AFTER;
        began + Duration::from_secs_f64((1.0 + more * growth / BEGUN_PER_S).ln() / growth)
    }

    pub fn begin(&mut self, now: Instant) {
        if matches!(self.doubling, Doubling::FromFirstCall) {
            self.doubling = Doubling::Due(now + DOUBLED_AFTER);
        }
        if let Some((_, begun, began)) = &mut self.start {
            *begun += 1;
            if now > *began.get_or_insert(now) + Duration::from_secs(2) {
                self.start = None;
            }
        }
    }

    pub fn answered(&mut self, latency: Duration) {
        let seconds = latency.as_secs_f64();
        self.seen = self.seen.saturating_add(1);
        self.mean_s = match self.seen {
            1 => seconds,
            _ => self.mean_s + NEWEST * (seconds - self.mean_s),
        };
        if self.seen >= SETTLED {
            self.stop_doubling();
            self.best_s = self.best_s.min(self.mean_s);
        }
        self.answered += 1;
        if let Some(slots) = &self.slots {
            slots.answered(latency, self.limit);
        } else if self.mean_s <= SLOWER * self.best_s {
            self.size += if self.strained { STEADY } else { QUICK };
        }
        self.size = self.size.min(self.limit as f64);
        self.look();
    }

    /// Records a timeout. If calls queue inside the server, fewer may be in flight.
    pub(crate) fn timed_out(&mut self) {
        match &self.slots {
            Some(slots) => slots.timed_out(),
            None => self.refused(),
        }
    }

    /// Records that the provider refused a call because of a limit.
    pub fn refused(&mut self) {
        self.stop_doubling();
        self.refused += 1;
        self.look();
    }

    /// Adjusts the window to the share of refusals, once per window of answers.
    fn look(&mut self) {
        let all = self.answered + self.refused;
        if all < (self.size() as u32).max(16) {
            return;
        }
        let share = f64::from(self.refused) / f64::from(all);
        (self.answered, self.refused) = (0, 0);
        self.strained = share > SOME;
        if share > MANY {
            self.size = (self.size / 2.0).max(1.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const QUICKLY: Duration = Duration::from_millis(50);

    #[test]
    fn answers_widen_it_at_once_and_calls_begin_in_growing_numbers() {
        let start = Instant::now();
        let mut window = CallWindow::new(450, FIRST, true);
        for _ in 0..FIRST {
            assert!(window.ready(start) <= start);
            window.begin(start);
        }
        for _ in 0..FIRST {
            window.answered(QUICKLY);
        }
        assert_eq!(window.size(), 450);
        let begun_by = |ms: u64| {
            let until = start + Duration::from_millis(ms);
            let mut window = window.clone();
            let mut begun = FIRST;
            while window.ready(start) <= until {
                window.begin(start);
                begun += 1;
            }
            begun
        };
        assert!((66..80).contains(&begun_by(50)), "{}", begun_by(50));
        assert!((100..115).contains(&begun_by(200)), "{}", begun_by(200));
        assert!((3_000..5_000).contains(&begun_by(800)), "{}", begun_by(800));
        window.expect(3_000);
        assert_eq!(window.ready(start), start);
    }

    const HALF: Duration = Duration::from_millis(500);

    #[test]
    fn a_full_window_doubles_by_time_in_large_runs() {
        let start = Instant::now();
        let mut window = CallWindow::new(150, 36, true);
        window.expect(800);
        assert_eq!(window.doubles_at(), None, "no call has begun");
        window.begin(start);
        let mut at = |halves: u32, in_flight| {
            window.double_if_due(in_flight, start + HALF * halves);
            assert_eq!(window.doubles_at(), Some(start + HALF * (halves + 1)));
            window.size()
        };
        assert_eq!(at(1, 36), 72);
        assert_eq!(at(2, 71), 72, "a slot is free");
        assert_eq!(at(3, 72), 144);
        assert_eq!(at(4, 144), 150, "the configured limit holds");
        // Early calls do not double it more often.
        let mut window = CallWindow::new(150, 36, true);
        window.expect(800);
        window.begin(start);
        for ms in 0..500 {
            let now = start + Duration::from_millis(ms);
            window.double_if_due(36, now);
            assert_eq!(window.doubles_at(), Some(start + HALF));
        }
        assert_eq!(window.size(), 36);
    }

    #[test]
    fn small_runs_and_servers_with_unknown_slots_do_not_double_by_time() {
        let start = Instant::now();
        let mut small = CallWindow::new(150, 36, true);
        small.expect(799);
        let mut local = CallWindow::of_slots(150, ServerSlots::new());
        local.expect(8_000);
        for mut window in [small, local] {
            let before = window.size();
            window.begin(start);
            assert_eq!(window.doubles_at(), None);
            window.double_if_due(before, start + HALF);
            assert_eq!(window.size(), before);
        }
    }

    #[test]
    fn sporadic_refusals_leave_it_and_many_halve_it() {
        let mut window = CallWindow::new(128, 128, true);
        for at in 0..1_000u64 {
            match at % 5 {
                0 => window.refused(),
                _ => window.answered(QUICKLY),
            }
        }
        assert_eq!(window.size(), 128);
        for _ in 0..256 {
            window.refused();
        }
        assert!(
            window.size() <= 64 && window.size() >= 8,
            "{}",
            window.size()
        );
        for _ in 0..800 {
            window.answered(QUICKLY);
        }
        assert_eq!(window.size(), 128, "it recovers");
    }

    #[test]
    fn a_server_whose_answers_slow_down_is_not_pressed_further() {
        let mut window = CallWindow::new(2_000, 8, true);
        for _ in 0..2_000u64 {
            // The server processes one call at a time: the more are in flight, the longer each
            // takes.
            window.answered(Duration::from_millis(10 * window.size() as u64));
        }
        assert!(window.size() < 1_600, "{}", window.size());
    }

    #[test]
    fn a_limit_that_is_lowered_holds_at_once_and_one_that_is_raised_is_grown_into() {
        let mut window = CallWindow::new(128, 128, true);
        window.set_limit(10);
        assert_eq!(window.size(), 10);
        window.answered(QUICKLY);
        assert_eq!(window.size(), 10);
        window.set_limit(128);
        assert_eq!(window.size(), 10);
        window.answered(QUICKLY);
        assert_eq!(window.size(), 17);
    }

    #[test]
    fn judges_on_this_machine_have_all_their_places_at_once() {
        let mut window = CallWindow::new(256, FIRST, false);
        let now = Instant::now();
        for _ in 0..1_000 {
            assert_eq!(window.ready(now), now);
            window.begin(now);
        }
        assert_eq!(window.size(), 256);
    }

    proptest! {
        /// After a refusal or enough answers, a window that doubled by time behaves like one of the
        /// same size that never did.
        #[test]
        fn refusals_and_answers_end_the_doubling_and_count_as_before(
            doublings in 0..6u32,
            answers in 0..40u32,
            refusals in prop::collection::vec(prop::bool::weighted(0.6), 1..600),
        ) {
            let start = Instant::now();
            let mut window = CallWindow::new(1_000, 36, true);
            window.expect(8_000);
            window.begin(start);
            for at in 1..=doublings {
                window.double_if_due(window.size(), start + HALF * at);
            }
            let size = 36 << doublings.min(5);
            prop_assert_eq!(window.size(), size.min(1_000));
            let mut plain = CallWindow::new(1_000, window.size(), true);
            for window in [&mut window, &mut plain] {
                (0..answers).for_each(|_| window.answered(QUICKLY));
                window.refused();
            }
            let mut now = start + HALF * doublings;
            for refused in refusals {
                for window in [&mut window, &mut plain] {
                    if refused {
                        window.refused();
                    } else {
                        window.answered(QUICKLY);
                    }
                }
                now += HALF;
                prop_assert_eq!(window.doubles_at(), None);
                window.double_if_due(window.size(), now);
                prop_assert_eq!(window.size(), plain.size());
            }
        }
    }
}
