//! Merges duels of two projects: duels and events by UID, participants by name.

use crate::domain::corpus::QueryId;
use crate::features::duel::store::DuelKey;
use crate::store::Result;
use crate::store::merge::{AddedCount, MergePart, Merger};
use std::collections::HashSet;

const DUELS: AddedCount = AddedCount::new("duels", "duel");
const EVENTS: AddedCount = AddedCount::new("duel_events", "duel event");
const SKIPPED_DUELS: AddedCount = AddedCount::skipped(
    "duels_left_out",
    "duel",
    "skipped, because one of their queries is skipped",
);
const SKIPPED_PARTICIPANTS: AddedCount = AddedCount::skipped(
    "duel_participants_left_out",
    "participant",
    "skipped, because this name has different tasks in that duel here",
);

/// What is merged that belongs to no query.
pub(crate) const PART: MergePart = MergePart {
    name: "duels",
    tables: &["duel", "duel_query", "duel_participant", "duel_event"],
    is_about_queries: true,
    merge: unite,
};

pub(crate) const COUNTS: &[AddedCount] = &[DUELS, EVENTS, SKIPPED_DUELS, SKIPPED_PARTICIPANTS];

/// Copies the duels on queries that are not rejected.
fn unite(merger: &mut Merger<'_>) -> Result<()> {
    let other = merger.other;
    let refused = merger.merged.refused.iter();
    let refused: HashSet<QueryId> = refused
        .map(|(name, _)| QueryId::new(name.as_str()))
        .collect();
    for stored in other.duels()? {
        let key = match merger.db.known_duel(&stored.uid)? {
            Some(key) => key,
            // Its tasks depend on all of its queries.
            None if stored
                .duel
                .queries
                .iter()
                .any(|of| refused.contains(&of.query)) =>
            {
                merger.merged.count(&SKIPPED_DUELS, 1);
                continue;
            }
            None => {
                merger.merged.count(&DUELS, 1);
                merger
                    .db
                    .add_duel_as(&stored.uid, &stored.duel, stored.created_ms)?
            }
        };
        events(merger, (stored.key, key), &refused)?;
    }
    Ok(())
}

/// Copies the events of participants in one of their duels to the corresponding duel here.
fn events(
    merger: &mut Merger<'_>,
    (theirs, ours): (DuelKey, DuelKey),
    refused: &HashSet<QueryId>,
) -> Result<()> {
    let other = merger.other;
    let mut otherwise = HashSet::new();
    for participant in other.duel_participants(theirs)? {
        let known = merger.db.duel_number(ours, &participant.annotator)?;
        match known {
            // A participant's events belong to the tasks of that number.
            Some(number) if number != participant.number => {
                merger.merged.count(&SKIPPED_PARTICIPANTS, 1);
                otherwise.insert(participant.annotator);
            }
            Some(_) => {}
            None => {
                merger.db.add_duel_participant(ours, &participant)?;
            }
        }
    }
    for event in other.duel_events(theirs)? {
        if !refused.contains(&event.query) && !otherwise.contains(&event.participant) {
            let new = merger.db.add_duel_event_as(ours, &event)?;
            merger.merged.count(&EVENTS, usize::from(new));
        }
    }
    Ok(())
}
