//! Rankings that machines share.

use super::priced_questions::PricedQuestions;
use super::rerank::RerankPlan;
use super::rerank::estimate::MethodEstimate;
use crate::app::error::AppError;
use crate::app::shared_questions::{QuestionsLeft, SharedQuestions};
use crate::judge::JudgeEnsemble;
use crate::store::Store;
use crate::store::merge::Terms;

/// The questions of `overrule rerank`.
#[derive(Debug)]
pub struct SharedRankings {
    plan: RerankPlan,
    judges: JudgeEnsemble,
    worst_usd: Option<f64>,
}

impl SharedRankings {
    /// The questions of a plan to these judges, with the estimates of its methods if there are any.
    pub fn new(plan: RerankPlan, judges: JudgeEnsemble, estimates: &[MethodEstimate]) -> Self {
        let of_method = estimates.iter().filter_map(|of| {
            let calls = Some(of.most.calls).filter(|calls| *calls > 0.0)?;
            Some(of.most.usd? / calls)
        });
        Self {
            worst_usd: of_method.reduce(f64::max),
            plan,
            judges,
        }
    }
}

impl SharedQuestions for SharedRankings {
    fn queries(&self) -> Vec<String> {
        self.plan.query_names()
    }

    fn terms(&self, store: &Store) -> Result<Terms, AppError> {
        self.plan.terms(store, &self.judges)
    }

    fn check_budget(&self, budget_usd: f64) -> Result<(), AppError> {
        self.plan.check_budget(budget_usd, &self.judges)
    }

    fn worst_usd(&self) -> Option<f64> {
        self.worst_usd
    }

    fn left(&self, store: &Store, queries: &[String]) -> Result<QuestionsLeft, AppError> {
        let plan = self.plan.of_queries(store, queries)?;
        Ok(QuestionsLeft {
            queries: plan.outstanding_names(),
            prepared: Box::new(PricedQuestions::of_plan(plan, &self.judges)),
        })
    }
}
