//! Whether manipulated texts turn the answers of judges, in the report on judges.

use crate::app::error::AppError;
use crate::cli::judges::JudgesPanel;
use crate::cli::output::clean;
use crate::features::battery::app::{read_report, sentences};
use crate::features::battery::command::manipulations_json;
use crate::store::Store;
use crate::store::corpus::QueryKey;
use serde_json::json;
use std::collections::BTreeSet;

/// The conclusion about each judge with a battery. It is about no single query.
pub(crate) fn panel(store: &Store, scope: Option<QueryKey>) -> Result<JudgesPanel, AppError> {
    let batteries = match scope {
        None => store.read_blocking(|db| db.batteries())?,
        Some(_) => Vec::new(),
    };
    let judges: BTreeSet<String> = batteries.into_iter().map(|of| of.judge).collect();
    let mut probed = Vec::new();
    let mut words = String::new();
    for judge in judges {
        let report = read_report(store, &judge, None)?;
        let name = clean(&judge);
        words += &format!(
            "manipulated texts to {name}: {} (`overrule battery {name}`)\n",
            report.conclusion_words()
        );
        probed.push(json!({
            "judge": judge,
            "conclusion": report.figures.conclusion,
            "manipulations": manipulations_json(&report),
            "sentences": sentences(&report),
        }));
    }
    Ok(JudgesPanel {
        key: "battery",
        json: json!(probed),
        words,
    })
}
