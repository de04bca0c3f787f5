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

/// The looks of a project after a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Looks {
    /// Number of looks in the log.
    pub(super) logged: usize,
    /// Whether the test is a look that a read-only project cannot log.
    pub(super) is_unlogged: bool,
}

/// Records a test of a judge against another one, unless it is recorded already or no pair was
/// compared. A read-only project records nothing.
///
/// `pairs` are the pairs with what people decided and both answers, one line each; they identify the
/// result. A test that may stop early has none: it is one look, however many pairs follow. A version
/// of the other judge that a final trial evaluated on as many pairs is not looked at again: its
/// answers are the same.
pub(super) fn record_look(
    store: &Store,
    judges: [&JudgeSpec; 2],
    pairs: Option<Vec<String>>,
    test: &NonInferiority,
    author: &str,
) -> Result<Looks, AppError> {
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
    let are_versions = judges[0].name == judges[1].name;
    let is_read_only = store.is_read_only();
    let is_look = move |looks: &[PromptLook], look: &PromptLook| {
        let is_same = |of: &PromptLook| of.identity == look.identity && of.cases == look.cases;
        let covers = |of: &PromptLook| {
            of.is_of_trial() && of.identity == look.identity && of.pairs >= look.pairs
        };
        look.pairs > 0
            && !looks
                .iter()
                .any(|of| is_same(of) || (are_versions && covers(of)))
    };
    if is_read_only || look.pairs == 0 {
        return Ok(store.read_blocking(move |db| {
            let looks = db.prompt_looks()?;
            Ok(Looks {
                logged: looks.len(),
                is_unlogged: is_look(&looks, &look),
            })
        })?);
    }
    Ok(store.write_blocking(move |db| {
        let looks = db.prompt_looks()?;
        let is_new = is_look(&looks, &look) && db.add_prompt_look(&look)?;
        Ok(Looks {
            logged: looks.len() + usize::from(is_new),
            is_unlogged: false,
        })
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
