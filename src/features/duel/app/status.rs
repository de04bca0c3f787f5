//! Duels in the status of a project.

use crate::app::status::FeatureStatus;
use crate::app::text_format::counted;
use crate::store::{Db, Result};
use serde_json::json;

pub fn status(db: &Db) -> Result<FeatureStatus> {
    let counts = db.duel_counts()?;
    let line = format!(
        "duels         {}, {} (`overrule duel --list`)",
        counted(counts.duels, "duel"),
        counted(counts.participants, "participant")
    );
    Ok(FeatureStatus {
        key: "duels",
        json: json!({
            "duels": counts.duels,
            "participants": counts.participants,
            "events": counts.events,
        }),
        lines: (counts.duels > 0).then_some(line).into_iter().collect(),
    })
}
