//! Checks that the data has what the prompts of the judges name: a misspelled field would otherwise
//! be empty in every question.

use crate::judge::{JudgeEnsemble, PoolText, PromptInput};
use crate::store::corpus::QueryKey;
use crate::store::{Db, StoreError};

/// The inputs of prompts that were in no pool so far.
#[derive(Debug)]
pub struct LackingInputs {
    inputs: Vec<PromptInput>,
    any_pool: bool,
}

impl LackingInputs {
    pub fn of(ensemble: &JudgeEnsemble) -> Self {
        let mut inputs: Vec<_> = ensemble.iter().flat_map(|judge| judge.inputs()).collect();
        inputs.sort();
        inputs.dedup();
        Self {
            inputs,
            any_pool: false,
        }
    }

    pub fn look_in(&mut self, pool: &PoolText) {
        self.any_pool = true;
        self.inputs.retain(|input| !input.is_in(pool));
    }

    /// # Errors
    /// No pool has some input.
    pub fn check(&self) -> Result<(), StoreError> {
        let Some(input) = self.inputs.first().filter(|_| self.any_pool) else {
            return Ok(());
        };
        let placeholder = input.placeholder();
        Err(StoreError::NotFound(match input {
            PromptInput::Title => {
                format!("a prompt names {placeholder}, and no document has a title")
            }
            PromptInput::Metadata(field) => format!(
                "a prompt names {placeholder}, and no document has the metadata field {field:?}, \
                 unless it holds labels, which are never shown"
            ),
            PromptInput::Narrative => {
                format!("a prompt names {placeholder}, and no query has a narrative")
            }
            PromptInput::Description => {
                format!("a prompt names {placeholder}, and no query has a description")
            }
        }))
    }
}

/// Checks the queries of a run; without a list, all queries that can be judged.
pub(super) fn check_project(
    db: &Db,
    mut lacking: LackingInputs,
    queries: Option<&[QueryKey]>,
) -> Result<(), StoreError> {
    let all = match queries {
        _ if lacking.inputs.is_empty() => return Ok(()),
        Some(_) => Vec::new(),
        None => db.runnable_queries()?,
    };
    for query in queries.unwrap_or(&all) {
        lacking.look_in(&db.inputs_of(*query)?);
        if lacking.inputs.is_empty() {
            return Ok(());
        }
    }
    lacking.check()
}
