//! Merges labels, rankings, picks and rulings of two projects.

use crate::client::now_ms;
use crate::domain::corpus::QueryId;
use crate::domain::metrics::RankedRun;
use crate::store::merge::Merger;
use crate::store::{Db, Result};
use std::collections::{HashMap, HashSet};

/// Copies the data of `other` on queries that are not rejected.
pub(super) fn unite(merger: &mut Merger<'_>, other: &Db) -> Result<()> {
    let refused = merger.merged.refused.iter();
    let refused: HashSet<QueryId> = refused
        .map(|(name, _)| QueryId::new(name.as_str()))
        .collect();
    for (query, grades) in other.labels()? {
        for (document, grade) in grades.into_iter().filter(|_| !refused.contains(&query)) {
            let known = merger.db.label(&query, &document)?;
            if known.is_some_and(|known| known != grade) {
                merger.merged.label_clashes += 1;
            } else if merger.db.put_label(&query, &document, grade)? {
                merger.merged.labels += 1;
            }
        }
    }
    let ours: HashMap<String, RankedRun> = merger.db.rankings()?.into_iter().collect();
    for (name, mut run) in other.rankings()? {
        let known = ours.get(&name);
        run.retain(|query, _| {
            !refused.contains(query) && known.is_none_or(|known| !known.contains_key(query))
        });
        if !run.is_empty() {
            merger.db.put_ranking(&name, &run, now_ms())?;
            merger.merged.rankings += 1;
        }
    }
    for pick in other.picks()? {
        if !refused.contains(&pick.query) && merger.db.add_pick(&pick)? {
            merger.merged.picks += 1;
            merger.merged.spent_usd += pick.cost_usd.unwrap_or(0.0);
        }
    }
    rulings(merger, other, &refused)
}

fn rulings(merger: &mut Merger<'_>, other: &Db, refused: &HashSet<QueryId>) -> Result<()> {
    let ours: HashMap<QueryId, _> = merger
        .db
        .queries()?
        .into_iter()
        .map(|query| (query.id, query.key))
        .collect();
    // If clocks differ, a ruling may come before the one that it replaces.
    merger.db.defer_foreign_keys()?;
    for mut row in other.rulings_ever()? {
        let Some(query) = ours.get(&row.ruling.query) else {
            continue;
        };
        if refused.contains(&row.ruling.query) {
            continue;
        }
        row.query = *query;
        merger.merged.rulings += usize::from(merger.db.add_ruling_as(&row)?);
    }
    for undo in other.ruling_undos()? {
        if merger.db.has_ruling(&undo.ruling)? && merger.db.add_ruling_undo(&undo)? {
            merger.merged.undos += 1;
        }
    }
    Ok(())
}
