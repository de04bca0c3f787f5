//! Names of people in a project that are easily taken for one another.

use crate::domain::annotator_name::look_alikes;
use crate::domain::sanitise;
use crate::store::{Db, Result};

/// That an annotator who has decided nothing yet is called much like somebody who has: a name that was mistyped makes two
/// people of one.
pub fn similar_name_note(db: &Db, annotator: &str) -> Result<Option<String>> {
    let known = db.annotators()?;
    if known.iter().any(|name| name == annotator) {
        return Ok(None);
    }
    let alike = look_alikes(annotator, &known).join(", ");
    Ok((!alike.is_empty()).then(|| {
        format!(
            "{} is new in this project, and {} looks alike; if that is you, use the same name (--annotator)",
            sanitise::line(annotator),
            sanitise::line(&alike)
        )
    }))
}
