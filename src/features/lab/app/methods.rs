//! Simulates ranking methods: the quality of their orders, and their cost.

use super::every::every;
use crate::app::error::{AppError, invalid};
use crate::features::lab::domain::{Noise, Quality, SimulatedQuery, Theta, quality};
use crate::features::methods::domain::reranking::{CallBounds, Method, play};

/// A simulation in which every method gets the same queries, in the same first-stage order, and the
/// same judges.
#[derive(Debug)]
pub struct MethodSimulation {
    pub queries: usize,
    pub methods: Vec<Method>,
    /// Distribution of true scores.
    pub theta: Theta,
    /// Number of candidates per query.
    pub documents: usize,
    pub noise: Noise,
    /// Correlation of first-stage scores with the truth, from 0 to 1.
    pub first_stage: f64,
    /// Number of threads, which does not affect the result.
    pub threads: Option<usize>,
    /// Random seed for worlds, answers and methods.
    pub seed: u64,
}

/// The result of a method on one query.
#[derive(Clone, Copy, Debug)]
pub struct MethodOnQuery {
    pub quality: Quality,
    pub calls: usize,
    /// Texts shown, over all calls.
    pub shown: usize,
    /// Number of times that it waits for answers.
    pub waits: usize,
    /// Number of repaired answers.
    pub repairs: usize,
}

#[derive(Debug)]
pub struct MethodResult {
    pub method: Method,
    /// The expected number of calls per query.
    pub bounds: CallBounds,
    /// By query; `None` if it failed.
    pub queries: Vec<Option<MethodOnQuery>>,
}

impl MethodResult {
    /// A mean over the queries that did not fail.
    pub fn mean(&self, value: impl Fn(&MethodOnQuery) -> usize) -> Option<f64> {
        let done = self.queries.iter().flatten();
        let count = done.clone().count();
        let sum: usize = done.map(value).sum();
        (count > 0).then(|| sum as f64 / count as f64)
    }

    pub fn failed(&self) -> usize {
        self.queries.iter().filter(|query| query.is_none()).count()
    }

    /// Quality of the orders, by query; undefined if one failed.
    pub fn qualities(&self) -> Vec<Quality> {
        let failed = Quality {
            tau: None,
            ndcg: None,
            recall: None,
            correlation: None,
        };
        let of = |query: &Option<MethodOnQuery>| query.map_or(failed, |query| query.quality);
        self.queries.iter().map(of).collect()
    }
}

impl MethodSimulation {
    /// Runs every method on every query. `progress` receives the number of finished queries.
    pub fn run(&self, progress: &mut dyn FnMut(usize)) -> Result<Vec<MethodResult>, AppError> {
        if self.methods.is_empty() {
            return Err(invalid!("--methods: name at least one"));
        }
        let played = every(self.queries, self.threads, progress, |index| {
            let noise = self.noise.clone();
            let query =
                SimulatedQuery::synthetic(self.theta, self.documents, noise, self.seed, index)
                    .in_first_stage_order(self.first_stage);
            let play = |method| self.play(method, &query);
            Ok(self.methods.iter().map(play).collect::<Vec<_>>())
        })?;
        let judges = self.noise.judges.len();
        let results = self.methods.iter().enumerate().map(|(at, method)| {
            let of_method = |query: &Vec<Option<MethodOnQuery>>| query.get(at).copied().flatten();
            MethodResult {
                method: method.clone(),
                bounds: method.calls(method.looks_at(self.documents), judges),
                queries: played.iter().map(of_method).collect(),
            }
        });
        Ok(results.collect())
    }

    fn play(&self, method: &Method, query: &SimulatedQuery) -> Option<MethodOnQuery> {
        let seed = Method::query_seed(self.seed, query.name());
        let looked_at = method.looks_at(self.documents);
        let mut strategy = method.strategy(looked_at, seed, query.judges());
        let played = play(strategy.as_mut(), &mut |question| query.answer(question)).ok()?;
        let ranking = played.ranking.with_rest(self.documents);
        let mut scores = vec![0.0; self.documents];
        for (rank, candidate) in ranking.order.iter().enumerate() {
            scores[*candidate] = -(rank as f64);
        }
        Some(MethodOnQuery {
            quality: quality(&scores, query.truth()),
            calls: played.calls,
            shown: played.shown,
            waits: played.waits,
            repairs: played.repairs,
        })
    }
}
