//! The battles of an acceptance for the review queue and for exports.

use super::report::{
    AcceptReport, AcceptState, BattleName, ControlState, KnownVerdicts, battle_name,
    named_decisions, read_report,
};
use crate::app::error::AppError;
use crate::domain::battle::Pair;
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::priority::DrawReason;
use crate::features::accept::store::StoredDecision;
use crate::store::corpus::QueryKey;
use crate::store::{self, Db, Store};
use std::collections::{HashMap, HashSet};

/// A battle to rule on: its query, its pair, how it was drawn, and the score of its decision unless
/// it is a control.
pub type OfferedBattle = (QueryKey, Pair, DrawReason, Option<f64>);

/// The battles that the latest acceptance asks people about: the open controls in the order of the
/// draw, and once there are none, the battles that were not accepted, the least certain first.
pub fn offered(db: &Db) -> store::Result<Vec<OfferedBattle>> {
    let Some(acceptance) = db.acceptances()?.into_iter().next() else {
        return Ok(Vec::new());
    };
    let controls = db.acceptance_controls(&acceptance.uid)?;
    let verdicts = KnownVerdicts::read(db)?;
    let mut places = Places::new(db);
    let mut found = Vec::new();
    for control in &controls {
        if matches!(verdicts.state(control), ControlState::Open { .. }) {
            let of = acceptance.battles.saturating_sub(control.place);
            let place = places.of(&control.query, &control.decision)?;
            found.extend(place.map(|(key, pair)| (key, pair, DrawReason::Control { of }, None)));
        }
    }
    let Some(threshold) = verdicts.threshold(&acceptance, &controls) else {
        return Ok(found);
    };
    let drawn: HashSet<BattleName> = controls
        .iter()
        .map(|of| battle_name(&of.query, &of.decision))
        .collect();
    let least = threshold.map_or(f64::INFINITY, |of| of.score);
    for query in db.acceptance_frame(&acceptance.uid)? {
        for decision in &query.decisions {
            let battle = battle_name(&query.query, decision);
            let is_done = drawn.contains(&battle) || verdicts.is_judged(&battle);
            if decision.score < least && !is_done {
                let place = places.of(&query.query, decision)?;
                let reason = DrawReason::Priority;
                found.extend(place.map(|(key, pair)| (key, pair, reason, Some(decision.score))));
            }
        }
    }
    found.sort_by(|one, other| one.3.unwrap_or(0.0).total_cmp(&other.3.unwrap_or(0.0)));
    Ok(found)
}

/// Whether each battle of a frame is accepted, by query and by the identifiers of its documents in
/// alphabetical order.
pub type AcceptedBattles = HashMap<BattleName, bool>;

/// The accepted battles, and the others of the frame; `None` if nothing is accepted now.
pub fn accepted_battles(store: &Store) -> Result<Option<AcceptedBattles>, AppError> {
    let Some(AcceptReport {
        acceptance,
        state: AcceptState::Accepted,
        threshold: Some(threshold),
        ..
    }) = read_report(store)?
    else {
        return Ok(None);
    };
    Ok(Some(store.read_blocking(move |db| {
        let frame = db.acceptance_frame(&acceptance.uid)?;
        let mut found: AcceptedBattles = named_decisions(&frame)
            .map(|(battle, decision)| (battle, decision.score >= threshold.score))
            .collect();
        for control in db.acceptance_controls(&acceptance.uid)? {
            found.insert(battle_name(&control.query, &control.decision), false);
        }
        Ok(found)
    })?))
}

/// A query with the positions of its documents.
type QueryPlaces = (QueryKey, HashMap<DocId, usize>);

/// Finds battles in the project by name.
struct Places<'a> {
    db: &'a Db,
    queries: HashMap<QueryId, Option<QueryPlaces>>,
}

impl<'a> Places<'a> {
    fn new(db: &'a Db) -> Self {
        Self {
            db,
            queries: HashMap::new(),
        }
    }

    /// The query and the pair; `None` if the project no longer has them.
    fn of(
        &mut self,
        query: &QueryId,
        decision: &StoredDecision,
    ) -> store::Result<Option<(QueryKey, Pair)>> {
        if !self.queries.contains_key(query) {
            let known = match self.db.known_query(query.as_str())? {
                Some(key) => {
                    let ids = self.db.document_ids(key)?.into_iter();
                    Some((key, ids.zip(0..).collect()))
                }
                None => None,
            };
            self.queries.insert(query.clone(), known);
        }
        let known = self.queries.get(query).and_then(Option::as_ref);
        Ok(known.and_then(|(key, places)| {
            let (better, other) = (places.get(&decision.better)?, places.get(&decision.other)?);
            Some((*key, Pair::new(*better, *other)?))
        }))
    }
}
