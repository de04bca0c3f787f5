//! Decides whose votes count for a query after a merge.

use crate::domain::vote::JudgeId;
use crate::store::Result;
use crate::store::merge::{MatchedQuery, Merger, OtherQuery};

/// If no votes count here, the other file's judges count. If both sides were imported, all judges
/// with different names count. Otherwise, our judges count.
pub(super) fn unite(
    merger: &mut Merger<'_>,
    query: &mut MatchedQuery,
    theirs: &OtherQuery,
) -> Result<()> {
    let Some(ensemble) = theirs.ensemble else {
        return Ok(());
    };
    let there = merger.ensemble(ensemble)?;
    let mut judges: Vec<(JudgeId, String)> = merger
        .db
        .judges_of(query.ours)?
        .into_iter()
        .map(|(judge, spec)| (judge, spec.name))
        .collect();
    if there.iter().all(|judge| judges.contains(judge)) {
        return Ok(());
    }
    let mut depth = None;
    if judges.is_empty() {
        depth = theirs.depth.map(|depth| {
            let entered = query.places.iter().take(depth);
            entered.max().map_or(0, |last| last + 1)
        });
    } else if theirs.depth.is_some() || merger.db.is_planned(query.ours)? {
        merger.merged.keep_their_judges += 1;
        return Ok(());
    }
    let before = judges.len();
    for judge in &there {
        // A name stands for one judge of an ensemble.
        if judges.iter().all(|(_, name)| *name != judge.1) {
            judges.push(judge.clone());
        }
    }
    if !there.iter().all(|judge| judges.contains(judge)) {
        merger.merged.keep_their_judges += 1;
    }
    if judges.len() == before {
        return Ok(());
    }
    let judges: Vec<JudgeId> = judges.into_iter().map(|(judge, _)| judge).collect();
    let ensemble = merger.db.ensemble(&judges)?;
    merger.db.set_ensemble(query.ours, ensemble, depth)?;
    query.changed = true;
    Ok(())
}
