//! Graded anchors in the status of a project.

use crate::app::status::FeatureStatus;
use crate::app::text_format::counted;
use crate::domain::sanitize;
use crate::store::{Db, Result};

/// Number of anchors graded by each judge.
pub fn status(db: &Db) -> Result<FeatureStatus> {
    let counts = db.anchor_counts()?;
    let lines = counts.iter().map(|count| {
        format!(
            "scale         anchors of {}: {} in {} (`overrule scale fit`)",
            sanitize::line(&count.judge),
            counted(count.grades, "grade"),
            counted(count.queries, "query")
        )
    });
    Ok(FeatureStatus {
        key: "anchors",
        lines: lines.collect(),
        json: serde_json::to_value(counts)?,
    })
}
