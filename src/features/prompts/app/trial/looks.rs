//! The log of looks at the held-out part. A look is the evaluation of one version on it; computing
//! the same result again is not another look.

use super::{PromptTrial, TrialResult};
use crate::app::error::AppError;
use crate::client::call_key::identity_of;
use crate::client::now_ms;
use crate::domain::metrics::holm;
use crate::features::prompts::store::PromptLook;
use crate::store::Store;
use serde::Serialize;
use std::collections::HashMap;
use uuid::Uuid;

/// Number of looks after which fresh pairs are needed: with each look, results on the held-out part
/// say less about new pairs.
pub const LOOKS_BEFORE_FRESH_PAIRS: usize = 10;

/// The looks at the held-out part so far, and the p-value corrected for them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct HeldOutLooks {
    /// Number of looks of the project, including this one.
    pub looks: usize,
    /// Whether this result is a new look.
    pub is_new: bool,
    /// Number of versions of this judge that were evaluated.
    pub versions: usize,
    /// The p-value with Holm's correction over these versions.
    pub holm_p: f64,
}

/// Records a complete result on the held-out part, unless the same one is recorded already.
pub fn look_at(
    store: &Store,
    trial: &PromptTrial,
    result: &TrialResult,
    author: &str,
) -> Result<HeldOutLooks, AppError> {
    let judge = trial.judge.judge.spec();
    let look = PromptLook {
        uid: Uuid::now_v7().to_string(),
        judge: judge.name.clone(),
        hash: trial.prompt.hash.clone(),
        identity: identity_of(judge),
        cases: result.fingerprint(),
        pairs: result.comparison.pairs,
        p: result.comparison.mcnemar_p,
        result: serde_json::to_string(&result.comparison)?,
        author: author.to_owned(),
        created_ms: now_ms(),
    };
    let (identity, name) = (look.identity, look.judge.clone());
    let (is_new, looks) = store.write_blocking(move |db| {
        let is_new = db.add_prompt_look(&look)?;
        Ok((is_new, db.prompt_looks()?))
    })?;
    // The latest look at each version.
    let mut latest: HashMap<[u8; 32], f64> = HashMap::new();
    for look in looks.iter().filter(|look| look.judge == name) {
        latest.insert(look.identity, look.p);
    }
    latest.insert(identity, result.comparison.mcnemar_p);
    let (versions, p): (Vec<[u8; 32]>, Vec<Option<f64>>) =
        latest.into_iter().map(|(of, p)| (of, Some(p))).unzip();
    let own = versions
        .iter()
        .zip(holm(&p))
        .filter(|(of, _)| **of == identity);
    Ok(HeldOutLooks {
        looks: looks.len(),
        is_new,
        versions: versions.len(),
        holm_p: own
            .filter_map(|(_, p)| p)
            .next()
            .unwrap_or(result.comparison.mcnemar_p),
    })
}
