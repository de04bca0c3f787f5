//! What a method took: calls, tokens, money and time, and how often it failed.

use super::MethodRow;

/// What a method took on the queries that it was run on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MethodEffort {
    /// Queries it was run on.
    pub queries: usize,
    /// Those of them without an order.
    pub failed: usize,
    pub calls: u64,
    pub failed_calls: u64,
    pub tokens_in: u64,
    pub tokens_out: u64,
    /// Queries whose price is known, and the sum of those in US dollars.
    pub priced: usize,
    pub cost_usd: f64,
    /// The time from the first question to the order, in milliseconds, half and 95 % of the queries with a known one being
    /// as fast or faster; by nearest rank.
    pub wall_p50_ms: Option<u64>,
    pub wall_p95_ms: Option<u64>,
    pub service_ms: u64,
    pub repairs: u64,
    /// Queries with an answer that was mended.
    pub repaired: usize,
    /// Documents that were cut.
    pub truncated: u64,
}

impl MethodEffort {
    pub fn of<'a>(rows: impl Iterator<Item = &'a MethodRow>) -> Self {
        let mut effort = Self::default();
        let mut times = Vec::new();
        for row in rows {
            effort.queries += 1;
            effort.failed += usize::from(row.failure.is_some());
            effort.calls += row.calls;
            effort.failed_calls += row.failed_calls;
            effort.tokens_in += row.tokens_in;
            effort.tokens_out += row.tokens_out;
            effort.priced += usize::from(row.cost_usd.is_some());
            effort.cost_usd += row.cost_usd.unwrap_or(0.0);
            effort.service_ms += row.service_ms;
            effort.repairs += row.repairs;
            effort.repaired += usize::from(row.repairs > 0);
            effort.truncated += row.truncated;
            times.extend(row.wall_ms);
        }
        times.sort_unstable();
        effort.wall_p50_ms = nearest_rank(&times, 50);
        effort.wall_p95_ms = nearest_rank(&times, 95);
        effort
    }

    /// Something a query; `None` without queries.
    pub fn a_query(&self, total: u64) -> Option<f64> {
        (self.queries > 0).then(|| total as f64 / self.queries as f64)
    }

    /// The share of the queries without an order.
    pub fn failed_share(&self) -> Option<f64> {
        self.a_query(self.failed as u64)
    }

    /// US dollars a query; `None` unless the price of every query is known.
    pub fn usd_a_query(&self) -> Option<f64> {
        (self.queries > 0 && self.priced == self.queries)
            .then(|| self.cost_usd / self.queries as f64)
    }
}

/// The value at rank ⌈percent / 100 · n⌉ of `n` rising values; `None` of none.
pub fn nearest_rank(rising: &[u64], percent: usize) -> Option<u64> {
    let rank = (percent * rising.len()).div_ceil(100).max(1);
    rising.get(rank - 1).copied()
}
