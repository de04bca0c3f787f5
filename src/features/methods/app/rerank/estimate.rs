//! Estimates the calls and the cost of a run: the expected effort by running the methods on
//! simulated answers and from earlier results, and an upper bound.

mod bound;
mod learnt;
mod program;
mod simulation;
mod volume;

use super::plan::RerankPlan;
use super::prepared_method::PreparedMethod;
use crate::store::corpus::QueryKey;
use crate::store::{Db, Store, StoreError};
use learnt::LearntRatio;
use serde::Serialize;
use simulation::{played, shaken, steady};
pub use volume::CallVolume;
use volume::Sum;

/// Number of queries whose prompts are measured for the expected effort of each method.
const SAMPLE: usize = 12;
/// The estimate for one method on the queries that it has not ranked yet.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MethodEstimate {
    pub method: String,
    /// Whether a program decides which pairs its judges are asked about. Every pair in both orders
    /// is then expected.
    pub program_asks: bool,
    pub queries: usize,
    /// Number of queries behind `least` and `expected`; the others are assumed to be similar.
    pub measured: usize,
    /// Number of earlier rankings that the expected tokens and cost are based on.
    pub learnt: usize,
    /// If the first stage is right.
    pub least: CallVolume,
    pub expected: CallVolume,
    /// An upper bound over all queries: the largest number of calls, each with the longest
    /// documents and charged as often as a call can be.
    pub most: CallVolume,
}

impl MethodEstimate {
    /// Estimates all methods of the plan. Existing answers are not subtracted.
    pub fn of(store: &Store, plan: &RerankPlan) -> Result<Vec<Self>, StoreError> {
        plan.methods
            .iter()
            .enumerate()
            .map(|(place, method)| {
                let queries: Vec<QueryKey> = plan
                    .outstanding
                    .iter()
                    .filter(|one| one.method == place)
                    .map(|one| one.query)
                    .collect();
                let learnt = if queries.is_empty() {
                    LearntRatio::default()
                } else {
                    LearntRatio::of(store, plan, place)?
                };
                estimate(store, plan, method, &queries, learnt)
            })
            .collect()
    }
}

fn estimate(
    store: &Store,
    plan: &RerankPlan,
    method: &PreparedMethod,
    queries: &[QueryKey],
    learnt: LearntRatio,
) -> Result<MethodEstimate, StoreError> {
    let step = queries.len().div_ceil(SAMPLE).max(1);
    let sample: Vec<QueryKey> = queries.iter().step_by(step).copied().collect();
    let (mut least, mut expected, mut most) = (Sum::default(), Sum::default(), Sum::default());
    let measure = |db: &Db, key| {
        let candidates = plan.candidates.read(db, key)?;
        if !method.program_judges().is_empty() {
            let every_pair = program::every_pair(method, &candidates, |one| learnt.expect(one));
            return Ok([Sum::default(), every_pair]);
        }
        let [least, expected] = [steady(method, &candidates), shaken(method, &candidates)];
        Ok([least, expected].map(|utility| {
            played(method, &candidates, &utility, |target| {
                learnt.expect(target)
            })
        }))
    };
    store.read_each(&sample, measure, |_, [a, b]| {
        least.add(&a);
        expected.add(&b);
        Ok::<_, StoreError>(())
    })?;
    let bound = |db: &Db, key| {
        let candidates = plan.candidates.read(db, key)?;
        Ok(bound::most(method, &candidates))
    };
    store.read_each(queries, bound, |_, of_query| {
        most.add(&of_query);
        Ok::<_, StoreError>(())
    })?;
    let factor = match sample.len() {
        0 => 0.0,
        measured => queries.len() as f64 / measured as f64,
    };
    Ok(MethodEstimate {
        method: method.name.clone(),
        program_asks: !method.program_judges().is_empty(),
        queries: queries.len(),
        measured: sample.len(),
        learnt: learnt.results,
        least: least.volume(factor),
        expected: expected.volume(factor),
        most: most.volume(1.0),
    })
}
