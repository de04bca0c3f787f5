//! Batteries of judges.

use crate::domain::frozen_pair::FrozenPair;
use crate::store::frozen_sets::{FrozenSet, FrozenTables};
use crate::store::{Db, Result};

const TABLES: FrozenTables = FrozenTables {
    sets: "battery_set",
    pairs: "battery_pair",
};

impl Db {
    /// Stores a battery with its pairs unless it is known. Returns whether it is new.
    pub fn add_battery(&self, battery: &FrozenSet, pairs: &[FrozenPair]) -> Result<bool> {
        self.add_frozen_set(TABLES, battery, pairs)
    }

    /// All batteries, the latest first.
    pub fn batteries(&self) -> Result<Vec<FrozenSet>> {
        let columns = FrozenSet::COLUMNS;
        self.all(
            &format!("SELECT {columns} FROM battery_set ORDER BY created_ms DESC, uid DESC"),
            [],
            FrozenSet::read,
        )
    }

    /// The pairs of a battery, in their order.
    pub fn battery_pairs(&self, battery: &str) -> Result<Vec<FrozenPair>> {
        self.frozen_pairs(TABLES, battery)
    }
}
