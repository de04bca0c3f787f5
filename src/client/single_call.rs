//! Makes one call outside a run. Like all calls of a project, it is recorded before it is sent and
//! charged when it ends.

use super::call_ledger::CallLedger;
use super::now_ms;
use super::worker::{charge_of_answer, charge_of_failure};
use crate::domain::number_words::usd;
use crate::judge::{CallError, JudgeReply};
use crate::store::ledger::{Attempt, AttemptFailure, CallPurpose};
use crate::store::{Store, StoreError};
use uuid::Uuid;

/// Why a single call was not made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SingleCallError {
    #[error(
        "the call could exceed the budget of {}: {} are spent, and it costs at most {}",
        usd(*limit_usd),
        usd(*committed_usd),
        usd(*worst_usd)
    )]
    OverBudget {
        limit_usd: f64,
        committed_usd: f64,
        worst_usd: f64,
    },
    #[error("a budget is set, but the price of this judge is unknown")]
    NoPrice,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A call that counts as spending of a project.
#[derive(Debug)]
pub(crate) struct SingleCall {
    pub(crate) purpose: CallPurpose,
    /// The judge's name.
    pub(crate) service: String,
    /// Worst-case cost in dollars; `None` if the price is unknown.
    pub(crate) worst_usd: Option<f64>,
    /// The spending limit of the project in dollars.
    pub(crate) limit_usd: Option<f64>,
}

impl SingleCall {
    /// Makes the call, if the budget allows it.
    ///
    /// # Errors
    /// It was not sent, or the project cannot be written.
    pub(crate) async fn make(
        self,
        store: &Store,
        call: impl Future<Output = Result<JudgeReply, CallError>>,
    ) -> Result<Result<JudgeReply, CallError>, SingleCallError> {
        self.check_budget(store).await?;
        let ledger = CallLedger::Project(store.clone());
        let attempt = Attempt {
            uid: Uuid::now_v7().into_bytes(),
            purpose: self.purpose,
            service: self.service,
            run: None,
            worst_usd: self.worst_usd,
            sent_ms: now_ms(),
        };
        let uid = attempt.uid;
        ledger.begin(attempt).await?;
        let result = call.await;
        let charge = match &result {
            Ok(reply) => charge_of_answer(reply.cost_usd, self.worst_usd),
            Err(error) => charge_of_failure(error, self.worst_usd),
        };
        let failure = result
            .as_ref()
            .err()
            .map(|error| AttemptFailure::Failed(error.cause));
        ledger.end(Some(uid), charge, failure, None).await?;
        Ok(result)
    }

    async fn check_budget(&self, store: &Store) -> Result<(), SingleCallError> {
        let Some(limit_usd) = self.limit_usd else {
            return Ok(());
        };
        let worst_usd = self.worst_usd.ok_or(SingleCallError::NoPrice)?;
        let committed_usd = store.read(|db| db.committed_usd()).await?;
        if worst_usd > 0.0 && committed_usd + worst_usd > limit_usd {
            return Err(SingleCallError::OverBudget {
                limit_usd,
                committed_usd,
                worst_usd,
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::FailureCause;

    fn call(worst_usd: Option<f64>, limit_usd: Option<f64>) -> SingleCall {
        SingleCall {
            purpose: CallPurpose::Test,
            service: "gpt".to_owned(),
            worst_usd,
            limit_usd,
        }
    }

    fn reply(cost_usd: Option<f64>) -> Result<JudgeReply, CallError> {
        Ok(JudgeReply {
            cost_usd,
            ..JudgeReply::default()
        })
    }

    async fn spent(store: &Store) -> (f64, f64, usize) {
        let spent = store.read(|db| db.spent()).await.unwrap();
        let tests = spent.iter().filter(|of| of.purpose == "tests");
        tests.fold((0.0, 0.0, 0), |(known, assumed, unpriced), of| {
            (
                known + of.known_usd,
                assumed + of.assumed_usd,
                unpriced + of.unpriced,
            )
        })
    }

    #[tokio::test]
    async fn a_call_is_charged_what_it_cost_or_at_most_costs() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("p.db")).unwrap();
        let answered = call(Some(0.5), None)
            .make(&store, async { reply(Some(0.2)) })
            .await;
        assert!(answered.unwrap().is_ok());
        assert_eq!(spent(&store).await, (0.2, 0.0, 0));
        let silent = call(Some(0.5), None)
            .make(&store, async { reply(None) })
            .await;
        assert!(silent.unwrap().is_ok());
        assert_eq!(spent(&store).await, (0.2, 0.5, 0));
        let unpriced = call(None, None).make(&store, async { reply(None) }).await;
        assert!(unpriced.unwrap().is_ok());
        assert_eq!(spent(&store).await, (0.2, 0.5, 1));
        let refused = || CallError::new(FailureCause::Unauthorized, "no");
        let failed = call(Some(0.5), None)
            .make(&store, async { Err(refused()) })
            .await;
        assert!(failed.unwrap().is_err());
        assert_eq!(spent(&store).await, (0.2, 0.5, 1));
    }

    #[tokio::test]
    async fn a_call_that_could_exceed_the_budget_is_not_sent() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("p.db")).unwrap();
        let never = async { unreachable!() };
        let over = call(Some(0.5), Some(0.4)).make(&store, never).await;
        assert!(matches!(over, Err(SingleCallError::OverBudget { .. })));
        let never = async { unreachable!() };
        let unknown = call(None, Some(0.4)).make(&store, never).await;
        assert!(matches!(unknown, Err(SingleCallError::NoPrice)));
        assert_eq!(spent(&store).await, (0.0, 0.0, 0));
    }
}
