//! Anchors and links for the whole project, priced before any call: the screen's version of
//! `overrule scale run`.

use super::anchors::prepare_anchor_run;
use super::links::{LinkEstimate, LinkRun, prepare_link_run};
use crate::app::choose_judges::{JudgeConfiguration, is_paid};
use crate::app::error::AppError;
use crate::app::question_set::{
    AddedQuestions, PreparedQuestions, QuestionChoice, QuestionSetOutcome, QuestionSetPrice,
    TellProgress,
};
use crate::app::text_format::counted;
use crate::client::RunControl;
use crate::domain::sanitize;
use crate::features::methods::app::rerank::PreparedRun;
use crate::features::methods::app::rerank::estimate::{CallVolume, MethodEstimate};
use crate::features::methods::app::rerank::run::{RerankEvent, run};
use crate::store::Store;
use futures::future::BoxFuture;
use std::sync::Arc;
use tokio::sync::{mpsc, watch};

/// Default number of documents to grade per query.
pub const ANCHORS: u8 = 5;
/// Default number of links per query.
pub const LINKS: u8 = 4;

/// Grades of a few documents of each query.
#[derive(Debug)]
pub struct Anchors;

impl AddedQuestions for Anchors {
    fn noun(&self) -> &'static str {
        "anchors"
    }

    fn answer_noun(&self) -> &'static str {
        "anchor"
    }

    fn title(&self) -> &'static str {
        "Anchors: one scale over queries"
    }

    /// One judge grades all anchors, so each judge is a choice.
    fn choices(&'static self, judges: &[String]) -> Vec<QuestionChoice> {
        let choice = |judge: &String| QuestionChoice {
            questions: self,
            judges: vec![judge.clone()],
            name: sanitize::line(judge).into_owned(),
            doc: format!("grades {ANCHORS} documents of each query, 0 to 3"),
        };
        judges.iter().map(choice).collect()
    }

    fn prepare(
        &self,
        store: &Store,
        configuration: &JudgeConfiguration<'_>,
        judges: &[String],
        _seed: u64,
    ) -> Result<Box<dyn PreparedQuestions>, AppError> {
        let [judge] = judges else {
            return Err(AppError::Failed("anchors need one judge".to_owned()));
        };
        Ok(Box::new(PreparedScale::anchors(
            store,
            configuration,
            judge,
        )?))
    }
}

/// Comparisons of documents of two queries.
#[derive(Debug)]
pub struct Links;

impl AddedQuestions for Links {
    fn noun(&self) -> &'static str {
        "links"
    }

    fn answer_noun(&self) -> &'static str {
        "answer"
    }

    fn title(&self) -> &'static str {
        "Links: one scale over queries"
    }

    /// The choices are all judges together, or one of them.
    fn choices(&'static self, judges: &[String]) -> Vec<QuestionChoice> {
        let together = (judges.len() > 1).then(|| QuestionChoice {
            questions: self,
            judges: judges.to_vec(),
            name: format!("all {}", counted(judges.len(), "judge")),
            doc: format!("compare documents of two queries, {LINKS} times each query"),
        });
        let alone = judges.iter().map(|judge| QuestionChoice {
            questions: self,
            judges: vec![judge.clone()],
            name: sanitize::line(judge).into_owned(),
            doc: format!("compares documents of two queries, {LINKS} times each query"),
        });
        together.into_iter().chain(alone).collect()
    }

    fn prepare(
        &self,
        store: &Store,
        configuration: &JudgeConfiguration<'_>,
        judges: &[String],
        seed: u64,
    ) -> Result<Box<dyn PreparedQuestions>, AppError> {
        Ok(Box::new(PreparedScale::links(
            store,
            configuration,
            judges,
            seed,
        )?))
    }
}

/// The remaining questions, and the judges to ask.
#[derive(Debug)]
pub enum PreparedScale {
    Anchors(Box<PreparedRun>, CallVolume, CallVolume),
    Links(Box<LinkRun>, LinkEstimate),
}

impl PreparedScale {
    /// The anchors of each query, graded by one judge.
    ///
    /// # Errors
    /// No document has a score, or the judge cannot be asked for grades.
    pub fn anchors(
        store: &Store,
        configuration: &JudgeConfiguration<'_>,
        judge: &str,
    ) -> Result<Self, AppError> {
        let count = usize::from(ANCHORS);
        let run = prepare_anchor_run(store, configuration, judge, count, &[], false)?;
        let none = CallVolume {
            usd: Some(0.0),
            ..CallVolume::default()
        };
        let (expected, most) = MethodEstimate::of(store, &run.plan)?
            .into_iter()
            .next()
            .map_or((none, none), |of| (of.expected, of.most));
        Ok(Self::Anchors(Box::new(run), expected, most))
    }

    /// Links for each query, answered by these judges.
    ///
    /// # Errors
    /// Fewer than two queries have a score, or a judge cannot be asked about two queries.
    pub fn links(
        store: &Store,
        configuration: &JudgeConfiguration<'_>,
        judges: &[String],
        seed: u64,
    ) -> Result<Self, AppError> {
        let run = prepare_link_run(
            store,
            configuration,
            judges,
            usize::from(LINKS),
            seed,
            false,
        )?;
        let estimate = run.estimate(store)?;
        Ok(Self::Links(Box::new(run), estimate))
    }

    fn expected(&self) -> &CallVolume {
        match self {
            Self::Anchors(_, expected, _) => expected,
            Self::Links(_, estimate) => &estimate.expected,
        }
    }

    async fn ask(
        self,
        store: &Store,
        control: watch::Receiver<RunControl>,
        mut tell: TellProgress<'_>,
    ) -> Result<QuestionSetOutcome, AppError> {
        let mut outcome = QuestionSetOutcome::of(self.expected().calls as usize);
        let budget = control.borrow().budget_usd;
        let (events_to, mut events) = mpsc::unbounded_channel();
        let (own, steer) = (store.clone(), control.clone());
        let asked = match self {
            Self::Anchors(prepared, ..) => {
                budget.map_or(Ok(()), |budget| prepared.check_budget(budget))?;
                let plan = Arc::new(prepared.plan);
                tokio::spawn(async move { Ok(run(own, plan, steer, events_to).await?) })
            }
            Self::Links(prepared, _) => {
                budget.map_or(Ok(()), |budget| prepared.judges.check_budget(budget))?;
                tokio::spawn(async move {
                    prepared.run(&own, steer, events_to).await?;
                    Ok(())
                })
            }
        };
        while let Some(event) = events.recv().await {
            match event {
                RerankEvent::Ranked(row) => {
                    let progress = &mut outcome.progress;
                    // A query that failed as a whole has no scores, and its documents stay open.
                    let scores = row.scores.unwrap_or_default();
                    progress.done += scores.len();
                    progress.invalid += scores.iter().filter(|score| score.is_none()).count();
                    progress.failed += usize::from(row.failure.is_some());
                    tell(progress);
                }
                RerankEvent::Linked { answered } => {
                    outcome.progress.done += 1;
                    outcome.progress.invalid += usize::from(!answered);
                    tell(&outcome.progress);
                }
                RerankEvent::Called(_) => {}
                RerankEvent::Again(line) => tracing::warn!("{line}"),
                RerankEvent::Skipped { service, why } => {
                    tracing::warn!("{service} skips a query: {why}")
                }
                RerankEvent::Stopped { service, why } => outcome.give_up(&service, &why),
                RerankEvent::BudgetReached => outcome.budget_reached = true,
            }
        }
        let result: Result<(), AppError> = asked.await.map_err(AppError::failed)?;
        result?;
        let cancelled = control.borrow().cancelled;
        Ok(outcome.ended(cancelled))
    }
}

impl PreparedQuestions for PreparedScale {
    fn price(&self) -> QuestionSetPrice {
        let (about, already, ensemble, most, notes) = match self {
            Self::Anchors(run, _, most) => (
                format!(
                    "{ANCHORS} documents of each of {}",
                    counted(run.plan.rankings(), "query")
                ),
                (run.plan.already > 0)
                    .then(|| format!("The grades of {}", counted(run.plan.already, "query"))),
                &run.ensemble,
                most,
                &run.notes,
            ),
            Self::Links(run, estimate) => (
                format!(
                    "{}, so that each of {} takes part in {LINKS}",
                    counted(estimate.there + estimate.planned, "link"),
                    counted(estimate.queries, "query")
                ),
                (estimate.answered > 0).then(|| counted(estimate.answered, "answer")),
                &run.judges.ensemble,
                &estimate.most,
                &run.judges.notes,
            ),
        };
        let expected = self.expected();
        QuestionSetPrice {
            about,
            calls: expected.calls as usize,
            already,
            judges: ensemble
                .iter()
                .map(|judge| judge.spec().name.clone())
                .collect(),
            expected_usd: expected.usd,
            worst_usd: most.usd,
            paid: ensemble.iter().any(|judge| is_paid(judge.as_ref())),
            notes: notes.clone(),
        }
    }

    fn run<'a>(
        self: Box<Self>,
        store: &'a Store,
        control: watch::Receiver<RunControl>,
        tell: TellProgress<'a>,
    ) -> BoxFuture<'a, Result<QuestionSetOutcome, AppError>> {
        Box::pin(self.ask(store, control, tell))
    }
}
