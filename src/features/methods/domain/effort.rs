//! The effort of a method: calls, tokens, cost and time, and how often it failed.

use super::MethodRow;

/// A method's effort on the queries that it was run on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MethodEffort {
    /// Queries it was run on.
    pub queries: usize,
    /// How many of them have no order.
    pub failed: usize,
    pub calls: u64,
    pub failed_calls: u64,
    /// How many of the calls were answered by a call of another ranking or of an earlier run;
    /// `None` if that is unknown for any query.
    pub shared_calls: Option<u64>,
    pub tokens_in: u64,
    pub tokens_out: u64,
    /// Queries with a known price, and the sum of their prices in US dollars.
    pub priced: usize,
    pub cost_usd: f64,
    /// Number of queries with a known time. A query with one document, for which no question is
    /// needed, counts only if the method made no calls at all.
    pub timed: usize,
    /// Median and 95th percentile of the time from the first question to the order, in
    /// milliseconds, over the queries with a known time; by nearest rank. `None` unless these are
    /// more than half of the queries that needed a call.
    pub wall_p50_ms: Option<u64>,
    pub wall_p95_ms: Option<u64>,
    pub service_ms: u64,
    pub repairs: u64,
    /// Queries with a repaired answer.
    pub repaired: usize,
    /// Documents that were truncated.
    pub truncated: u64,
    /// The lowest limit to which they were truncated, in characters.
    pub document_chars: Option<usize>,
}

impl MethodEffort {
    pub fn of<'a>(rows: impl Iterator<Item = &'a MethodRow>) -> Self {
        let mut effort = Self {
            shared_calls: Some(0),
            ..Self::default()
        };
        let mut times = Vec::new();
        for row in rows {
            effort.queries += 1;
            effort.failed += usize::from(row.failure.is_some());
            effort.calls += row.calls;
            effort.failed_calls += row.failed_calls;
            effort.shared_calls = effort
                .shared_calls
                .zip(row.shared_calls)
                .map(|(sum, calls)| sum + calls);
            effort.tokens_in += row.tokens_in;
            effort.tokens_out += row.tokens_out;
            effort.priced += usize::from(row.cost_usd.is_some());
            effort.cost_usd += row.cost_usd.unwrap_or(0.0);
            effort.service_ms += row.service_ms;
            effort.repairs += row.repairs;
            effort.repaired += usize::from(row.repairs > 0);
            effort.truncated += row.truncated;
            let chars = row.document_chars.filter(|_| row.truncated > 0);
            effort.document_chars = effort.document_chars.into_iter().chain(chars).min();
            // An order that required no answers was not measured.
            if !row.judges.is_empty() {
                let is_trivial = row.calls == 0 && row.order.len() <= 1;
                times.push((is_trivial, row.wall_ms));
            }
        }
        times.retain(|(is_trivial, _)| !is_trivial || effort.calls == 0);
        let mut known: Vec<u64> = times.iter().filter_map(|(_, wall_ms)| *wall_ms).collect();
        effort.timed = known.len();
        // The few queries whose answers were not shared are no sample of all.
        if 2 * known.len() > times.len() {
            known.sort_unstable();
            effort.wall_p50_ms = nearest_rank(&known, 50);
            effort.wall_p95_ms = nearest_rank(&known, 95);
        }
        effort
    }

    /// An amount per query; `None` without queries.
    pub fn a_query(&self, total: u64) -> Option<f64> {
        (self.queries > 0).then(|| total as f64 / self.queries as f64)
    }

    /// The share of the queries without an order.
    pub fn failed_share(&self) -> Option<f64> {
        self.a_query(self.failed as u64)
    }

    /// US dollars per query; `None` unless the price of every query is known.
    pub fn usd_a_query(&self) -> Option<f64> {
        (self.queries > 0 && self.priced == self.queries)
            .then(|| self.cost_usd / self.queries as f64)
    }
}

/// The value at rank ⌈percent / 100 · n⌉ of `n` ascending values; `None` without values.
pub fn nearest_rank(rising: &[u64], percent: usize) -> Option<u64> {
    let rank = (percent * rising.len()).div_ceil(100).max(1);
    rising.get(rank - 1).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::corpus::{DocId, QueryId};

    fn row(documents: usize, calls: u64, wall_ms: Option<u64>) -> MethodRow {
        MethodRow {
            query: QueryId::new("q"),
            method: "m".to_owned(),
            judges: vec!["gpt".to_owned()],
            order: (0..documents)
                .map(|at| DocId::new(at.to_string()))
                .collect(),
            scores: None,
            calls,
            failed_calls: 0,
            shared_calls: Some(0),
            tokens_in: 0,
            tokens_out: 0,
            cost_usd: None,
            wall_ms,
            service_ms: 0,
            repairs: 0,
            truncated: 0,
            document_chars: None,
            cut: Some(Vec::new()),
            failure: None,
            created_ms: 0,
        }
    }

    #[test]
    fn a_query_with_one_document_says_nothing_about_the_time_of_calls() {
        let p50 = |rows: &[MethodRow]| MethodEffort::of(rows.iter()).wall_p50_ms;
        // The answers of the large query were shared, so its time is unknown.
        assert_eq!(p50(&[row(20, 110, None), row(1, 0, Some(0))]), None);
        assert_eq!(p50(&[row(20, 110, Some(40)), row(1, 0, Some(0))]), Some(40));
        assert_eq!(p50(&[row(20, 0, Some(3)), row(1, 0, Some(1))]), Some(1));
    }

    #[test]
    fn an_order_that_asked_nobody_took_no_time_that_could_be_compared() {
        let unasked = MethodRow {
            judges: Vec::new(),
            ..row(20, 0, Some(0))
        };
        let effort = MethodEffort::of([unasked].iter());
        assert_eq!((effort.timed, effort.wall_p50_ms), (0, None));
    }

    #[test]
    fn the_time_of_few_queries_is_not_that_of_all() {
        let p50 = |times: &[Option<u64>]| {
            let rows: Vec<MethodRow> = times.iter().map(|time| row(20, 55, *time)).collect();
            MethodEffort::of(rows.iter()).wall_p50_ms
        };
        assert_eq!(p50(&[Some(7)]), Some(7));
        assert_eq!(p50(&[Some(0), None]), None);
        assert_eq!(p50(&[Some(0), None, None, Some(3)]), None);
        assert_eq!(p50(&[Some(1), None, Some(3)]), Some(1));
        assert_eq!(p50(&[None, None]), None);
    }
}
