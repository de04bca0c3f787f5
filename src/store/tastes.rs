//! The tastes of an ensemble's judges, estimated from their votes after the prior and the dispersion.

use super::judges::EnsembleId;
use super::{Db, Result};
use crate::domain::ranking;
use crate::domain::rating::TasteEvidence;

/// Maximum number of queries in an estimate, which takes about a hundred fits of each.
const QUERIES: usize = 50;

impl Db {
    /// Estimates the variance of the tastes of an ensemble's judges, relative to that of scores: 0
    /// without clear evidence for tastes, `None` if they are not to be learned. Changes nothing.
    pub fn learn_taste(&self, ensemble: EnsembleId) -> Result<Option<f64>> {
        if !self.settings()?.learns_tastes() {
            return Ok(None);
        }
        let (queries, _) = self.sampled(ensemble)?;
        let mut pooled = TasteEvidence::default();
        for query in queries.into_iter().take(QUERIES) {
            let (rows, settings) = self.view_inputs(query)?;
            if let Some(evidence) = ranking::taste_evidence(&rows, &settings) {
                pooled = pooled.pooled(&evidence);
            }
        }
        Ok(Some(pooled.best()))
    }

    /// Stores learned tastes. Returns whether they have changed; the numbers of the ensemble's queries
    /// are then outdated.
    pub fn keep_taste(&self, ensemble: EnsembleId, learned: Option<f64>) -> Result<bool> {
        let before = self.learned_taste(ensemble)?;
        let Some(learned) = learned.filter(|learned| before != Some(*learned)) else {
            return Ok(false);
        };
        self.remember(&name(ensemble), &serde_json::json!(learned).to_string())?;
        if before.unwrap_or(0.0) == learned {
            return Ok(false);
        }
        self.touch_ensemble(ensemble)?;
        Ok(true)
    }

    /// The variance of tastes last learned from an ensemble's votes.
    pub(super) fn learned_taste(&self, ensemble: EnsembleId) -> Result<Option<f64>> {
        let text = self.remembered(&name(ensemble))?;
        Ok(text.map(|text| serde_json::from_str(&text)).transpose()?)
    }
}

fn name(ensemble: EnsembleId) -> String {
    format!("taste:{}", ensemble.0)
}
