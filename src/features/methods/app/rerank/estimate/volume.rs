//! Sums of calls, tokens and dollars.

use crate::judge::Usage;
use serde::Serialize;

/// Number of calls with their usage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct CallVolume {
    pub calls: f64,
    pub tokens_input: f64,
    pub tokens_output: f64,
    /// US dollars; `None` if a price is unknown.
    pub usd: Option<f64>,
}

impl CallVolume {
    /// No calls, at no cost.
    pub const NONE: Self = Self {
        calls: 0.0,
        tokens_input: 0.0,
        tokens_output: 0.0,
        usd: Some(0.0),
    };

    /// Adds one question that is asked in this many calls.
    pub(in super::super) fn add(&mut self, calls: f64, (usage, usd): (Usage, Option<f64>)) {
        self.calls += calls;
        self.tokens_input += usage.input as f64;
        self.tokens_output += usage.output as f64;
        self.usd = self.usd.zip(usd).map(|(sum, usd)| sum + usd);
    }

    /// The sum of this many such volumes.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        Self {
            calls: self.calls * factor,
            tokens_input: self.tokens_input * factor,
            tokens_output: self.tokens_output * factor,
            usd: self.usd.map(|usd| usd * factor),
        }
    }
}

impl std::iter::Sum for CallVolume {
    fn sum<I: Iterator<Item = Self>>(volumes: I) -> Self {
        volumes.fold(Self::NONE, |sum, of| Self {
            calls: sum.calls + of.calls,
            tokens_input: sum.tokens_input + of.tokens_input,
            tokens_output: sum.tokens_output + of.tokens_output,
            usd: sum.usd.zip(of.usd).map(|(sum, usd)| sum + usd),
        })
    }
}

/// A sum of volumes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sum {
    pub(super) calls: f64,
    pub(super) tokens_input: f64,
    pub(super) tokens_output: f64,
    pub(super) usd: f64,
    pub(super) unpriced: bool,
}

impl Sum {
    /// One question that is asked in this many calls.
    pub(super) fn of(calls: f64, usage: Usage, usd: Option<f64>) -> Self {
        Self {
            calls,
            tokens_input: usage.input as f64,
            tokens_output: usage.output as f64,
            usd: usd.unwrap_or(0.0),
            unpriced: usd.is_none(),
        }
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.tokens_input += other.tokens_input;
        self.tokens_output += other.tokens_output;
        self.usd += other.usd;
        self.unpriced |= other.unpriced;
    }

    /// The sum of this many such volumes.
    pub(super) fn times(&self, factor: f64) -> Self {
        Self {
            calls: self.calls * factor,
            tokens_input: self.tokens_input * factor,
            tokens_output: self.tokens_output * factor,
            usd: self.usd * factor,
            unpriced: self.unpriced,
        }
    }

    pub(super) fn volume(&self, factor: f64) -> CallVolume {
        CallVolume {
            calls: (self.calls * factor).round(),
            tokens_input: (self.tokens_input * factor).round(),
            tokens_output: (self.tokens_output * factor).round(),
            usd: (!self.unpriced).then_some(self.usd * factor),
        }
    }
}
