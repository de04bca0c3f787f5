//! Batches of the calls that a run would make, priced before they are submitted: the screen's
//! version of `overrule annotate --batch` and `overrule batch fetch`.

use super::{
    CollectedBatch, SubmittedBatch, collect, judges_without_batches, passed_test, refresh, settle,
    submit,
};
use crate::app::annotate::estimate::CostEstimate;
use crate::app::annotate::handle::RunHandle;
use crate::app::annotate::request::{RunOutcome, RunRequest};
use crate::app::choose_judges::check_budget;
use crate::app::error::{AppError, invalid};
use crate::app::question_set::{
    BatchStep, PreparedQuestions, QuestionSession, QuestionSetOutcome, QuestionSetPrice,
};
use crate::app::text_format::counted;
use crate::domain::sanitize;
use crate::judge::JudgeEnsemble;
use crate::store::Store;
use futures::future::BoxFuture;

/// The calls to submit, or the batches to fetch, and the judges.
#[derive(Debug)]
pub struct PreparedBatches {
    ensemble: JudgeEnsemble,
    request: RunRequest,
    price: QuestionSetPrice,
}

impl PreparedBatches {
    /// Determines the calls of a run that can be submitted, or the open batches.
    ///
    /// # Errors
    /// A judge has no batch endpoint, or the queries are played in rounds.
    pub fn of_project(
        store: &Store,
        ensemble: &JudgeEnsemble,
        request: &RunRequest,
        step: BatchStep,
    ) -> Result<Self, AppError> {
        let open = store.read_blocking(|db| db.batches(true))?;
        let price = QuestionSetPrice {
            pending: (!open.is_empty()).then(|| {
                let calls = open.iter().map(|batch| batch.left).sum::<usize>();
                format!(
                    "{} with {}",
                    counted(open.len(), "open batch"),
                    counted(calls, "call")
                )
            }),
            ..QuestionSetPrice::of(ensemble)
        };
        let price = match step {
            BatchStep::Fetch => price,
            BatchStep::Submit => priced(store, ensemble, request, price)?,
        };
        Ok(Self {
            ensemble: ensemble.clone(),
            request: request.clone(),
            price,
        })
    }

    async fn carry_out(
        self,
        mut session: QuestionSession<'_>,
    ) -> Result<QuestionSetOutcome, AppError> {
        let mut outcome = QuestionSetOutcome::of(self.price.calls);
        if let Some(budget) = session.control.borrow().budget_usd
            && self.price.calls > 0
        {
            check_budget(budget, &self.ensemble)?;
        }
        self.collect(session.store, &mut outcome).await?;
        if self.price.calls > 0 && !session.control.borrow().cancelled {
            self.submit(&mut session, &mut outcome).await?;
        }
        let (calls, _) = session.store.read(|db| db.committed()).await?;
        if calls > 0 {
            let verb = if calls == 1 { "is" } else { "are" };
            let calls = counted(calls, "call");
            outcome
                .notes
                .push(format!("{calls} {verb} in open batches"));
        }
        outcome.stopped = session.control.borrow().cancelled;
        Ok(outcome)
    }

    /// Fetches the batches that have ended.
    async fn collect(
        &self,
        store: &Store,
        outcome: &mut QuestionSetOutcome,
    ) -> Result<(), AppError> {
        let mut is_new = false;
        for known in refresh(store, &self.ensemble, true).await? {
            let name = format!(
                "batch {} ({})",
                known.row.id.0,
                sanitize::line(&known.row.spec.name)
            );
            match collect(store, &self.ensemble, &known).await? {
                CollectedBatch::Running => {}
                CollectedBatch::Fetched(fetched) => {
                    is_new = true;
                    outcome.notes.push(format!(
                        "{name}: {}, {}, {}",
                        match known.row.run {
                            Some(_) => counted(fetched.votes, "vote"),
                            None => counted(fetched.lists, "list"),
                        },
                        counted(fetched.failures, "failure"),
                        fetched.spend.words()
                    ));
                }
                CollectedBatch::Refused(why) => outcome.troubles.push(format!(
                    "{name} made no call: {why}; its calls can be made again"
                )),
                CollectedBatch::Troubled(trouble) => {
                    // Answers that came before the trouble are stored.
                    is_new = true;
                    outcome.troubles.push(format!("{name}: {trouble}"));
                }
            }
        }
        if is_new {
            settle(store).await?;
        }
        Ok(())
    }

    /// Tests each judge with one call, and submits the others.
    async fn submit(
        &self,
        session: &mut QuestionSession<'_>,
        outcome: &mut QuestionSetOutcome,
    ) -> Result<(), AppError> {
        let tested = self.test_judges(session).await?;
        outcome.progress.done += tested.progress.done();
        outcome.progress.failed += tested.progress.failures();
        (session.tell)(&outcome.progress);
        let (passed, failed) = passed_test(&tested.progress);
        outcome.troubles.extend(failed.iter().map(|judge| {
            format!(
                "{}: its first call failed, so nothing was submitted",
                sanitize::line(&judge.name)
            )
        }));
        let (mut batches, mut calls) = (0, 0);
        for judge in passed {
            let now = *session.control.borrow();
            if now.cancelled {
                break;
            }
            let mut tell = |batch: SubmittedBatch| {
                batches += 1;
                calls += batch.calls;
                outcome.progress.done += batch.calls;
                (session.tell)(&outcome.progress);
            };
            let submitted = submit(
                session.store,
                &self.ensemble,
                &[judge],
                &self.request,
                tested.run,
                now.budget_usd,
                &mut tell,
            )
            .await?;
            outcome.budget_reached |= submitted.budget_reached;
            outcome.troubles.extend(submitted.troubles);
        }
        if batches > 0 {
            outcome.notes.push(format!(
                "{} submitted with {}",
                counted(batches, "batch"),
                counted(calls, "call")
            ));
        }
        Ok(())
    }

    /// Asks each judge one question outside of batches, so that a judge whose calls fail submits
    /// nothing.
    async fn test_judges(&self, session: &mut QuestionSession<'_>) -> Result<RunOutcome, AppError> {
        let request = RunRequest {
            at_most: Some(1),
            ..self.request.clone()
        };
        let control = *session.control.borrow_and_update();
        let lock = Some(session.lock.clone());
        let (store, ensemble) = (session.store.clone(), self.ensemble.clone());
        let mut run = RunHandle::start_under(lock, store, ensemble, request, control);
        loop {
            tokio::select! {
                ended = &mut run.end => {
                    return Ok(ended.map_err(AppError::failed)??);
                }
                Ok(()) = session.control.changed() => {
                    run.control.send_replace(*session.control.borrow_and_update());
                }
            }
        }
    }
}

/// The price of submitting the calls of a run.
fn priced(
    store: &Store,
    ensemble: &JudgeEnsemble,
    request: &RunRequest,
    price: QuestionSetPrice,
) -> Result<QuestionSetPrice, AppError> {
    let without = judges_without_batches(ensemble);
    if !without.is_empty() {
        return Err(invalid!(
            "{} has no batch endpoint, and all judges of a run need one",
            sanitize::line(&without.join(", "))
        ));
    }
    if request.campaign.is_some() {
        return Err(invalid!(
            "the queries are played in rounds: a batch answers within a day, and each round waits \
             for the votes of the one before"
        ));
    }
    let estimate = CostEstimate::of_project_in_batches(store, ensemble, request)?;
    let notes = [
        "batches answer within a day; one call of each judge is made immediately, as a test"
            .to_owned(),
    ];
    Ok(QuestionSetPrice {
        about: counted(estimate.queries, "query"),
        calls: estimate.calls(),
        already: (estimate.already > 0).then(|| counted(estimate.already, "vote")),
        expected_usd: estimate.cost_usd(),
        worst_usd: estimate.worst_usd(),
        notes: notes.into_iter().chain(estimate.history.lines()).collect(),
        ..price
    })
}

impl PreparedQuestions for PreparedBatches {
    fn price(&self) -> QuestionSetPrice {
        self.price.clone()
    }

    fn run(
        self: Box<Self>,
        session: QuestionSession<'_>,
    ) -> BoxFuture<'_, Result<QuestionSetOutcome, AppError>> {
        Box::pin(self.carry_out(session))
    }
}
