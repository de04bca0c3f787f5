//! The questions put, the answers kept as they come.

use super::super::{Failure, output, signals};
use super::plan::Plan;
use super::sheet::Sheet;
use crate::domain::court::{PickRecord, PickResult};
use crate::domain::sanitise;
use crate::engine::picks::{self, Answer, Event, Limits, Said};
use crate::judge::Ensemble;
use crate::store::Store;
use anyhow::anyhow;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, watch};

/// Progress lines come at most this often.
const LINE_EVERY: Duration = Duration::from_secs(2);
/// Answers that wait to be kept at most.
const WAITING: usize = 16;

/// How it ended.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ended {
    /// Somebody stopped it.
    pub(super) interrupted: bool,
    /// The budget is reached.
    pub(super) broke: bool,
}

/// What has come so far.
#[derive(Default)]
struct Tally {
    done: usize,
    invalid: usize,
    failed: usize,
}

/// Puts the plan's questions, puts what comes into the project, and shows progress on stderr. A signal stops it in order,
/// another one at once.
pub(super) fn watch(
    plan: &Plan,
    ensemble: &Ensemble,
    limits: Limits,
    store: &Store,
    sheet: &mut Sheet,
) -> Result<Ended, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let result = runtime.block_on(async {
        let (events_to, mut events) = mpsc::channel(WAITING);
        let (stop, stopped) = watch::channel(false);
        let mut stops = signals::stops()?;
        let run = picks::run(
            ensemble.clone(),
            plan.jobs.clone(),
            limits,
            stopped,
            events_to,
        );
        let run = tokio::spawn(run);
        let (mut ended, mut tally) = (Ended::default(), Tally::default());
        let mut spoke = Instant::now();
        loop {
            tokio::select! {
                event = events.recv() => match event {
                    None => break,
                    Some(Event::Answer(answer, kept)) => {
                        tally.count(&answer);
                        let record = record(plan, ensemble, answer)?;
                        sheet.note(&record);
                        store.write(move |db| db.add_pick(&record)).await?;
                        // A call that was told to end does not wait any more.
                        let _ = kept.send(());
                        if spoke.elapsed() >= LINE_EVERY {
                            spoke = Instant::now();
                            output::complain(&tally.words(plan, sheet));
                        }
                    }
                    Some(Event::Retried(line)) => tracing::warn!("{}", sanitise::line(&line)),
                    Some(Event::Stopped { seat, why }) => {
                        let name = ensemble.get(seat).map_or("", |judge| &judge.spec().name);
                        output::complain(&format!("{} stopped: {why}", sanitise::line(name)));
                    }
                    Some(Event::Broke) => ended.broke = true,
                },
                _ = stops.recv() => {
                    if ended.interrupted {
                        return Err(Failure::interrupted());
                    }
                    ended.interrupted = true;
                    output::complain("stopping: calls in flight have a moment to finish");
                    stop.send_replace(true);
                }
            }
        }
        run.await
            .map_err(|error| anyhow!("the run ended unexpectedly: {error}"))?;
        output::complain(&tally.words(plan, sheet));
        Ok(ended)
    });
    runtime.shutdown_background();
    result
}

impl Tally {
    fn count(&mut self, answer: &Answer) {
        if !answer.last {
            return;
        }
        self.done += 1;
        match answer.said {
            Said::Picks { .. } | Said::Verdicts { .. } => {}
            Said::Invalid(_) => self.invalid += 1,
            Said::Failure { .. } => self.failed += 1,
        }
    }

    fn words(&self, plan: &Plan, sheet: &Sheet) -> String {
        format!(
            "{} of {}: {} invalid, {} failed, spent ${:.4}",
            self.done,
            output::counted(plan.calls(), "question"),
            self.invalid,
            self.failed,
            sheet.spent_usd()
        )
    }
}

/// What is kept of an answer.
fn record(plan: &Plan, ensemble: &Ensemble, answer: Answer) -> anyhow::Result<PickRecord> {
    let found = plan.job(answer.number);
    let (shown, seat, call) = found.ok_or_else(|| anyhow!("an answer to no question"))?;
    let judge = ensemble
        .get(seat)
        .ok_or_else(|| anyhow!("an answer of no judge"))?;
    let spec = judge.spec();
    let (result, thoughts) = match answer.said {
        Said::Picks {
            positions,
            thoughts,
        } => {
            let slots = positions.into_iter().map(|at| at + 1).collect();
            (PickResult::Slots(slots), thoughts)
        }
        Said::Verdicts { verdicts, thoughts } => (PickResult::Verdicts(verdicts), thoughts),
        Said::Invalid(invalid) => (PickResult::Invalid(invalid), Vec::new()),
        Said::Failure { cause, message } => (
            PickResult::Failure(format!("{cause}: {message}")),
            Vec::new(),
        ),
    };
    Ok(PickRecord {
        query: shown.query.clone(),
        judge: spec.name.clone(),
        provider: spec.provider.clone(),
        model: spec.model.clone(),
        prompt: spec.prompt_hash.clone(),
        call: call.to_owned(),
        permutation: shown.permutation,
        ask: shown.lineup.ask,
        order: shown.order.clone(),
        attempt: answer.attempt,
        result,
        thoughts,
        answered_by: answer.model,
        raw: answer.raw,
        truncated: judge.cuts(&shown.lineup),
        tokens_input: answer.usage.input,
        tokens_output: answer.usage.output,
        cost_usd: answer.cost_usd,
        latency_ms: answer.latency.as_secs_f64() * 1e3,
        created_ms: answer.created_ms,
    })
}
