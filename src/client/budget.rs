//! Enforces a hard spending limit: money spent plus the worst-case cost of calls in flight never
//! exceeds it.

use std::sync::{Arc, Mutex, PoisonError};

#[derive(Debug, Default)]
struct BudgetState {
    limit_usd: Option<f64>,
    spent_usd: f64,
    reserved_usd: f64,
}

/// The project's spending, shared by all calls of a run.
#[derive(Clone, Debug, Default)]
pub struct Budget(Arc<Mutex<BudgetState>>);

/// Money reserved for one call, released on drop.
#[derive(Debug)]
pub struct Reservation {
    budget: Budget,
    usd: f64,
}

impl Budget {
    /// Creates a budget of which `spent_usd` has already been spent.
    pub fn new(limit_usd: Option<f64>, spent_usd: f64) -> Self {
        Self(Arc::new(Mutex::new(BudgetState {
            limit_usd,
            spent_usd,
            reserved_usd: 0.0,
        })))
    }

    /// Reserves the worst-case cost of a call, or returns `None` if the limit does not allow it.
    pub fn reserve(&self, worst_usd: f64) -> Option<Reservation> {
        let mut money = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Check and reserve under one lock: otherwise two callers could reserve the same money.
        let committed = money.spent_usd + money.reserved_usd + worst_usd;
        if money.limit_usd.is_some_and(|limit| committed > limit) {
            return None;
        }
        money.reserved_usd += worst_usd;
        Some(Reservation {
            budget: self.clone(),
            usd: worst_usd,
        })
    }

    /// Whether money is reserved for calls in flight, some of which may be released again.
    pub fn is_waiting(&self) -> bool {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .reserved_usd
            > 0.0
    }

    pub fn is_limited(&self) -> bool {
        let money = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        money.limit_usd.is_some()
    }

    /// Records what a call cost.
    pub fn spend(&self, usd: f64) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .spent_usd += usd;
    }

    /// Dollars spent by the project so far.
    #[cfg(test)]
    pub fn spent_usd(&self) -> f64 {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .spent_usd
    }

    pub fn set_limit(&self, limit_usd: Option<f64>) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .limit_usd = limit_usd;
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let mut money = self.budget.0.lock().unwrap_or_else(PoisonError::into_inner);
        money.reserved_usd -= self.usd;
        // A sum of many small amounts does not cancel to exactly zero.
        if money.reserved_usd < 1e-12 {
            money.reserved_usd = 0.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_in_flight_counts() {
        let budget = Budget::new(Some(1.0), 0.25);
        let first = budget.reserve(0.5).unwrap();
        assert!(budget.reserve(0.5).is_none());
        assert!(budget.is_waiting());
        drop(first);
        budget.spend(0.1);
        let second = budget.reserve(0.5).unwrap();
        assert!(budget.reserve(0.2).is_none());
        drop(second);
        assert!(!budget.is_waiting());
        budget.set_limit(None);
        assert!(budget.reserve(1e9).is_some());
    }
}
