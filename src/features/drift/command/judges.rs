//! Whether judges have changed, in the report on judges.

use crate::app::error::AppError;
use crate::cli::judges::JudgesPanel;
use crate::cli::output::clean;
use crate::features::drift::app::{read_report, sentences};
use crate::store::Store;
use crate::store::corpus::QueryKey;
use serde_json::json;
use std::collections::BTreeSet;

/// The conclusion about each judge that is followed. It is about no single query.
pub(crate) fn panel(store: &Store, scope: Option<QueryKey>) -> Result<JudgesPanel, AppError> {
    let sets = match scope {
        None => store.read_blocking(|db| db.drift_sets())?,
        Some(_) => Vec::new(),
    };
    let judges: BTreeSet<String> = sets.into_iter().map(|set| set.judge).collect();
    let mut followed = Vec::new();
    let mut words = String::new();
    for judge in judges {
        let report = read_report(store, &judge, None, None)?;
        let sentences = sentences(&report);
        let name = clean(&judge);
        words += &format!(
            "drift of {name}: {} (`overrule drift {name}`)\n",
            report.conclusion.words()
        );
        followed.push(json!({
            "judge": judge,
            "conclusion": report.conclusion,
            "sentences": sentences,
        }));
    }
    Ok(JudgesPanel {
        key: "drift",
        json: json!(followed),
        words,
    })
}
