//! Estimates the calls and the cost of a run without making a call or changing the project.

mod identical_calls;
mod query;
pub(super) mod time;

use super::judge_history::JudgeHistory;
use super::plan::probe_shares;
use super::prompt_inputs::{LackingInputs, check_project};
use super::request::RunRequest;
use crate::domain::battle::Pair;
use crate::domain::corpus::Pool;
use crate::domain::spend::Spend;
use crate::judge::{
    Judge, JudgeEnsemble, JudgePrompt, JudgeQuestion, JudgeSpec, LearntUsage, PoolText,
    PresentedPair,
};
use crate::store::corpus::QueryKey;
use crate::store::{Store, StoreError};
use identical_calls::IdenticalCalls;
pub use identical_calls::PoolOutline;
use query::QueryEstimate;
use serde::Serialize;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Number of calls per query that a judge's token estimate is based on.
const SAMPLE: usize = 8;

/// The estimate for one judge.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct JudgeEstimate {
    pub name: String,
    /// Whether it is one of the embedded lexical judges.
    pub offline: bool,
    pub calls: usize,
    /// Votes that need no call because the judge answered the same question outside runs.
    pub bought: usize,
    /// Expected input tokens (words for offline judges).
    pub tokens_input: u64,
    pub tokens_output: u64,
    /// Expected cost in dollars; `None` if the price is unknown.
    pub cost_usd: Option<f64>,
    /// Maximum cost in dollars, including attempts that fail; `None` if the price is unknown.
    pub worst_usd: Option<f64>,
    /// The answers on which the expected tokens and cost are based; `None` if there are none yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub learnt: Option<LearntUsage>,
    /// Latency of its calls, if known.
    pub time: Option<CallTime>,
    /// Why the test call that was to measure the latency failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_failure: Option<String>,
}

/// Latency of a judge's calls.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CallTime {
    /// Of one call.
    pub seconds: f64,
    pub at_once: usize,
    /// Whether it was measured just now with one call, and not in an earlier run.
    pub measured: bool,
}

/// Calls that only measure how long a call takes. No project's spending includes them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct TestCalls {
    pub calls: usize,
    #[serde(flatten)]
    pub spent: Spend,
}

/// The estimate for a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CostEstimate {
    pub queries: usize,
    /// Battles of the plan, including those with votes; an upper limit in rounds.
    pub battles: usize,
    pub already: usize,
    /// Votes that need no call because another question has documents with the same texts.
    pub identical: usize,
    /// Pairs that each language model is asked about in both orders, to measure the effect of the
    /// order.
    pub probed: usize,
    /// Pending calls of open batches.
    pub pending: usize,
    /// Whether the calls are made in batches, at the price of batches.
    pub batch: bool,
    /// Whether the calls are chosen in rounds: the total may be lower, and the distribution over
    /// judges may differ slightly.
    pub rounds: bool,
    /// One entry per judge.
    pub judges: Vec<JudgeEstimate>,
    /// The test calls made for this estimate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_calls: Option<TestCalls>,
    /// Votes of these judges in the project under other settings, names or seeds.
    #[serde(flatten)]
    pub history: JudgeHistory,
    /// The judges of the estimate.
    #[serde(skip)]
    pub specs: Vec<JudgeSpec>,
}

impl JudgeEstimate {
    /// The maximum cost of a call in dollars; `None` without calls or a price.
    pub fn worst_call_usd(&self) -> Option<f64> {
        let calls = Some(self.calls).filter(|calls| *calls > 0)?;
        Some(self.worst_usd? / calls as f64)
    }
}

impl CostEstimate {
    /// The maximum cost of a call in dollars, of the judge with the most expensive ones; `None`
    /// without calls or prices.
    pub fn worst_call_usd(&self) -> Option<f64> {
        let of_judges = self.judges.iter().filter_map(JudgeEstimate::worst_call_usd);
        of_judges.reduce(f64::max)
    }

    /// An empty estimate for an ensemble.
    pub fn new(ensemble: &JudgeEnsemble) -> Self {
        let judges = ensemble
            .iter()
            .map(|judge| JudgeEstimate {
                name: judge.spec().name.clone(),
                offline: judge.spec().is_offline(),
                cost_usd: Some(0.0),
                worst_usd: Some(0.0),
                ..JudgeEstimate::default()
            })
            .collect();
        Self {
            judges,
            specs: ensemble.iter().map(|judge| judge.spec().clone()).collect(),
            ..Self::default()
        }
    }

    pub fn calls(&self) -> usize {
        self.judges.iter().map(|judge| judge.calls).sum()
    }

    /// Number of votes that need no call because their judges answered the same questions outside
    /// runs.
    pub fn bought(&self) -> usize {
        self.judges.iter().map(|judge| judge.bought).sum()
    }

    /// Number of votes that need no call.
    pub fn free_votes(&self) -> usize {
        self.identical + self.bought()
    }

    /// Expected cost in dollars; `None` if a price is unknown.
    pub fn cost_usd(&self) -> Option<f64> {
        self.judges.iter().map(|judge| judge.cost_usd).sum()
    }

    /// Worst-case cost in dollars; `None` if a price is unknown.
    pub fn worst_usd(&self) -> Option<f64> {
        self.judges.iter().map(|judge| judge.worst_usd).sum()
    }

    /// The estimate for a run on these pools, without the votes that `store` already has.
    pub fn of_pools(
        pools: impl Iterator<Item = Pool>,
        outlines: &[PoolOutline],
        ensemble: &JudgeEnsemble,
        request: &RunRequest,
        store: Option<&Store>,
        in_batches: bool,
    ) -> Result<Self, StoreError> {
        let mut estimate = Self::new(ensemble);
        estimate.batch = in_batches;
        if let Some(store) = store {
            let ids: Vec<String> = outlines.iter().map(|pool| pool.id.clone()).collect();
            let known = store.read_blocking(move |db| db.known_queries(&ids))?;
            estimate.learn(store, ensemble, known)?;
        }
        let documents = outlines.iter().map(|pool| pool.documents);
        let shares = probe_shares(request, &estimate.specs, documents);
        let mut identical = IdenticalCalls::new(outlines, ensemble, store, in_batches)?;
        let mut lacking = LackingInputs::of(ensemble);
        for (pool, probe) in pools.zip(shares) {
            let known = (store, probe, &mut identical);
            let text = Arc::new(PoolText::of_documents(&pool.query, pool.documents.iter()));
            lacking.look_in(&text);
            estimate.add_texts(pool.query.id.as_str(), &text, ensemble, request, known)?;
        }
        lacking.check()?;
        Ok(estimate)
    }

    /// The estimate for a run on a project; loads every text of the project.
    pub fn of_project(
        store: &Store,
        ensemble: &JudgeEnsemble,
        request: &RunRequest,
    ) -> Result<Self, StoreError> {
        Self::new(ensemble).with_project(store, ensemble, request)
    }

    /// As [`Self::of_project`], at the price of batches.
    pub fn of_project_in_batches(
        store: &Store,
        ensemble: &JudgeEnsemble,
        request: &RunRequest,
    ) -> Result<Self, StoreError> {
        let mut estimate = Self::new(ensemble);
        estimate.batch = true;
        estimate.with_project(store, ensemble, request)
    }

    /// Loads the project's data about these judges.
    fn learn(
        &mut self,
        store: &Store,
        ensemble: &JudgeEnsemble,
        queries: Vec<QueryKey>,
    ) -> Result<(), StoreError> {
        self.history = JudgeHistory::of(store, ensemble, Some(queries))?;
        let specs = self.specs.clone();
        let learnt = store.read_blocking(move |db| {
            let judges = db.known_judges(&specs)?.into_iter().zip(&specs);
            judges
                .map(|(judge, spec)| {
                    if spec.is_offline() {
                        Ok(None)
                    } else {
                        db.used_by(judge)
                    }
                })
                .collect::<Result<Vec<_>, StoreError>>()
        })?;
        for (of, learnt) in self.judges.iter_mut().zip(learnt) {
            of.learnt = learnt;
        }
        Ok(())
    }

    fn with_project(
        mut self,
        store: &Store,
        ensemble: &JudgeEnsemble,
        request: &RunRequest,
    ) -> Result<Self, StoreError> {
        let queries = match &request.queries {
            Some(queries) => queries.clone(),
            None => store.read_blocking(|db| db.runnable_queries())?,
        };
        // Asking about a single pair does not change which votes count.
        let changed = if request.pair.is_some() {
            Vec::new()
        } else {
            queries.clone()
        };
        self.learn(store, ensemble, changed)?;
        let keys = queries.clone();
        let outlines = store.read_blocking(move |db| {
            let outlines = keys.iter().map(|key| Ok((&db.query(*key)?).into()));
            outlines.collect::<Result<Vec<PoolOutline>, StoreError>>()
        })?;
        let documents = outlines.iter().map(|pool| pool.documents);
        let shares = probe_shares(request, &self.specs, documents);
        let mut identical = IdenticalCalls::new(&outlines, ensemble, Some(store), self.batch)?;
        let mut lacking = LackingInputs::of(ensemble);
        for (key, probe) in queries.into_iter().zip(shares) {
            let (id, pool) =
                store.read_blocking(move |db| Ok((db.query(key)?.id, db.pool_text(key, None)?)))?;
            let pool = Arc::new(pool);
            lacking.look_in(&pool);
            let known = (Some(store), probe, &mut identical);
            self.add_texts(id.as_str(), &pool, ensemble, request, known)?;
        }
        store.read_blocking(move |db| check_project(db, lacking, &[]))?;
        Ok(self)
    }

    /// Adds the texts of a pool. The last argument holds the project that may already have votes on
    /// it, the number of pairs to probe, and the questions that the run asks earlier.
    fn add_texts(
        &mut self,
        id: &str,
        text: &Arc<PoolText>,
        ensemble: &JudgeEnsemble,
        request: &RunRequest,
        (store, probe, identical): (Option<&Store>, usize, &mut IdenticalCalls),
    ) -> Result<(), StoreError> {
        self.rounds = request.rounds().is_some();
        let (documents, specs) = (text.documents.len(), &self.specs);
        let need = match request.rounds() {
            None => QueryEstimate::of_plan(id, documents, specs, request, (store, probe))?,
            Some(campaign) => {
                QueryEstimate::of_rounds(id, documents, campaign, specs, request, store)?
            }
        };
        let free = identical.count(text, ensemble, &need.planned)?;
        self.queries += 1;
        self.battles += need.battles;
        self.already += need.already;
        self.pending += need.pending;
        self.probed += need.probed;
        self.identical += free.iter().map(|of| of.identical).sum::<usize>();
        let step = need.pairs.len().div_ceil(SAMPLE).max(1);
        let sample: Vec<_> = need.pairs.iter().step_by(step).collect();
        let shown = |first, second| PresentedPair {
            pool: Arc::clone(text),
            first,
            second,
        };
        let calls = need.calls.iter().zip(free);
        for ((judge, (planned, free)), of) in ensemble.iter().zip(calls).zip(&mut self.judges) {
            of.bought += free.bought;
            let count = planned - free.identical - free.bought;
            if count == 0 {
                continue;
            }
            let batch = judge.batch().filter(|_| self.batch);
            // The batch is submitted only after one call outside of it has been answered.
            let tested = batch.is_some() && of.calls == 0;
            of.calls += count;
            let (mut input, mut output) = (0, 0);
            let mut cost = Some(0.0);
            for pair in &sample {
                let prompt = || judge.prompt(JudgeQuestion::Pair(&shown(pair.low(), pair.high())));
                let (usage, price) = match (batch, of.learnt) {
                    (_, Some(learnt)) => learnt.expect(judge.as_ref(), batch),
                    (Some(batch), None) => {
                        let (usage, price, _) = batch.batch_cost(&prompt());
                        (usage, price)
                    }
                    (None, None) => judge.estimate(&prompt()),
                };
                input += usage.input;
                output += usage.output;
                cost = cost.zip(price).map(|(sum, price)| sum + price);
            }
            let scale = count as f64 / sample.len().max(1) as f64;
            of.tokens_input += (input as f64 * scale).round() as u64;
            of.tokens_output += (output as f64 * scale).round() as u64;
            of.cost_usd = of.cost_usd.zip(cost).map(|(sum, cost)| sum + cost * scale);
            let most =
                longest_prompt(judge.as_ref(), &need.pairs, &shown).map_or(Some(0.0), |prompt| {
                    let at_once = judge.most_usd(&prompt);
                    let Some(batch) = batch else {
                        return Some(count as f64 * at_once?);
                    };
                    let (_, _, in_batch) = batch.batch_cost(&prompt);
                    let test = if tested { at_once? } else { 0.0 };
                    Some(count as f64 * in_batch? + test)
                });
            of.worst_usd = of.worst_usd.zip(most).map(|(sum, most)| sum + most);
        }
        Ok(())
    }
}

/// The prompt with the two longest documents: no call about these pairs costs more. `None` for
/// judges that cost nothing, and without a pair.
fn longest_prompt(
    judge: &dyn Judge,
    pairs: &[Pair],
    shown: &impl Fn(usize, usize) -> PresentedPair,
) -> Option<JudgePrompt> {
    if judge.spec().is_offline() {
        return None;
    }
    let documents: BTreeSet<usize> = pairs
        .iter()
        .flat_map(|pair| [pair.low(), pair.high()])
        .collect();
    let mut by_length: Vec<(usize, usize)> = documents
        .into_iter()
        .map(|at| {
            let prompt = judge.prompt(JudgeQuestion::Pair(&shown(at, at)));
            (prompt.user.len(), at)
        })
        .collect();
    by_length.sort_unstable_by(|a, b| b.cmp(a));
    let [(_, longest), (_, second), ..] = by_length.as_slice() else {
        return None;
    };
    Some(judge.prompt(JudgeQuestion::Pair(&shown(*longest, *second))))
}
