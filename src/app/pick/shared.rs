//! Picks that machines share.

use super::PickAnswers;
use super::inputs::{PickInputs, PoolSource};
use super::plan::{PickOptions, PickPlan, positives};
use super::prepared::PreparedPicks;
use crate::app::annotate::estimate::JudgeEstimate;
use crate::app::choose_judges::check_budget;
use crate::app::error::AppError;
use crate::app::merge::SHARED_PICKS;
use crate::app::shared_questions::{
    QuestionsLeft, SharedQuestions, TextsHash, judges_term, notes_term,
};
use crate::domain::adjudication::PickMode;
use crate::domain::corpus::Pool;
use crate::domain::metrics::Qrels;
use crate::judge::JudgeEnsemble;
use crate::store::merge::Terms;
use crate::store::{Store, StoreError};
use serde_json::{Value, json};
use std::collections::HashSet;

/// The questions of `overrule pick`.
#[derive(Debug)]
pub struct SharedPicks {
    inputs: PickInputs,
    ensemble: JudgeEnsemble,
    options: PickOptions,
    queries: Vec<String>,
    worst_usd: Option<f64>,
}

impl SharedPicks {
    /// The questions of a plan.
    pub fn new(
        inputs: PickInputs,
        ensemble: JudgeEnsemble,
        options: PickOptions,
        plan: &PickPlan,
    ) -> Self {
        let estimates = plan.estimates.iter();
        let of_judges = estimates.filter_map(JudgeEstimate::worst_call_usd);
        Self {
            inputs,
            ensemble,
            options,
            queries: plan.queries(),
            worst_usd: of_judges.reduce(f64::max),
        }
    }

    /// The pools of these queries with their labels, and the answers to the questions about them.
    fn some(&self, store: &Store, queries: &[String]) -> Result<PickInputs, StoreError> {
        let wanted: HashSet<&str> = queries.iter().map(String::as_str).collect();
        let pools = match &self.inputs.pools {
            PoolSource::Project(store, known) => {
                let known = known.iter().filter(|(_, id)| wanted.contains(id.as_str()));
                PoolSource::Project(store.clone(), known.cloned().collect())
            }
            PoolSource::File(pools) => {
                let known = pools.iter();
                let known = known.filter(|pool| wanted.contains(pool.query.id.as_str()));
                PoolSource::File(known.cloned().collect())
            }
        };
        let labels = self.inputs.labels.iter();
        let labels = labels.filter(|(query, _)| wanted.contains(query.as_str()));
        let names = queries.to_vec();
        let picks = store.read_blocking(move |db| {
            let mut picks = Vec::new();
            for key in db.known_queries(&names)? {
                picks.extend(db.picks_of(key)?);
            }
            Ok(picks)
        })?;
        Ok(PickInputs {
            source: self.inputs.source.clone(),
            pools,
            labels: labels
                .map(|(query, grades)| (query.clone(), grades.clone()))
                .collect::<Qrels>(),
            picks,
        })
    }

    /// Hashes of the texts of all pools, and of the numbers of their relevant documents.
    fn hashes(&self) -> Result<(String, String), StoreError> {
        let (mut texts, mut labels) = (TextsHash::default(), TextsHash::default());
        let mut add = |pool: &Pool| {
            texts.add_pool(pool);
            let relevant = positives(pool, &self.inputs.labels, self.options.relevant_from);
            labels.add(&relevant.to_string());
        };
        match &self.inputs.pools {
            PoolSource::Project(store, queries) => {
                let keys: Vec<_> = queries.iter().map(|(key, _)| *key).collect();
                store.read_each(
                    &keys,
                    |db, key| db.pool(key),
                    |_, pool| {
                        add(&pool);
                        Ok::<_, StoreError>(())
                    },
                )?;
            }
            PoolSource::File(pools) => pools.iter().for_each(|pool| add(pool)),
        }
        Ok((texts.end(), labels.end()))
    }
}

impl SharedQuestions for SharedPicks {
    fn queries(&self) -> Vec<String> {
        self.queries.clone()
    }

    fn terms(&self, store: &Store) -> Result<Terms, AppError> {
        let (texts, labels) = self.hashes()?;
        let PickOptions {
            way,
            permutations,
            relevant_from,
            seed,
            retry_failed: _,
            refuse_long,
        } = self.options;
        let labels = (way == PickMode::Exactly).then_some((labels, relevant_from));
        let terms = [
            ("command", json!(SHARED_PICKS.command)),
            ("dataset", json!(texts)),
            ("judges", judges_term(&self.ensemble)),
            ("number of relevant documents", json!(labels)),
            ("mode", json!(way)),
            ("number of permutations", json!(permutations)),
            ("seed", json!(seed)),
            ("limit of long documents", json!(refuse_long)),
            ("guideline and notes", notes_term(store)?),
        ];
        let terms = terms.into_iter();
        Ok(terms
            .map(|(term, value): (&str, Value)| (term.to_owned(), value))
            .collect())
    }

    fn check_budget(&self, budget_usd: f64) -> Result<(), AppError> {
        check_budget(budget_usd, &self.ensemble)
    }

    fn worst_usd(&self) -> Option<f64> {
        self.worst_usd
    }

    fn left(&self, store: &Store, queries: &[String]) -> Result<QuestionsLeft, AppError> {
        let mut inputs = self.some(store, queries)?;
        let answers = PickAnswers::new(std::mem::take(&mut inputs.picks));
        let plan = PickPlan::new(&inputs, &self.ensemble, &self.options, &answers)?;
        let left = plan.tasks.iter().map(|task| task.query.to_string());
        Ok(QuestionsLeft {
            queries: left.collect(),
            prepared: Box::new(PreparedPicks::of_plan(self.ensemble.clone(), plan, answers)),
        })
    }
}
