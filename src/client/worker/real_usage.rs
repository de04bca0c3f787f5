//! Compares the real cost of a service's calls with their estimated worst-case cost.

/// Calls in flight before the first bill is known, if there is a budget.
const FIRST: usize = 2;

#[derive(Debug)]
pub(super) struct RealUsage {
    /// Number of recorded calls: all answers, and failures with a known cost.
    billed: usize,
    /// Largest ratio of actual to estimated cost so far, at least 1.
    excess: f64,
}

impl Default for RealUsage {
    fn default() -> Self {
        Self {
            billed: 0,
            excess: 1.0,
        }
    }
}

impl RealUsage {
    /// Records a call that returned, with its cost if the service reported it.
    pub(super) fn note(&mut self, cost_usd: Option<f64>, expected_usd: Option<f64>) {
        self.billed += 1;
        if let (Some(cost), Some(expected)) = (cost_usd, expected_usd)
            && expected > 0.0
            && (cost / expected).is_finite()
        {
            self.excess = self.excess.max(cost / expected);
        }
    }

    /// Maximum number of calls in flight under a budget. Each bill allows one more, so that a burst
    /// of calls is never admitted on an estimate alone.
    pub(super) fn places(&self) -> usize {
        FIRST + self.billed
    }

    /// Worst-case cost of a call, corrected by the bills so far.
    pub(super) fn worst_usd(&self, expected_usd: Option<f64>) -> Option<f64> {
        expected_usd.map(|usd| usd * self.excess)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reserve_follows_the_largest_bill() {
        let mut usage = RealUsage::default();
        assert_eq!((usage.places(), usage.worst_usd(Some(0.5))), (2, Some(0.5)));
        usage.note(Some(0.1), Some(0.5));
        usage.note(None, None);
        usage.note(Some(0.1), Some(0.0));
        assert_eq!((usage.places(), usage.worst_usd(Some(0.5))), (5, Some(0.5)));
        usage.note(Some(2.0), Some(0.5));
        usage.note(Some(0.5), Some(0.5));
        assert_eq!((usage.places(), usage.worst_usd(Some(0.5))), (7, Some(2.0)));
        assert_eq!(usage.worst_usd(None), None);
    }
}
