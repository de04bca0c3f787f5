//! Questions about queries that machines share: each asks about some of the queries at a time.

use super::error::AppError;
use super::question_set::PreparedQuestions;
use crate::domain::corpus::Pool;
use crate::domain::hex::hex;
use crate::judge::JudgeEnsemble;
use crate::store::Store;
use crate::store::merge::Terms;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::collections::HashSet;

/// The questions of a command about queries, which have the same answers on all machines that agree
/// on its terms.
pub trait SharedQuestions: Send + Sync {
    /// The names of the queries, in the order of the work.
    fn queries(&self) -> Vec<String>;

    /// What decides which questions are asked, and with which prompts. A term is the noun for what
    /// differs, such as `seed`.
    ///
    /// # Errors
    /// The project cannot be read.
    fn terms(&self, store: &Store) -> Result<Terms, AppError>;

    /// # Errors
    /// It is not an amount in dollars, or the maximum cost of a call is unknown.
    fn check_budget(&self, budget_usd: f64) -> Result<(), AppError>;

    /// The maximum cost of a call in dollars, if known.
    fn worst_usd(&self) -> Option<f64>;

    /// Determines the questions about these queries that are left.
    ///
    /// # Errors
    /// The project cannot be read.
    fn left(&self, store: &Store, queries: &[String]) -> Result<QuestionsLeft, AppError>;
}

/// Questions that are left.
pub struct QuestionsLeft {
    /// The queries that they are about.
    pub queries: HashSet<String>,
    pub prepared: Box<dyn PreparedQuestions>,
}

/// The judges of an ensemble as a term.
pub fn judges_term(ensemble: &JudgeEnsemble) -> Value {
    let judge = |spec: &crate::judge::JudgeSpec| {
        json!([
            spec.name,
            spec.provider,
            spec.model,
            spec.prompt_hash,
            spec.params
        ])
    };
    ensemble.iter().map(|of| judge(of.spec())).collect()
}

/// The texts of a project that prompts can show, as a term.
pub fn notes_term(store: &Store) -> Result<Value, AppError> {
    let texts = store.read_blocking(|db| db.project_texts())?;
    Ok(json!([texts.guideline, texts.domain, texts.language]))
}

/// A hash of what judges are shown of pools.
#[derive(Debug, Default)]
pub struct TextsHash(Sha256);

impl TextsHash {
    pub fn add_pool(&mut self, pool: &Pool) {
        self.add(pool.query.id.as_str());
        self.add(&pool.query.text);
        self.add(&pool.documents.len().to_string());
        for document in &pool.documents {
            self.add(document.id.as_str());
            self.add(&document.content);
        }
    }

    pub fn add(&mut self, text: &str) {
        self.0.update((text.len() as u64).to_le_bytes());
        self.0.update(text);
    }

    pub fn end(self) -> String {
        hex(&self.0.finalize())
    }
}
