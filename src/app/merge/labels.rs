//! Merges labels, rankings, picks and rulings of two projects.

use crate::client::now_ms;
use crate::domain::adjudication::PickRecord;
use crate::domain::corpus::QueryId;
use crate::domain::metrics::RankedRun;
use crate::store::merge::Merger;
use crate::store::rulings::StoredRuling;
use crate::store::{Result, StoreError};
use std::collections::{HashMap, HashSet};

/// The queries that are rejected.
fn refused(merger: &Merger<'_>) -> HashSet<QueryId> {
    let refused = merger.merged.refused.iter();
    refused
        .map(|(name, _)| QueryId::new(name.as_str()))
        .collect()
}

/// Copies the labels of queries that are not rejected.
pub(super) fn labels(merger: &mut Merger<'_>) -> Result<()> {
    let refused = refused(merger);
    for (query, grades) in merger.other.labels()? {
        for (document, grade) in grades.into_iter().filter(|_| !refused.contains(&query)) {
            let known = merger.db.label(&query, &document)?;
            if known.is_some_and(|known| known != grade) {
                merger.merged.label_clashes += 1;
            } else if merger.db.put_label(&query, &document, grade)? {
                merger.merged.labels += 1;
            }
        }
    }
    Ok(())
}

/// Copies the rankings of queries that are not rejected.
pub(super) fn rankings(merger: &mut Merger<'_>) -> Result<()> {
    let refused = refused(merger);
    let ours: HashMap<String, RankedRun> = merger.db.rankings()?.into_iter().collect();
    for (name, mut run) in merger.other.rankings()? {
        let known = ours.get(&name);
        run.retain(|query, _| {
            !refused.contains(query) && known.is_none_or(|known| !known.contains_key(query))
        });
        if !run.is_empty() {
            merger.db.put_ranking(&name, &run, now_ms())?;
            merger.merged.rankings += 1;
        }
    }
    Ok(())
}

/// Copies picks of the other project.
pub(super) fn picks(merger: &mut Merger<'_>, picks: Vec<PickRecord>) -> Result<()> {
    let refused = refused(merger);
    for pick in picks {
        if !refused.contains(&pick.query) && merger.db.add_pick(&pick)? {
            merger.merged.picks += 1;
            merger.merged.spent_usd += pick.cost_usd.unwrap_or(0.0);
        }
    }
    Ok(())
}

/// Copies rulings and their undos.
pub(super) fn rulings(merger: &mut Merger<'_>) -> Result<()> {
    let (refused, other) = (refused(merger), merger.other);
    let (rulings, undos) = (other.rulings_ever()?, other.ruling_undos()?);
    if rulings.is_empty() && undos.is_empty() {
        return Ok(());
    }
    let ours: HashMap<QueryId, _> = merger
        .db
        .queries()?
        .into_iter()
        .map(|query| (query.id, query.key))
        .collect();
    let mut waiting: Vec<StoredRuling> = Vec::new();
    for mut row in rulings {
        let Some(query) = ours.get(&row.ruling.query) else {
            continue;
        };
        if refused.contains(&row.ruling.query) {
            continue;
        }
        row.query = *query;
        waiting.push(row);
    }
    // If clocks differ, a ruling may come before the one that it replaces.
    while !waiting.is_empty() {
        let before = waiting.len();
        let mut later = Vec::new();
        for row in waiting {
            let is_ready = match &row.replaces {
                None => true,
                Some(earlier) => merger.db.has_ruling(earlier)?,
            };
            if is_ready {
                merger.merged.rulings += usize::from(merger.db.add_ruling_as(&row)?);
            } else {
                later.push(row);
            }
        }
        if later.len() == before {
            return Err(StoreError::Corrupt(format!(
                "ruling {} stands for one that is not there",
                later[0].ruling.uid
            )));
        }
        waiting = later;
    }
    for undo in undos {
        if merger.db.has_ruling(&undo.ruling)? && merger.db.add_ruling_undo(&undo)? {
            merger.merged.undos += 1;
        }
    }
    Ok(())
}
