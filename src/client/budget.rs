//! A hard limit on money: what is spent and what calls in flight may still cost never pass it together.

use std::sync::{Arc, Mutex, PoisonError};

#[derive(Debug, Default)]
struct BudgetState {
    limit_usd: Option<f64>,
    spent_usd: f64,
    reserved_usd: f64,
}

/// The project's money, shared by all calls of a run.
#[derive(Clone, Debug, Default)]
pub struct Budget(Arc<Mutex<BudgetState>>);

/// Money set aside for one call; given back when dropped.
#[derive(Debug)]
pub struct Reservation {
    budget: Budget,
    usd: f64,
}

impl Budget {
    /// A budget of which `spent_usd` is gone already.
    pub fn new(limit_usd: Option<f64>, spent_usd: f64) -> Self {
        Self(Arc::new(Mutex::new(BudgetState {
            limit_usd,
            spent_usd,
            reserved_usd: 0.0,
        })))
    }

    /// Sets aside what a call costs at worst, or says no.
    pub fn reserve(&self, worst_usd: f64) -> Option<Reservation> {
        let mut money = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Looked at and reserved under one lock: between two, others would take the same money.
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

    /// Whether money is set aside for calls in flight: some of it may come back.
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

    /// Notes what a call cost.
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
        // Sums of many small amounts do not cancel to the last bit.
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
