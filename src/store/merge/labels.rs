//! What the label court works on: labels, rankings, picks and rulings.

use super::Merger;
use crate::client::now_ms;
use crate::domain::corpus::QueryId;
use crate::domain::metrics::RankedRun;
use crate::store::{Db, Result, StoreError};
use std::collections::{HashMap, HashSet};

impl Merger<'_> {
    /// Takes over what `other` has on queries that are not refused.
    pub(super) fn court(&mut self, other: &Db) -> Result<()> {
        let refused = self.merged.refused.iter();
        let refused: HashSet<QueryId> = refused
            .map(|(name, _)| QueryId::new(name.as_str()))
            .collect();
        for (query, grades) in other.labels()? {
            for (document, grade) in grades.into_iter().filter(|_| !refused.contains(&query)) {
                match self.db.put_label(&query, &document, grade) {
                    Ok(new) => self.merged.labels += usize::from(new),
                    Err(StoreError::Conflict(_)) => self.merged.label_clashes += 1,
                    Err(error) => return Err(error),
                }
            }
        }
        let ours: HashMap<String, RankedRun> = self.db.rankings()?.into_iter().collect();
        for (name, mut run) in other.rankings()? {
            let known = ours.get(&name);
            run.retain(|query, _| {
                !refused.contains(query) && known.is_none_or(|known| !known.contains_key(query))
            });
            if !run.is_empty() {
                self.db.put_ranking(&name, &run, now_ms())?;
                self.merged.rankings += 1;
            }
        }
        for pick in other.picks()? {
            if !refused.contains(&pick.query) && self.db.add_pick(&pick)? {
                self.merged.picks += 1;
                self.merged.spent_usd += pick.cost_usd.unwrap_or(0.0);
            }
        }
        self.rulings(other, &refused)
    }

    fn rulings(&mut self, other: &Db, refused: &HashSet<QueryId>) -> Result<()> {
        let ours: HashMap<QueryId, _> = self
            .db
            .queries()?
            .into_iter()
            .map(|query| (query.id, query.key))
            .collect();
        // A ruling may come before the one that it stands for where clocks differ.
        self.db
            .connection
            .pragma_update(None, "defer_foreign_keys", true)?;
        for mut row in other.rulings_ever()? {
            let Some(query) = ours.get(&row.ruling.query) else {
                continue;
            };
            if refused.contains(&row.ruling.query) {
                continue;
            }
            row.query = *query;
            self.merged.rulings += usize::from(self.db.add_ruling_as(&row)?);
        }
        for undo in other.ruling_undos()? {
            let known = "SELECT 1 FROM ruling WHERE uid = ?1";
            if self.exists(known, [&undo.ruling])? && self.db.add_ruling_undo(&undo)? {
                self.merged.undos += 1;
            }
        }
        Ok(())
    }
}
