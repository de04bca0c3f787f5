//! Detects names of people in a project that are easily confused.

use crate::domain::annotator_name::look_alikes;
use crate::domain::sanitize;
use crate::store::{Db, Result};

/// A note if an annotator without any decisions has a name similar to someone who has some: a
/// mistyped name turns one person into two.
pub fn similar_name_note(db: &Db, annotator: &str) -> Result<Option<String>> {
    let known = db.annotators()?;
    if known.iter().any(|name| name == annotator) {
        return Ok(None);
    }
    let alike = look_alikes(annotator, &known).join(", ");
    Ok((!alike.is_empty()).then(|| {
        format!(
            "{} is new in this project and looks like {}; if that is you, use the same name \
             (--annotator)",
            sanitize::line(annotator),
            sanitize::line(&alike)
        )
    }))
}
