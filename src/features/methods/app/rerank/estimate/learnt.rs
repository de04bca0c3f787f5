//! How the tokens of a method's earlier calls compare with their estimates.

use super::simulation::{played, shaken};
use super::volume::Sum;
use crate::features::methods::app::rerank::plan::RerankPlan;
use crate::features::methods::app::rerank::question::Target;
use crate::features::methods::store::RankingUsage;
use crate::judge::Usage;
use crate::store::{Store, StoreError};
use std::sync::Arc;

/// Maximum number of earlier results to compare with their estimates, the latest ones.
const RESULTS: usize = 12;

/// Actual tokens of earlier calls as a multiple of the estimate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LearntRatio {
    /// Number of earlier results compared; if 0, nothing is known and the ratios are 1.
    pub(super) results: usize,
    input: f64,
    output: f64,
    /// Average dollars of an answered call, for judges whose price is unknown.
    usd: Option<f64>,
}

impl Default for LearntRatio {
    fn default() -> Self {
        Self {
            results: 0,
            input: 1.0,
            output: 1.0,
            usd: None,
        }
    }
}

impl LearntRatio {
    /// The ratio for a method of the plan, from its latest results with the same judges, prompts
    /// and candidates.
    pub(super) fn of(store: &Store, plan: &RerankPlan, place: usize) -> Result<Self, StoreError> {
        let Some(method) = plan.methods.get(place).filter(|method| method.is_remote()) else {
            return Ok(Self::default());
        };
        let name = method.name.clone();
        let results = store.read_blocking(move |db| db.ranking_usage(&name))?;
        let mut sums = Sums::default();
        for result in results {
            if sums.results == RESULTS {
                break;
            }
            let (key, lists) = (result.query, Arc::clone(&plan.candidates));
            let candidates = store.read_blocking(move |db| lists.read(db, key))?;
            if method.identity(&candidates) != result.identity {
                continue;
            }
            let utility = shaken(method, &candidates);
            let estimate = played(method, &candidates, &utility, |target| {
                Self::default().expect(target)
            });
            if estimate.calls > 0.0 {
                sums.add(
                    &result,
                    estimate.tokens_input,
                    estimate.tokens_output,
                    estimate.calls,
                );
            }
        }
        Ok(sums.ratio())
    }

    /// The expected usage of a call.
    pub(super) fn expect(self, target: &Target) -> Sum {
        match target {
            Target::Judge { judge, prompt, .. } | Target::Battle { judge, prompt, .. } => {
                let (usage, usd) = judge.estimate(prompt);
                if self.results == 0 {
                    return Sum::of(1.0, usage, usd);
                }
                let usage = self.applied_to(usage);
                Sum::of(1.0, usage, judge.usd_of(&usage).or(self.usd))
            }
            Target::Reranker {
                reranker,
                query,
                candidates,
            } => {
                let (usage, usd) = reranker.expect(query, candidates, self.input);
                Sum::of(1.0, usage, usd)
            }
        }
    }

    /// The tokens to expect instead of an estimate.
    fn applied_to(self, estimate: Usage) -> Usage {
        let scaled = |tokens: u64, ratio: f64| (tokens as f64 * ratio).round() as u64;
        Usage {
            input: scaled(estimate.input, self.input),
            output: scaled(estimate.output, self.output),
            ..estimate
        }
    }
}

/// Tokens per answered call: of the results, and as estimated.
#[derive(Debug, Default)]
struct Sums {
    results: usize,
    answered: f64,
    actual: [f64; 2],
    estimated: [f64; 2],
    usd: f64,
    unpriced: bool,
}

impl Sums {
    fn add(&mut self, result: &RankingUsage, input: f64, output: f64, calls: f64) {
        self.results += 1;
        // Failed calls are part of what an answer costs.
        let answered = result.answered as f64;
        self.answered += answered;
        self.usd += result.cost_usd.unwrap_or(0.0);
        self.unpriced |= result.cost_usd.is_none();
        self.actual[0] += result.tokens_in as f64;
        self.actual[1] += result.tokens_out as f64;
        self.estimated[0] += answered * input / calls;
        self.estimated[1] += answered * output / calls;
    }

    fn ratio(&self) -> LearntRatio {
        let ratio = |of: usize| {
            if self.estimated[of] > 0.0 {
                self.actual[of] / self.estimated[of]
            } else {
                1.0
            }
        };
        LearntRatio {
            results: self.results,
            input: ratio(0),
            output: ratio(1),
            usd: (self.results > 0 && !self.unpriced).then(|| self.usd / self.answered),
        }
    }
}
