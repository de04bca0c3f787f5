//! What a project has spent, on what, known and assumed apart.

use super::super::{CommandFailure, output};
use crate::app::run_lock::RunLock;
use crate::domain::sanitise;
use crate::store::Store;
use crate::store::ledger::Spent;

/// What was spent, by purpose and service.
pub(super) struct Spending {
    pub(super) rows: Vec<Spent>,
}

impl Spending {
    /// Reads the ledger. Calls that are open while nobody calls were cut short: they count as assumed.
    pub(super) fn read(store: &Store) -> Result<Self, CommandFailure> {
        let mut rows = store.read_blocking(|db| db.spent())?;
        let open = rows.iter().any(|row| row.open_calls > 0);
        // Whoever has the lock may have calls in flight; nobody has it where it can be taken.
        if open && !store.is_read_only() && RunLock::take(store.path()).is_ok() {
            for row in &mut rows {
                row.assumed_calls += std::mem::take(&mut row.open_calls);
                row.assumed_usd += std::mem::take(&mut row.open_usd);
            }
        }
        Ok(Self { rows })
    }

    fn sum(&self, of: fn(&Spent) -> f64) -> f64 {
        self.rows.iter().map(of).sum()
    }

    pub(super) fn known_usd(&self) -> f64 {
        self.sum(|row| row.known_usd)
    }

    pub(super) fn assumed_usd(&self) -> f64 {
        self.sum(|row| row.assumed_usd)
    }

    pub(super) fn open_usd(&self) -> f64 {
        self.sum(|row| row.open_usd)
    }

    pub(super) fn open_calls(&self) -> usize {
        self.rows.iter().map(|row| row.open_calls).sum()
    }

    /// Votes, failures, picks, and further calls with a known cost.
    pub(super) fn calls(&self) -> usize {
        self.rows.iter().map(|row| row.calls).sum()
    }

    pub(super) fn unpriced(&self) -> usize {
        self.rows.iter().map(|row| row.unpriced).sum()
    }

    /// The lines of `status`: the sum, and each judge's part where there is more than one that was paid.
    pub(super) fn lines(&self) -> Vec<String> {
        let mut sum = format!(
            "spent       ${:.4} on {} calls, {} without a known price",
            self.known_usd() + self.assumed_usd(),
            self.calls(),
            self.unpriced()
        );
        let assumed: usize = self.rows.iter().map(|row| row.assumed_calls).sum();
        if assumed > 0 {
            sum += &format!(
                "; ${:.4} of it assumed at the worst price, for {} that did not say what it cost",
                self.assumed_usd(),
                output::counted(assumed, "call")
            );
        }
        let mut lines = vec![sum];
        if self.open_calls() > 0 {
            lines.push(format!(
                "in flight   {}, for ${:.4} at most",
                output::counted(self.open_calls(), "call"),
                self.open_usd()
            ));
        }
        let paid = |row: &&Spent| row.usd() > 0.0;
        if self.rows.iter().filter(paid).count() > 1 {
            lines.extend(self.rows.iter().filter(paid).map(|row| {
                let assumed = match row.assumed_calls {
                    0 => String::new(),
                    _ => format!(", ${:.4} assumed", row.assumed_usd),
                };
                format!(
                    "            {} for {}: ${:.4} known{assumed}",
                    sanitise::line(&row.service),
                    row.purpose,
                    row.known_usd
                )
            }));
        }
        lines
    }
}
