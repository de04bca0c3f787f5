//! Which judge is asked about which pool in which order, and what of it is there already.

use super::answers::{PickAnswers, PickQuestionKey};
use crate::app::annotate::estimate::JudgeEstimate;
use crate::app::pick::run::{PickTask, call_id};
use crate::cli::output;
use crate::domain::adjudication::{PickMode, PickRequest};
use crate::domain::corpus::{DocId, Pool, QueryId};
use crate::domain::metrics::Qrels;
use crate::domain::sampling::SeededRng;
use crate::judge::{Judge, JudgeEnsemble, PoolText, PresentedPool};
use std::sync::Arc;

/// How often another order is drawn where one has been shown already.
const DRAWS: usize = 20;
/// Answers that break the rules before a question is given up.
pub(super) const ASKED: usize = 2;

/// What is wanted.
pub(super) struct PickOptions {
    pub(super) way: PickMode,
    pub(super) permutations: usize,
    pub(super) level: i32,
    pub(super) seed: u64,
    pub(super) retry_failed: bool,
}

/// A pool in one order.
pub(super) struct OrderedPool {
    pub(super) query: QueryId,
    /// Which order, from 1.
    pub(super) permutation: usize,
    /// The documents' ids in that order.
    pub(super) order: Arc<[DocId]>,
    pub(super) lineup: PresentedPool,
}

/// Every question, whether it has been answered or not.
pub(super) struct PickPlan {
    /// Pools that are asked about.
    pub(super) pools: usize,
    pub(super) shown: Vec<OrderedPool>,
    /// The questions: those of a pool's order together, one a judge.
    calls: Vec<PickQuestionKey>,
    seats: usize,
    pub(super) jobs: Vec<PickTask>,
    /// Questions that have been settled.
    pub(super) already: usize,
    pub(super) estimates: Vec<JudgeEstimate>,
    /// What a reader should know.
    pub(super) notes: Vec<String>,
}

impl PickPlan {
    /// What is to be asked about `pools`, beyond what is on the sheet.
    ///
    /// # Errors
    /// In words: no pool to ask about.
    pub(super) fn new(
        pools: &[Pool],
        labels: &Qrels,
        ensemble: &JudgeEnsemble,
        options: &PickOptions,
        sheet: &PickAnswers,
    ) -> Result<Self, String> {
        let mut plan = Self {
            pools: 0,
            shown: Vec::new(),
            calls: Vec::new(),
            seats: ensemble.len(),
            jobs: Vec::new(),
            already: 0,
            estimates: ensemble
                .iter()
                .map(|judge| nothing(judge.as_ref()))
                .collect(),
            notes: Vec::new(),
        };
        let mut idle = 0;
        for pool in pools {
            let wanted = match options.way {
                PickMode::Exactly => positives(pool, labels, options.level),
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
            return Err(format!(
                "has no label of {} or more to say how many documents are relevant (metadata.grade, or qrels); ask with --open or --per-document",
                options.level
            ));
        }
        if idle > 0 {
            let what = output::counted(idle, "pool");
            plan.notes.push(format!(
                "{what} without a relevant document: not asked about (--open and --per-document do)"
            ));
        }
        plan.ask(ensemble, options, sheet);
        Ok(plan)
    }

    /// Adds the orders of a pool.
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
    fn ask(&mut self, ensemble: &JudgeEnsemble, options: &PickOptions, sheet: &PickAnswers) {
        for shown in &self.shown {
            for (seat, judge) in ensemble.iter().enumerate() {
                let prompt = judge.pick_prompt(&shown.lineup).unwrap_or_default();
                let call = call_id(judge.spec(), &prompt);
                let question = (shown.query.clone(), shown.permutation, call.clone());
                let state = sheet.state(&question).copied();
                self.calls.push(question);
                let settled = state.is_some_and(|state| {
                    let failed = !state.picked && state.invalid == 0 && state.failed;
                    state.picked || state.invalid >= ASKED || (failed && !options.retry_failed)
                });
                if settled {
                    self.already += 1;
                    continue;
                }
                if let Some(estimate) = self.estimates.get_mut(seat) {
                    let (usage, usd) = judge.estimate(&prompt);
                    let worst = judge.worst_with_reask(&prompt);
                    estimate.calls += 1;
                    estimate.tokens_input += usage.input;
                    estimate.tokens_output += usage.output;
                    estimate.cost_usd = estimate.cost_usd.zip(usd).map(|(sum, usd)| sum + usd);
                    estimate.worst_usd = estimate.worst_usd.zip(worst).map(|(sum, usd)| sum + usd);
                }
                self.jobs.push(PickTask {
                    seat,
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

    /// Questions to be put.
    pub(super) fn calls(&self) -> usize {
        self.jobs.len()
    }

    /// A judge's questions.
    pub(super) fn questions_of(&self, seat: usize) -> Vec<&PickQuestionKey> {
        let calls = self.calls.iter().skip(seat).step_by(self.seats.max(1));
        calls.collect()
    }
}

fn nothing(judge: &dyn Judge) -> JudgeEstimate {
    JudgeEstimate {
        name: judge.spec().name.clone(),
        offline: judge.spec().is_offline(),
        cost_usd: Some(0.0),
        worst_usd: Some(0.0),
        ..JudgeEstimate::default()
    }
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
