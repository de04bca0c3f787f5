//! Plans which judge is asked about which pool in which order, skipping questions that are already
//! answered.

use super::answers::{PickAnswers, PickQuestionKey, QuestionState};
use super::inputs::{PickInputs, PoolSource};
use super::run::{PickTask, PoolAt, ShownPool, call_id};
use crate::app::annotate::estimate::{CostEstimate, JudgeEstimate};
use crate::app::error::{AppError, invalid};
use crate::app::text_format::counted;
use crate::domain::adjudication::{PickMode, PickRequest};
use crate::domain::corpus::{DocId, Pool, QueryId};
use crate::domain::metrics::Qrels;
use crate::domain::sampling::SeededRng;
use crate::domain::sanitize;
use crate::domain::spend::Spend;
use crate::judge::{
    Judge, JudgeEnsemble, JudgeQuestion, LearntUsage, Presented, PresentedPool, Usage,
};
use crate::store::corpus::QueryKey;
use crate::store::{Db, StoreError};
use serde::Serialize;
use std::sync::Arc;

/// Number of attempts to draw an order that has not been shown yet.
const DRAWS: usize = 20;

#[derive(Clone, Copy, Debug)]
pub struct PickOptions {
    pub way: PickMode,
    /// Number of orders of each pool: its own first, then shuffled ones.
    pub permutations: usize,
    /// The grade from which a document is relevant.
    pub relevant_from: i32,
    pub seed: u64,
    /// Whether to retry failed calls.
    pub retry_failed: bool,
    /// Whether to fail if a document is longer than a judge is shown of it, instead of truncating
    /// it.
    pub refuse_long: bool,
}

/// All questions, answered or not.
#[derive(Debug)]
pub struct PickPlan {
    /// Number of pools to ask about.
    pub pools: usize,
    /// The questions, one per judge, grouped by a pool's order.
    calls: Vec<PickQuestionKey>,
    /// The documents that are truncated, by judge.
    truncated: Vec<TruncatedPools>,
    judges: usize,
    pub tasks: Vec<PickTask>,
    /// Number of resolved questions.
    pub already: usize,
    /// The effort and cost for each judge.
    pub estimates: Vec<JudgeEstimate>,
    /// Notes to the reader.
    pub notes: Vec<String>,
}

impl PickPlan {
    /// Plans the questions about the pools that are not answered yet. Fails if there is no pool to
    /// ask about.
    pub fn new(
        inputs: &PickInputs,
        ensemble: &JudgeEnsemble,
        options: &PickOptions,
        answers: &PickAnswers,
    ) -> Result<Self, AppError> {
        let mut plan = Self {
            pools: 0,
            calls: Vec::new(),
            truncated: vec![TruncatedPools::default(); ensemble.len()],
            judges: ensemble.len(),
            tasks: Vec::new(),
            already: 0,
            estimates: CostEstimate::new(ensemble).judges,
            notes: Vec::new(),
        };
        for (judge, estimate) in ensemble.iter().zip(&mut plan.estimates) {
            estimate.learnt = answers.learnt(judge.spec());
        }
        let planner = PoolPlanner {
            labels: &inputs.labels,
            ensemble,
            options,
            answers,
            learnt: plan.estimates.iter().map(|of| of.learnt).collect(),
        };
        let mut idle = 0;
        let mut refused = None;
        let mut take = |part: Result<Option<PoolPart>, DocumentTooLong>| match part {
            Ok(Some(part)) => plan.add(part),
            Ok(None) => idle += 1,
            Err(error) => {
                refused.get_or_insert(error);
            }
        };
        match &inputs.pools {
            PoolSource::Project(store, queries) => {
                let keys: Vec<QueryKey> = queries.iter().map(|(key, _)| *key).collect();
                let work = |db: &Db, key| Ok(planner.plan(&db.pool(key)?, &PoolAt::Stored(key)));
                store.read_each(&keys, work, |_, part| {
                    take(part);
                    Ok::<_, StoreError>(())
                })?;
            }
            PoolSource::File(pools) => {
                for pool in pools {
                    take(planner.plan(pool, &PoolAt::Loaded(Arc::clone(pool))));
                }
            }
        }
        if let Some(error) = refused {
            return Err(invalid!("--refuse-long: {error}"));
        }
        if plan.pools == 0 {
            return Err(AppError::file(
                &inputs.source,
                format!(
                    "has no label of {} or more, so the number of relevant documents is unknown \
                     (metadata.grade, or qrels); --open and --per-document need no labels",
                    options.relevant_from
                ),
            ));
        }
        if idle > 0 {
            let what = counted(idle, "pool");
            plan.notes.push(format!(
                "skipped {what} without a relevant document (--open and --per-document ask about \
                 all)"
            ));
        }
        Ok(plan)
    }

    /// Adds the questions about a pool.
    fn add(&mut self, part: PoolPart) {
        self.pools += 1;
        self.already += part.already;
        self.calls.extend(part.calls);
        for (all, (documents, chars)) in self.truncated.iter_mut().zip(part.truncated) {
            all.add(documents, chars);
        }
        for (task, cost) in part.tasks {
            if let Some(estimate) = self.estimates.get_mut(task.seat) {
                estimate.calls += 1;
                estimate.tokens_input += cost.usage.input;
                estimate.tokens_output += cost.usage.output;
                estimate.cost_usd = estimate.cost_usd.zip(cost.usd).map(|(sum, usd)| sum + usd);
                estimate.worst_usd = estimate
                    .worst_usd
                    .zip(cost.worst_usd)
                    .map(|(sum, usd)| sum + usd);
            }
            self.tasks.push(task);
        }
    }

    pub fn calls(&self) -> usize {
        self.tasks.len()
    }

    /// The names of the queries to ask about, in order.
    #[cfg(feature = "remote")]
    pub(super) fn queries(&self) -> Vec<String> {
        let names = self.calls.iter().map(|(query, ..)| query.to_string());
        let mut names: Vec<String> = names.collect();
        names.dedup();
        names
    }

    /// The state of each judge's questions.
    pub fn progress(&self, ensemble: &JudgeEnsemble, answers: &PickAnswers) -> Vec<JudgePicks> {
        let judges = ensemble.iter().enumerate();
        judges
            .map(|(at, judge)| {
                let questions = self.calls.iter().skip(at).step_by(self.judges.max(1));
                let questions: Vec<&PickQuestionKey> = questions.collect();
                let count = |is: fn(&QuestionState) -> bool| {
                    questions
                        .iter()
                        .filter_map(|one| answers.state(one))
                        .filter(|state| is(state))
                        .count()
                };
                let valid = count(QuestionState::is_valid);
                let invalid = count(QuestionState::is_invalid);
                let failed = count(QuestionState::is_failed);
                let unproven = questions
                    .iter()
                    .filter_map(|one| answers.state(one))
                    .map(|state| state.unproven)
                    .sum();
                let (usage, spend) = answers.used(&questions);
                JudgePicks {
                    judge: judge.spec().name.clone(),
                    offline: judge.spec().is_offline(),
                    questions: questions.len(),
                    valid,
                    invalid,
                    unproven,
                    truncated: self.truncated.get(at).copied().unwrap_or_default(),
                    failed,
                    missing: questions.len() - valid - invalid - failed,
                    tokens_input: usage.input,
                    tokens_output: usage.output,
                    cost_usd: spend.told_usd(),
                    calls_without_price: spend.unpriced,
                    spend,
                }
            })
            .collect()
    }
}

/// The questions about one pool.
struct PoolPart {
    calls: Vec<PickQuestionKey>,
    already: usize,
    tasks: Vec<(PickTask, TaskCost)>,
    /// By judge: the number of documents that are truncated, and the limit of each document.
    truncated: Vec<(usize, usize)>,
}

/// The documents that are truncated for a judge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TruncatedPools {
    pub documents: usize,
    pub pools: usize,
    /// The lowest limit of a document, in characters.
    pub max_document_chars: Option<usize>,
}

impl TruncatedPools {
    fn add(&mut self, documents: usize, chars: usize) {
        if documents > 0 {
            self.documents += documents;
            self.pools += 1;
            let lowest = self
                .max_document_chars
                .map_or(chars, |lowest| lowest.min(chars));
            self.max_document_chars = Some(lowest);
        }
    }
}

/// A document that would be truncated.
#[derive(Debug, thiserror::Error)]
#[error(
    "document {:?} of query {:?} has {chars} characters, and {} is shown at most {limit} of each \
     document of this pool; raise max_document_chars or shorten it",
    .document.as_str(),
    .query.as_str(),
    sanitize::line(.judge)
)]
struct DocumentTooLong {
    query: QueryId,
    document: DocId,
    judge: String,
    chars: usize,
    limit: usize,
}

/// The expected usage of a question, and its maximum price.
struct TaskCost {
    usage: Usage,
    usd: Option<f64>,
    worst_usd: Option<f64>,
}

/// Plans the questions about a pool.
struct PoolPlanner<'a> {
    labels: &'a Qrels,
    ensemble: &'a JudgeEnsemble,
    options: &'a PickOptions,
    answers: &'a PickAnswers,
    /// Average usage of each judge's answers.
    learnt: Vec<Option<LearntUsage>>,
}

impl PoolPlanner<'_> {
    /// The documents of a pool that are truncated for a judge: their number, and the limit of each.
    /// `whole` is the pool in its own order.
    fn truncated(
        &self,
        pool: &Pool,
        whole: &PresentedPool,
        judge: &dyn Judge,
    ) -> Result<(usize, usize), DocumentTooLong> {
        let Some(cut) = judge.document_cut() else {
            return Ok((0, usize::MAX));
        };
        let cut = cut.shared(pool.documents.len());
        if self.options.refuse_long {
            let shown = whole.with_fields(judge.metadata());
            let mut documents = pool.documents.iter().zip(&shown.pool.documents);
            if let Some((document, text)) = documents.find(|(_, text)| cut.cuts(text)) {
                return Err(DocumentTooLong {
                    query: pool.query.id.clone(),
                    document: document.id.clone(),
                    judge: judge.spec().name.clone(),
                    chars: text.chars().count(),
                    limit: cut.chars,
                });
            }
        }
        Ok((judge.truncated(JudgeQuestion::Pool(whole)), cut.chars))
    }

    /// The questions about a pool; `None` if there is nothing to ask.
    fn plan(&self, pool: &Pool, at: &PoolAt) -> Result<Option<PoolPart>, DocumentTooLong> {
        let wanted = match self.options.way {
            PickMode::Exactly => positives(pool, self.labels, self.options.relevant_from),
            PickMode::AnyNumber | PickMode::PerDocument => 0,
        };
        let ask = self.options.way.ask(wanted);
        if ask == PickRequest::Exactly(0) {
            return Ok(None);
        }
        let in_order: Vec<usize> = (0..pool.documents.len()).collect();
        let whole = ShownPool::new(pool, &in_order, ask).lineup;
        let judges = self.ensemble.iter();
        let mut part = PoolPart {
            calls: Vec::new(),
            already: 0,
            tasks: Vec::new(),
            truncated: judges
                .map(|judge| self.truncated(pool, &whole, judge.as_ref()))
                .collect::<Result<_, _>>()?,
        };
        for (above, order) in self.orders(pool).into_iter().enumerate() {
            let permutation = above + 1;
            let order: Arc<[usize]> = order.into();
            let lineup = ShownPool::new(pool, &order, ask).lineup;
            for (seat, judge) in self.ensemble.iter().enumerate() {
                let prompt = judge.prompt(JudgeQuestion::Pool(&lineup));
                let call = call_id(judge.spec(), &prompt);
                let question = (pool.query.id.clone(), permutation, call.clone());
                let state = self.answers.state(&question).copied();
                part.calls.push(question);
                let settled = state.is_some_and(|state| {
                    state.is_valid()
                        || state.is_invalid()
                        || (state.is_failed() && !self.options.retry_failed)
                });
                if settled {
                    part.already += 1;
                    continue;
                }
                let (usage, usd) = match self.learnt.get(seat).copied().flatten() {
                    Some(learnt) => learnt.expect(judge.as_ref(), None),
                    None => judge.estimate(&prompt),
                };
                let cost = TaskCost {
                    usage,
                    usd,
                    worst_usd: judge.most_usd(&prompt),
                };
                let task = PickTask {
                    seat,
                    query: pool.query.id.clone(),
                    permutation,
                    order: Arc::clone(&order),
                    pool: at.clone(),
                    ask,
                    call,
                    asked: state.map_or(0, |state| state.invalid),
                };
                part.tasks.push((task, cost));
            }
        }
        Ok(Some(part))
    }

    /// The orders in which a pool is shown, its own first.
    fn orders(&self, pool: &Pool) -> Vec<Vec<usize>> {
        let own: Vec<usize> = (0..pool.documents.len()).collect();
        let mut orders = vec![own.clone()];
        for permutation in 2..=self.options.permutations {
            let name = [pool.query.id.as_str(), &permutation.to_string()].join("\n");
            let mut rng = SeededRng::new(self.options.seed, &["pick order", &name]);
            let mut order = own.clone();
            let fresh = (0..DRAWS).any(|_| {
                rng.shuffle(&mut order);
                !orders.contains(&order)
            });
            if fresh {
                orders.push(order);
            }
        }
        orders
    }
}

/// The state of one judge's questions.
#[derive(Clone, Debug, Serialize)]
pub struct JudgePicks {
    pub judge: String,
    offline: bool,
    pub questions: usize,
    pub valid: usize,
    /// Questions that were given up.
    pub invalid: usize,
    /// Verdicts in valid answers without a supporting sentence from the document, which do not
    /// count.
    pub unproven: usize,
    /// Documents that are truncated for the judge.
    pub truncated: TruncatedPools,
    /// Questions whose call failed.
    pub failed: usize,
    pub missing: usize,
    tokens_input: u64,
    tokens_output: u64,
    /// Cost in dollars, as far as known.
    cost_usd: Option<f64>,
    calls_without_price: usize,
    #[serde(skip)]
    pub spend: Spend,
}

/// Number of documents in a pool that are labeled relevant.
pub(super) fn positives(pool: &Pool, labels: &Qrels, level: i32) -> usize {
    let Some(grades) = labels.get(&pool.query.id) else {
        return 0;
    };
    let grades = pool
        .documents
        .iter()
        .filter_map(|document| grades.get(&document.id));
    grades.filter(|grade| **grade >= level).count()
}
