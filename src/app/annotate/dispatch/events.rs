//! Handles events of workers and question sources: updates counts, spending and finished queries.

use super::{Attendance, Dispatcher};
use crate::app::annotate::battle_question::{BattleQuestion, VoteReply};
use crate::app::annotate::error::RunError;
use crate::app::annotate::progress::SkippedQuery;
use crate::app::annotate::question_source::SourceEvent;
use crate::app::annotate::shared_work::PartKey;
use crate::client::lock;
use crate::client::question::ServiceQuestion as _;
use crate::client::worker::{QuestionEnd, WorkerEvent};
use crate::judge::Usage;
use crate::store::corpus::QueryKey;
use crate::store::ledger::Charge;
use std::time::Duration;
use tokio::time::Instant;

/// Minimum time before the same message about a judge's retries is repeated.
const SAID_AGAIN: Duration = Duration::from_secs(10);

impl Dispatcher {
    /// Handles a worker event. Returns an error that ends the run.
    pub(super) async fn on_worker_event(
        &mut self,
        judge_index: usize,
        event: WorkerEvent<BattleQuestion>,
    ) -> Result<Option<RunError>, RunError> {
        match event {
            WorkerEvent::Ended {
                question,
                end,
                charge,
            } => self.ended(judge_index, question.key, end, charge).await?,
            WorkerEvent::Again { charge, line } => {
                self.charge(judge_index, charge);
                if !line.is_empty() {
                    let judge = &mut self.progress.judges[judge_index];
                    judge.retries += 1;
                    let line = format!("{}: {line}", judge.name);
                    // The same refusal for hundreds of calls would push everything else out of the
                    // log.
                    let what = line.split(';').next().unwrap_or_default().to_owned();
                    let said = &mut self.judges[judge_index].said;
                    if said
                        .as_ref()
                        .is_none_or(|(said, at)| *said != what || at.elapsed() > SAID_AGAIN)
                    {
                        *said = Some((what, Instant::now()));
                        self.progress.say(line);
                    }
                }
            }
            WorkerEvent::Stopped(why) => {
                let judge = &mut self.progress.judges[judge_index];
                if judge.stopped.is_none() {
                    let line = format!("{} stopped: {why}", judge.name);
                    judge.stopped = Some(why);
                    self.progress.say(line);
                }
            }
            WorkerEvent::CaseSkipped { case, why } => {
                self.skip_query(judge_index, QueryKey(case.0), why).await?;
            }
            WorkerEvent::BudgetReached => self.reach_budget(),
            WorkerEvent::Away { dropped } => {
                let judge = &mut self.judges[judge_index];
                judge.attendance = if dropped {
                    Attendance::Dropped
                } else {
                    Attendance::Waiting
                };
                let waiting = lock(&judge.gate).waiting(Instant::now());
                if let Some((wait, why)) = waiting.filter(|_| !dropped) {
                    let name = &self.progress.judges[judge_index].name;
                    let line = format!("{name} waits {:.0} s: {why}", wait.as_secs_f64().ceil());
                    self.progress.say(line);
                }
                self.weigh_absences().await?;
            }
            WorkerEvent::Back => {
                self.judges[judge_index].attendance = Attendance::Working;
                let line = format!("{} goes on", self.progress.judges[judge_index].name);
                self.progress.say(line);
                self.weigh_absences().await?;
            }
            WorkerEvent::Failed(error) => return Ok(Some(error.into())),
        }
        Ok(None)
    }

    /// Skips a query for a judge whose calls about it keep failing.
    async fn skip_query(
        &mut self,
        judge_index: usize,
        query: QueryKey,
        why: String,
    ) -> Result<(), RunError> {
        let id = self.store.read(move |db| Ok(db.query(query)?.id)).await?;
        self.skipped_queries.insert((judge_index, query));
        let judge = &mut self.progress.judges[judge_index];
        let line = format!("{} skips the rest of query {id}: {why}", judge.name);
        judge.skipped_queries.push(SkippedQuery {
            query: id.to_string(),
            why,
        });
        self.progress.say(line);
        let parts: Vec<PartKey> = self.open.keys().copied().collect();
        for key in parts.into_iter().filter(|key| key.query == query) {
            if let Some(open) = self.open.get_mut(&key) {
                let skipped = std::mem::take(&mut open.calls[judge_index]);
                self.waited_for -= skipped;
                if self.shared.is_some() {
                    // More work is requested when little is left.
                    let judge = &mut self.progress.judges[judge_index];
                    judge.total = judge.total.saturating_sub(skipped);
                    self.progress.total = self.progress.total.saturating_sub(skipped);
                }
                // A round goes on without these calls, since they would fail on other machines too.
                open.short |= key.round.is_none();
                self.settle(key).await?;
            }
        }
        Ok(())
    }

    /// Handles an event of a question source. Returns an error that ends the run.
    pub(super) async fn on_source_event(
        &mut self,
        event: SourceEvent,
    ) -> Result<Option<RunError>, RunError> {
        match event {
            SourceEvent::Found {
                judge_index,
                key,
                calls,
            } => self.found(judge_index, key, calls).await?,
            SourceEvent::Reused { judge_index, key } => {
                let charge = Charge::Known(0.0);
                self.ended(judge_index, key, QuestionEnd::Shared, charge)
                    .await?;
            }
            SourceEvent::Failed(error) => return Ok(Some(error)),
        }
        Ok(None)
    }

    pub(super) fn reach_budget(&mut self) {
        if !self.budget_reached {
            self.progress
                .say("the budget is reached: no further calls".to_owned());
        }
        self.budget_reached = true;
    }

    pub(super) fn charge(&mut self, judge_index: usize, charge: Charge) {
        self.progress.judges[judge_index].spend += charge.spend();
    }

    pub(super) fn used(&mut self, judge_index: usize, usage: Usage, latency: Duration) {
        let judge = &mut self.progress.judges[judge_index];
        let sum = |a: u64, b: u64| a.saturating_add(b);
        judge.usage.input = sum(judge.usage.input, usage.input);
        judge.usage.cached = sum(judge.usage.cached, usage.cached);
        judge.usage.output = sum(judge.usage.output, usage.output);
        judge.usage.thinking = sum(judge.usage.thinking, usage.thinking);
        judge.latency_ms += latency.as_secs_f64() * 1e3;
    }

    pub(super) async fn ended(
        &mut self,
        judge_index: usize,
        key: PartKey,
        end: QuestionEnd<VoteReply>,
        charge: Charge,
    ) -> Result<(), RunError> {
        self.charge(judge_index, charge);
        match end {
            QuestionEnd::Answered(voted) => {
                let exchange = BattleQuestion::exchange(&voted);
                self.used(judge_index, exchange.usage, exchange.latency);
                let judge = &mut self.progress.judges[judge_index];
                judge.votes += 1;
                // In presentation order: A is the document shown first.
                judge.answers.count(voted.opinion().margin.outcome(), false);
                self.hear_of_model(judge_index, voted.model());
                self.hear_of_weights(judge_index, voted.fingerprint())
                    .await?;
            }
            QuestionEnd::Duplicate(voted) => {
                let exchange = BattleQuestion::exchange(&voted);
                self.used(judge_index, exchange.usage, exchange.latency);
                let judge = &mut self.progress.judges[judge_index];
                (judge.votes, judge.reused) = (judge.votes + 1, judge.reused + 1);
                let line = format!(
                    "{}: another process had already stored a vote on the same battle; the second \
                     one does not count",
                    judge.name
                );
                self.progress.say(line);
            }
            QuestionEnd::Shared => {
                let judge = &mut self.progress.judges[judge_index];
                (judge.votes, judge.reused) = (judge.votes + 1, judge.reused + 1);
            }
            QuestionEnd::Failed(error) => {
                self.used(judge_index, error.exchange.usage, error.exchange.latency);
                self.progress.failed(judge_index, &error);
                let judge = &self.progress.judges[judge_index];
                let line = format!("{}: {error}", judge.name);
                self.progress.say(line);
            }
        }
        // Nobody waits for the calls of a judge that has left.
        if let Some(open) = self.open.get_mut(&key)
            && open.calls[judge_index] > 0
        {
            open.calls[judge_index] -= 1;
            self.waited_for -= 1;
            self.settle(key).await?;
        }
        Ok(())
    }
}
