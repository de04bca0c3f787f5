//! Which judge is asked about which pool in which order, and what of it is there already.

use super::answers::{PickAnswers, PickQuestionKey, QuestionState};
use super::inputs::PickInputs;
use super::run::{PickTask, call_id};
use crate::app::annotate::estimate::{CostEstimate, JudgeEstimate};
use crate::app::error::AppError;
use crate::app::wording::counted;
use crate::domain::adjudication::{PickMode, PickRequest};
use crate::domain::corpus::{DocId, Pool, QueryId};
use crate::domain::metrics::Qrels;
use crate::domain::sampling::SeededRng;
use crate::judge::{JudgeEnsemble, PoolText, PresentedPool};
use serde::Serialize;
use std::sync::Arc;

/// How often another order is drawn where one has been shown already.
const DRAWS: usize = 20;

#[derive(Clone, Copy, Debug)]
pub struct PickOptions {
    pub way: PickMode,
    /// Orders of each pool: its own, then shuffled ones.
    pub permutations: usize,
    /// The grade from which on a document is relevant.
    pub relevant_from: i32,
    pub seed: u64,
    /// Calls that failed are made again.
    pub retry_failed: bool,
}

#[derive(Debug)]
struct OrderedPool {
    query: QueryId,
    /// Which order, from 1.
    permutation: usize,
    /// The documents' ids in that order.
    order: Arc<[DocId]>,
    lineup: PresentedPool,
}

/// Every question, whether it has been answered or not.
#[derive(Debug)]
pub struct PickPlan {
    /// Pools that are asked about.
    pub pools: usize,
    shown: Vec<OrderedPool>,
    /// The questions: those of a pool's order together, one a judge.
    calls: Vec<PickQuestionKey>,
    judges: usize,
    pub tasks: Vec<PickTask>,
    /// Questions that have been settled.
    pub already: usize,
    /// What each judge would need.
    pub estimates: Vec<JudgeEstimate>,
    /// What a reader should know.
    pub notes: Vec<String>,
}

impl PickPlan {
    /// What is to be asked about the pools, beyond what has been answered.
    /// Refuses where there is no pool to ask about.
    pub fn new(
        inputs: &PickInputs,
        ensemble: &JudgeEnsemble,
        options: &PickOptions,
        answers: &PickAnswers,
    ) -> Result<Self, AppError> {
        let mut plan = Self {
            pools: 0,
            shown: Vec::new(),
            calls: Vec::new(),
            judges: ensemble.len(),
            tasks: Vec::new(),
            already: 0,
            estimates: CostEstimate::new(ensemble).judges,
            notes: Vec::new(),
        };
        let mut idle = 0;
        for pool in &inputs.pools {
            let wanted = match options.way {
                PickMode::Exactly => positives(pool, &inputs.labels, options.relevant_from),
                PickMode::AnyNumber | PickMode::PerDocument => 0,
            };
            let ask = options.way.ask(wanted);
            if ask == PickRequest::Exactly(0) {
                idle += 1;
                continue;
            }
            plan.pools += 1;
            plan.show(pool, ask, options);
        }
        if plan.pools == 0 {
            return Err(AppError::file(
                &inputs.source,
                format!(
                    "has no label of {} or more to say how many documents are relevant (metadata.grade, or qrels); ask with --open or --per-document",
                    options.relevant_from
                ),
            ));
        }
        if idle > 0 {
            let what = counted(idle, "pool");
            plan.notes.push(format!(
                "{what} without a relevant document: not asked about (--open and --per-document do)"
            ));
        }
        plan.ask(ensemble, options, answers);
        Ok(plan)
    }

    fn show(&mut self, pool: &Pool, ask: PickRequest, options: &PickOptions) {
        let texts: Vec<Arc<str>> = pool
            .documents
            .iter()
            .map(|document| Arc::from(document.content.as_str()))
            .collect();
        let mut orders: Vec<Vec<usize>> = vec![(0..texts.len()).collect()];
        for permutation in 2..=options.permutations {
            let name = [pool.query.id.as_str(), &permutation.to_string()].join("\n");
            let mut rng = SeededRng::new(options.seed, &["pick order", &name]);
            let mut order: Vec<usize> = (0..texts.len()).collect();
            let fresh = (0..DRAWS).any(|_| {
                rng.shuffle(&mut order);
                !orders.contains(&order)
            });
            if fresh {
                orders.push(order);
            }
        }
        for (above, order) in orders.into_iter().enumerate() {
            let documents = order.iter().filter_map(|at| texts.get(*at).cloned());
            let ids = order.iter().filter_map(|at| pool.documents.get(*at));
            self.shown.push(OrderedPool {
                query: pool.query.id.clone(),
                permutation: above + 1,
                order: ids.map(|document| document.id.clone()).collect(),
                lineup: PresentedPool {
                    pool: Arc::new(PoolText::new(pool.query.text.clone(), documents.collect())),
                    ask,
                },
            });
        }
    }

    /// Finds out what is still to be asked.
    fn ask(&mut self, ensemble: &JudgeEnsemble, options: &PickOptions, answers: &PickAnswers) {
        for shown in &self.shown {
            for (at, judge) in ensemble.iter().enumerate() {
                let prompt = judge.pick_prompt(&shown.lineup).unwrap_or_default();
                let call = call_id(judge.spec(), &prompt);
                let question = (shown.query.clone(), shown.permutation, call.clone());
                let state = answers.state(&question).copied();
                self.calls.push(question);
                let settled = state.is_some_and(|state| {
                    state.is_valid()
                        || state.is_invalid()
                        || (state.is_failed() && !options.retry_failed)
                });
                if settled {
                    self.already += 1;
                    continue;
                }
                if let Some(estimate) = self.estimates.get_mut(at) {
                    let (usage, usd) = judge.estimate(&prompt);
                    let worst = judge.worst_with_reask(&prompt);
                    estimate.calls += 1;
                    estimate.tokens_input += usage.input;
                    estimate.tokens_output += usage.output;
                    estimate.cost_usd = estimate.cost_usd.zip(usd).map(|(sum, usd)| sum + usd);
                    estimate.worst_usd = estimate.worst_usd.zip(worst).map(|(sum, usd)| sum + usd);
                }
                self.tasks.push(PickTask {
                    seat: at,
                    query: shown.query.clone(),
                    permutation: shown.permutation,
                    order: Arc::clone(&shown.order),
                    call,
                    lineup: shown.lineup.clone(),
                    asked: state.map_or(0, |state| state.invalid),
                });
            }
        }
    }

    pub fn calls(&self) -> usize {
        self.tasks.len()
    }

    /// How each judge's questions stand.
    pub fn progress(&self, ensemble: &JudgeEnsemble, answers: &PickAnswers) -> Vec<JudgePicks> {
        let judges = ensemble.iter().enumerate();
        judges
            .map(|(at, judge)| {
                let questions = self.calls.iter().skip(at).step_by(self.judges.max(1));
                let questions: Vec<&PickQuestionKey> = questions.collect();
                let count = |is: fn(&QuestionState) -> bool| {
                    let states = questions.iter().filter_map(|one| answers.state(one));
                    states.filter(|state| is(state)).count()
                };
                let valid = count(QuestionState::is_valid);
                let invalid = count(QuestionState::is_invalid);
                let failed = count(QuestionState::is_failed);
                let (usage, cost_usd) = answers.used(&questions);
                JudgePicks {
                    judge: judge.spec().name.clone(),
                    offline: judge.spec().is_offline(),
                    questions: questions.len(),
                    valid,
                    invalid,
                    failed,
                    missing: questions.len() - valid - invalid - failed,
                    tokens_input: usage.input,
                    tokens_output: usage.output,
                    cost_usd,
                }
            })
            .collect()
    }
}

/// How one judge's questions stand.
#[derive(Clone, Debug, Serialize)]
pub struct JudgePicks {
    pub judge: String,
    offline: bool,
    pub questions: usize,
    pub valid: usize,
    /// Those given up.
    pub invalid: usize,
    /// Those whose call failed.
    pub failed: usize,
    pub missing: usize,
    tokens_input: u64,
    tokens_output: u64,
    /// Dollars, as far as that is known.
    pub cost_usd: Option<f64>,
}

/// How many documents of a pool are labelled relevant.
fn positives(pool: &Pool, labels: &Qrels, level: i32) -> usize {
    let Some(grades) = labels.get(&pool.query.id) else {
        return 0;
    };
    let grades = pool
        .documents
        .iter()
        .filter_map(|document| grades.get(&document.id));
    grades.filter(|grade| **grade >= level).count()
}
