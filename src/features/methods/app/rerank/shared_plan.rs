//! Plans whose work machines share: the terms on which they agree, and the work about some queries.

use super::plan::RerankPlan;
use super::prepared_method::{Asks, PreparedMethod};
use super::service::RerankService;
use crate::app::error::AppError;
use crate::app::shared_questions::{TextsHash, judges_term, notes_term};
use crate::domain::hex::hex;
use crate::features::methods::domain::reranking::Validation;
use crate::features::methods::merge::{JUDGES_TERM, METHODS_TERM, RERANKERS_TERM, SHARED};
use crate::judge::JudgeEnsemble;
use crate::store::corpus::QueryKey;
use crate::store::merge::Terms;
use crate::store::{Store, StoreError};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};

impl RerankPlan {
    /// The names of the queries, in order.
    pub fn query_names(&self) -> Vec<String> {
        let queries = self.queries.iter();
        queries.map(|(_, id)| id.to_string()).collect()
    }

    /// The names of the queries that a method has still to rank.
    pub fn outstanding_names(&self) -> HashSet<String> {
        let outstanding = self.outstanding.iter().map(|ranking| ranking.query);
        let outstanding: HashSet<QueryKey> = outstanding.collect();
        let queries = self.queries.iter();
        let queries = queries.filter(|(key, _)| outstanding.contains(key));
        queries.map(|(_, id)| id.to_string()).collect()
    }

    /// What decides which questions are asked, and with which prompts.
    pub fn terms(&self, store: &Store, judges: &JudgeEnsemble) -> Result<Terms, AppError> {
        let names: Vec<&str> = self.method_names().collect();
        let seed = self.methods.first().map(|method| method.seed);
        // The name of a strict method says that it refuses them.
        let refuses = |method: &PreparedMethod| {
            method.refuses_long && method.method.validation != Validation::Strict
        };
        let refuses = self.methods.iter().any(refuses);
        let chars = self.limit.map(|limit| limit.chars);
        let rerankers = self.services.iter().filter_map(RerankService::reranker);
        let rerankers: Value = rerankers
            .map(|of| json!([of.name(), of.identity()]))
            .collect();
        let terms = [
            ("command", json!(SHARED.command)),
            (
                "dataset or first stage",
                json!(self.candidates_hash(store)?),
            ),
            (METHODS_TERM, json!(names)),
            (JUDGES_TERM, judges_term(judges)),
            (RERANKERS_TERM, rerankers),
            ("seed", json!(seed)),
            ("limit of long documents", json!([chars, refuses])),
            ("guideline and notes", notes_term(store)?),
        ];
        let named = |(term, value): (&str, Value)| (term.to_owned(), value);
        Ok(terms.into_iter().map(named).collect())
    }

    /// A hash of what the methods order, and of the orders of rankings among them.
    fn candidates_hash(&self, store: &Store) -> Result<String, StoreError> {
        let keys: Vec<QueryKey> = self.queries.iter().map(|(key, _)| *key).collect();
        let mut hashes: HashMap<QueryKey, String> = HashMap::new();
        store.read_each(
            &keys,
            |db, key| {
                let candidates = self.candidates.read(db, key)?;
                let mut hash = TextsHash::default();
                hash.add(candidates.query.as_str());
                hash.add(&hex(&candidates.hash));
                for method in &self.methods {
                    if matches!(method.asks, Asks::Orders(_)) {
                        hash.add(&hex(&method.identity(&candidates)));
                    }
                }
                Ok(hash.end())
            },
            |key, hash| {
                hashes.insert(key, hash);
                Ok::<_, StoreError>(())
            },
        )?;
        let mut all = TextsHash::default();
        for key in keys {
            all.add(hashes.get(&key).map_or("", String::as_str));
        }
        Ok(all.end())
    }
}
