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

    fn look_in_queries(&mut self, db: &Db, queries: &[QueryKey]) -> Result<(), StoreError> {
        for query in queries {
            if self.inputs.is_empty() {
                break;
            }
            self.look_in(&db.inputs_of(*query)?);
        }
        Ok(())
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

/// Checks the queries of a run and, before it reports an input as lacking, all that can be judged:
/// an input that only some queries have is empty for the others.
pub fn check_project(
    db: &Db,
    mut lacking: LackingInputs,
    queries: &[QueryKey],
) -> Result<(), StoreError> {
    lacking.look_in_queries(db, queries)?;
    if !lacking.inputs.is_empty() {
        lacking.look_in_queries(db, &db.runnable_queries()?)?;
    }
    lacking.check()
}
