//! Verdicts that programs propose: people see them after their own verdict, and no fit uses them.

#[cfg(feature = "mcp")]
mod propose;

#[cfg(feature = "mcp")]
pub use propose::{NewProposal, ProposalState, propose};

use super::store::Proposal;
use crate::app::log::{FeatureEvent, LogEntry, LogEvent};
use crate::app::status::FeatureStatus;
use crate::domain::battle::Pair;
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::number_words::counted;
use crate::domain::priority::DrawReason;
use crate::domain::verdict::{AnnotatorVerdicts, FinalRule, Verdict};
use crate::registry::OfferedBattle;
use crate::store::corpus::QueryKey;
use crate::store::{Db, Result};
use serde_json::json;
use std::collections::{HashMap, HashSet};

/// The pairs with a current verdict.
fn judged_pairs(db: &Db) -> Result<HashSet<(QueryKey, Pair)>> {
    let standing = db.standing_verdicts(None)?.into_iter();
    let pairs = standing.filter_map(|stored| {
        let verdict = &stored.verdict;
        Some((stored.query, Pair::new(verdict.a, verdict.b)?))
    });
    Ok(pairs.collect())
}

/// A query with the positions of its documents.
type QueryPlaces = (QueryKey, HashMap<DocId, usize>);

fn places(db: &Db, query: &QueryId) -> Result<Option<QueryPlaces>> {
    let Some(key) = db.known_query(query.as_str())? else {
        return Ok(None);
    };
    let documents = db.document_ids(key)?.into_iter();
    Ok(Some((key, documents.zip(0..).collect())))
}

/// The queue of [`waiting`] pairs.
pub fn offered(db: &Db) -> Result<Vec<OfferedBattle>> {
    let pairs = waiting(db)?.into_iter();
    Ok(pairs
        .map(|(query, pair)| (query, pair, DrawReason::Priority, None))
        .collect())
}

/// The proposals on pairs without a verdict.
fn waiting_proposals(db: &Db) -> Result<HashSet<String>> {
    Ok(waiting_by_pair(db)?
        .into_iter()
        .map(|(uid, _)| uid)
        .collect())
}

/// The pairs with a proposal on which nobody has given a verdict, in the order of their first
/// proposals.
fn waiting(db: &Db) -> Result<Vec<(QueryKey, Pair)>> {
    let mut seen = HashSet::new();
    let pairs = waiting_by_pair(db)?.into_iter().map(|(_, pair)| pair);
    Ok(pairs.filter(|pair| seen.insert(*pair)).collect())
}

/// The proposals on pairs without a verdict, with their pairs, earliest first.
fn waiting_by_pair(db: &Db) -> Result<Vec<(String, (QueryKey, Pair))>> {
    let judged = judged_pairs(db)?;
    let mut known: HashMap<QueryId, Option<QueryPlaces>> = HashMap::new();
    let mut waiting = Vec::new();
    for proposal in db.proposals()? {
        if !known.contains_key(&proposal.query) {
            known.insert(proposal.query.clone(), places(db, &proposal.query)?);
        }
        let Some((key, documents)) = known.get(&proposal.query).and_then(Option::as_ref) else {
            continue;
        };
        let place = |id: &DocId| documents.get(id).copied();
        let pair = place(&proposal.a)
            .zip(place(&proposal.b))
            .and_then(|(a, b)| Pair::new(a, b));
        let item = pair.map(|pair| (*key, pair));
        let item = item.filter(|item| !judged.contains(item));
        waiting.extend(item.map(|item| (proposal.uid, item)));
    }
    Ok(waiting)
}

/// The proposals for a query, the latest of each program on each pair.
pub fn proposed_verdicts(db: &Db, key: QueryKey) -> Result<AnnotatorVerdicts> {
    let query = db.query(key)?.id;
    let proposals = db.proposals_on(&query)?;
    if proposals.is_empty() {
        return Ok(AnnotatorVerdicts::default());
    }
    let documents = places(db, &query)?.map(|(_, documents)| documents);
    let documents = documents.unwrap_or_default();
    let given = proposals.into_iter().filter_map(|proposal| {
        Some(Verdict {
            a: *documents.get(&proposal.a)?,
            b: *documents.get(&proposal.b)?,
            uid: proposal.uid,
            decision: proposal.decision,
            note: Some(proposal.reason),
            annotator: proposal.author,
            created_ms: proposal.created_ms,
        })
    });
    let given: Vec<Verdict> = given.collect();
    Ok(AnnotatorVerdicts::new(FinalRule::default(), given))
}

pub fn log_entries(db: &Db, query: Option<QueryKey>) -> Result<Vec<LogEntry>> {
    let proposals = match query {
        Some(key) => db.proposals_on(&db.query(key)?.id)?,
        None => db.proposals()?,
    };
    let waiting = waiting_proposals(db)?;
    let entry = |of: Proposal| {
        // Nobody reads a proposal before a verdict.
        let note = if waiting.contains(&of.uid) {
            format!("{} × {}", of.a.as_str(), of.b.as_str())
        } else {
            let words = of.decision.words(of.a.as_str(), of.b.as_str());
            format!("{words}: {}", of.reason)
        };
        let event = FeatureEvent {
            name: "propose",
            who: Some(of.author),
            query: Some(of.query.to_string()),
            note: Some(note),
            ..FeatureEvent::default()
        };
        LogEntry {
            when_ms: of.created_ms,
            uid: of.uid,
            event: LogEvent::Feature(Box::new(event)),
        }
    };
    Ok(proposals.into_iter().map(entry).collect())
}

pub fn status(db: &Db) -> Result<FeatureStatus> {
    let (all, waiting) = (db.proposals()?.len(), waiting(db)?.len());
    let line = format!(
        "proposals     {} by programs, {} to judge (`overrule queue --policy proposed`)",
        counted(all, "verdict"),
        counted(waiting, "pair")
    );
    Ok(FeatureStatus {
        key: "proposals",
        lines: (all > 0).then_some(line).into_iter().collect(),
        json: json!({ "proposed": all, "waiting": waiting }),
    })
}
