//! A run without the workbench: shows its progress on stderr, and stops it on a signal.

use crate::app::annotate::progress::{JudgeProgress, RunPhase, RunProgress, rate_in_words};
use crate::app::annotate::{RunHandle, RunOutcome, RunRequest};
use crate::app::run_lock::RunLock;
use crate::app::text_format::counted;
use crate::cli::command::CommandFailure;
use crate::cli::output::{ProgressPace, clean};
use crate::cli::{output, signals};
use crate::client::RunControl;
use crate::domain::answering_models::changed_model;
use crate::domain::number_words::{self, count};
use crate::domain::sanitize;
use crate::domain::spend::Spend;
use crate::judge::{JudgeEnsemble, OFFLINE_LABEL};
use crate::store::Store;
use anyhow::anyhow;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;
use std::io::IsTerminal as _;
use std::sync::Arc;
use tokio::sync::{mpsc, watch};

/// Maximum number of skipped queries named at the end of a run.
const SKIPPED_QUERIES: usize = 3;

/// Sends the number of queries written.
pub(crate) type WrittenSender = watch::Sender<usize>;

/// Runs on a new runtime, showing progress on stderr, and then calls `finish`, unless it is
/// stopped: the first Ctrl-C ends the run in order, and the second one ends everything. `finish`
/// reports the number of queries written.
pub(crate) fn watch<T: Default + Send + 'static>(
    lock: &Arc<RunLock>,
    store: &Store,
    ensemble: JudgeEnsemble,
    request: RunRequest,
    control: RunControl,
    json: bool,
    finish: impl FnOnce(WrittenSender) -> Result<T, CommandFailure> + Send + 'static,
) -> Result<(RunOutcome, T), CommandFailure> {
    if ensemble.iter().any(|judge| judge.spec().is_offline()) {
        output::message(OFFLINE_LABEL);
    }
    let queries = request.queries.as_ref().map(Vec::len);
    let runtime = signals::runtime()?;
    let (store, lock) = (store.clone(), Arc::clone(lock));
    let result = runtime.block_on(async move {
        let run = RunHandle::start_under(Some(lock), store, ensemble, request, control);
        let mut display = RunProgressDisplay::new(json);
        let mut stops = signals::stops()?;
        let outcome = follow(run, &mut display, &mut stops).await?;
        if outcome.cancelled || outcome.model_changed.is_some() || outcome.has_no_vote() {
            display.finish(&outcome.progress);
            return Ok((outcome, T::default()));
        }
        let mut writing = outcome.progress.clone();
        writing.enter(
            RunPhase::Writing,
            queries.unwrap_or(outcome.progress.queries),
        );
        let (written, mut written_so_far) = watch::channel(0);
        let mut finishing = tokio::task::spawn_blocking(move || finish(written));
        let finished = loop {
            tokio::select! {
                finished = &mut finishing => break finished,
                Ok(()) = written_so_far.changed() => {
                    writing.step_done = *written_so_far.borrow_and_update();
                    display.show(&writing);
                }
                Some(()) = stops.recv() => {
                    display.finish(&outcome.progress);
                    return Err(CommandFailure::interrupted());
                }
            }
        };
        display.finish(&outcome.progress);
        let written =
            finished.map_err(|error| anyhow!("the export ended unexpectedly: {error}"))??;
        Ok((outcome, written))
    });
    // Do not wait for an export that was interrupted by a second signal.
    runtime.shutdown_background();
    result
}

/// Shows the progress of a run until it ends; the first signal ends it in order.
async fn follow(
    mut run: RunHandle,
    display: &mut RunProgressDisplay,
    stops: &mut mpsc::Receiver<()>,
) -> Result<RunOutcome, CommandFailure> {
    loop {
        tokio::select! {
            changed = run.progress.changed() => {
                if changed.is_err() {
                    break;
                }
                display.show(&run.progress.borrow_and_update());
            }
            Some(()) = stops.recv() => {
                run.control.send_modify(RunControl::stop);
                output::message(&signals::stopping(&run.control.borrow()));
            }
        }
    }
    Ok(run
        .end
        .await
        .map_err(|error| anyhow!("the run ended unexpectedly: {error}"))??)
}

/// Shows the progress of a run that writes no file, and reports its end.
#[cfg(feature = "remote")]
pub(crate) async fn follow_to_end(
    run: RunHandle,
    json: bool,
    stops: &mut mpsc::Receiver<()>,
) -> Result<RunOutcome, CommandFailure> {
    let mut display = RunProgressDisplay::new(json);
    let outcome = follow(run, &mut display, stops).await?;
    display.finish(&outcome.progress);
    Ok(outcome)
}

/// Shows one bar per judge on a terminal, JSON lines if requested, or otherwise a line now and
/// then.
struct RunProgressDisplay {
    bars: Option<(MultiProgress, Vec<ProgressBar>)>,
    json: bool,
    pace: ProgressPace,
}

impl RunProgressDisplay {
    fn new(json: bool) -> Self {
        let at_terminal = !json && std::io::stderr().is_terminal();
        Self {
            bars: at_terminal.then(|| {
                (
                    MultiProgress::with_draw_target(ProgressDrawTarget::stderr()),
                    Vec::new(),
                )
            }),
            json,
            pace: if json {
                ProgressPace::new()
            } else {
                ProgressPace::of_log()
            },
        }
    }

    fn show(&mut self, progress: &RunProgress) {
        if let Some((all, bars)) = &mut self.bars {
            for judge in progress.judges.iter().skip(bars.len()) {
                let bar = all.add(ProgressBar::new(0));
                if let Ok(style) =
                    ProgressStyle::with_template("{prefix:12} {bar:28} {percent:>3} % {msg}")
                {
                    bar.set_style(style.progress_chars("█▌░"));
                }
                bar.set_prefix(clean(&judge.name));
                bars.push(bar);
            }
            if let Some((step, done, queries)) = progress.step() {
                for bar in bars.iter() {
                    bar.set_length(queries as u64);
                    bar.set_position(done as u64);
                    bar.set_message(step_words(step, done, queries));
                }
                return;
            }
            for (judge, bar) in progress.judges.iter().zip(bars.iter()) {
                bar.set_length(judge.total as u64);
                bar.set_position((judge.votes + judge.failures) as u64);
                bar.set_message(judge_words(judge));
            }
            if let Some(last) = bars.last() {
                last.set_message(format!(
                    "{}  · all: {}",
                    progress.judges.last().map_or(String::new(), judge_words),
                    words(progress)
                ));
            }
            return;
        }
        if !self.pace.is_due() {
            return;
        }
        if self.json {
            self.event("progress", progress);
        } else {
            output::message(&words(progress));
        }
    }

    fn event(&self, event: &str, progress: &RunProgress) {
        let spend = progress.spend();
        // A closed reader misses this event, which has no other consequence.
        drop(output::json_line(
            &json!({ "event": event, "progress": progress, "votes": progress.votes(), "failures": progress.failures(),
                     "spent_usd": spend.told_usd(), "calls_without_price": spend.unpriced }),
        ));
    }

    fn finish(&self, progress: &RunProgress) {
        if let Some((_, bars)) = &self.bars {
            for bar in bars {
                bar.finish_and_clear();
            }
        }
        if self.json {
            self.event("end", progress);
        }
        for judge in &progress.judges {
            if let Some(finding) = &judge.finding {
                output::message(&format!("{}: {finding}", judge.name));
            }
            if let Some(words) = changed_model(&judge.models) {
                output::message(&format!("{} {words}", judge.name));
            }
            if let Some(words) = judge.replaced_words() {
                output::message(&format!("{} {words}", judge.name));
            }
            if let Some(words) = judge.both_orders.words().filter(|_| !judge.offline) {
                output::message(&format!("{} {words}", judge.name));
            }
            for note in &judge.server_notes {
                output::message(&format!("{} {note}", judge.name));
            }
            if let Some(why) = &judge.stopped {
                output::message(&format!("{} stopped: {why}", judge.name));
            }
            for skipped in judge.skipped_queries.iter().take(SKIPPED_QUERIES) {
                output::message(&format!(
                    "{} skipped the rest of query {}: {}",
                    judge.name, skipped.query, skipped.why
                ));
            }
            if let more @ 1.. = judge.skipped_queries.len().saturating_sub(SKIPPED_QUERIES) {
                let queries = counted(more, "more query");
                output::message(&format!(
                    "{} skipped the rest of {queries} likewise",
                    judge.name
                ));
            }
            if let Some(causes) = judge.tally.words() {
                output::message(&format!(
                    "{}: {} failed: {causes}",
                    judge.name, judge.failures
                ));
                // The reason for the stop has already been printed.
                let stopped = judge.stopped.as_deref().unwrap_or("\n");
                let lines = judge.tally.lines().into_iter();
                for line in lines.filter(|line| !line.ends_with(stopped)) {
                    output::message(&format!("  {line}"));
                }
            }
        }
        output::message(&format!(
            "{}, {}: {} and {} in {:.1} s ({}), {} already there, spent {}",
            counted(progress.queries_done, "query"),
            counted(progress.battles, "battle"),
            counted(progress.votes(), "vote"),
            counted(progress.failures(), "failure"),
            progress.elapsed_s,
            rate_in_words(progress.done() as f64 / progress.elapsed_s.max(1e-9)),
            counted(progress.already, "vote"),
            progress.spend().words(),
        ));
    }
}

fn judge_words(judge: &JudgeProgress) -> String {
    let mut words = format!("{}/{}", judge.votes + judge.failures, judge.total);
    if judge.in_flight > 0 && !judge.offline {
        words += &format!(" · {} in flight", judge.in_flight);
    }
    if judge.failures > 0 {
        words += &format!(" · {} failed", number_words::count(judge.failures));
    }
    if judge.spend != Spend::default() {
        words += &format!(" · {}", judge.spend.in_short());
    }
    if let Some(seconds) = judge.held_s {
        let why = judge.waiting_for.as_deref().unwrap_or_default();
        words += &format!(" · waits {seconds:.0} s: {}", sanitize::line(why));
    }
    if let Some(per_minute) = judge.learned_per_minute {
        words += &format!(
            " · limit reached: about {} calls a minute",
            number_words::count(per_minute.round() as u64)
        );
    }
    if let Some(finding) = &judge.finding {
        words += &format!(" · {finding}");
    }
    if let Some(flips) = judge.both_orders.in_short().filter(|_| !judge.offline) {
        words += &format!(" · {flips}");
    }
    if judge.stopped.is_some() {
        words += " · stopped";
    }
    words
}

fn step_words(step: &str, done: usize, queries: usize) -> String {
    format!("{step}: {} of {}", count(done), counted(queries, "query"))
}

fn words(progress: &RunProgress) -> String {
    if let Some((step, done, queries)) = progress.step() {
        return step_words(step, done, queries);
    }
    let left = progress
        .eta_s()
        .map_or(String::new(), |seconds| format!(", {seconds:.0} s left"));
    let mut words = format!(
        "{} of {}, {}{left}, {} failed, {}",
        count(progress.done()),
        counted(progress.total, "call"),
        progress.rate_words(),
        count(progress.failures()),
        progress.spend().in_short()
    );
    for judge in progress
        .judges
        .iter()
        .filter(|judge| judge.stopped.is_none())
    {
        if let (Some(seconds), Some(why)) = (judge.held_s, &judge.waiting_for) {
            let (name, why) = (sanitize::line(&judge.name), sanitize::line(why));
            words += &format!("; {name} waits {:.0} s: {why}", seconds.ceil());
        }
    }
    words
}
