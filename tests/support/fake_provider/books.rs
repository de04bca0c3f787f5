//! What the server counted: requests, refusals, calls at a time, and what a provider would charge
//! for its answers.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Counts of one server since it began.
#[derive(Clone, Debug, Default)]
pub(crate) struct Books {
    /// Requests of any kind.
    pub(crate) requests: usize,
    /// Calls that were answered with 429, by the limit or by chance.
    pub(crate) refused: usize,
    /// Calls to which an answer was computed, whether or not all of it was sent.
    pub(crate) answered: usize,
    /// Calls let in, by the second since the first.
    pub(crate) served: Vec<usize>,
    /// The most calls that waited for their answers at one time.
    pub(crate) most_in_flight: usize,
    /// Input and output tokens of the answers computed, by model.
    pub(crate) tokens: BTreeMap<String, (u64, u64)>,
    pub(super) prices: BTreeMap<String, (f64, f64)>,
    in_flight: usize,
    first: Option<Instant>,
    last: Option<Instant>,
}

impl Books {
    pub(super) fn arrived(&mut self, now: Instant) {
        self.first.get_or_insert(now);
        self.last = Some(now);
    }

    pub(super) fn let_in(&mut self, now: Instant) {
        let second = self.first.map_or(0, |first| (now - first).as_secs()) as usize;
        if self.served.len() <= second {
            self.served.resize(second + 1, 0);
        }
        self.served[second] += 1;
        self.in_flight += 1;
        self.most_in_flight = self.most_in_flight.max(self.in_flight);
    }

    pub(super) fn bill(&mut self, model: &str, (input, output): (u64, u64)) {
        self.answered += 1;
        let tokens = self.tokens.entry(model.to_owned()).or_default();
        tokens.0 += input;
        tokens.1 += output;
    }

    pub(super) fn left(&mut self, now: Instant) {
        self.in_flight = self.in_flight.saturating_sub(1);
        self.last = Some(now);
    }

    /// Dollars for every answer that was computed; models without a price cost nothing.
    pub(crate) fn billed_usd(&self) -> f64 {
        let of = |(model, tokens): (&String, &(u64, u64))| {
            let (input, output) = self.prices.get(model).copied().unwrap_or_default();
            (tokens.0 as f64 * input + tokens.1 as f64 * output) / 1e6
        };
        self.tokens.iter().map(of).sum()
    }

    /// From the first call's arrival to the last one's answer.
    pub(crate) fn span(&self) -> Duration {
        match (self.first, self.last) {
            (Some(first), Some(last)) => last - first,
            _ => Duration::ZERO,
        }
    }
}
