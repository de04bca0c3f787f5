//! The log of looks: the evaluation of a judge on reference pairs is a look at the held-out part of
//! the regression set. Computing the same result again is not another look.

use crate::app::error::AppError;
use crate::client::call_key::identity_of;
use crate::client::now_ms;
use crate::domain::non_inferiority::NonInferiority;
use crate::features::prompts::domain::mcnemar;
use crate::features::prompts::store::PromptLook;
use crate::judge::JudgeSpec;
use crate::store::Store;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

/// Records a test of a judge against another one, unless it is recorded already or no pair was
/// compared. Returns the number of looks of the project.
///
/// `pairs` are the pairs with what people decided and both answers, one line each; they identify the
/// result. A test that may stop early has none: it is one look, however many pairs follow. A version
/// of the other judge that was evaluated on as many pairs before, such as by a final trial, is not
/// looked at again: its answers are the same.
pub(super) fn record_look(
    store: &Store,
    judges: [&JudgeSpec; 2],
    pairs: Option<Vec<String>>,
    test: &NonInferiority,
    author: &str,
) -> Result<usize, AppError> {
    let counts = test.counts;
    let look = PromptLook {
        uid: Uuid::now_v7().to_string(),
        judge: judges[0].name.clone(),
        hash: judges[0].prompt_hash.clone(),
        identity: identity_of(judges[0]),
        cases: cases(judges[1], pairs),
        pairs: counts.pairs(),
        p: mcnemar(counts.only_new, counts.only_old),
        result: serde_json::to_string(test)?,
        author: author.to_owned(),
        created_ms: now_ms(),
    };
    if counts.pairs() == 0 {
        return Ok(store.read_blocking(|db| db.prompt_looks())?.len());
    }
    let are_versions = judges[0].name == judges[1].name;
    Ok(store.write_blocking(move |db| {
        let looks = db.prompt_looks()?;
        let covers = |of: &PromptLook| of.identity == look.identity && of.pairs >= look.pairs;
        if !(are_versions && looks.iter().any(covers)) {
            db.add_prompt_look(&look)?;
        }
        Ok(db.prompt_looks()?.len())
    })?)
}

fn cases(against: &JudgeSpec, pairs: Option<Vec<String>>) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update("gate");
    hash.update(identity_of(against));
    match pairs {
        None => hash.update("early"),
        Some(mut pairs) => {
            pairs.sort_unstable();
            hash.update(pairs.concat());
        }
    }
    hash.finalize().into()
}
